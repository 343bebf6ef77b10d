// SPDX-License-Identifier: BSL-1.0
// Gradients of random programs whose parts have equal types and hold different numbers, and of data of equal types,
// beside central differences in double: which gradients are numbers and which are sums hangs on the values, and every
// kernel that is needed is there.
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

#include "catch.hpp"
#include "session/simulated.hpp"

#include <cstdint>
#include <tuple>

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", double, 4, 3>;
inline constexpr auto w = placeholder<"w", double, 3, 3>;

constexpr int choice(int program, int at, int of) {
  const std::uint64_t r = detail::hash_mix(static_cast<std::uint64_t>(program), static_cast<std::uint64_t>(at)) >> 20;
  return static_cast<int>(r % static_cast<std::uint64_t>(of));
}

/// One of the steps of program `N`; `c` is the number that is held.
template <int N, int At>
auto one(const auto& e, double c) {
  constexpr int what = choice(N, At, 9);
  if constexpr (what == 0)
    return tanh(e * c);
  else if constexpr (what == 1)
    return exp(e * (c / 4));
  else if constexpr (what == 2)
    return matmul(e * c, w);
  else if constexpr (what == 3)
    return softmax(e * c);
  else if constexpr (what == 4)
    return e / (square(e) + c);
  else if constexpr (what == 5)
    return concat<0>(slice<range<1, 4>>(e * c), slice<range<0, 1>>(e));
  else if constexpr (what == 6)
    return max<1>(e * c, keep_extents) - e;
  else if constexpr (what == 7)
    return c - e;
  else
    return square(e) * c;
}

template <int N>
auto part(double c) {
  const auto e = one<N, 1>(one<N, 0>(x, c), c);
  constexpr int how = choice(N, 2, 3);
  if constexpr (how == 0)
    return sum(e);
  else if constexpr (how == 1)
    return mean_squared_error(e, x);
  else
    return sum(sum<1>(e) * c);
}

template <int N>
auto loss_of() {
  constexpr int how = choice(N, 3, 4);
  if constexpr (how == 0)
    return part<N>(0.5) + part<N>(2.);
  else if constexpr (how == 1)
    return part<N>(0.5) * part<N>(0.5) + part<N>(2.);
  else if constexpr (how == 2)
    return part<N>(0.5) + part<N>(2.) * part<N>(0.5);
  else
    return recompute(part<N>(0.5) * part<N>(2.)) + part<N>(2.);
}

template <int N>
void check_program(session& s) {
  INFO("program " << N);
  tensor<double, 4, 3> at;
  tensor<double, 3, 3> weights;
  for (int k = 0; k < 12; ++k) at.data()[k] = 0.31 + 0.05 * (k * 5 % 12);
  for (int k = 0; k < 9; ++k) weights.data()[k] = 0.2 + 0.1 * (k * 4 % 9);
  const auto loss = loss_of<N>();
  const auto g = s.run(gradient(loss, x), x = at, w = weights);
  for (int k = 0; k < 12; ++k) {
    tensor<double, 4, 3> above = at, below = at;
    above.data()[k] += 1e-5, below.data()[k] -= 1e-5;
    const double wanted = (static_cast<double>(s.run(loss, x = above, w = weights)) -
                           static_cast<double>(s.run(loss, x = below, w = weights))) /
                          2e-5;
    INFO("element " << k);
    CHECK(g.data()[k] == Approx(wanted).epsilon(1e-5).margin(1e-5));
  }
}

template <int... N>
void check_programs(session& s, std::integer_sequence<int, N...>) {
  (check_program<N>(s), ...);
}

using matrix = tensor<double, dyn, dyn>;

matrix matrix_of(int rows, int columns, double first) {
  matrix m({rows, columns});
  int k = 0;
  for (double& v : m) v = first + 0.07 * (5 * k++ % 11);
  return m;
}

