// SPDX-License-Identifier: BSL-1.0
// oneDNN: primitives that are made once and executed again; bias and activation as parts of the product.
#include "bench.hpp"

#include <dnnl.hpp>

#include <unordered_map>
#include <vector>

namespace {

using bench::input;
using bench::output;
using bench::problem;
using bench::scratch;
using dnnl::algorithm;
using dnnl::memory;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}
dnnl::stream& queue() {
  static dnnl::stream stream(cpu());
  return stream;
}

memory::desc shape(std::int64_t rows, std::int64_t cols, bool turned = false) {
  return {{rows, cols}, memory::data_type::f32, turned ? memory::format_tag::ba : memory::format_tag::ab};
}
memory at(const memory::desc& d, const float* data) { return {d, cpu(), const_cast<float*>(data)}; }

/// A primitive with its arguments.
struct call {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
  void operator()() const { primitive.execute(queue(), arguments); }
};

enum class after { nothing, relu, addition };

call product(memory::desc a, const float* pa, memory::desc b, const float* pb, const float* bias, float* c,
             after what = after::nothing) {
  const memory::desc to = shape(a.dims()[0], b.dims()[1]);
  dnnl::post_ops ops;
  if (what == after::relu) ops.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
  if (what == after::addition) ops.append_sum(1);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(ops);
  std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, at(a, pa)}, {DNNL_ARG_WEIGHTS, at(b, pb)}, {DNNL_ARG_DST, at(to, c)}};
  const memory::desc row = shape(1, b.dims()[1]);
  if (bias) arguments.insert({DNNL_ARG_BIAS, at(row, bias)});
  const dnnl::matmul::desc d = bias ? dnnl::matmul::desc(a, b, row, to) : dnnl::matmul::desc(a, b, to);
  return {dnnl::matmul(dnnl::matmul::primitive_desc(d, attributes, cpu())), arguments};
}

/// Runs calls one after the other and waits.
auto sequence(std::vector<call> calls) {
  return [calls = std::move(calls)] {
    for (const call& c : calls) c();
    queue().wait();
  };
}

void add_map(const char* name, algorithm which) {
  bench::add("onednn", name, [which](const problem& p) {
    const memory::desc d({p.n()}, memory::data_type::f32, memory::format_tag::a);
    const dnnl::eltwise_forward::desc what(dnnl::prop_kind::forward_inference, which, d, 0, 0);
    return sequence({{dnnl::eltwise_forward(dnnl::eltwise_forward::primitive_desc(what, cpu())),
                      {{DNNL_ARG_SRC, at(d, input(0, p.n()))}, {DNNL_ARG_DST, at(d, output(p.n()))}}}});
  });
}

call softmax(std::int64_t rows, std::int64_t cols, const float* from, float* to) {
  const memory::desc d = shape(rows, cols);
  const dnnl::softmax_forward::desc what(dnnl::prop_kind::forward_inference, d, 1);
  return {dnnl::softmax_forward(dnnl::softmax_forward::primitive_desc(what, cpu())),
          {{DNNL_ARG_SRC, at(d, from)}, {DNNL_ARG_DST, at(d, to)}}};
}

void register_cases() {
  add_map("exp", algorithm::eltwise_exp);
  add_map("tanh", algorithm::eltwise_tanh);
  add_map("gelu", algorithm::eltwise_gelu_tanh);
  bench::add("onednn", "softmax",
             [](const problem& p) { return sequence({softmax(p.rows, p.cols, input(0, p.n()), output(p.n()))}); });
  bench::add("onednn", "layernorm", [](const problem& p) {
    using norm = dnnl::layer_normalization_forward;
    const memory::desc d = shape(p.rows, p.cols), row({p.cols}, memory::data_type::f32, memory::format_tag::a);
    const norm::desc what(dnnl::prop_kind::forward_inference, d, 1e-5f,
                          dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift);
    return sequence({{norm(norm::primitive_desc(what, cpu())),
                      {{DNNL_ARG_SRC, at(d, input(0, p.n()))},
                       {DNNL_ARG_SCALE, at(row, input(1, p.cols))},
                       {DNNL_ARG_SHIFT, at(row, input(2, p.cols))},
                       {DNNL_ARG_DST, at(d, output(p.n()))}}}});
  });

  const auto square = [](const char* name, bool turn_a, bool turn_b) {
    bench::add("onednn", name, [=](const problem& p) {
      return sequence({product(shape(p.rows, p.rows, turn_a), input(0, p.n()), shape(p.rows, p.rows, turn_b),
                               input(1, p.n()), nullptr, output(p.n()))});
    });
  };
  square("matmul", false, false);
  square("matmul_tn", true, false);
  square("matmul_nt", false, true);
  square("matmul_tt", true, true);
  bench::add("onednn", "matmul_bias_relu", [](const problem& p) {
    const memory::desc d = shape(p.rows, p.rows);
    return sequence({product(d, input(0, p.n()), d, input(1, p.n()), input(2, p.rows), output(p.n()), after::relu)});
  });
  bench::add("onednn", "headline", [](const problem& p) {
    const memory::desc d = shape(p.rows, p.rows);
    std::vector<call> calls;
    for (const int which : {0, 1}) {
      const float* const m = input(which, p.n());
      const float* power = m;
      for (int k = 2; k <= 9; ++k) {
        float* const next = scratch(k % 2, p.n());
        calls.push_back(product(d, m, d, power, nullptr, next));
        power = next;
      }
      calls.push_back(product(d, m, d, power, nullptr, output(p.n()), which ? after::addition : after::nothing));
    }
    return sequence(calls);
  });
  bench::add("onednn", "perceptron", [](const problem& p) {
    float *const h1 = scratch(0, 256 * 512), *const h2 = scratch(1, 256 * 512), *const h3 = scratch(2, 256 * 10);
    const float* const bias = input(4, 512);
    return sequence(
        {product(shape(256, 784), input(0, 256 * 784), shape(784, 512), input(1, 784 * 512), bias, h1, after::relu),
         product(shape(256, 512), h1, shape(512, 512), input(2, 512 * 512), bias, h2, after::relu),
         product(shape(256, 512), h2, shape(512, 10), input(3, 512 * 10), bias, h3),
         softmax(256, 10, h3, output(p.n()))});
  });
  const dnnl::version_t* const v = dnnl::version();
  bench::say_version("onednn",
                     std::to_string(v->major) + '.' + std::to_string(v->minor) + '.' + std::to_string(v->patch));
}
const bench::peer registered(register_cases);

}  // namespace
