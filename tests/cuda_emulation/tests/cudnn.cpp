// SPDX-License-Identifier: BSL-1.0
// Convolutions through cuDNN: every part, layout and type gives what a convolution is, by an engine that is exact
// enough and fits into the memory there is; a call that fails is told of.
#include <onto/backend/cuda/cudnn/convolution.hpp>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "control.hpp"
#include "dnn.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;
using cuda_emulation::dnn_refusal;

namespace {

constexpr convolution_part parts[] = {convolution_part::forward, convolution_part::image_gradient,
                                      convolution_part::filter_gradient};
constexpr int tensor_core_bits = 1 << CUDNN_NUMERICAL_NOTE_TENSOR_CORE | 1 << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;

/// What tests set is as it was afterwards.
struct tables {
  tables() {
    (void)cuda_emulation::take_dnn_calls();
    (void)cuda_emulation::take_dnn_plans();
  }
  tables(const tables&) = delete;
  tables& operator=(const tables&) = delete;
  ~tables() {
    cuda_emulation::dnn_engines = cuda_emulation::all_dnn_engines();
    cuda_emulation::dnn_refusals.clear();
  }
};

window_options options_of(image_layout layout, int groups = 1) {
  window_options o;
  o.layout = layout;
  o.padding = padding_rule::numbers;
  o.groups = groups;
  return o;
}

/// A convolution with the shapes of its image and its filter, as a program has them.
struct example {
  const char* name;
  window_options options;
  extents image, filter;
};

std::vector<example> examples() {
  std::vector<example> all;
  for (const image_layout layout : {image_layout::nhwc, image_layout::nchw}) {
    const bool last = layout == image_layout::nhwc;
    const auto image = [&](int n, int h, int w, int c) {
      return last ? shape_of({n, h, w, c}) : shape_of({n, c, h, w});
    };
    const auto filter = [&](int h, int w, int i, int o) {
      return last ? shape_of({h, w, i, o}) : shape_of({o, i, h, w});
    };
    window_options o = options_of(layout);
    all.push_back({"plain", o, image(2, 5, 6, 3), filter(3, 2, 3, 4)});
    all.push_back({"one by one", o, image(2, 3, 3, 4), filter(1, 1, 4, 5)});
    o.stride[0] = o.stride[1] = 2;
    o.after[0] = o.after[1] = 1;
    all.push_back({"asymmetric padding", o, image(1, 6, 6, 2), filter(3, 3, 2, 3)});
    o = options_of(layout, 2);
    o.dilation[0] = 2;
    o.before[0] = o.before[1] = o.after[0] = 2;
    all.push_back({"groups and dilation", o, image(2, 5, 4, 4), filter(3, 3, 2, 6)});
    o = options_of(layout, 0);
    o.before[1] = 1;
    all.push_back({"depthwise", o, image(2, 4, 4, 3), last ? shape_of({2, 2, 3, 2}) : shape_of({6, 1, 2, 2})});
    o = options_of(layout);
    o.axes = 1;
    o.stride[1] = 2;
    o.before[1] = o.after[1] = 1;
    all.push_back({"one axis", o, last ? shape_of({2, 7, 3}) : shape_of({2, 3, 7}),
                   last ? shape_of({3, 3, 4}) : shape_of({4, 3, 3})});
  }
  return all;
}

op_info info_of(const window_options& o) {
  op_info info{};
  info.attributes = window_options::count;
  for (int k = 0; k < window_options::count; ++k) info.attribute[k] = o.number(k);
  return info;
}

extents result_of(const example& e) {
  extents r = e.image;
  const window_options& o = e.options;
  for (int k = 0; k < o.axes; ++k)
    r.dims[first_image_axis(o) + k] =
        windows_along(o, image_axes - o.axes + k, e.image[first_image_axis(o) + k], e.filter[first_filter_axis(o) + k]);
  r.dims[channel_axis(o)] = o.groups == 0 && o.layout == image_layout::nhwc ? e.filter[o.axes] * e.filter[o.axes + 1]
                                                                            : e.filter[filter_out_axis(o)];
  return r;
}

/// One multiplication of a convolution: elements of the image, the filter and the result, by their positions.
template <class Visit>
void for_each_product(const example& e, const Visit& visit) {
  const window_options& o = e.options;
  const extents result = result_of(e);
  const bool last = o.layout == image_layout::nhwc, one = o.axes == 1;
  const auto along = [&](const extents& s, int first, int k) { return one ? (k == 0 ? 1 : s[first]) : s[first + k]; };
  const int fi = first_image_axis(o), ff = first_filter_axis(o), ca = channel_axis(o);
  const int ih = along(e.image, fi, 0), iw = along(e.image, fi, 1), ic = e.image[ca];
  const int rh = along(result, fi, 0), rw = along(result, fi, 1), rc = result[ca];
  const int fh = along(e.filter, ff, 0), fw = along(e.filter, ff, 1);
  const int groups = o.groups == 0 ? ic : o.groups, inner = ic / groups, outer = rc / groups;
  for (int n = 0; n < e.image[0]; ++n)
    for (int q = 0; q < rc; ++q)
      for (int y = 0; y < rh; ++y)
        for (int x = 0; x < rw; ++x)
          for (int c = 0; c < inner; ++c)
            for (int i = 0; i < fh; ++i)
              for (int j = 0; j < fw; ++j) {
                const int v = y * o.stride[0] + i * o.dilation[0] - o.before[0];
                const int u = x * o.stride[1] + j * o.dilation[1] - o.before[1];
                if (v < 0 || v >= ih || u < 0 || u >= iw) continue;
                const int p = q / outer * inner + c;
                const int image = last ? ((n * ih + v) * iw + u) * ic + p : ((n * ic + p) * ih + v) * iw + u;
                const int made = last ? ((n * rh + y) * rw + x) * rc + q : ((n * rc + q) * rh + y) * rw + x;
                const int weight = !last           ? ((q * inner + c) * fh + i) * fw + j
                                   : o.groups == 0 ? (i * fw + j) * rc + q  // (height, width, channels, times)
                                                   : ((i * fw + j) * inner + c) * rc + q;
                visit(static_cast<std::size_t>(image), static_cast<std::size_t>(weight),
                      static_cast<std::size_t>(made));
              }
}

template <convolution_part Part>
void convolve(gpu_context& context, const kernel_call& call) {
  if (!cudnn_convolve<Part>(context, call, nullptr)) throw internal_error("cuDNN has no plan");
}

struct entry {
  void (*run)(gpu_context&, const kernel_call&);
  std::size_t (*workspace)(const kernel_call&);
};
entry entry_of(convolution_part part) {
  if (part == convolution_part::forward)
    return {&convolve<convolution_part::forward>, &cudnn_convolution_workspace<convolution_part::forward>};
  if (part == convolution_part::image_gradient)
    return {&convolve<convolution_part::image_gradient>,
            &cudnn_convolution_workspace<convolution_part::image_gradient>};
  return {&convolve<convolution_part::filter_gradient>,
          &cudnn_convolution_workspace<convolution_part::filter_gradient>};
}

/// A call of an example on a bench, with operands of type T, `shift` elements into their memory.
template <class T>
struct prepared_call {
  prepared_call(bench& b, const example& e, convolution_part which, std::size_t shift = 0)
      : part(which), info(info_of(e.options)) {
    const extents result = result_of(e);
    const extents whole[] = {e.image, e.filter, result};
    for (int k = 0; k < 3; ++k) {
      values[k] = numbers<T>(static_cast<std::size_t>(whole[k].size()) + shift);
      memory[k] = b.upload(values[k]) + shift;
      values[k].erase(values[k].begin(), values[k].begin() + static_cast<std::ptrdiff_t>(shift));
    }
    const int given[3][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};
    for (int k = 0; k < 3; ++k) {
      const int at = given[static_cast<int>(part)][k];
      shapes.push_back(whole[at]);
      views.push_back(contiguous_view(memory[at], element_of<T>, whole[at]));
      computed = at;
    }
    // Gradients are told the extents of what they are of by a further operand.
    call.inputs = part == convolution_part::forward ? 2 : 3;
    if (part != convolution_part::forward) shapes.push_back(shapes[2]);
    call.space = shapes[0];
    call.op = &info;
    call.out.type = element_of<T>;
    call.out.data = memory[computed];
    call.in = views.data();
    call.shapes = shapes.data();
  }
  prepared_call(const prepared_call&) = delete;
  prepared_call& operator=(const prepared_call&) = delete;

