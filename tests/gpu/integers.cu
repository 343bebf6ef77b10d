// SPDX-License-Identifier: BSL-1.0
// Integers of 8 to 64 bits, with and without a sign, compute on the GPU what NumPy computes.
#include "catch.hpp"

#include <conformance/integers.hpp>

#include "gpu.hpp"

using namespace onto;

namespace {

template <class T>
void check_integers() {
  session sess;
  integers::conformance<T, gpu<0>> c{sess, 37, 259};
  c.elementwise(integers::arithmetic{});
  c.elementwise(integers::comparisons{});
  c.elementwise(integers::casts{});
  c.reduce(integers::reductions{});
  c.template cast_from<float>();
  c.template cast_from<onto::half>();
}

}  // namespace

TEST_CASE("int8 on the GPU computes what NumPy computes", "[gpu]") { check_integers<std::int8_t>(); }
TEST_CASE("uint8 on the GPU computes what NumPy computes", "[gpu]") { check_integers<std::uint8_t>(); }
TEST_CASE("int16 on the GPU computes what NumPy computes", "[gpu]") { check_integers<std::int16_t>(); }
TEST_CASE("uint16 on the GPU computes what NumPy computes", "[gpu]") { check_integers<std::uint16_t>(); }
TEST_CASE("uint32 on the GPU computes what NumPy computes", "[gpu]") { check_integers<std::uint32_t>(); }
TEST_CASE("uint64 on the GPU computes what NumPy computes", "[gpu]") { check_integers<std::uint64_t>(); }
