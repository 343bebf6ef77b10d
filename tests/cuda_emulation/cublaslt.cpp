// SPDX-License-Identifier: BSL-1.0
// cublasLt as far as the library uses it, on the toolkit's own declarations: products in double, rounded once, by a
// library that takes its documents at their word. What they forbid is a violation, which fails the test; what the real
// one may refuse is in a table that tests set.
#include <onto/core/half.hpp>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "blas.hpp"
#include "emulator.hpp"

struct cublasLtContext {
  int device;
};

namespace cuda_emulation {

std::vector<blas_refusal> blas_refusals;
int blas_proposals = 4;
std::function<std::int64_t(int)> blas_durations;

bool blas_refusal::refuses(const blas_problem& p) const {
  const auto differs = [](const auto& wanted, auto given) { return wanted && *wanted != given; };
  std::uint32_t least = p.alignment[0];
  for (std::uint32_t a : p.alignment) least = a < least ? a : least;
  return !(differs(type, p.type) || differs(epilogue, p.epilogue) || differs(first_transposed, p.first_transposed) ||
           differs(second_transposed, p.second_transposed) || (alignment_below > 0 && least >= alignment_below) ||
           (out_alignment_below > 0 && p.alignment[3] >= out_alignment_below) ||
           (workspace_below > 0 && p.workspace >= workspace_below) ||
           (batches_above >= 0 && p.batches <= batches_above));
}

namespace {

// What stands in the opaque structures.

constexpr std::uint64_t operation_mark = 0x6f7065726174696f, layout_mark = 0x6c61796f7574206f,
                        preference_mark = 0x7072656665726564, algorithm_mark = 0x616c676f72697468;

struct operation {
  std::uint64_t mark = operation_mark;
  std::int32_t compute = 0, scale = 0, first = CUBLAS_OP_N, second = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct layout {
  std::uint64_t mark = layout_mark;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0, batch = 0;
  std::int32_t type = 0, batches = 1;
};
struct preference {
  std::uint64_t mark = preference_mark;
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
};
struct algorithm {
  std::uint64_t mark = algorithm_mark;
  std::uint64_t proposal = 0;
  std::uint64_t given = 0;  // which of `state().given`
  std::uint64_t workspace = 0;
};

template <class Opaque, class Inside>
void put(Opaque* to, const Inside& inside) {
  static_assert(sizeof(Inside) <= sizeof(Opaque));
  std::memcpy(to, &inside, sizeof inside);
}
template <class Inside, class Opaque>
Inside got(const Opaque* from) {
  Inside inside;
  std::memcpy(static_cast<void*>(&inside), from, sizeof inside);
  return inside;
}

struct blas_state {
  std::set<const cublasLtContext*> handles;
  std::vector<blas_problem> given;  // what the heuristic had proposals for
  std::vector<blas_call> calls;
};
blas_state& state() {
  static blas_state& s = *new blas_state;
  return s;
}

/// Records a violation.
cublasStatus_t wrong(const char* function, const std::string& what) {
  violation(std::string(function) + ": " + what);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t status_of(cudaError_t status) {
  return status == cudaSuccess                 ? CUBLAS_STATUS_SUCCESS
         : status == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                               : CUBLAS_STATUS_EXECUTION_FAILED;
}

template <class Value>
cublasStatus_t assign(const char* function, Value& to, const void* from, std::size_t bytes) {
  if (!from || bytes != sizeof to)
    return wrong(function,
                 "an attribute of " + std::to_string(sizeof to) + " bytes was given " + std::to_string(bytes));
  std::memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

std::int64_t size_of(cudaDataType_t type) { return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2; }
bool is_type(std::int32_t t) { return t == CUDA_R_64F || t == CUDA_R_32F || t == CUDA_R_16F || t == CUDA_R_16BF; }
bool has_bias(std::uint32_t epilogue) { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
bool has_relu(std::uint32_t epilogue) { return (epilogue & CUBLASLT_EPILOGUE_RELU) == CUBLASLT_EPILOGUE_RELU; }

/// Elements from the first of a matrix to the end of its last.
std::int64_t extent_of(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  return leading * (columns - 1) + rows;
}

std::uint32_t alignment_at(const void* p) {
  std::uint32_t a = 256;
  while (reinterpret_cast<std::uintptr_t>(p) % a != 0) a /= 2;
  return a;
}

/// Reads descriptors. *Returns* what is wrong with them, or nothing.
std::string read(const cublasLtMatmulDescOpaque_t* what, const cublasLtMatrixLayoutOpaque_t* const (&matrices)[4],
                 blas_problem& p) {
  static constexpr const char* names[] = {"A", "B", "C", "D"};
  if (!what) return "there is no operation descriptor";
  const auto o = got<operation>(what);
  if (o.mark != operation_mark) return "the operation descriptor was not initialized";
  layout l[4];
  for (int k = 0; k < 4; ++k) {
    if (!matrices[k]) return std::string("there is no layout of ") + names[k];
    l[k] = got<layout>(matrices[k]);
    if (l[k].mark != layout_mark) return std::string("the layout of ") + names[k] + " was not initialized";
    if (!is_type(l[k].type)) return std::string("the type of ") + names[k] + " is none that is emulated";
    if (l[k].type != l[0].type) return std::string(names[k]) + " has another type than A";
    if (l[k].rows == 0 || l[k].columns == 0) return std::string(names[k]) + " has no elements";
    if (l[k].rows > 0x7fffffff || l[k].columns > 0x7fffffff) return std::string(names[k]) + " is too large";
    if (l[k].leading < static_cast<std::int64_t>(l[k].rows))
      return std::string("the leading dimension of ") + names[k] + " is " + std::to_string(l[k].leading) +
             ", below its " + std::to_string(l[k].rows) + " rows";
    if (l[k].batches != l[0].batches) return std::string(names[k]) + " has another number of batches than A";
    if (l[k].batches < 1) return std::string(names[k]) + " has no batches";
    if (l[k].batch < 0) return std::string("the batch stride of ") + names[k] + " is negative";
  }
  p.type = static_cast<cudaDataType_t>(l[0].type);
  p.compute = static_cast<cublasComputeType_t>(o.compute);
  const bool wide = p.type == CUDA_R_64F;
  if (wide ? o.compute != CUBLAS_COMPUTE_64F
           : o.compute != CUBLAS_COMPUTE_32F && !(o.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && p.type == CUDA_R_32F))
    return "the compute type does not belong to the matrices' type";
  if (o.scale != (wide ? CUDA_R_64F : CUDA_R_32F)) return "the scale type does not belong to the compute type";
  for (std::int32_t t : {o.first, o.second})
    if (t != CUBLAS_OP_N && t != CUBLAS_OP_T) return "an operand is transposed in a way that is none";
  if (o.epilogue != CUBLASLT_EPILOGUE_DEFAULT && o.epilogue != CUBLASLT_EPILOGUE_RELU &&
      o.epilogue != CUBLASLT_EPILOGUE_BIAS && o.epilogue != CUBLASLT_EPILOGUE_RELU_BIAS)
    return "the epilogue is none that is emulated";
  if (has_bias(o.epilogue) != (o.bias != nullptr)) return "a bias and the epilogue belong together";
  p.epilogue = o.epilogue;
  p.first_transposed = o.first == CUBLAS_OP_T;
  p.second_transposed = o.second == CUBLAS_OP_T;
  const auto extents = [&](int k, bool transposed) {
    const auto rows = static_cast<std::int64_t>(l[k].rows), columns = static_cast<std::int64_t>(l[k].columns);
    return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  const auto [rows, inner] = extents(0, p.first_transposed);
  const auto [inner_too, columns] = extents(1, p.second_transposed);
  if (inner != inner_too)
    return "A and B have inner extents " + std::to_string(inner) + " and " + std::to_string(inner_too);
  for (int k = 2; k < 4; ++k)
    if (extents(k, false) != std::pair(rows, columns)) return std::string(names[k]) + " has not the product's extents";
  p.rows = rows, p.columns = columns, p.inner = inner;
  p.first_leading = l[0].leading, p.second_leading = l[1].leading;
  p.addend_leading = l[2].leading, p.out_leading = l[3].leading;
  p.batches = l[0].batches;
  p.first_batch = l[0].batch, p.second_batch = l[1].batch, p.addend_batch = l[2].batch, p.out_batch = l[3].batch;
  if (p.batches > 1 && p.out_batch < extent_of(rows, columns, p.out_leading))
    return "the batches of D lie over each other";
  p.bias_alignment = o.bias ? alignment_at(o.bias) : 256;
  return {};
}

/// The same product with pointers, the preference aside.
bool same_product(blas_problem a, const blas_problem& b) {
  for (int k = 0; k < 4; ++k) a.alignment[k] = b.alignment[k];
  a.workspace = b.workspace;
  a.reductions = b.reductions;
  return a == b;
}

// ---- the product ------------------------------------------------------------------------------------------

/// With the 10 bits of fraction of TF32, the nearest, of two the even one.
float to_tf32(float x) {
  if (!std::isfinite(x)) return x;
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits += 0xfff + (bits >> 13 & 1);
  bits &= ~std::uint32_t{0x1fff};
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

template <class T>
double widened(T x) {
  if constexpr (std::is_same_v<T, onto::half> || std::is_same_v<T, onto::bfloat16>)
    return static_cast<double>(static_cast<float>(x));
  else
    return static_cast<double>(x);
}

/// One product of a batch. The operands' matrices as they lie, the inner extent to be added up over.
template <class T>
void multiply(const blas_problem& p, const T* a, const T* b, const T* c, T* d, const T* bias, double alpha,
              double beta) {
  const bool tf32 = p.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const auto lines = [&](const T* from, std::int64_t count, std::int64_t leading, bool line_is_column) {
    std::vector<double> to(static_cast<std::size_t>(count * p.inner));
    for (std::int64_t l = 0; l < count; ++l)
      for (std::int64_t k = 0; k < p.inner; ++k) {
        double v = widened(from[line_is_column ? l * leading + k : k * leading + l]);
        if (tf32) v = static_cast<double>(to_tf32(static_cast<float>(v)));
        to[static_cast<std::size_t>(l * p.inner + k)] = v;
      }
    return to;
  };
  const std::vector<double> rows = lines(a, p.rows, p.first_leading, p.first_transposed);
  const std::vector<double> columns = lines(b, p.columns, p.second_leading, !p.second_transposed);
  for (std::int64_t j = 0; j < p.columns; ++j)
    for (std::int64_t i = 0; i < p.rows; ++i) {
      const double* x = &rows[static_cast<std::size_t>(i * p.inner)];
      const double* y = &columns[static_cast<std::size_t>(j * p.inner)];
      double sum = 0;
      // As every BLAS: what alpha 0 is multiplied with is not read.
      for (std::int64_t k = 0; k < p.inner && alpha != 0; ++k) sum += x[k] * y[k];
      sum *= alpha;
      if (beta != 0) sum += beta * widened(c[j * p.addend_leading + i]);
      if (bias) {
        // Seen on an H100: a second kernel adds the bias to what was rounded, where columns are not at 16 bytes.
        if (sizeof(T) == 2 && p.out_leading % 8 != 0) sum = widened(static_cast<T>(sum));
        sum += widened(bias[i]);
      }
      if (has_relu(p.epilogue) && sum < 0) sum = 0;
      d[j * p.out_leading + i] = static_cast<T>(sum);
    }
}

struct pointers {
  const void* a;
  const void* b;
  const void* c;
  void* d;
  const void* bias;
  void* workspace;
  std::size_t workspace_bytes;
  double alpha, beta;
};

/// Runs when the stream has come to it: then memory must be there, all that the product touches.
template <class T>
void run_product(const blas_problem& p, const pointers& at, int device) {
  const auto bytes_of = [&](const void* data, std::int64_t elements, const char* what) {
    return static_cast<T*>(device_bytes(data, static_cast<std::size_t>(elements) * sizeof(T), what, device));
  };
  const auto batched = [&](std::int64_t rows, std::int64_t columns, std::int64_t leading, std::int64_t stride) {
    return extent_of(rows, columns, leading) + (p.batches - 1) * stride;
  };
  const auto [a_rows, a_columns] = p.first_transposed ? std::pair(p.inner, p.rows) : std::pair(p.rows, p.inner);
  const auto [b_rows, b_columns] = p.second_transposed ? std::pair(p.columns, p.inner) : std::pair(p.inner, p.columns);
  const T* a = bytes_of(at.a, batched(a_rows, a_columns, p.first_leading, p.first_batch), "cublasLt's read of A");
  const T* b = bytes_of(at.b, batched(b_rows, b_columns, p.second_leading, p.second_batch), "cublasLt's read of B");
  const T* c = at.beta == 0 ? nullptr
                            : bytes_of(at.c, batched(p.rows, p.columns, p.addend_leading, p.addend_batch),
                                       "cublasLt's read of C");
  T* d = bytes_of(at.d, batched(p.rows, p.columns, p.out_leading, p.out_batch), "cublasLt's write of D");
  const T* bias = at.bias ? bytes_of(at.bias, p.rows, "cublasLt's read of the bias") : nullptr;
  char* workspace =
      at.workspace_bytes > 0
          ? static_cast<char*>(device_bytes(at.workspace, at.workspace_bytes, "cublasLt's workspace", device))
          : nullptr;
  if (!a || !b || (at.beta != 0 && !c) || !d || (at.bias && !bias) || (at.workspace_bytes > 0 && !workspace)) return;
  // Its to write: what lies there by mistake is lost.
  const std::size_t edge = at.workspace_bytes < 4096 ? at.workspace_bytes : 4096;
  if (workspace) {
    std::memset(workspace, 0xff, edge);
    std::memset(workspace + at.workspace_bytes - edge, 0xff, edge);
  }
  for (std::int64_t k = 0; k < p.batches; ++k)
    multiply(p, a + k * p.first_batch, b + k * p.second_batch, c ? c + k * p.addend_batch : nullptr,
             d + k * p.out_batch, bias, at.alpha, at.beta);
}

/// Why these pointers cannot be a call for the problem, or nothing.
std::string find_fault(const blas_problem& p, const pointers& at) {
  const std::int64_t size = size_of(p.type);
  const struct {
    const char* name;
    const void* data;
    std::int64_t elements, stride;
  } matrices[] = {
      {"A", at.a,
       extent_of(p.first_transposed ? p.inner : p.rows, p.first_transposed ? p.rows : p.inner, p.first_leading),
       p.first_batch},
      {"B", at.b,
       extent_of(p.second_transposed ? p.columns : p.inner, p.second_transposed ? p.inner : p.columns,
                 p.second_leading),
       p.second_batch},
      {"C", at.c, extent_of(p.rows, p.columns, p.addend_leading), p.addend_batch},
      {"D", at.d, extent_of(p.rows, p.columns, p.out_leading), p.out_batch},
      {"the bias", at.bias, p.rows, 0},
  };
  const auto begin_of = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
  const auto end_of = [&](const auto& m) {
    return begin_of(m.data) + static_cast<std::uintptr_t>((m.elements + (p.batches - 1) * m.stride) * size);
  };
  for (int k = 0; k < 4; ++k) {
    if (!matrices[k].data) return std::string(matrices[k].name) + " is null";
    const std::int64_t step = p.batches > 1 ? matrices[k].stride * size : 0;
    if (begin_of(matrices[k].data) % p.alignment[k] != 0 || step % p.alignment[k] != 0)
      return std::string(matrices[k].name) + " is not aligned to the " + std::to_string(p.alignment[k]) +
             " bytes that the heuristic was promised";
  }
  if (begin_of(at.bias) % static_cast<std::uintptr_t>(size) != 0) return "the bias is not aligned to an element";
  const auto& out = matrices[3];
  for (const auto& m : matrices) {
    if (!m.data || &m == &out) continue;
    const bool is_addend = &m == &matrices[2];
    if (is_addend && at.beta == 0) continue;
    const bool in_place = is_addend && m.data == out.data && p.addend_leading == p.out_leading &&
                          (p.batches == 1 || p.addend_batch == p.out_batch);
    if (!in_place && begin_of(m.data) < end_of(out) && begin_of(out.data) < end_of(m))
      return std::string("D lies over ") + m.name;
  }
  if (at.workspace_bytes > 0) {
    if (!at.workspace || begin_of(at.workspace) % 256 != 0) return "the workspace is not aligned to 256 bytes";
    for (const auto& m : matrices)
      if (m.data && begin_of(m.data) < begin_of(at.workspace) + at.workspace_bytes &&
          begin_of(at.workspace) < end_of(m))
        return std::string("the workspace lies over ") + m.name;
  }
  return {};
}

bool is_refused(const blas_problem& p, blas_refusal::by how) {
  for (const blas_refusal& r : blas_refusals)
    if (r.how == how && r.refuses(p)) return true;
  return false;
}

}  // namespace

std::vector<blas_call> take_blas_calls() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return std::exchange(state().calls, {});
}

}  // namespace cuda_emulation

using namespace cuda_emulation;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  const cublasStatus_t failed = status_of(begin_call("cublasLtCreate"));
  if (failed != CUBLAS_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (!handle) return wrong("cublasLtCreate", "there is no place for the handle");
  *handle = new cublasLtContext{current_device()};
  device_at(current_device()).touched = true;
  state().handles.insert(*handle);
  note_object("cublasLt handles", 1);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  const cublasStatus_t failed = status_of(begin_call("cublasLtDestroy"));
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (state().handles.erase(handle) == 0) return wrong("cublasLtDestroy", "no handle, or no more");
  delete handle;
  note_object("cublasLt handles", -1);
  return failed;
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "another status of cublasLt";
  }
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "no error" : "an error of the emulated cublasLt";
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t to, size_t size, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  const cublasStatus_t failed = status_of(begin_call("cublasLtMatmulDescInit"));
  if (failed != CUBLAS_STATUS_SUCCESS) return failed;
  if (size < sizeof *to) return CUBLAS_STATUS_ALLOC_FAILED;
  operation o;
  o.compute = compute;
  o.scale = scale;
  put(to, o);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t to, cublasLtMatmulDescAttributes_t attribute,
                                              const void* from, size_t bytes) {
  static constexpr const char* name = "cublasLtMatmulDescSetAttribute";
  const cublasStatus_t failed = status_of(begin_call(name));
  if (failed != CUBLAS_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  auto o = got<operation>(to);
  if (o.mark != operation_mark) return wrong(name, "the descriptor was not initialized");
  const auto set = [&](auto& field) {
    const cublasStatus_t status = assign(name, field, from, bytes);
    put(to, o);
    return status;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(o.first);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(o.second);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(o.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(o.bias);
    default: return wrong(name, "attribute " + std::to_string(attribute) + " is not emulated");
  }
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t to, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t leading) {
  const cublasStatus_t failed = status_of(begin_call("cublasLtMatrixLayoutInit"));
  if (failed != CUBLAS_STATUS_SUCCESS) return failed;
  if (size < sizeof *to) return CUBLAS_STATUS_ALLOC_FAILED;
  layout l;
  l.type = type;
  l.rows = rows;
  l.columns = columns;
  l.leading = leading;
  put(to, l);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t to, cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* from, size_t bytes) {
  static constexpr const char* name = "cublasLtMatrixLayoutSetAttribute";
  const cublasStatus_t failed = status_of(begin_call(name));
  if (failed != CUBLAS_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  auto l = got<layout>(to);
  if (l.mark != layout_mark) return wrong(name, "the layout was not initialized");
  const auto set = [&](auto& field) {
    const cublasStatus_t status = assign(name, field, from, bytes);
    put(to, l);
    return status;
  };
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set(l.batches);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return set(l.batch);
    default: return wrong(name, "attribute " + std::to_string(attribute) + " is not emulated");
  }
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t to, size_t size) {
  const cublasStatus_t failed = status_of(begin_call("cublasLtMatmulPreferenceInit"));
  if (failed != CUBLAS_STATUS_SUCCESS) return failed;
  if (size < sizeof *to) return CUBLAS_STATUS_ALLOC_FAILED;
  put(to, preference{});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t to,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* from,
                                                    size_t bytes) {
  static constexpr const char* name = "cublasLtMatmulPreferenceSetAttribute";
  const cublasStatus_t failed = status_of(begin_call(name));
  if (failed != CUBLAS_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  auto p = got<preference>(to);
  if (p.mark != preference_mark) return wrong(name, "the preference was not initialized");
  const auto set = [&](auto& field) {
    const cublasStatus_t status = assign(name, field, from, bytes);
    put(to, p);
    return status;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return set(p.workspace);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: return set(p.reductions);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return set(p.alignment[0]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return set(p.alignment[1]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return set(p.alignment[2]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return set(p.alignment[3]);
    default: return wrong(name, "attribute " + std::to_string(attribute) + " is not emulated");
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t what,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t prefers, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* count) {
  static constexpr const char* name = "cublasLtMatmulAlgoGetHeuristic";
  const cublasStatus_t failed = status_of(begin_call(name));
  if (failed != CUBLAS_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (state().handles.count(handle) == 0) return wrong(name, "no handle, or no more");
  if (wanted <= 0 || !results || !count || !prefers) return wrong(name, "nothing is asked for");
  const auto preferred = got<preference>(prefers);
  if (preferred.mark != preference_mark) return wrong(name, "the preference was not initialized");
  blas_problem p;
  const std::string fault = read(what, {a, b, c, d}, p);
  if (!fault.empty()) return wrong(name, fault);
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t align = p.alignment[k] = preferred.alignment[k];
    if (align == 0 || (align & (align - 1)) != 0 || align < static_cast<std::uint32_t>(size_of(p.type)))
      return wrong(name, std::to_string(align) + " bytes are no alignment of elements");
  }
  p.workspace = preferred.workspace;
  p.reductions = preferred.reductions;
  // Sums of parts in 16 bits would not be rounded once.
  if (size_of(p.type) == 2 && (p.reductions & ~static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)) != 0)
    return wrong(name, "parts of a product of 16-bit elements may be added up in 16 bits");
  *count = 0;
  if (is_refused(p, blas_refusal::by::not_supported)) return CUBLAS_STATUS_NOT_SUPPORTED;
  // Grids end at 65535 blocks along z, which is where the batch lies.
  if (is_refused(p, blas_refusal::by::no_proposal) || p.batches > 65535) return CUBLAS_STATUS_SUCCESS;
  std::vector<blas_problem>& given = state().given;
  std::size_t number = 0;
  while (number < given.size() && !(given[number] == p)) ++number;
  if (number == given.size()) given.push_back(p);
  for (int k = 0; k < wanted && k < blas_proposals; ++k) {
    // Every other one uses what it may.
    const std::uint64_t uses = k % 2 == 0 ? preferred.workspace : 0;
    results[k] = {};
    put(&results[k].algo, algorithm{algorithm_mark, static_cast<std::uint64_t>(k), number, uses});
    results[k].workspaceSize = uses;
    results[k].state = CUBLAS_STATUS_SUCCESS;
    results[k].wavesCount = 1;
    ++*count;
  }
  // Of results whose status is no success nothing else is valid.
  if (*count < wanted) {
    results[*count] = {};
    results[*count].state = CUBLAS_STATUS_NOT_SUPPORTED;
    ++*count;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t what, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* chosen, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  static constexpr const char* name = "cublasLtMatmul";
  const cublasStatus_t failed = status_of(begin_call(name));
  if (failed != CUBLAS_STATUS_SUCCESS) return failed;
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  if (state().handles.count(handle) == 0) return wrong(name, "no handle, or no more");
  const int device = device_of(stream);
  if (handle->device != device) return wrong(name, "the handle is of another device than the stream");
  if (current_device() != device) return wrong(name, "the stream's device is not current");
  blas_problem p;
  const std::string fault = read(what, {a_layout, b_layout, c_layout, d_layout}, p);
  if (!fault.empty()) return wrong(name, fault);
  if (!chosen || !alpha || !beta) return wrong(name, "an algorithm and two factors are needed");
  const auto algo = got<algorithm>(chosen);
  if (algo.mark != algorithm_mark || algo.given >= state().given.size())
    return wrong(name, "the algorithm is none that the heuristic gave");
  const blas_problem& promised = state().given[algo.given];
  if (!same_product(p, promised)) return wrong(name, "the algorithm is for another product");
  for (int k = 0; k < 4; ++k) p.alignment[k] = promised.alignment[k];
  p.workspace = promised.workspace;
  p.reductions = promised.reductions;
  if (workspace_bytes < algo.workspace) return wrong(name, "the workspace is smaller than what the algorithm needs");
  if (workspace_bytes > p.workspace) return wrong(name, "the workspace is larger than what was preferred");
  const bool wide = p.type == CUDA_R_64F;
  const auto factor = [&](const void* at) {
    return wide ? *static_cast<const double*>(at) : static_cast<double>(*static_cast<const float*>(at));
  };
  const pointers at{a, b, c, d, got<operation>(what).bias, workspace, workspace_bytes, factor(alpha), factor(beta)};
  const std::string clash = find_fault(p, at);
  if (!clash.empty()) return wrong(name, clash);
  if (is_refused(p, blas_refusal::by::the_product)) return CUBLAS_STATUS_NOT_SUPPORTED;

  const auto number = static_cast<int>(algo.proposal);
  state().calls.push_back({p, number, c == d, at.beta, workspace_bytes});
  const std::int64_t takes = blas_durations ? blas_durations(number) : 1000;
  return status_of(issue(stream, {"a matrix product", device, [p, at, device, takes](std::int64_t& nanoseconds) {
                                    nanoseconds += takes;
                                    switch (p.type) {
                                      case CUDA_R_64F: run_product<double>(p, at, device); break;
                                      case CUDA_R_32F: run_product<float>(p, at, device); break;
                                      case CUDA_R_16F: run_product<onto::half>(p, at, device); break;
                                      default: run_product<onto::bfloat16>(p, at, device); break;
                                    }
                                    return cudaSuccess;
                                  }}));
}

}  // extern "C"