  /// What is right, computed in double.
  std::vector<double> expected(const example& e) const {
    std::vector<double> sums(values[computed].size());
    for_each_product(e, [&](std::size_t i, std::size_t f, std::size_t r) {
      const std::size_t at[] = {i, f, r};
      double product = 1;
      for (int k = 0; k < 3; ++k)
        if (k != computed) product *= static_cast<double>(values[k][at[k]]);
      sums[at[computed]] += product;
    });
    return sums;
  }

  double error(bench& b, const example& e) const {
    const std::vector<double> right = expected(e);
    const std::vector<T> got = b.download(memory[computed], right.size());
    double worst = 0;
    for (std::size_t k = 0; k < right.size(); ++k) {
      const double off = std::fabs(static_cast<double>(got[k]) - right[k]) / (1 + std::fabs(right[k]));
      worst = off <= worst ? worst : std::isnan(off) ? 1e9 : off;
    }
    return worst;
  }

  void run(bench& b) {
    call.workspace = nullptr;
    b.launch(entry_of(part).run, call, entry_of(part).workspace);
  }

  convolution_part part;
  op_info info;
  std::vector<T> values[3];
  T* memory[3] = {};
  std::vector<extents> shapes;
  std::vector<operand_view> views;
  int computed = 0;
  kernel_call call;
};

template <class T>
void check_all(double tolerance) {
  const tables restored;
  bench b;
  for (const example& e : examples())
    for (const convolution_part part : parts) {
      INFO(e.name << ", layout " << static_cast<int>(e.options.layout) << ", part " << static_cast<int>(part));
      prepared_call<T> c(b, e, part);
      c.run(b);
      CHECK(c.error(b, e) < tolerance);
      const auto calls = cuda_emulation::take_dnn_calls();
      REQUIRE(calls.size() == 1);
      CHECK(calls[0].engine.notes == 0);
      CHECK_FALSE(calls[0].engine.compiles);
      CHECK(calls[0].engine.workspace == 65536);
      CHECK(calls[0].problem.channels_last == (e.options.layout == image_layout::nhwc));
    }
}

}  // namespace