/// Of a loss over two matrices, whose extents only the run knows, and `w`: its gradients by all three.
template <class Loss>
void check_data(const char* written, const Loss& loss, matrix a, matrix b) {
  INFO(written << " of " << a.shape()[0] << " x " << a.shape()[1] << " and " << b.shape()[0] << " x " << b.shape()[1]);
  tensor<double, 3, 3> weights;
  for (int k = 0; k < 9; ++k) weights.data()[k] = 0.2 + 0.1 * (k * 4 % 9);
  session s;
  const auto of_a = constant(a), of_b = constant(b);
  const auto by = gradients(loss(of_a, of_b), of_a, of_b, w);
  const auto [by_a, by_b, by_w] = s.run(fetches(std::get<0>(by), std::get<1>(by), std::get<2>(by)), w = weights);
  const auto check = [&](auto& data, const auto& got) {
    REQUIRE(got.shape() == data.shape());
    for (std::size_t k = 0; k < data.size(); ++k) {
      const double was = data.data()[k];
      const auto value = [&](double now) {
        data.data()[k] = now;
        return static_cast<double>(s.run(loss(constant(a), constant(b)), w = weights));
      };
      const double wanted = (value(was + 1e-5) - value(was - 1e-5)) / 2e-5;
      data.data()[k] = was;
      INFO("element " << k);
      CHECK(got.data()[k] == Approx(wanted).epsilon(1e-5).margin(1e-5));
    }
  };
  check(a, by_a);
  check(b, by_b);
  check(weights, by_w);
}
#define ONTO_CHECK_DATA(a_, b_, ...) \
  check_data(                        \
      #__VA_ARGS__, [](const auto& a, const auto& b) { return __VA_ARGS__; }, a_, b_)

}  // namespace

TEST_CASE("data of one type broadcast in a loss, and its gradients are summed back", "[gradient]") {
  const matrix whole = matrix_of(3, 3, 0.3), row = matrix_of(1, 3, 0.3), column = matrix_of(3, 1, 0.3),
               other = matrix_of(3, 3, 0.33);
  for (const matrix& m : {whole, row, column, matrix_of(1, 1, 0.3)}) {
    ONTO_CHECK_DATA(m, other, sum(a * b * w));
    ONTO_CHECK_DATA(other, m, sum(softmax(where(a > b, a, b * b)) * w));
  }
  ONTO_CHECK_DATA(row, matrix_of(3, 1, 0.33), sum(a * b * w));
  // Least squares.
  ONTO_CHECK_DATA(whole, other, mean(square(matmul(a, w) - b)));
  ONTO_CHECK_DATA(whole, row, mean(square(matmul(a, w) - b)));
  ONTO_CHECK_DATA(whole, other, sum(sum<0>(a) * sum<0>(b)) * sum(w));
}

TEST_CASE("second derivatives find the extents of what values tell apart", "[gradient]") {
  constexpr auto v = placeholder<"v", double, dyn>;
  const auto part = sum(square(dynamic_slice<2>(v, constant({1}))));
  const auto taken = sum(take<0>(v, constant({2})));
  const auto first = gradient(part + taken, v);
  session sess;
  const tensor<double, dyn> at{1, 2, 3};
  CHECK(sess.run(first, v = at) == tensor<double, dyn>{0, 4, 7});
  CHECK(sess.run(gradient(sum(square(first)), v), v = at) == tensor<double, dyn>{0, 16, 28});
  const auto added = sum(scatter_add(v, constant({0}), slice<0, 1>(square(v))));
  CHECK(sess.run(gradient(sum(square(gradient(part + added, v))), v), v = at) == tensor<double, dyn>{12, 20, 28});
}

TEST_CASE("gradients of what values tell apart have all their kernels", "[gradient]") {
  session here, there{onto_test::simulated_alone({.simulated_gpus = 1})};
  check_programs(here, std::make_integer_sequence<int, 9>{});
  check_programs(there, std::make_integer_sequence<int, 9>{});
}
