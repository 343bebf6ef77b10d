// SPDX-License-Identifier: BSL-1.0
// Integers, conditions and places beside what goes by vectors: in a kernel with exp they are what they are in one of
// their own.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto m = placeholder<"m", float, dyn>;

/// `e` where it is computed beside exp, whose part is 0.
template <class E>
auto beside_exp(const E& e) {
  return exp(m) * 0_c + cast<float>(e);
}

#define CHECK_BESIDE(...)                                                                                              \
  do {                                                                                                                 \
    INFO(#__VA_ARGS__);                                                                                                \
    CHECK(sess.run(beside_exp(__VA_ARGS__), m = M, a = A, b = B) == sess.run(cast<float>(__VA_ARGS__), a = A, b = B)); \
  } while (false)

/// Every pair of some numbers, the greatest and the least among them.
template <class T>
void check_integers(session& sess) {
  constexpr auto a = placeholder<"a", T, dyn>;
  constexpr auto b = placeholder<"b", T, dyn>;
  std::vector<T> some{0, 1, 2, 3, 5, 7, 31, 32, 100, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
  if constexpr (std::is_signed_v<T>)
    for (const int k : {-1, -2, -3, -8, -100}) some.push_back(static_cast<T>(k));
  for (const std::size_t count : {some.size() * some.size(), std::size_t{3}, std::size_t{37}}) {
    tensor<T, dyn> A({count}), B({count});
    for (std::size_t k = 0; k < count; ++k) {
      A.data()[k] = some[k % some.size()];
      B.data()[k] = some[k / some.size() % some.size()];
    }
    const tensor<float, dyn> M({count});
    CAPTURE(name_of(element_of<T>), count);
    CHECK_BESIDE(a & b);
    CHECK_BESIDE(a | b);
    CHECK_BESIDE(a ^ b);
    CHECK_BESIDE(~a);
    CHECK_BESIDE(a << b);
    CHECK_BESIDE(a >> b);
    CHECK_BESIDE(a / b);
    CHECK_BESIDE(a % b);
    CHECK_BESIDE(a % c<3>);
    CHECK_BESIDE(a % c<1>);
    CHECK_BESIDE(a % c<64>);
    CHECK_BESIDE(a % 8);
    CHECK_BESIDE(pow(a, b));
    CHECK_BESIDE(sign(a));
    CHECK_BESIDE(where((a & c<1>) == c<0>, a, b));
    CHECK_BESIDE(iota_like(a) + a);
    CHECK_BESIDE(ones_like(a) + a);
  }
}

}  // namespace

TEST_CASE("integers beside exp are what they are alone", "[session]") {
  session sess;
  check_integers<std::int8_t>(sess);
  check_integers<std::uint8_t>(sess);
  check_integers<std::int16_t>(sess);
  check_integers<std::uint16_t>(sess);
  check_integers<std::int32_t>(sess);
  check_integers<std::uint32_t>(sess);
}

TEST_CASE("numbers of elements beside exp count from 0", "[session]") {
  session sess;
  constexpr auto f = placeholder<"f", double, dyn>;
  for (const int count : {1, 5, 16, 50, 100}) {
    const tensor<float, dyn> M({count});
    const tensor<double, dyn> F({count});
    const auto counted = sess.run(exp(m) * 0_c + iota_like(m), m = M);
    const auto wide = sess.run(exp(f) * 0_c + iota_like(f), f = F);
    for (int k = 0; k < count; ++k) CHECK((counted(k) == float(k) && wide(k) == k));
  }
  const tensor<float, 50> fifty = sess.run(exp(placeholder<"m", float, 50>) * 0_c + iota<float, 50>(),
                                           placeholder<"m", float, 50> = tensor<float, 50>());
  for (int k = 0; k < 50; ++k) CHECK(fifty(k) == float(k));
}

namespace {

template <int... Dims>
void check_triangles(session& sess) {
  constexpr auto x = placeholder<"x", float, Dims...>;
  constexpr auto open = placeholder<"open", float, (Dims * 0 - 1)...>;  // the same whose extents the run knows
  tensor<float, Dims...> X;
  for (std::size_t k = 0; k < X.size(); ++k) X.data()[k] = static_cast<float>(k % 7) / 4;
  const auto numbers = [&](auto e) { return sess.run(e, x = X); };
  const auto of_open = [&](auto e) { return sess.run(e, open = X); };
  const auto ones = cast<std::int8_t>(x == x);
  constexpr int rank = sizeof...(Dims), extents[] = {Dims...}, rows = extents[rank - 2], columns = extents[rank - 1];
  const auto check = [&](int diagonal, bool lower, const auto& of_floats, const auto& of_dyn, const auto& of_truths,
                         const auto& of_bytes) {
    for (std::size_t k = 0; k < X.size(); ++k) {
      const int column = static_cast<int>(k) % columns, row = static_cast<int>(k) / columns % rows;
      const bool inside = lower ? column - row <= diagonal : column - row >= diagonal;
      const float wanted = inside ? std::exp(X.data()[k]) : 0.0f;
      CHECK(of_floats.data()[k] == Approx(wanted));
      CHECK(of_dyn.data()[k] == Approx(wanted));
      CHECK(of_truths.data()[k] == Approx(wanted));
      CHECK(of_bytes.data()[k] == Approx(wanted));
    }
  };
#define CHECK_TRIANGLE(Word, diagonal)                                                                               \
  check(diagonal, std::string(#Word) == "tril", numbers(Word<diagonal>(exp(x))), of_open(Word<diagonal>(exp(open))), \
        numbers(where(Word<diagonal>(x == x), exp(x), 0_c)), numbers(exp(x) * cast<float>(Word<diagonal>(ones))))
  CHECK_TRIANGLE(tril, 0);
  CHECK_TRIANGLE(tril, 2);
  CHECK_TRIANGLE(triu, -1);
  CHECK_TRIANGLE(triu, 1);
}

}  // namespace

TEST_CASE("triangles beside exp have their diagonals", "[session]") {
  session sess;
  check_triangles<1, 1>(sess);
  check_triangles<3, 5>(sess);
  check_triangles<7, 3>(sess);
  check_triangles<2, 16>(sess);
  check_triangles<20, 17>(sess);
  check_triangles<40, 33>(sess);
  check_triangles<3, 2, 9>(sess);
  check_triangles<2, 20, 2>(sess);
}
