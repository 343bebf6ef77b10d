// SPDX-License-Identifier: BSL-1.0
// Extents of 0, known to the compiler or to the run alone: NumPy's shapes and values.
#include <onto/einsum.hpp>
#include <onto/onto.hpp>
#include <onto/scan.hpp>
#include <onto/sort.hpp>

#include <array>
#include <tuple>

#include "../catch.hpp"

using namespace onto;

namespace {

/// That a result has these extents, and the same value everywhere.
template <class T, int... Dims, std::size_t Rank>
void check_all(const tensor<T, Dims...>& got, const std::array<int, Rank>& extents, T value) {
  CHECK(got.shape() == extents);
  for (const T v : got) CHECK(v == value);
}

/// The words whose extents are times or parts of their operands', of a matrix that is empty.
template <int Rows, int Columns>
void check_words(session& sess, int m, int n) {
  CAPTURE(Rows, Columns, m, n);
  constexpr auto x = placeholder<"x", float, Rows, Columns>;
  const tensor<float, Rows, Columns> X({m, n});
  const auto run = [&](const auto& e) { return sess.run(e, x = X); };
  using shape_2 = std::array<int, 2>;
  using shape_3 = std::array<int, 3>;
  check_all(run(pad<padding<1>, padding<1>>(x, 2)), shape_2{m + 2, n + 2}, 2.0f);
  check_all(run(pad<padding<0, 2>>(x)), shape_2{m + 2, n}, 0.0f);
  check_all(run(pad<padding<0>, padding<1, 0>>(x > 0.0f, true)), shape_2{m, n + 1}, true);
  check_all(run(repeat<2, 0>(x)), shape_2{2 * m, n}, 0.0f);
  check_all(run(repeat<2, 1>(x)), shape_2{m, 2 * n}, 0.0f);
  check_all(run(repeat<2>(x)), std::array<int, 1>{0}, 0.0f);
  check_all(run(tile<3>(x)), shape_2{m, 3 * n}, 0.0f);
  check_all(run(tile<2, 3>(x)), shape_2{2 * m, 3 * n}, 0.0f);
  check_all(run(tile<2, 1, 3>(x)), shape_3{2, m, 3 * n}, 0.0f);
  check_all(run(tile<0, 2>(x)), shape_2{0, 2 * n}, 0.0f);
  check_all(run(stack<-1>(x, x)), shape_3{m, n, 2}, 0.0f);
  check_all(run(concat<1>(flip(x), roll<1, 0>(x))), shape_2{m, 2 * n}, 0.0f);
  check_all(run(einsum<"ij,kj->ki">(x, x)), shape_2{m, m}, 0.0f);
  check_all(run(einsum<"ij,kj,kl->il">(x, x, x)), shape_2{m, n}, 0.0f);
  const auto s = expand_dims<0>(x);
  check_all(run(einsum<"bij,cij->bc">(s, s)), shape_2{1, 1}, 0.0f);
  check_all(run(einsum<"bij,bik->kj">(s, s)), shape_2{n, n}, 0.0f);
  check_all(run(einsum<"ij,jkl->kli">(x, stack<1>(transpose(x), transpose(x)))), shape_3{2, m, m}, 0.0f);
  check_all(run(gradient(sum(exp(tile<2, 3>(x))), x)), shape_2{m, n}, 0.0f);
  check_all(run(gradient(sum(exp(repeat<2, 1>(pad<padding<1>>(x)))), x)), shape_2{m, n}, 0.0f);
  check_all(run(gradient(sum(exp(reshape<dyn>(x))), x)), shape_2{m, n}, 0.0f);
}

}  // namespace

TEST_CASE("words of an empty matrix have NumPy's extents, whoever knows of them", "[session]") {
  session sess;
  check_words<0, 3>(sess, 0, 3);
  check_words<3, 0>(sess, 3, 0);
  check_words<0, dyn>(sess, 0, 3);
  check_words<0, dyn>(sess, 0, 0);
  check_words<dyn, 0>(sess, 3, 0);
  check_words<dyn, 3>(sess, 0, 3);
  check_words<dyn, dyn>(sess, 0, 3);
  check_words<dyn, dyn>(sess, 3, 0);
  check_words<dyn, dyn>(sess, 0, 0);
}

TEST_CASE("an empty axis is cut into empty parts, and the others stay", "[session]") {
  session sess;
  constexpr auto x = placeholder<"x", float, dyn, dyn>;
  using matrix = tensor<float, dyn, dyn>;
  using shape_2 = std::array<int, 2>;
  const auto rows = std::get<1>(split<3, 0>(x));
  const auto columns = std::get<1>(split<3, 1>(x));
  CHECK(sess.run(rows, x = matrix({0, 3})).shape() == shape_2{0, 3});
  CHECK(sess.run(columns, x = matrix({0, 3})).shape() == shape_2{0, 1});
  CHECK(sess.run(rows, x = matrix({3, 0})).shape() == shape_2{1, 0});
  CHECK_THROWS_AS(sess.run(columns, x = matrix({0, 2})), invalid_argument_error);
  CHECK_THROWS_AS(sess.run(squeeze<1>(x), x = matrix({0, 3})), invalid_argument_error);
  CHECK_THROWS_AS(sess.run(max<0>(x), x = matrix({0, 3})), invalid_argument_error);
  CHECK(sess.run(max<1>(x), x = matrix({0, 3})).size() == 0);
}

TEST_CASE("of nothing the distinct values are 0, none is found", "[session]") {
  session sess;
  constexpr auto x = placeholder<"x", float, dyn, dyn>;
  constexpr auto none = placeholder<"none", std::int16_t, 2, 0>;
  const auto u = unique<2>(x);
  const auto [values, counts, found] =
      sess.run(fetches(u.values, u.counts, u.found), x = tensor<float, dyn, dyn>({0, 3}));
  CHECK(values == tensor<float, 2>{0, 0});
  CHECK(counts == tensor<std::int64_t, 2>{0, 0});
  CHECK(found == 0);
  const auto v = unique<2>(none);
  const tensor<std::int16_t, 2, 0> N;
  CHECK(sess.run(v.values, none = N) == tensor<std::int16_t, 2>{0, 0});
  CHECK(sess.run(v.counts, none = N) == tensor<std::int64_t, 2>{0, 0});
  CHECK(sess.run(v.found, none = N) == 0);
}
