// SPDX-License-Identifier: BSL-1.0
// libtorch, eager: InferenceMode, the `_out` functions with given memory, the fused functions that it has (layer norm,
// softmax, addmm).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/api/include/torch/version.h>

#include "bench.hpp"

#include <memory>

namespace {

using at::Tensor;
using bench::input;
using bench::output;
using bench::problem;
using bench::scratch;

Tensor at_memory(const float* data, at::IntArrayRef shape) {
  return at::from_blob(const_cast<float*>(data), shape, at::kFloat);
}
Tensor in(int k, const problem& p) { return at_memory(input(k, p.n()), {p.n()}); }
Tensor out(const problem& p) { return at_memory(output(p.n()), {p.n()}); }
Tensor mat(int k, std::int64_t rows, std::int64_t cols) { return at_memory(input(k, rows * cols), {rows, cols}); }
Tensor temporary(int k, const problem& p) { return at_memory(scratch(k, p.n()), {p.n()}); }

/// Registers a case whose functions run in InferenceMode.
template <class Make>
void add(const char* name, const Make& make) {
  bench::add("torch", name, [make](const problem& p) {
    auto mode = std::make_shared<c10::InferenceMode>();
    return [mode, f = make(p)]() mutable { return f(); };
  });
}

void add_maps() {
  add("triad", [](const problem& p) {
    return [a = in(0, p), b = in(1, p), r = out(p)]() mutable { at::add_out(r, a, b, 1.5); };
  });
  add("chain", [](const problem& p) {
    return [a = in(0, p), b = in(1, p), c = in(2, p), d = in(3, p), r = out(p), t = temporary(0, p)]() mutable {
      at::mul_out(r, a, a);
      r.addcmul_(b, b).sqrt_().mul_(c);
      at::add_out(t, a, at::Scalar(1), 1);
      r.addcdiv_(d, t, -1);
      at::clamp_min_out(t, b, 0);
      r.add_(t);
    };
  });
  add("exp", [](const problem& p) { return [a = in(0, p), r = out(p)]() mutable { at::exp_out(r, a); }; });
  add("tanh", [](const problem& p) { return [a = in(0, p), r = out(p)]() mutable { at::tanh_out(r, a); }; });
  add("gelu", [](const problem& p) { return [a = in(0, p), r = out(p)]() mutable { at::gelu_out(r, a, "tanh"); }; });
  add("rowadd", [](const problem& p) {
    return [x = mat(0, p.rows, p.cols), row = at_memory(input(1, p.cols), {p.cols}),
            r = at_memory(output(p.n()), {p.rows, p.cols})]() mutable {
      at::add_out(r, x, row);
      r.relu_();
    };
  });
  add("sliced", [](const problem& p) {
    return [x = mat(0, p.rows, 2 * p.cols).slice(1, 0, c10::nullopt, 2), y = mat(1, p.rows, p.cols),
            r = at_memory(output(p.n()), {p.rows, p.cols})]() mutable { at::add_out(r, x, y); };
  });
  add("transposed", [](const problem& p) {
    return [a = mat(0, p.rows, p.cols), b = mat(1, p.rows, p.cols).t(),
            r = at_memory(output(p.n()), {p.rows, p.cols})]() mutable { at::add_out(r, a, b); };
  });
}

void add_reductions() {
  add("sqdiff", [](const problem& p) {
    return [a = in(0, p), b = in(1, p), t = temporary(0, p)]() mutable {
      at::sub_out(t, a, b);
      return t.dot(t).item<float>();
    };
  });
  add("argmax", [](const problem& p) { return [a = in(0, p)] { return at::argmax(a).item<std::int64_t>(); }; });
  add("softmax", [](const problem& p) {
    return [x = mat(0, p.rows, p.cols), r = at_memory(output(p.n()), {p.rows, p.cols})]() mutable {
      at::_softmax_out(r, x, 1, false);
    };
  });
  add("layernorm", [](const problem& p) {
    return [x = mat(0, p.rows, p.cols), gamma = at_memory(input(1, p.cols), {p.cols}),
            beta = at_memory(input(2, p.cols), {p.cols}), r = at_memory(output(p.n()), {p.rows, p.cols}),
            mean = at_memory(scratch(0, p.rows), {p.rows, 1}), scale = at_memory(scratch(1, p.rows), {p.rows, 1}),
            shape = std::vector<std::int64_t>{p.cols}]() mutable {
      at::native_layer_norm_out(r, mean, scale, x, shape, gamma, beta, 1e-5);
    };
  });
}

void add_products() {
  const auto product = [](const char* name, bool turn_a, bool turn_b) {
    add(name, [=](const problem& p) {
      Tensor a = mat(0, p.rows, p.rows), b = mat(1, p.rows, p.rows);
      if (turn_a) a = a.t();
      if (turn_b) b = b.t();
      return [a, b, r = at_memory(output(p.n()), {p.rows, p.rows})]() mutable { at::mm_out(r, a, b); };
    });
  };
  product("matmul", false, false);
  product("matmul_tn", true, false);
  product("matmul_nt", false, true);
  product("matmul_tt", true, true);
  add("matmul_bias_relu", [](const problem& p) {
    return [a = mat(0, p.rows, p.rows), b = mat(1, p.rows, p.rows), bias = at_memory(input(2, p.rows), {p.rows}),
            r = at_memory(output(p.n()), {p.rows, p.rows})]() mutable {
      at::addmm_out(r, bias, a, b);
      r.relu_();
    };
  });
  add("headline", [](const problem& p) {
    return [a = mat(0, p.rows, p.rows), b = mat(1, p.rows, p.rows), r = at_memory(output(p.n()), {p.rows, p.rows}),
            t0 = at_memory(scratch(0, p.n()), {p.rows, p.rows}),
            t1 = at_memory(scratch(1, p.n()), {p.rows, p.rows})]() mutable {
      const auto power9 = [&](const Tensor& x) {
        at::mm_out(t0, x, x);
        for (int k = 3; k <= 9; ++k) {
          if (k % 2)
            at::mm_out(t1, x, t0);
          else
            at::mm_out(t0, x, t1);
        }
      };
      power9(a);
      at::mm_out(r, a, t1);
      power9(b);
      r.addmm_(b, t1);
    };
  });
  add("perceptron", [](const problem& p) {
    return [x = mat(0, 256, 784), w1 = mat(1, 784, 512), w2 = mat(2, 512, 512), w3 = mat(3, 512, 10),
            wide = at_memory(input(4, 512), {512}), narrow = at_memory(input(4, 512), {10}),
            h1 = at_memory(scratch(0, 256 * 512), {256, 512}), h2 = at_memory(scratch(1, 256 * 512), {256, 512}),
            h3 = at_memory(scratch(2, 256 * 10), {256, 10}), r = at_memory(output(p.n()), {256, 10})]() mutable {
      at::addmm_out(h1, wide, x, w1);
      h1.relu_();
      at::addmm_out(h2, wide, h1, w2);
      h2.relu_();
      at::addmm_out(h3, narrow, h2, w3);
      at::_softmax_out(r, h3, 1, false);
    };
  });
}

void add_tiny() {
  add("tiny_triad", [](const problem&) {
    return [a = at_memory(input(0, 8), {8}), b = at_memory(input(1, 8), {8}), r = at_memory(output(8), {8})]() mutable {
      at::add_out(r, a, b, 1.5);
    };
  });
  add("tiny_matmul", [](const problem&) {
    return
        [a = mat(0, 4, 4), b = mat(1, 4, 4), c = mat(2, 4, 4), d = mat(3, 4, 4), t0 = at_memory(scratch(0, 16), {4, 4}),
         t1 = at_memory(scratch(1, 16), {4, 4}), r = at_memory(output(16), {4, 4})]() mutable {
          at::mm_out(t0, a, b);
          at::mm_out(t1, t0, c);
          at::mm_out(r, t1, d);
        };
  });
}

void register_cases() {
  add_maps();
  add_reductions();
  add_products();
  add_tiny();
  bench::on_threads(at::set_num_threads);
  bench::say_version("torch", TORCH_VERSION);
}
const bench::peer registered(register_cases);

}  // namespace