TEST_CASE("convolutions and their gradients, float", "[cuda][cudnn]") { check_all<float>(1e-6); }
TEST_CASE("convolutions and their gradients, double", "[cuda][cudnn]") { check_all<double>(1e-14); }
TEST_CASE("convolutions and their gradients, half", "[cuda][cudnn]") { check_all<half>(1e-3); }
TEST_CASE("convolutions and their gradients, bfloat16", "[cuda][cudnn]") { check_all<bfloat16>(5e-3); }

TEST_CASE("operands that do not lie as cuDNN reads them are copied", "[cuda][cudnn]") {
  const tables restored;
  bench b;
  const example e = examples()[0];
  REQUIRE(e.image[0] > 1);
  for (const int repeated : {4, 1})  // axes: all, as of a mean's gradient, or one image for all
    for (const convolution_part part : parts) {
      INFO(repeated << " axes, part " << static_cast<int>(part));
      prepared_call<float> c(b, e, part);
      operand_view& v = c.views[0];
      for (int d = 0; d < repeated; ++d) v.stride[d] = 0;
      std::vector<float>& all = c.values[part == convolution_part::image_gradient ? 2 : 0];
      const std::size_t own = repeated == 4 ? 1 : all.size() / static_cast<std::size_t>(e.image[0]);
      for (std::size_t k = own; k < all.size(); ++k) all[k] = all[k - own];
      c.run(b);
      CHECK(c.error(b, e) < 1e-6);
    }
}

TEST_CASE("what cuDNN does not do is told from what fails", "[cuda][cudnn]") {
  CHECK(is_not_supported(CUDNN_STATUS_NOT_SUPPORTED));
  for (const cudnnStatus_t worse : {CUDNN_STATUS_SUCCESS, CUDNN_STATUS_BAD_PARAM, CUDNN_STATUS_INTERNAL_ERROR,
                                    CUDNN_STATUS_EXECUTION_FAILED_CUDART})
    CHECK_FALSE(is_not_supported(worse));
}

TEST_CASE("an engine is as exact as asked, and none is compiled where one is there", "[cuda][cudnn]") {
  const tables restored;
  bench b;
  const example e = examples()[0];
  prepared_call<float> c(b, e, convolution_part::forward);
  const auto notes_of_run = [&] {
    c.run(b);
    b.settle(stream_kind::compute);
    const auto calls = cuda_emulation::take_dnn_calls();
    return calls.size() == 1 ? static_cast<int>(calls[0].engine.notes) : -1;
  };
  CHECK(notes_of_run() == 0);
  c.call.form.tf32 = true;
  CHECK(notes_of_run() == tensor_core_bits);
  CHECK(c.error(b, e) > 1e-6);
  // For doubles there is nothing to ask for.
  prepared_call<double> wide(b, e, convolution_part::forward);
  wide.call.form.tf32 = true;
  wide.run(b);
  CHECK(wide.error(b, e) < 1e-14);
}

