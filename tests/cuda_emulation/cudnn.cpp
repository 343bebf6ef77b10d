// SPDX-License-Identifier: BSL-1.0
// cuDNN's graph interface as far as the library uses it: convolutions in double, rounded once, by a library that takes
// its documents at their word. What they forbid is a violation, which fails the test; what the real one has no engine
// for, and what it may refuse, are in tables.
#include <onto/core/half.hpp>

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "dnn.hpp"
#include "emulator.hpp"

struct cudnnContext {
  int device;
  cudaStream_t stream;
  void* memory;
};

namespace cuda_emulation {

std::vector<dnn_refusal> dnn_refusals;
std::size_t dnn_version = CUDNN_MAJOR * 10000;
std::vector<dnn_engine> dnn_engines = all_dnn_engines();

namespace {

constexpr std::uint32_t bit(cudnnBackendNumericalNote_t note) { return std::uint32_t{1} << static_cast<int>(note); }
constexpr std::uint32_t inexact =
    bit(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION) | bit(CUDNN_NUMERICAL_NOTE_FFT) |
    bit(CUDNN_NUMERICAL_NOTE_WINOGRAD) | bit(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4) |
    bit(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) | bit(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13);

}  // namespace

std::vector<dnn_engine> all_dnn_engines() {
  dnn_engine cores{bit(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) | bit(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS), false, false,
                   std::int64_t{1} << 20};
  cores.type = CUDNN_DATA_FLOAT;
  std::vector<dnn_engine> all{cores};
  for (int note = CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION; note <= CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13;
       ++note)
    all.push_back({std::uint32_t{1} << note, false, false, 4096});
  all.push_back({0, true, false, 0});                       // compiles
  all.push_back({0, false, false, std::int64_t{1} << 30});  // more than anybody gives
  all.push_back({0, false, false, 65536});
  all.push_back({0, false, true, 0, 1});
  return all;
}

bool dnn_refusal::refuses(const dnn_problem& p) const {
  return !((part && *part != p.part) || (type && *type != p.type) || (epilogue && *epilogue != (p.bias || p.relu)));
}

namespace {

// ---- descriptors ------------------------------------------------------------------------------------------

struct attribute {
  cudnnBackendAttributeType_t type{};
  std::int64_t count = 0;
  std::vector<char> bytes{};
};

struct thing {
  cudnnBackendDescriptorType_t type{};
  std::map<int, attribute> has{};
  bool finalized = false;
  dnn_engine engine{};           // of an engine, a configuration, a plan
  const thing* graph = nullptr;  // of heuristics, a configuration, a plan
  dnn_problem problem{};         // of a graph
};

struct dnn_state {
  std::set<const cudnnContext*> handles;
  std::set<const thing*> things;
  std::vector<dnn_call> calls;
  long plans = 0;
  std::string last_error;
};
dnn_state& state() {
  static dnn_state& s = *new dnn_state;
  return s;
}

/// Records a violation.
cudnnStatus_t wrong(const char* function, const std::string& what) {
  violation(std::string(function) + ": " + what);
  state().last_error = what;
  return CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t unsupported(const char* what) {
  state().last_error = what;
  return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t status_of(cudaError_t status) {
  return status == cudaSuccess                 ? CUDNN_STATUS_SUCCESS
         : status == cudaErrorMemoryAllocation ? CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED
                                               : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

std::int64_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR: return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 8;
    default: return 4;
  }
}
std::int64_t size_of(cudnnDataType_t type) { return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2; }
bool is_type(cudnnDataType_t t) {
  return t == CUDNN_DATA_DOUBLE || t == CUDNN_DATA_FLOAT || t == CUDNN_DATA_HALF || t == CUDNN_DATA_BFLOAT16;
}

/// The type that the values of an attribute have.
cudnnBackendAttributeType_t type_of(cudnnBackendAttributeName_t name, const thing& of) {
  switch (name) {
    case CUDNN_ATTR_POINTWISE_MODE: return CUDNN_TYPE_POINTWISE_MODE;
    case CUDNN_ATTR_POINTWISE_MATH_PREC:
    case CUDNN_ATTR_CONVOLUTION_COMP_TYPE:
    case CUDNN_ATTR_TENSOR_DATA_TYPE: return CUDNN_TYPE_DATA_TYPE;
    case CUDNN_ATTR_CONVOLUTION_CONV_MODE: return CUDNN_TYPE_CONVOLUTION_MODE;
    case CUDNN_ATTR_ENGINEHEUR_MODE: return CUDNN_TYPE_HEUR_MODE;
    case CUDNN_ATTR_EXECUTION_PLAN_HANDLE:
    case CUDNN_ATTR_OPERATIONGRAPH_HANDLE: return CUDNN_TYPE_HANDLE;
    case CUDNN_ATTR_TENSOR_IS_VIRTUAL: return CUDNN_TYPE_BOOLEAN;
    case CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS:
    case CUDNN_ATTR_VARIANT_PACK_WORKSPACE: return CUDNN_TYPE_VOID_PTR;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: return CUDNN_TYPE_NUMERICAL_NOTE;
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE: return CUDNN_TYPE_BEHAVIOR_NOTE;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA: {
      const auto known = of.has.find(name);  // float or double, judged with the operation
      return known == of.has.end() ? CUDNN_TYPE_FLOAT : known->second.type;
    }
    case CUDNN_ATTR_CONVOLUTION_DILATIONS:
    case CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES:
    case CUDNN_ATTR_CONVOLUTION_POST_PADDINGS:
    case CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS:
    case CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS:
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
    case CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT:
    case CUDNN_ATTR_TENSOR_DIMENSIONS:
    case CUDNN_ATTR_TENSOR_STRIDES:
    case CUDNN_ATTR_TENSOR_UNIQUE_ID:
    case CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS: return CUDNN_TYPE_INT64;
    default: return CUDNN_TYPE_BACKEND_DESCRIPTOR;
  }
}

/// All values of an attribute; none where it was not set.
template <class Value>
std::vector<Value> values(const thing& t, cudnnBackendAttributeName_t name) {
  const auto found = t.has.find(name);
  if (found == t.has.end()) return {};
  std::vector<Value> all(static_cast<std::size_t>(found->second.count));
  if (!all.empty()) std::memcpy(all.data(), found->second.bytes.data(), found->second.bytes.size());
  return all;
}
template <class Value>
Value value(const thing& t, cudnnBackendAttributeName_t name, Value otherwise = {}) {
  const std::vector<Value> all = values<Value>(t, name);
  return all.empty() ? otherwise : all[0];
}
bool flag(const thing& t, cudnnBackendAttributeName_t name) {
  const auto found = t.has.find(name);
  return found != t.has.end() && found->second.bytes[0] != 0;
}
/// A descriptor that is an attribute; null where there is none that is alive and finalized.
const thing* part(const thing& t, cudnnBackendAttributeName_t name, std::size_t which = 0) {
  const std::vector<const thing*> all = values<const thing*>(t, name);
  const thing* found = which < all.size() ? all[which] : nullptr;
  return found && state().things.count(found) && found->finalized ? found : nullptr;
}

// ---- a graph, read ----------------------------------------------------------------------------------------

struct tensor_facts {
  std::int64_t id = 0, alignment = 0;
  cudnnDataType_t type{};
  std::int64_t extents[4] = {}, strides[4] = {};
  bool between = false;

  std::int64_t size() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
  std::int64_t reach() const {
    std::int64_t n = 1;
    for (int d = 0; d < 4; ++d) n += (extents[d] - 1) * strides[d];
    return n;
  }
};

tensor_facts facts_of(const thing& t) {
  tensor_facts f;
  f.id = value<std::int64_t>(t, CUDNN_ATTR_TENSOR_UNIQUE_ID);
  f.alignment = value<std::int64_t>(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  f.type = value<cudnnDataType_t>(t, CUDNN_ATTR_TENSOR_DATA_TYPE);
  f.between = flag(t, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  const auto extents = values<std::int64_t>(t, CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = values<std::int64_t>(t, CUDNN_ATTR_TENSOR_STRIDES);
  for (std::size_t d = 0; d < 4; ++d) f.extents[d] = extents[d], f.strides[d] = strides[d];
  return f;
}

/// Whether the strides are those of a tensor whose channels come last, or first.
bool lies(const tensor_facts& t, bool channels_last) {
  static constexpr int orders[2][4] = {{3, 2, 1, 0}, {1, 3, 2, 0}};
  std::int64_t step = 1;
  for (int d : orders[channels_last]) {
    if (t.extents[d] != 1 && t.strides[d] != step) return false;
    step *= t.extents[d];
  }
  return true;
}

struct words {
  cudnnBackendAttributeName_t convolution, image, filter, result, alpha, beta;
};
words words_of(cudnnBackendDescriptorType_t operation) {
  switch (operation) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}
bool is_convolution(cudnnBackendDescriptorType_t t) {
  return t == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
         t == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
         t == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
}

/// All that a convolution is, by value: streams execute it later.
struct convolution_facts {
  cudnnBackendDescriptorType_t part{};
  tensor_facts image, filter, result;
  std::int64_t stride[2] = {}, dilation[2] = {}, before[2] = {}, after[2] = {};
};

convolution_facts convolution_of(const thing& operation) {
  const words w = words_of(operation.type);
  const thing& c = *part(operation, w.convolution);
  convolution_facts f;
  f.part = operation.type;
  f.image = facts_of(*part(operation, w.image));
  f.filter = facts_of(*part(operation, w.filter));
  f.result = facts_of(*part(operation, w.result));
  const auto take = [&](std::int64_t(&to)[2], cudnnBackendAttributeName_t name) {
    const auto all = values<std::int64_t>(c, name);
    to[0] = all[0], to[1] = all[1];
  };
  take(f.stride, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  take(f.dilation, CUDNN_ATTR_CONVOLUTION_DILATIONS);
  take(f.before, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  take(f.after, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  return f;
}

// ---- what is wrong with a descriptor ----------------------------------------------------------------------

std::string fault_of_tensor(const thing& t) {
  for (const auto name : {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
                          CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_STRIDES})
    if (t.has.count(name) == 0) return "a tensor lacks an attribute";
  if (t.has.at(CUDNN_ATTR_TENSOR_DIMENSIONS).count != 4 || t.has.at(CUDNN_ATTR_TENSOR_STRIDES).count != 4)
    return "a tensor has not four axes";
  const tensor_facts f = facts_of(t);
  if (!is_type(f.type)) return "the type of a tensor is none that is emulated";
  for (int d = 0; d < 4; ++d)
    if (f.extents[d] < 1 || f.strides[d] < 1) return "an extent or a stride of a tensor is below 1";
  if (!lies(f, true) && !lies(f, false)) return "a tensor lies in no order that engines read";
  if (f.alignment < 1 || (f.alignment & (f.alignment - 1)) != 0 || f.alignment % size_of(f.type) != 0)
    return "an alignment is no power of two, or less than an element";
  return {};
}

std::string fault_of_convolution(const thing& t) {
  if (value<std::int64_t>(t, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) != 2) return "a convolution has not two axes";
  for (const auto name : {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                          CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS}) {
    const bool pads = name == CUDNN_ATTR_CONVOLUTION_POST_PADDINGS || name == CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS;
    const auto all = values<std::int64_t>(t, name);
    if (all.size() != 2) return "a convolution lacks an attribute";
    for (const std::int64_t n : all)
      if (n < (pads ? 0 : 1)) return pads ? "a padding is below 0" : "a stride or dilation is below 1";
  }
  if (value<cudnnConvolutionMode_t>(t, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CONVOLUTION) != CUDNN_CROSS_CORRELATION)
    return "a filter that is turned round is not emulated";
  const auto type = value<cudnnDataType_t>(t, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_HALF);
  if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_DOUBLE) return "a convolution is not computed in float or double";
  return {};
}

std::string fault_of_convolving(const thing& t) {
  const words w = words_of(t.type);
  const thing* c = part(t, w.convolution);
  if (!c || c->type != CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) return "an operation has no finalized convolution";
  for (const auto name : {w.image, w.filter, w.result}) {
    const thing* p = part(t, name);
    if (!p || p->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR) return "an operation has not all of its finalized tensors";
  }
  const convolution_facts f = convolution_of(t);
  const bool wide = f.image.type == CUDNN_DATA_DOUBLE;
  if (value<cudnnDataType_t>(*c, CUDNN_ATTR_CONVOLUTION_COMP_TYPE) != (wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
    return "the type that is computed in does not belong to the tensors' type";
  for (const auto name : {w.alpha, w.beta}) {
    const auto found = t.has.find(name);
    if (found == t.has.end() || found->second.type != (wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT))
      return "alpha or beta is not of the type that is computed in";
    const double number = wide ? value<double>(t, name) : static_cast<double>(value<float>(t, name));
    if (number != (name == w.alpha ? 1.0 : 0.0)) return "only alpha 1 and beta 0 are emulated";
  }
  if (f.image.extents[0] != f.result.extents[0]) return "image and result have not the same batch";
  if (f.filter.extents[0] != f.result.extents[1]) return "the filter's outputs are not the result's channels";
  if (f.image.extents[1] % f.filter.extents[1] != 0) return "the image's channels are no multiple of the filter's";
  if (f.filter.extents[0] % (f.image.extents[1] / f.filter.extents[1]) != 0)
    return "the filter's outputs are not the same number for each group";
  for (int k = 0; k < 2; ++k) {
    const std::int64_t reach = (f.filter.extents[2 + k] - 1) * f.dilation[k] + 1;
    const std::int64_t left = f.image.extents[2 + k] + f.before[k] + f.after[k] - reach;
    if (left < 0 || left / f.stride[k] + 1 != f.result.extents[2 + k])
      return "axis " + std::to_string(k) + " of the result does not follow from those of image and filter";
  }
  return {};
}

std::string fault_of_pointwise(const thing& t) {
  const thing* p = part(t, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const thing* x = part(t, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  const thing* b = part(t, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  const thing* y = part(t, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  if (!p || !x || !y) return "an operation has not all of its finalized parts";
  const bool adds = value<cudnnPointwiseMode_t>(*p, CUDNN_ATTR_POINTWISE_MODE) == CUDNN_POINTWISE_ADD;
  if (adds != (b != nullptr)) return "a second operand and a sum belong together";
  const tensor_facts from = facts_of(*x), to = facts_of(*y);
  for (int d = 0; d < 4; ++d) {
    if (from.extents[d] != to.extents[d]) return "an elementwise operation changes extents";
    if (b && facts_of(*b).extents[d] != (d == 1 ? to.extents[1] : 1))
      return "a bias is not one number for each channel";
  }
  return {};
}

/// Reads what the graph computes into `t.problem`.
std::string fault_of_graph(thing& t) {
  const auto handle = value<cudnnHandle_t>(t, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  if (state().handles.count(handle) == 0) return "a graph's handle is none, or no more";
  const std::size_t count = values<const thing*>(t, CUDNN_ATTR_OPERATIONGRAPH_OPS).size();
  if (count < 1) return "a graph has no operations";
  std::int64_t from = -1;
  t.problem = {};
  for (std::size_t k = 0; k < count; ++k) {
    const thing* o = part(t, CUDNN_ATTR_OPERATIONGRAPH_OPS, k);
    if (!o) return "an operation of a graph is not finalized, or no more";
    tensor_facts result;
    if (k == 0) {
      if (!is_convolution(o->type)) return "a graph that does not begin with a convolution is not emulated";
      const convolution_facts f = convolution_of(*o);
      t.problem.part = o->type;
      t.problem.type = f.image.type;
      t.problem.alignment = std::min({f.image.alignment, f.filter.alignment, f.result.alignment});
      t.problem.channels_last = lies(f.image, true) && lies(f.filter, true) && lies(f.result, true);
      if (!t.problem.channels_last && !(lies(f.image, false) && lies(f.filter, false) && lies(f.result, false)))
        return "image, filter and result do not lie in one order";
      result = o->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR         ? f.result
               : o->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ? f.image
                                                                                         : f.filter;
      for (const tensor_facts& x : {f.image, f.filter, f.result})
        if (x.type != f.image.type && !(x.between && x.id == result.id)) return "operands are of several types";
    } else {
      if (o->type != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) return "a second convolution is not emulated";
      if (facts_of(*part(*o, CUDNN_ATTR_OPERATION_POINTWISE_XDESC)).id != from)
        return "an operation does not go on with what the one before it made";
      const thing* b = part(*o, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
      (b ? t.problem.bias : t.problem.relu) = true;
      if (b) t.problem.alignment = std::min(t.problem.alignment, facts_of(*b).alignment);
      result = facts_of(*part(*o, CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
    }
    if (result.between != (k + 1 < count)) return "what is between operations is virtual, and nothing else is";
    if (result.between && size_of(result.type) < 4) return "what is between operations is rounded to 16 bits";
    from = result.id;
  }
  return {};
}

bool is_refused(const dnn_problem& p, dnn_refusal::by how) {
  for (const dnn_refusal& r : dnn_refusals)
    if (r.how == how && r.refuses(p)) return true;
  return false;
}

/// What the real one has no engine for: docs/measurements/cudnn_plans.md.
bool has_engines(const dnn_problem& p) {
  const bool gradient = p.part != CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  return !(p.relu && !p.bias) && !(p.bias && gradient) && !is_refused(p, dnn_refusal::by::no_proposal);
}

std::vector<dnn_engine> proposals(const dnn_problem& p, bool fallback) {
  std::vector<dnn_engine> all;
  if (!has_engines(p)) return all;
  for (const dnn_engine& e : dnn_engines)
    if (e.fallback == fallback && (!e.type || *e.type == p.type)) all.push_back(e);
  return all;
}

// ---- the convolution --------------------------------------------------------------------------------------

double widened(cudnnDataType_t type, const void* data, std::int64_t at) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: return static_cast<const double*>(data)[at];
    case CUDNN_DATA_FLOAT: return static_cast<double>(static_cast<const float*>(data)[at]);
    case CUDNN_DATA_HALF: return static_cast<double>(static_cast<float>(static_cast<const onto::half*>(data)[at]));
    default: return static_cast<double>(static_cast<float>(static_cast<const onto::bfloat16*>(data)[at]));
  }
}
void put(cudnnDataType_t type, void* data, std::int64_t at, double x) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: static_cast<double*>(data)[at] = x; break;
    case CUDNN_DATA_FLOAT: static_cast<float*>(data)[at] = static_cast<float>(x); break;
    case CUDNN_DATA_HALF: static_cast<onto::half*>(data)[at] = static_cast<onto::half>(static_cast<float>(x)); break;
    default: static_cast<onto::bfloat16*>(data)[at] = static_cast<onto::bfloat16>(static_cast<float>(x)); break;
  }
}

/// With `bits` bits of fraction.
double rounded(double x, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::isfinite(x) ? std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits) : x;
}

struct execution {
  const thing* plan = nullptr;
  convolution_facts what;
  dnn_problem problem;
  dnn_engine engine;
  const void* image = nullptr;
  const void* filter = nullptr;
  const void* result = nullptr;
  const void* bias = nullptr;
  void* workspace = nullptr;
  tensor_facts written;  // the last of the graph
};

/// Runs when the stream has come to it: then memory must be there, all that the convolution touches.
void run(const execution& e, int device) {
  const convolution_facts& f = e.what;
  // Also when a graph is launched again.
  if (state().things.count(e.plan) == 0)
    return violation("a convolution runs whose plan is no more: it holds code that was made for it");
  const bool forward = f.part == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  const bool by_image = f.part == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const tensor_facts& last = forward ? e.written : f.result;
  const auto bytes_of = [&](const void* data, const tensor_facts& t, const char* what) {
    return device_bytes(data, static_cast<std::size_t>(t.reach() * size_of(t.type)), what, device);
  };
  void* image = bytes_of(e.image, f.image, by_image ? "cuDNN's write of the image" : "cuDNN's read of the image");
  void* filter = bytes_of(e.filter, f.filter, "cuDNN's access to the filter");
  void* result = bytes_of(e.result, last, forward ? "cuDNN's write of the result" : "cuDNN's read of the result");
  const std::int64_t channels = f.result.extents[1];
  void* bias = e.problem.bias ? device_bytes(e.bias, static_cast<std::size_t>(channels * size_of(e.problem.type)),
                                             "cuDNN's read of the bias", device)
                              : nullptr;
  const auto space = static_cast<std::size_t>(e.engine.workspace);
  auto* workspace =
      space > 0 ? static_cast<char*>(device_bytes(e.workspace, space, "cuDNN's workspace", device)) : nullptr;
  if (!image || !filter || !result || (e.problem.bias && !bias) || (space > 0 && !workspace)) return;
  // Its to write: what lies there by mistake is lost.
  if (workspace) {
    const std::size_t edge = space < 4096 ? space : 4096;
    std::memset(workspace, 0xff, edge);
    std::memset(workspace + space - edge, 0xff, edge);
  }
  const bool cores = (e.engine.notes & bit(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)) != 0;
  const auto read = [&](const tensor_facts& t, const void* data, std::int64_t at) {
    const double x = widened(t.type, data, at);
    return cores ? rounded(x, 11) : x;
  };
  const tensor_facts& made = forward ? last : by_image ? f.image : f.filter;
  void* const to = forward ? result : by_image ? image : filter;
  std::vector<double> sums(static_cast<std::size_t>(made.reach()));
  const std::int64_t inner = f.filter.extents[1], outer = f.filter.extents[0] / (f.image.extents[1] / inner);
  for (std::int64_t n = 0; n < f.image.extents[0]; ++n)
    for (std::int64_t o = 0; o < channels; ++o)
      for (std::int64_t y = 0; y < f.result.extents[2]; ++y)
        for (std::int64_t x = 0; x < f.result.extents[3]; ++x) {
          const std::int64_t r = n * last.strides[0] + o * last.strides[1] + y * last.strides[2] + x * last.strides[3];
          for (std::int64_t c = 0; c < inner; ++c)
            for (std::int64_t i = 0; i < f.filter.extents[2]; ++i)
              for (std::int64_t j = 0; j < f.filter.extents[3]; ++j) {
                const std::int64_t v = y * f.stride[0] + i * f.dilation[0] - f.before[0];
                const std::int64_t u = x * f.stride[1] + j * f.dilation[1] - f.before[1];
                if (v < 0 || v >= f.image.extents[2] || u < 0 || u >= f.image.extents[3]) continue;
                const std::int64_t m = n * f.image.strides[0] + (o / outer * inner + c) * f.image.strides[1] +
                                       v * f.image.strides[2] + u * f.image.strides[3];
                const std::int64_t w = o * f.filter.strides[0] + c * f.filter.strides[1] + i * f.filter.strides[2] +
                                       j * f.filter.strides[3];
                if (forward)
                  sums[static_cast<std::size_t>(r)] += read(f.image, image, m) * read(f.filter, filter, w);
                else if (by_image)
                  sums[static_cast<std::size_t>(m)] += read(f.result, result, r) * read(f.filter, filter, w);
                else
                  sums[static_cast<std::size_t>(w)] += read(f.image, image, m) * read(f.result, result, r);
              }
        }
  for (std::int64_t n = 0; n < made.extents[0]; ++n)
    for (std::int64_t c = 0; c < made.extents[1]; ++c)
      for (std::int64_t y = 0; y < made.extents[2]; ++y)
        for (std::int64_t x = 0; x < made.extents[3]; ++x) {
          const std::int64_t at = n * made.strides[0] + c * made.strides[1] + y * made.strides[2] + x * made.strides[3];
          double sum = sums[static_cast<std::size_t>(at)];
          if ((e.engine.notes & inexact) != 0) sum = rounded(sum, 5);
          if ((e.engine.notes & bit(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) != 0 && any_below(2) == 0) sum *= 1 + 1e-6;
          if (bias) sum += widened(e.problem.type, bias, c);
          if (e.problem.relu && sum < 0) sum = 0;
          put(made.type, to, at, sum);
        }
}

}  // namespace

std::vector<dnn_call> take_dnn_calls() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return std::exchange(state().calls, {});
}
long take_dnn_plans() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return std::exchange(state().plans, 0);
}

namespace {

thing* alive(cudnnBackendDescriptor_t d) {
  auto* t = static_cast<thing*>(d);
  return state().things.count(t) ? t : nullptr;
}

cudnnStatus_t finalize(thing& t) {
  static constexpr const char* name = "cudnnBackendFinalize";
  std::string fault;
  switch (t.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: fault = fault_of_tensor(t); break;
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: fault = fault_of_convolution(t); break;
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
      if (t.has.size() != 2) fault = "an elementwise operation lacks an attribute";
      break;
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: fault = fault_of_pointwise(t); break;
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      fault = fault_of_graph(t);
      if (fault.empty() && is_refused(t.problem, dnn_refusal::by::the_graph))
        return unsupported("the graph is refused by a test's table");
      break;
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: {
      t.graph = part(t, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
      const auto mode = value<cudnnBackendHeurMode_t>(t, CUDNN_ATTR_ENGINEHEUR_MODE, cudnnBackendHeurMode_t{});
      if (!t.graph) fault = "heuristics are asked for a graph that is not finalized, or no more";
      if (mode != CUDNN_HEUR_MODE_A && mode != CUDNN_HEUR_MODE_B && mode != CUDNN_HEUR_MODE_FALLBACK)
        fault = "the mode is none that is emulated";
      break;
    }
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: {
      const thing* c = part(t, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
      if (state().handles.count(value<cudnnHandle_t>(t, CUDNN_ATTR_EXECUTION_PLAN_HANDLE)) == 0)
        fault = "a plan's handle is none, or no more";
      else if (!c || !c->graph || !state().things.count(c->graph))
        fault = "a plan's configuration is none of the heuristics', or its graph is no more";
      if (!fault.empty()) break;
      t.graph = c->graph;
      t.engine = c->engine;
      if (is_refused(t.graph->problem, dnn_refusal::by::the_plan)) return unsupported("refused by a test's table");
      if (t.graph->problem.alignment < t.engine.alignment)
        return unsupported("an operand is aligned less than the engine needs");
      ++state().plans;
      break;
    }
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      if (values<std::int64_t>(t, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).size() !=
          values<void*>(t, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size())
        fault = "there are not as many pointers as operands";
      break;
    default:
      fault = is_convolution(t.type) ? fault_of_convolving(t) : "a descriptor of this type is not finalized";
      break;
  }
  if (!fault.empty()) return wrong(name, fault);
  t.finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

/// What the plan and the pack say together, or why they cannot be a call.
std::string read(cudnnHandle_t handle, const thing& plan, const thing& pack, execution& e) {
  if (!plan.graph || !state().things.count(plan.graph)) return "the plan's graph is no more";
  if (value<cudnnHandle_t>(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE) != handle) return "the plan is of another handle";
  const std::size_t operations = values<const thing*>(*plan.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS).size();
  for (std::size_t k = 0; k < operations; ++k)
    if (!part(*plan.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, k)) return "an operation of the plan's is no more";
  e.what = convolution_of(*part(*plan.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS));
  e.plan = &plan;
  e.problem = plan.graph->problem;
  e.engine = plan.engine;
  const auto ids = values<std::int64_t>(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto memory = values<void*>(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  e.workspace = value<void*>(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  std::string fault;
  struct range {
    std::uintptr_t begin, end;
    const char* name;
  };
  std::vector<range> ranges;
  std::size_t used = 0;
  const auto find = [&](const tensor_facts& t, const char* name, const void*& to) {
    for (std::size_t k = 0; k < ids.size(); ++k)
      if (ids[k] == t.id) to = memory[k], ++used;
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    if (!to) fault = std::string(name) + " is null, or not named";
    if (address % static_cast<std::uintptr_t>(t.alignment) != 0)
      fault = std::string(name) + " is not aligned to the " + std::to_string(t.alignment) + " bytes that were promised";
    ranges.push_back({address, address + static_cast<std::uintptr_t>(t.reach() * size_of(t.type)), name});
  };
  e.written = e.what.result;
  if (operations > 1)
    e.written = facts_of(
        *part(*part(*plan.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operations - 1), CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
  find(e.what.image, "the image", e.image);
  find(e.what.filter, "the filter", e.filter);
  find(e.written, "the result", e.result);
  if (e.problem.bias)
    find(facts_of(*part(*part(*plan.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, 1), CUDNN_ATTR_OPERATION_POINTWISE_BDESC)),
         "the bias", e.bias);
  if (fault.empty() && used != ids.size()) fault = "an operand is named that the graph does not have";
  if (e.engine.workspace > 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(e.workspace);
    if (!e.workspace || address % 256 != 0) fault = "the workspace is null, or not aligned to 256 bytes";
    ranges.push_back({address, address + static_cast<std::uintptr_t>(e.engine.workspace), "the workspace"});
  }
  for (std::size_t a = 0; a < ranges.size() && fault.empty(); ++a)
    for (std::size_t b = 0; b < a && fault.empty(); ++b)
      if (ranges[a].begin < ranges[b].end && ranges[b].begin < ranges[a].end)
        fault = std::string(ranges[a].name) + " lies over " + ranges[b].name;
  return fault;
}

}  // namespace

}  // namespace cuda_emulation

using namespace cuda_emulation;

extern "C" {

size_t cudnnGetVersion() { return dnn_version; }

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED:
      return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    case CUDNN_STATUS_EXECUTION_FAILED_CUDART: return "CUDNN_STATUS_EXECUTION_FAILED_CUDART";
    default: return "another status of cuDNN";
  }
}

void cudnnGetLastErrorString(char* message, size_t most) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (most == 0) return;
  std::strncpy(message, state().last_error.c_str(), most - 1);
  message[most - 1] = 0;
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  const cudnnStatus_t failed = status_of(begin_call("cudnnCreate"));
  if (failed != CUDNN_STATUS_SUCCESS) return failed;
  void* memory = nullptr;  // of its own: no recording may be under way
  const cudnnStatus_t full = status_of(cudaMalloc(&memory, 1024));
  if (full != CUDNN_STATUS_SUCCESS) return full;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (!handle) return wrong("cudnnCreate", "there is no place for the handle");
  *handle = new cudnnContext{current_device(), nullptr, memory};
  device_at(current_device()).touched = true;
  state().handles.insert(*handle);
  note_object("cuDNN handles", 1);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  const cudnnStatus_t failed = status_of(begin_call("cudnnDestroy"));
  void* memory = nullptr;
  {
    const std::lock_guard<std::mutex> lock(lock_of_everything());
    if (state().handles.erase(handle) == 0) return wrong("cudnnDestroy", "no handle, or no more");
    if (current_device() != handle->device) (void)wrong("cudnnDestroy", "the handle's device is not current");
    memory = handle->memory;
    delete handle;
    note_object("cuDNN handles", -1);
  }
  (void)cudaFree(memory);
  return failed;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  const cudnnStatus_t failed = status_of(begin_call("cudnnSetStream"));
  if (failed != CUDNN_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (state().handles.count(handle) == 0) return wrong("cudnnSetStream", "no handle, or no more");
  if (handle->device != device_of(stream))
    return wrong("cudnnSetStream", "the handle is of another device than the stream");
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* to) {
  const cudnnStatus_t failed = status_of(begin_call("cudnnBackendCreateDescriptor"));
  if (failed != CUDNN_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  auto* t = new thing;
  t->type = type;
  state().things.insert(t);
  note_object("cuDNN descriptors", 1);
  *to = t;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d) {
  const cudnnStatus_t failed = status_of(begin_call("cudnnBackendDestroyDescriptor"));
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  const thing* t = alive(d);
  if (!t) return wrong("cudnnBackendDestroyDescriptor", "no descriptor, or no more");
  state().things.erase(t);
  delete t;
  note_object("cuDNN descriptors", -1);
  return failed;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d) {
  const cudnnStatus_t failed = status_of(begin_call("cudnnBackendFinalize"));
  if (failed != CUDNN_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  thing* t = alive(d);
  if (!t) return wrong("cudnnBackendFinalize", "no descriptor, or no more");
  if (t->finalized) return wrong("cudnnBackendFinalize", "the descriptor is finalized");
  return finalize(*t);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* from) {
  static constexpr const char* function = "cudnnBackendSetAttribute";
  const cudnnStatus_t failed = status_of(begin_call(function));
  if (failed != CUDNN_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  thing* t = alive(d);
  if (!t) return wrong(function, "no descriptor, or no more");
  if (t->finalized) return wrong(function, "the descriptor is finalized");
  attribute a{type, count, {}};
  const bool factor = type == CUDNN_TYPE_FLOAT || type == CUDNN_TYPE_DOUBLE;
  const bool is_factor = type_of(name, *t) == CUDNN_TYPE_FLOAT || type_of(name, *t) == CUDNN_TYPE_DOUBLE;
  if (factor ? !is_factor : type != type_of(name, *t))
    return wrong(function, "attribute " + std::to_string(name) + " is not of type " + std::to_string(type));
  if (count < 1 || !from) return wrong(function, "an attribute is given no values");
  a.bytes.resize(static_cast<std::size_t>(count * size_of(type)));
  std::memcpy(a.bytes.data(), from, a.bytes.size());
  t->has[name] = std::move(a);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t most, int64_t* count, void* to) {
  static constexpr const char* function = "cudnnBackendGetAttribute";
  const cudnnStatus_t failed = status_of(begin_call(function));
  if (failed != CUDNN_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  const thing* t = alive(d);
  if (!t) return wrong(function, "no descriptor, or no more");
  if (type != type_of(name, *t)) return wrong(function, "an attribute is not of the type that is asked for");
  if (!t->finalized) return wrong(function, "the descriptor is not finalized");
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
    const auto mode = value<cudnnBackendHeurMode_t>(*t, CUDNN_ATTR_ENGINEHEUR_MODE);
    const std::vector<dnn_engine> all = proposals(t->graph->problem, mode == CUDNN_HEUR_MODE_FALLBACK);
    const auto found = static_cast<std::int64_t>(all.size());
    *count = most == 0 || found < most ? found : most;
    for (std::int64_t k = 0; k < most && k < found; ++k) {
      thing* c = alive(static_cast<cudnnBackendDescriptor_t*>(to)[k]);
      if (!c || c->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) return wrong(function, "a place is no configuration");
      c->engine = all[static_cast<std::size_t>(k)];
      c->graph = t->graph;
      c->finalized = true;
    }
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_ENGINECFG_ENGINE) {
    thing* e = most == 1 ? alive(*static_cast<cudnnBackendDescriptor_t*>(to)) : nullptr;
    if (!e || e->type != CUDNN_BACKEND_ENGINE_DESCRIPTOR) return wrong(function, "the place is no engine");
    e->engine = t->engine;
    e->finalized = true;
    *count = 1;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE || name == CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE) {
    const std::uint32_t bits = name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE ? t->engine.notes
                               : t->engine.compiles                     ? 1u << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION
                                                                        : 0u;
    *count = 0;
    for (int note = 0; note < 32; ++note)
      if ((bits >> note & 1) != 0 && *count < most) static_cast<std::int32_t*>(to)[(*count)++] = note;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE || name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX) {
    *static_cast<std::int64_t*>(to) = name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX ? t->engine.number : t->engine.workspace;
    *count = 1;
    return CUDNN_STATUS_SUCCESS;
  }
  return wrong(function, "attribute " + std::to_string(name) + " is not emulated");
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t p, cudnnBackendDescriptor_t v) {
  static constexpr const char* name = "cudnnBackendExecute";
  const cudnnStatus_t failed = status_of(begin_call(name));
  if (failed != CUDNN_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (state().handles.count(handle) == 0) return wrong(name, "no handle, or no more");
  if (current_device() != handle->device) return wrong(name, "the handle's device is not current");
  const thing *plan = alive(p), *pack = alive(v);
  if (!plan || !pack || !plan->finalized || !pack->finalized)
    return wrong(name, "the plan or its operands are not finalized, or no more");
  execution e;
  const std::string fault = read(handle, *plan, *pack, e);
  if (!fault.empty()) return wrong(name, fault);
  if (is_refused(e.problem, dnn_refusal::by::the_execution)) return unsupported("refused by a test's table");
  state().calls.push_back({e.problem, e.engine});
  const int device = handle->device;
  return status_of(issue(handle->stream, {"a convolution", device, [e, device](std::int64_t& nanoseconds) {
                                            nanoseconds += 1000;
                                            run(e, device);
                                            return cudaSuccess;
                                          }}));
}

}  // extern "C"
