// SPDX-License-Identifier: BSL-1.0
// The operators on bits and % compute what NumPy's do, on the CPU and on a simulated GPU.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "catch.hpp"

using namespace onto;

namespace {

template <class T>
inline constexpr auto a = placeholder<"a", T, dyn>;
template <class T>
inline constexpr auto b = placeholder<"b", T, dyn>;
constexpr auto p = placeholder<"p", bool, dyn>;
constexpr auto q = placeholder<"q", bool, dyn>;

template <class T>
using list = tensor<T, dyn>;

}  // namespace

TEMPLATE_TEST_CASE("Operators work on the bits of each integer", "[bitwise]", std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  using T = TestType;
  constexpr T top = std::numeric_limits<T>::max(), bottom = std::numeric_limits<T>::lowest();
  const list<T> x{T(12), T(0), top, bottom}, y{T(10), top, top, top};
  session sess{{.simulated_gpus = 1}};
  CHECK(sess.run(on<cpu<0>>(a<T> & b<T>), a<T> = x, b<T> = y) == list<T>{T(8), T(0), top, T(0)});
  CHECK(sess.run(a<T> & b<T>, a<T> = x, b<T> = y) == list<T>{T(8), T(0), top, T(0)});
  CHECK(sess.run(a<T> | b<T>, a<T> = x, b<T> = y) == list<T>{T(14), top, top, static_cast<T>(bottom | top)});
  CHECK(sess.run(a<T> ^ b<T>, a<T> = x, b<T> = y) == list<T>{T(6), top, T(0), static_cast<T>(bottom ^ top)});
  CHECK(sess.run(~a<T>, a<T> = x) ==
        list<T>{static_cast<T>(~T(12)), static_cast<T>(~T(0)), static_cast<T>(~top), static_cast<T>(~bottom)});
  CHECK(sess.run((a<T> & 1) | 6_c, a<T> = x) == list<T>{T(6), T(6), T(7), T(6)});
}

TEMPLATE_TEST_CASE("Shifts move bits, and leave nothing beyond the width", "[bitwise]", std::int8_t, std::uint8_t,
                   std::int16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  using T = TestType;
  constexpr T width = 8 * sizeof(T), bottom = std::numeric_limits<T>::lowest();
  constexpr T signs = std::is_signed_v<T> ? static_cast<T>(-1) : T{0};
  session sess;
  const list<T> x{T(5), T(5), T(5), T(5)}, by{T(0), T(3), width, T(width + 1)};
  CHECK(sess.run(a<T> << b<T>, a<T> = x, b<T> = by) == list<T>{T(5), T(40), T(0), T(0)});
  CHECK(sess.run(a<T> >> b<T>, a<T> = x, b<T> = by) == list<T>{T(5), T(0), T(0), T(0)});
  CHECK(sess.run(a<T> >> T(width - 1), a<T> = list<T>{bottom}) == list<T>{signs});
  CHECK(sess.run(a<T> >> width, a<T> = list<T>{static_cast<T>(-4)}) == list<T>{signs});
  CHECK(sess.run(a<T> << static_cast<T>(-1), a<T> = x) == list<T>{T(0), T(0), T(0), T(0)});
}

TEST_CASE("On bools the operators are logic", "[bitwise]") {
  session sess;
  const list<bool> x{false, false, true, true}, y{false, true, false, true};
  CHECK(sess.run(p & q, p = x, q = y) == list<bool>{false, false, false, true});
  CHECK(sess.run(p | q, p = x, q = y) == list<bool>{false, true, true, true});
  CHECK(sess.run(p ^ q, p = x, q = y) == list<bool>{false, true, true, false});
  CHECK(sess.run(~p, p = x) == list<bool>{true, true, false, false});
  CHECK(sess.run((a<float> > 1) & (a<float> < 3), a<float> = {1, 2, 3}) == list<bool>{false, true, false});
}

TEST_CASE("A remainder has the sign of the right operand, as NumPy's", "[bitwise]") {
  session sess;
  CHECK(sess.run(a<int> % 3, a<int> = {-4, -3, -1, 0, 1, 4}) == list<int>{2, 0, 2, 0, 1, 1});
  CHECK(sess.run(a<int> % -3, a<int> = {-4, -3, -1, 0, 1, 4}) == list<int>{-1, 0, -1, 0, -2, -2});
  CHECK(sess.run(a<int> % 0, a<int> = {-4, 4}) == list<int>{0, 0});
  CHECK(sess.run(a<std::uint8_t> % 7, a<std::uint8_t> = {250, 7}) == list<std::uint8_t>{5, 0});
  CHECK(sess.run(a<float> % 2.5f, a<float> = {-1, 1, 6}) == list<float>{1.5f, 1, 1});
  CHECK(sess.run(5 % a<double>, a<double> = {3, -3}) == list<double>{2, -1});
}

TEST_CASE("A plus before an expression is the expression", "[bitwise]") {
  session sess;
  CHECK(sess.run(+a<float>, a<float> = {1, -2}) == list<float>{1, -2});
}