namespace {

cudnn_form form_of(element type = element::float32, image_layout layout = image_layout::nhwc) {
  cudnn_form f;
  f.of.type = type;
  f.of.layout = layout;
  f.of.batch = 2;
  f.of.image_channels = 3;
  f.of.result_channels = 4;
  for (int k = 0; k < image_axes; ++k) f.of.image[k] = 5, f.of.filter[k] = 3, f.of.result[k] = 3;
  return f;
}

/// Runs `work` where a kernel does: with a stream, and the GPU current.
struct in_context {
  template <class Work>
  in_context(bench& b, const Work& work) {
    static const Work* now = nullptr;
    now = &work;
    b.launch([](gpu_context& context, const kernel_call&) { (*now)(context); }, {});
    b.settle(stream_kind::compute);
  }
};

std::uint32_t notes(cudnnBackendNumericalNote_t note) { return std::uint32_t{1} << static_cast<int>(note); }

}  // namespace

TEST_CASE("the first engine that a form may have", "[cuda][cudnn]") {
  const tables restored;
  bench b;
  using engine = cuda_emulation::dnn_engine;
  in_context(b, [&](gpu_context& context) {
    const auto engine_of = [&](const cudnn_form& f, std::int64_t most) {
      cuda_cudnn fresh;
      const ref<cudnn_plan> plan = fresh.plan_of(f, most);
      return plan ? plan->workspace : -1;
    };
    (void)context;
    // Workspaces tell engines apart.
    cuda_emulation::dnn_engines = {{notes(CUDNN_NUMERICAL_NOTE_WINOGRAD), false, false, 1},
                                   {0, true, false, 2},
                                   {notes(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC), false, false, 3},
                                   {0, false, false, 400},
                                   {0, false, false, 300},
                                   {0, false, true, 200}};
    cudnn_form f = form_of();
    CHECK(engine_of(f, 1000) == 400);
    CHECK(engine_of(f, 399) == 300);
    CHECK(engine_of(f, 299) == 200);
    CHECK(engine_of(f, 199) == 2);  // nothing else fits: compiled
    CHECK(engine_of(f, 1) == -1);
    f.deterministic = false;
    CHECK(engine_of(f, 1000) == 3);
    f = form_of();
    cuda_emulation::dnn_engines = {{0, false, false, 64, 16}, {0, false, true, 32, 1}};
    CHECK(engine_of(f, 1000) == 64);
    f.alignment = 4;
    CHECK(engine_of(f, 1000) == 32);
    for (const element type : {element::float16, element::bfloat16}) {
      // Tensor cores multiply 16-bit elements exactly; sums are not to be rounded to 16 bits.
      cuda_emulation::dnn_engines = {
          engine{notes(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) | notes(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION),
                 false, false, 1},
          engine{notes(CUDNN_NUMERICAL_NOTE_TENSOR_CORE), false, false, 2}};
      CHECK(engine_of(form_of(type), 1000) == 2);
    }
    CHECK(engine_of(form_of(), 1000) == -1);
    // Known by its number in one part: its notes do not say that it is Winograd's.
    cuda_emulation::dnn_engines = {engine{0, false, false, 1, 16, {}, 17}, engine{0, false, false, 2, 16, {}, 1}};
    f = form_of();
    CHECK(engine_of(f, 1000) == 1);
    f.of.part = convolution_part::filter_gradient;
    CHECK(engine_of(f, 1000) == 2);
  });
}

namespace {

template <class T>
void check_epilogues(double tolerance) {
  const tables restored;
  bench b;
  for (const image_layout layout : {image_layout::nhwc, image_layout::nchw})
    for (const bool relu : {false, true}) {
      cudnn_form f = form_of(element_of<T>, layout);
      f.bias = true;
      f.relu = relu;
      const auto image = numbers<T>(2 * 5 * 5 * 3), filter = numbers<T>(4 * 3 * 3 * 3), bias = numbers<T>(4);
      cudnn_pointers at;
      at.image = b.upload(image);
      at.filter = b.upload(filter);
      at.bias = b.upload(bias);
      T* const result = b.template reserve<T>(2 * 3 * 3 * 4);
      at.result = result;
      at.workspace = b.template reserve<char>(65536);
      in_context(b, [&](gpu_context& context) {
        const ref<cudnn_plan> plan = cudnn_of(context).plan_of(f, cudnn_workspace);
        REQUIRE(plan);
        CHECK(cudnn_of(context).execute(context.stream, false, *plan, f, at));
      });
      const auto got = b.download(result, 2 * 3 * 3 * 4);
      const bool last = layout == image_layout::nhwc;
      double worst = 0, most = 0;
      for (std::size_t n = 0; n < 2; ++n)
        for (std::size_t q = 0; q < 4; ++q)
          for (std::size_t y = 0; y < 3; ++y)
            for (std::size_t x = 0; x < 3; ++x) {
              double sum = static_cast<double>(bias[q]);
              for (std::size_t c = 0; c < 3; ++c)
                for (std::size_t i = 0; i < 3; ++i)
                  for (std::size_t j = 0; j < 3; ++j)
                    sum += static_cast<double>(image[last ? ((n * 5 + y + i) * 5 + x + j) * 3 + c
                                                          : ((n * 3 + c) * 5 + y + i) * 5 + x + j]) *
                           static_cast<double>(
                               filter[last ? ((q * 3 + i) * 3 + j) * 3 + c : ((q * 3 + c) * 3 + i) * 3 + j]);
              if (relu && sum < 0) sum = 0;
              const T value = got[last ? ((n * 3 + y) * 3 + x) * 4 + q : ((n * 4 + q) * 3 + y) * 3 + x];
              worst = std::max(worst, std::fabs(static_cast<double>(value) - sum));
              most = std::min(most, static_cast<double>(value));
            }
      CHECK(worst < tolerance);
      CHECK((most < 0) == !relu);
    }
}

}  // namespace

