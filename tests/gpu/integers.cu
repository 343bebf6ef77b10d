// SPDX-License-Identifier: BSL-1.0
// Integers of 8 to 64 bits, with and without a sign, compute on the GPU what NumPy computes.
#include "catch.hpp"

#include <conformance/integers.hpp>

#include "gpu.hpp"

using namespace onto;

namespace {

template <class T>
using on_gpu = integers::conformance<T, gpu<0>>;

/// Arithmetic and reductions, which each type has its own way of.
template <class T>
on_gpu<T> check_integers(session& sess) {
  on_gpu<T> c{sess, 37, 259};
  c.elementwise(integers::arithmetic{});
  c.reduce(integers::reductions{});
  return c;
}

}  // namespace

TEST_CASE("integers with a sign compute on the GPU what NumPy computes", "[gpu]") {
  session sess;
  on_gpu<std::int8_t> c = check_integers<std::int8_t>(sess);
  c.elementwise(integers::comparisons{});
  c.cast_from<onto::half>();
  check_integers<std::int16_t>(sess).elementwise(integers::casts{});
}

TEST_CASE("integers without a sign compute on the GPU what NumPy computes", "[gpu]") {
  session sess;
  on_gpu<std::uint8_t> c = check_integers<std::uint8_t>(sess);
  c.elementwise(integers::casts{});
  c.cast_from<float>();
  check_integers<std::uint16_t>(sess);
  check_integers<std::uint32_t>(sess).elementwise(integers::comparisons{});
  check_integers<std::uint64_t>(sess).cast_from<double>();
}

TEST_CASE("one kernel makes floats, truth values and narrow integers", "[gpu]") {
  session sess;
  constexpr auto x = placeholder<"x", float, dyn>;
  const auto made = [&](auto where) {
    return on<decltype(where)>(fetches(2_c * x, 2_c * x < x, cast<std::int8_t>(2_c * x)));
  };
  CHECK(plan_of(made(gpu<0>{})).kernels == 1);
  for (const int size : {1, 3, 8, 130, 1021}) {
    tensor<float, dyn> X({size});
    for (int k = 0; k < size; ++k) X(k) = static_cast<float>(k % 90 - 45) * 0.75f;
    CHECK(sess.run(made(gpu<0>{}), x = X) == sess.run(made(cpu<0>{}), x = X));
  }
}
