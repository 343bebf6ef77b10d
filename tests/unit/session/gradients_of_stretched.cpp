// SPDX-License-Identifier: BSL-1.0
// Gradients by operands of which only the run knows whether they are stretched, beside central differences: each of
// several vectors of one element or of all.
#include <onto/scan.hpp>

#include <catch2/catch.hpp>

#include <cmath>

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", double, dyn>;
constexpr auto b = placeholder<"b", double, dyn>;
constexpr auto z = placeholder<"z", double, dyn>;

tensor<double, dyn> vector(int n, double first) {
  tensor<double, dyn> v({n});
  for (int k = 0; k < n; ++k) v(k) = first + 0.13 * k;
  return v;
}

/// Compares the gradients of `loss` by all three, and by two alone, with differences of it.
template <class Loss>
void check_gradients(const Loss& loss) {
  session s;
  const auto [by_a, by_b, by_z] = gradients(loss, a, b, z);
  for (int lengths = 0; lengths < 8; ++lengths) {
    tensor<double, dyn> at[] = {vector(lengths & 1 ? 5 : 1, 0.4), vector(lengths & 2 ? 5 : 1, 0.3),
                                vector(lengths & 4 ? 5 : 1, 0.7)};
    CAPTURE(lengths);
    const auto run = [&](const auto& e) { return s.run(e, a = at[0], b = at[1], z = at[2]); };
    const auto [ga, gb, gz] = run(fetches(by_a, by_b, by_z));
    const tensor<double, dyn>* const found[] = {&ga, &gb, &gz};
    CHECK(run(by_b).shape() == gb.shape());
    for (int v = 0; v < 3; ++v) {
      REQUIRE(found[v]->shape() == at[v].shape());
      for (int k = 0; k < at[v].shape()[0]; ++k) {
        const double here = at[v](k), step = 1e-5;
        at[v](k) = here + step;
        const double above = run(loss);
        at[v](k) = here - step;
        const double below = run(loss);
        at[v](k) = here;
        CHECK((*found[v])(k) == Approx((above - below) / (2 * step)).epsilon(1e-6).margin(1e-9));
      }
    }
  }
}

}  // namespace

TEST_CASE("vectors that may be stretched have their gradients, through chains of operations", "[gradient]") {
  check_gradients(sum(square(a * exp(-b * z) - z)));
  check_gradients(mean(log(a + sigmoid(b) * square(sigmoid(b) - z))));
  check_gradients(sum(sin(a * b) * tanh(b + 1.5) * sqrt(z)) + sum(square(a)) + mean(b * z));
  check_gradients(sum(exp(-square(expand_dims<1>(a * b) - expand_dims<0>(b * z)))));
  check_gradients(sum(where(a > 0.5, a * b, square(b) * z)));
  check_gradients(sum(pow(a * b, 2.0 * z)));
}

TEST_CASE("no NaN leaks from what a where did not take where only the run knows what it stretches", "[gradient]") {
  session s;
  const auto by_a = gradient(sum(where(b > 0, log(sqrt(a) * z), b)), a);
  const auto one = s.run(by_a, a = {0.0}, b = {-1.0, -2.0}, z = {1.0});
  CHECK(one == tensor<double, dyn>{0.0});
  const auto all = s.run(by_a, a = {0.0, 4.0}, b = {-1.0, 2.0}, z = {1.0});
  CHECK(all(0) == 0);
  CHECK(all(1) == Approx(0.125));
}

TEST_CASE("what a where did not take is known until it differs within a sum", "[gradient]") {
  constexpr auto x = placeholder<"x", float, 2>;
  constexpr auto column = placeholder<"column", float, 2, 1>;
  constexpr auto row = placeholder<"row", float, 3>;
  constexpr auto number = placeholder<"number", float>;
  session s;
  const auto at = [&](const auto& e) {
    return s.run(e, x = {0, 1}, column = {{0}, {4}}, row = {1, 2, 3}, number = 0.f);
  };
  const auto y = log(x);
  CHECK(at(gradient(sum(where(x > 0, y * y, 0.f)), x)) == tensor<float, 2>{0, 0});
  CHECK(at(gradient(sum(where(x > 0, y * y + sin(y), 0.f)), x)) == tensor<float, 2>{0, 1});
  CHECK(at(gradient(sum(where(column > 0, log(column) + row, 0.f)), column)) == tensor<float, 2, 1>{{0}, {0.75f}});
  CHECK(at(gradient(sum(where(number > 0, log(number) * row, 0.f)), number)) == tensor<float>(0));
}

TEST_CASE("what is not elementwise has all of a gradient that may be stretched", "[gradient]") {
  session s;
  const auto run = [&](const auto& e) { return s.run(e, a = {0.4, 0.5, 0.7}, b = {0.3}); };
  const auto by_a = run(gradient(sum(recompute(cumsum(a) * cumsum(b))), a));
  CHECK(by_a(0) == Approx(0.9));
  CHECK(by_a(2) == Approx(0.3));
  constexpr auto q = placeholder<"q", double, dyn>;
  constexpr auto p = placeholder<"p", double, 3>;
  const auto by_q = gradient(sum(square(q + flip<0>(p))), q);  // 2 (3 q + sum p) where q is one element
  CHECK(s.run(gradient(sum(square(by_q)), p), q = {0.5}, p = {1., 2., 3.}) == tensor<double, 3>{60, 60, 60});
  CHECK(s.run(gradient(sum(square(cumsum(by_q))), q), q = {0.5}, p = {1., 2., 3.}) == tensor<double, dyn>{180});
}

TEST_CASE("a sum of one value each is the value, whatever the elements lie in", "[reduce]") {
  constexpr auto x = placeholder<"x", float, dyn, dyn, dyn>;
  constexpr auto h = placeholder<"h", half, dyn, dyn, dyn>;
  constexpr auto n = placeholder<"n", std::int8_t, dyn, dyn, dyn>;
  session s;
  for (const int rows : {1, 3, 70}) {
    tensor<float, dyn, dyn, dyn> t({rows, 1, 133});
    tensor<half, dyn, dyn, dyn> th({rows, 1, 133});
    tensor<std::int8_t, dyn, dyn, dyn> tn({rows, 1, 133});
    for (std::size_t k = 0; k < t.size(); ++k) {
      t.data()[k] = static_cast<float>(k % 251) - 17.5f;
      th.data()[k] = half(static_cast<float>(k % 33));
      tn.data()[k] = static_cast<std::int8_t>(k % 200);
    }
    const auto [plain, mapped, turned, halves, small] =
        s.run(fetches(sum<1>(x), sum<1>(x * 2.f + 1.f), sum<1>(permute<2, 1, 0>(x)), sum<1>(h), sum<1>(n)), x = t,
              h = th, n = tn);
    int wrong = 0;
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 133; ++k) {
        wrong += plain(i, k) != t(i, 0, k) || mapped(i, k) != t(i, 0, k) * 2.f + 1.f || turned(k, i) != t(i, 0, k);
        wrong += halves(i, k) != th(i, 0, k) || small(i, k) != tn(i, 0, k);
      }
    CHECK(wrong == 0);
  }
}