TEST_CASE("bias and relu in the same kernel", "[cuda][cudnn]") {
  check_epilogues<float>(1e-5);
  check_epilogues<double>(1e-12);
  check_epilogues<half>(1e-2);
  check_epilogues<bfloat16>(5e-2);
}

TEST_CASE("what cuDNN has no engine for is not asked for", "[cuda][cudnn]") {
  const tables restored;
  bench b;
  in_context(b, [&](gpu_context& context) {
    const auto has_plan = [&](const cudnn_form& f) {
      return static_cast<bool>(cudnn_of(context).plan_of(f, cudnn_workspace));
    };
    CHECK(has_plan(form_of()));
    CHECK(has_plan(form_of(element::float64)));
    cuda_emulation::reset_calls();
    cudnn_form f = form_of();
    f.relu = true;
    CHECK_FALSE(has_plan(f));
    f = form_of();
    f.of.before[0] = -1;
    CHECK_FALSE(has_plan(f));
    f = form_of();
    f.of.batch = 0;
    CHECK_FALSE(has_plan(f));
    CHECK_FALSE(has_plan(form_of(element::int32)));
    CHECK(cuda_emulation::calls().count("cudnnBackendCreateDescriptor") == 0);
  });
}

TEST_CASE("plans are found once for a form, also where there is none", "[cuda][cudnn]") {
  const tables restored;
  bench b;
  const example e = examples()[0];
  prepared_call<float> c(b, e, convolution_part::forward);
  for (int k = 0; k < 3; ++k) c.run(b);
  CHECK(cuda_emulation::take_dnn_plans() == 1 + 1);  // one of more workspace than is allowed is made and left
  in_context(b, [&](gpu_context& context) {
    const cudnn_form f = form_of();
    CHECK(cudnn_of(context).plan_of(f, 100)->workspace == 0);
    const long made = cuda_emulation::take_dnn_plans();
    CHECK(cudnn_of(context).plan_of(f, 100)->workspace == 0);
    CHECK(cudnn_of(context).plan_of(f, 50)->workspace == 0);  // what fits into less
    CHECK(cuda_emulation::take_dnn_plans() == 0);
    CHECK(made > 0);
  });
  for (const auto how : {dnn_refusal::by::no_proposal, dnn_refusal::by::the_graph, dnn_refusal::by::the_plan,
                         dnn_refusal::by::the_execution}) {
    dnn_refusal all;
    all.how = how;
    cuda_emulation::dnn_refusals = {all};
    bench other;
    prepared_call<float> refused(other, e, convolution_part::forward);
    CHECK_THROWS_WITH(refused.run(other), Catch::Contains("cuDNN has no plan"));
    cuda_emulation::dnn_refusals.clear();
    // It is remembered: a session's programs choose once.
    other.run.reset();
    CHECK_THROWS_WITH(refused.run(other), Catch::Contains("cuDNN has no plan"));
  }
}

namespace {

/// Plans of forms that no test runs, as many as are kept.
void find_many_plans(bench& b) {
  in_context(b, [&](gpu_context& context) {
    cudnn_form f = form_of();
    for (int n = 3; n < 3 + 512; ++n) {
      f.of.batch = n;
      REQUIRE(cudnn_of(context).plan_of(f, cudnn_workspace));
    }
  });
}

}  // namespace

