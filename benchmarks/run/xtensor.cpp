// SPDX-License-Identifier: BSL-1.0
// xtensor with xsimd and OpenMP: adapted memory, xt::noalias, immediate reductions. OpenMP begins where the
// hand-written loops begin with it, by the macro that its documentation names. It has no product of its own.
#define XTENSOR_USE_XSIMD
#define XTENSOR_USE_OPENMP
#define XTENSOR_OPENMP_TRESHOLD 20000
#include "bench.hpp"

#include <xtensor/xadapt.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include <array>

namespace {

using bench::input;
using bench::output;
using bench::problem;
using bench::scratch;
using extent = std::size_t;

auto vector_at(const float* data, std::int64_t n) {
  return xt::adapt(data, static_cast<extent>(n), xt::no_ownership(), std::array<extent, 1>{static_cast<extent>(n)});
}
auto vector_at(float* data, std::int64_t n) {
  return xt::adapt(data, static_cast<extent>(n), xt::no_ownership(), std::array<extent, 1>{static_cast<extent>(n)});
}
auto matrix_at(const float* data, std::int64_t rows, std::int64_t cols) {
  return xt::adapt(data, static_cast<extent>(rows * cols), xt::no_ownership(),
                   std::array<extent, 2>{static_cast<extent>(rows), static_cast<extent>(cols)});
}
auto matrix_at(float* data, std::int64_t rows, std::int64_t cols) {
  return xt::adapt(data, static_cast<extent>(rows * cols), xt::no_ownership(),
                   std::array<extent, 2>{static_cast<extent>(rows), static_cast<extent>(cols)});
}
auto in(int k, const problem& p) { return vector_at(input(k, p.n()), p.n()); }
auto out(const problem& p) { return vector_at(output(p.n()), p.n()); }

void add_maps() {
  bench::add("xtensor", "triad", [](const problem& p) {
    return [a = in(0, p), b = in(1, p), r = out(p)]() mutable { xt::noalias(r) = a + 1.5f * b; };
  });
  bench::add("xtensor", "chain", [](const problem& p) {
    return [a = in(0, p), b = in(1, p), c = in(2, p), d = in(3, p), r = out(p)]() mutable {
      xt::noalias(r) = xt::sqrt(a * a + b * b) * c - d / (a + 1.0f) + xt::maximum(b, 0.0f);
    };
  });
  bench::add("xtensor", "exp",
             [](const problem& p) { return [a = in(0, p), r = out(p)]() mutable { xt::noalias(r) = xt::exp(a); }; });
  bench::add("xtensor", "tanh",
             [](const problem& p) { return [a = in(0, p), r = out(p)]() mutable { xt::noalias(r) = xt::tanh(a); }; });
  bench::add("xtensor", "gelu", [](const problem& p) {
    return [a = in(0, p), r = out(p)]() mutable {
      xt::noalias(r) = 0.5f * a * (xt::tanh(0.7978845608f * (a + 0.044715f * a * a * a)) + 1.0f);
    };
  });
  bench::add("xtensor", "rowadd", [](const problem& p) {
    return [x = matrix_at(input(0, p.n()), p.rows, p.cols), row = vector_at(input(1, p.cols), p.cols),
            r = matrix_at(output(p.n()), p.rows, p.cols)]() mutable { xt::noalias(r) = xt::maximum(x + row, 0.0f); };
  });
  bench::add("xtensor", "sliced", [](const problem& p) {
    return [x = matrix_at(input(0, 2 * p.n()), p.rows, 2 * p.cols), y = matrix_at(input(1, p.n()), p.rows, p.cols),
            r = matrix_at(output(p.n()), p.rows, p.cols)]() mutable {
      using namespace xt::placeholders;
      xt::noalias(r) = xt::view(x, xt::all(), xt::range(0, _, 2)) + y;
    };
  });
  bench::add("xtensor", "transposed", [](const problem& p) {
    return [a = matrix_at(input(0, p.n()), p.rows, p.cols), b = matrix_at(input(1, p.n()), p.rows, p.cols),
            r = matrix_at(output(p.n()), p.rows, p.cols)]() mutable { xt::noalias(r) = a + xt::transpose(b); };
  });
}

void add_reductions() {
  bench::add("xtensor", "sqdiff", [](const problem& p) {
    return [a = in(0, p), b = in(1, p)] {
      return static_cast<float>(xt::sum<float>(xt::square(a - b), xt::evaluation_strategy::immediate)());
    };
  });
  bench::add("xtensor", "argmax", [](const problem& p) { return [a = in(0, p)] { return xt::argmax(a)(); }; });
  bench::add("xtensor", "softmax", [](const problem& p) {
    return [x = matrix_at(input(0, p.n()), p.rows, p.cols), r = matrix_at(output(p.n()), p.rows, p.cols)]() mutable {
      const auto now = xt::keep_dims | xt::evaluation_strategy::immediate;
      const xt::xtensor<float, 2> largest = xt::amax(x, {1}, now);
      xt::noalias(r) = xt::exp(x - largest);
      const xt::xtensor<float, 2> total = xt::sum<float>(r, {1}, now);
      r /= total;
    };
  });
  bench::add("xtensor", "layernorm", [](const problem& p) {
    return [x = matrix_at(input(0, p.n()), p.rows, p.cols), gamma = vector_at(input(1, p.cols), p.cols),
            beta = vector_at(input(2, p.cols), p.cols), r = matrix_at(output(p.n()), p.rows, p.cols)]() mutable {
      const auto now = xt::keep_dims | xt::evaluation_strategy::immediate;
      const float count = static_cast<float>(x.shape()[1]);
      const xt::xtensor<float, 2> mean = xt::sum<float>(x, {1}, now) / count;
      const xt::xtensor<float, 2> variance = xt::sum<float>(xt::square(x - mean), {1}, now) / count;
      const xt::xtensor<float, 2> scale = 1.0f / xt::sqrt(variance + 1e-5f);
      xt::noalias(r) = (x - mean) * scale * gamma + beta;
    };
  });
}

void add_tiny() {
  bench::add("xtensor", "tiny_triad", [](const problem&) {
    using fixed = xt::xtensor_fixed<float, xt::xshape<8>>;
    fixed a, b;
    std::copy(input(0, 8), input(0, 8) + 8, a.begin());
    std::copy(input(1, 8), input(1, 8) + 8, b.begin());
    return [a, b, r = fixed()]() mutable -> const fixed& {
      xt::noalias(r) = a + 1.5f * b;
      return r;
    };
  });
}

void register_cases() {
  add_maps();
  add_reductions();
  add_tiny();
  bench::say_version("xtensor", std::to_string(XTENSOR_VERSION_MAJOR) + '.' + std::to_string(XTENSOR_VERSION_MINOR) +
                                    '.' + std::to_string(XTENSOR_VERSION_PATCH) + ", xsimd " +
                                    std::to_string(XSIMD_VERSION_MAJOR) + '.' + std::to_string(XSIMD_VERSION_MINOR));
}
const bench::peer registered(register_cases);

}  // namespace