TEST_CASE("of many plans those that nothing needs are dropped", "[cuda][cudnn]") {
  const tables restored;
  bench b;
  const example e = examples()[0];
  prepared_call<float> c(b, e, convolution_part::forward);
  c.run(b);
  const long before = cuda_emulation::live_objects()["cuDNN descriptors"];
  find_many_plans(b);
  CHECK(cuda_emulation::live_objects()["cuDNN descriptors"] > 100 * before);
  c.run(b);
  CHECK(cuda_emulation::live_objects()["cuDNN descriptors"] == before);  // that of the call alone
  c.run(b);
  CHECK(c.error(b, e) < 1e-6);
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a plan is dropped when what it was issued for is done", "[cuda][cudnn]") {
  const tables restored;
  for (const bool fails : {true, false}) {
    INFO((fails ? "the wait fails" : "the wait succeeds"));
    bench b;
    cudnn_pointers at{b.upload(numbers<float>(150)), b.upload(numbers<float>(108)), b.reserve<float>(72), nullptr,
                      nullptr};
    at.workspace = b.reserve<char>(65536);
    find_many_plans(b);
    in_context(b, [&](gpu_context& context) {
      cuda_cudnn& all = cudnn_of(context);
      const auto issue = [&](int batch) {
        cudnn_form f = form_of();
        f.of.batch = batch;
        const ref<cudnn_plan> plan = all.plan_of(f, cudnn_workspace);
        REQUIRE(plan);
        (void)all.execute(context.stream, false, *plan, f, at);
      };
      if (fails) {
        cuda_emulation::fail_call("cudaStreamSynchronize", 1, cudaErrorInvalidValue);
        CHECK_THROWS_WITH(issue(1), Catch::Contains("cudaStreamSynchronize failed"));
        CHECK(cuda_emulation::clear_faults() == 1);
        return;
      }
      issue(1);
      issue(2);
    });
    b.settle(stream_kind::compute);
  }
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a convolution keeps to the workspace that there is", "[cuda][cudnn]") {
  const tables restored;
  bench b;
  const example e = examples()[0];  // the filter is copied
  prepared_call<float> c(b, e, convolution_part::forward);
  const std::size_t copies = 512;
  CHECK(b.gpu.ask_workspace(&cudnn_convolution_workspace<convolution_part::forward>, c.call) == copies + 65536);
  c.call.workspace_bytes = static_cast<std::int64_t>(copies);
  c.call.workspace = b.reserve<char>(copies);
  b.launch(&convolve<convolution_part::forward>, c.call);
  CHECK(c.error(b, e) < 1e-6);
  CHECK(cuda_emulation::take_dnn_calls().at(0).engine.fallback);
  // Where every engine needs some, there is none.
  cuda_emulation::dnn_engines = {{0, false, false, 8192}};
  bench other;
  prepared_call<float> d(other, e, convolution_part::forward);
  d.call.workspace_bytes = static_cast<std::int64_t>(copies);
  d.call.workspace = other.reserve<char>(copies);
  CHECK_THROWS_WITH(other.launch(&convolve<convolution_part::forward>, d.call), Catch::Contains("no plan"));
}

TEST_CASE("operands at any element", "[cuda][cudnn]") {
  const tables restored;
  bench b;
  for (const example& e : examples())
    for (const convolution_part part : parts) {
      prepared_call<half> c(b, e, part, 1);
      c.run(b);
      CHECK(c.error(b, e) < 1e-3);
      for (const auto& call : cuda_emulation::take_dnn_calls()) CHECK(call.problem.alignment == 2);
    }
}

TEST_CASE("several threads, each with streams of its own", "[cuda][cudnn][threads]") {
  const tables restored;
  std::vector<std::thread> threads;
  std::vector<double> errors(4, 1);
  for (std::size_t t = 0; t < errors.size(); ++t)
    threads.emplace_back([&errors, t] {
      bench b;
      for (const convolution_part part : parts) {
        const example e = examples()[t];
        prepared_call<float> c(b, e, part);
        c.run(b);
        errors[t] = c.error(b, e);
        if (errors[t] > 1e-6) return;
      }
    });
  for (std::thread& t : threads) t.join();
  for (const double worst : errors) CHECK(worst < 1e-6);
}

namespace {

/// Calls whose failure nobody needs to hear of: nobody is left to tell.
const std::set<std::string> may_fail = {"cudnnDestroy",     "cudnnBackendDestroyDescriptor",
                                        "cudaFree",         "cudaStreamDestroy",
                                        "cudaEventDestroy", "cudaFreeAsync",
                                        "cudaFreeHost",     "cudaMemPoolDestroy",
                                        "cudaEventQuery",   "cudaPointerGetAttributes"};

/// *Returns* whether it was told of a failure.
bool is_told_of_one() {
  cuda_emulation::set_seed(1);
  try {
    bench b;
    const example e = examples()[0];
    prepared_call<float> c(b, e, convolution_part::filter_gradient);
    struct finished {
      bench& it;
      ~finished() { it.finish(); }
    } over{b};
    c.run(b);
    return !(c.error(b, e) < 1e-6);
  } catch (const onto::error&) {
    return true;
  }
}

}  // namespace

TEST_CASE("each call of cuDNN fails once", "[cuda][cudnn][failures]") {
  const tables restored;
  for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorInvalidValue}) {
    (void)is_told_of_one();
    cuda_emulation::drain();
    const auto before = cuda_emulation::live_objects();
    cuda_emulation::reset_calls();
    REQUIRE_FALSE(is_told_of_one());
    const std::map<std::string, long> calls = cuda_emulation::calls();
    CHECK(calls.count("cudnnBackendExecute") == 1);
    long tried = 0;
    for (const auto& [name, count] : calls) {
      if (name.rfind("cudnn", 0) != 0) continue;
      for (long n = 1; n <= count; ++n, ++tried) {
        INFO(name << ", call " << n << " of " << count << ", status " << static_cast<int>(status));
        cuda_emulation::fail_call(name, n, status);
        const bool told = is_told_of_one();
        CHECK(cuda_emulation::clear_faults() == 1);
        CHECK((told || may_fail.count(name) > 0));
        CHECK(cudaGetLastError() == cudaSuccess);
        cuda_emulation::drain();
        CHECK(cuda_emulation::live_objects() == before);
      }
    }
    CHECK(tried > 100);
  }
}

TEST_CASE("what cuDNN says is in the sentence", "[cuda][cudnn][failures]") {
  bench b;
  in_context(b, [&](gpu_context&) {
    cudnn_form f = form_of();
    f.of.before[0] = -1;  // asked for past the table
    const cuda_cudnn owner;
    cudnnHandle_t handle = nullptr;
    REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
    CHECK_THROWS_WITH(find_cudnn_plan({handle, nullptr}, f, 0),
                      Catch::Contains("[onto.cuda] cuDNN: describing a convolution failed: CUDNN_STATUS_BAD_PARAM") &&
                          Catch::Contains("a padding is below 0"));
    CHECK(cudnnDestroy(handle) == CUDNN_STATUS_SUCCESS);
  });
  CHECK(cuda_emulation::take_violations().size() == 1);
  cuda_emulation::dnn_version = 8905;
  in_context(b, [&](gpu_context&) {
    CHECK_THROWS_WITH(cuda_cudnn(), Catch::Contains("compiled for cuDNN 9") && Catch::Contains("of version 8905"));
  });
  cuda_emulation::dnn_version = CUDNN_MAJOR * 10000;
  cuda_emulation::fail_call("cudnnCreate", 1, cudaErrorMemoryAllocation);
  in_context(b, [&](gpu_context&) { CHECK_THROWS_AS(cuda_cudnn(), onto::resource_exhausted_error); });
}

// ---- what the emulated cuDNN finds: each rule broken once -------------------------------------------------

namespace {

/// A tensor of floats as a program of its own would describe it; tests change one thing.
struct direct_tensor {
  std::int64_t extents[4] = {1, 2, 3, 4}, strides[4] = {24, 1, 8, 2}, alignment = 16, id = 1;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;

  cudnn_descriptor made() const {
    cudnn_descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
    t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
    t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents, 4);
    t.set(CUDNN_ATTR_TENSOR_STRIDES, strides, 4);
    t.finalize("describing a tensor");
    return t;
  }
};

/// The sentence that a mistake leads to; empty where there is none.
template <class Mistake>
std::string found_in(const Mistake& mistake) {
  try {
    mistake();
  } catch (const onto::error&) {
  }
  std::string sentence;
  for (const std::string& s : cuda_emulation::take_violations()) sentence += s + "\n";
  return sentence;
}

/// The same for a plain forward convolution, with the pointers that it is given changed.
template <class Change>
std::string found_when_executing(const Change& change, cudnn_form f = form_of()) {
  bench b;
  return found_in([&] {
    const auto image = numbers<float>(150), filter = numbers<float>(108);
    cudnn_pointers at;
    at.image = b.upload(image);
    at.filter = b.upload(filter);
    at.result = b.reserve<float>(72);
    at.workspace = b.reserve<char>(65536);
    change(at);
    in_context(b, [&](gpu_context& context) {
      const ref<cudnn_plan> plan = cudnn_of(context).plan_of(f, cudnn_workspace);
      (void)cudnn_of(context).execute(context.stream, false, *plan, f, at);
    });
  });
}

}  // namespace

TEST_CASE("descriptors that are wrong", "[cuda][cudnn][emulator]") {
  const auto contains = [](const char* text) { return Catch::Contains(text); };
  const auto tensor = [](auto change) {
    return found_in([&] {
      direct_tensor t;
      change(t);
      (void)t.made();
    });
  };
  CHECK(tensor([](direct_tensor&) {}).empty());
  CHECK_THAT(tensor([](direct_tensor& t) { t.extents[0] = 0; }), contains("below 1"));
  CHECK_THAT(tensor([](direct_tensor& t) { t.strides[2] = 9; }), contains("in no order that engines read"));
  CHECK_THAT(tensor([](direct_tensor& t) { t.alignment = 2; }), contains("less than an element"));
  CHECK_THAT(found_in([] {
               cudnn_descriptor t = direct_tensor().made();
               t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, std::int64_t{2});
             }),
             contains("the descriptor is finalized"));
  CHECK_THAT(found_in([] {
               cudnn_descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
               t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, 2.0);
             }),
             contains("is not of type 5"));
  const auto form = [&](auto change) {
    bench b;
    return found_in([&] {
      in_context(b, [&](gpu_context& context) {
        cudnn_form f = form_of();
        change(f);
        (void)cudnn_of(context).plan_of(f, cudnn_workspace);
      });
    });
  };
  CHECK(form([](cudnn_form&) {}).empty());
  CHECK_THAT(form([](cudnn_form& f) { f.of.result[1] = 4; }), contains("axis 1 of the result does not follow"));
  CHECK_THAT(form([](cudnn_form& f) { f.of.stride[0] = 0; }), contains("a stride or dilation is below 1"));
  CHECK_THAT(form([](cudnn_form& f) { f.of.groups = 3, f.of.result_channels = 4; }),
             contains("not the same number for each group"));
}

TEST_CASE("executions that are wrong", "[cuda][cudnn][emulator]") {
  const auto contains = [](const char* text) { return Catch::Contains(text); };
  const auto moved = [](const void*& p, std::ptrdiff_t bytes) { p = static_cast<const char*>(p) + bytes; };
  CHECK(found_when_executing([](cudnn_pointers&) {}).empty());
  CHECK_THAT(found_when_executing([&](cudnn_pointers& at) { moved(at.filter, 4); }),
             contains("the filter is not aligned to the 16 bytes"));
  CHECK_THAT(found_when_executing([](cudnn_pointers& at) { at.result = at.image; }), contains("lies over the image"));
  CHECK_THAT(found_when_executing([](cudnn_pointers& at) { at.image = nullptr; }), contains("the image is null"));
  CHECK_THAT(found_when_executing([](cudnn_pointers& at) { at.workspace = nullptr; }),
             contains("the workspace is null"));
  CHECK_THAT(found_when_executing([](cudnn_pointers& at) { at.workspace = const_cast<void*>(at.image); }),
             contains("the workspace lies over the image"));
  CHECK_THAT(found_when_executing([&](cudnn_pointers& at) { moved(at.image, 16); }),
             contains("cuDNN's read of the image"));
  CHECK_THAT(found_in([] {
               bench b;
               const auto image = numbers<float>(150), filter = numbers<float>(108);
               cudnn_pointers at{b.upload(image), b.upload(filter), b.reserve<float>(72), nullptr, nullptr};
               cuda_emulation::dnn_engines = {{}};
               in_context(b, [&](gpu_context& context) {
                 cudaGraph_t graph = nullptr;
                 cudaGraphExec_t program = nullptr;
                 {
                   cuda_cudnn short_lived;
                   const cudnn_form f = form_of();
                   const ref<cudnn_plan> plan = short_lived.plan_of(f, 0);
                   CHECK(cudaStreamBeginCapture(context.stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
                   (void)short_lived.execute(context.stream, true, *plan, f, at);
                   CHECK(cudaStreamEndCapture(context.stream, &graph) == cudaSuccess);
                   CHECK(cudaGraphInstantiate(&program, graph, 0) == cudaSuccess);
                 }
                 CHECK(cudaGraphLaunch(program, context.stream) == cudaSuccess);
                 CHECK(cudaStreamSynchronize(context.stream) == cudaSuccess);
                 CHECK(cudaGraphExecDestroy(program) == cudaSuccess);
                 CHECK(cudaGraphDestroy(graph) == cudaSuccess);
               });
               cuda_emulation::dnn_engines = cuda_emulation::all_dnn_engines();
             }),
             contains("whose plan is no more"));
}
