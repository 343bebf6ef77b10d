// SPDX-License-Identifier: BSL-1.0
// First and second derivatives of prod and cumprod, with any number of zeros, beside plain products.
#include <onto/scan.hpp>

#include <onto/onto.hpp>

#include "catch.hpp"

#include <vector>

using namespace onto;

namespace {

/// The product of the elements from 0 to `j` but `a` and `b`; from the end, those from `j` on.
double product(const std::vector<double>& x, int j, int a, int b, bool reverse) {
  double p = 1;
  const int n = static_cast<int>(x.size());
  for (int k = reverse ? j : 0; k <= (reverse ? n - 1 : j); ++k)
    if (k != a && k != b) p *= x[static_cast<std::size_t>(k)];
  return p;
}
bool has(int j, int a, bool reverse) { return reverse ? a >= j : a <= j; }

template <int Axis, int... Dims, class... Reverse>
void check_products(const Reverse&... reverse) {
  constexpr bool backwards = sizeof...(Reverse) > 0;
  constexpr int n = 5;
  constexpr auto x = placeholder<"x", double, Dims...>;
  constexpr auto v = placeholder<"v", double, Dims...>;
  constexpr auto w = placeholder<"w", double, Dims...>;
  const auto by_x = gradient(sum(square(cumprod<Axis>(x, reverse...)) * w), x);
  const auto second = gradient(sum(by_x * v), x);
  session sess;
  for (int zeros = 0; zeros < 8; ++zeros) {
    using matrix = tensor<double, Dims...>;
    const auto zeroed = [] { return Axis == 0 ? matrix({n, 2}) : matrix({2, n}); };
    matrix at = zeroed(), along = zeroed(), weights = zeroed();
    const auto cell = [&](matrix& m, int row, int k) -> double& { return Axis == 0 ? m(k, row) : m(row, k); };
    for (int r = 0; r < 2; ++r) {
      for (int k = 0; k < n; ++k) {
        cell(at, r, k) = (zeros >> (k % 3) & 1) != 0 && k != 4 ? 0.0 : 0.5 + 0.25 * k - 0.75 * r;
        cell(along, r, k) = 1.0 + 0.5 * k;
        cell(weights, r, k) = 0.5 + r + 0.125 * k;
      }
    }
    const auto [first, found] = sess.run(fetches(by_x, second), x = at, v = along, w = weights);
    for (int r = 0; r < 2; ++r) {
      std::vector<double> row(n);
      for (int k = 0; k < n; ++k) row[static_cast<std::size_t>(k)] = cell(at, r, k);
      for (int a = 0; a < n; ++a) {
        double wanted = 0, wanted_second = 0;
        for (int j = 0; j < n; ++j) {
          if (!has(j, a, backwards)) continue;
          const double y = product(row, j, -1, -1, backwards), by_a = product(row, j, a, -1, backwards);
          const double weight = cell(weights, r, j);
          wanted += 2 * weight * y * by_a;
          for (int b = 0; b < n; ++b) {
            if (!has(j, b, backwards)) continue;
            const double by_b = product(row, j, b, -1, backwards);
            const double both = a == b ? 0.0 : product(row, j, a, b, backwards);
            wanted_second += 2 * weight * (by_a * by_b + y * both) * cell(along, r, b);
          }
        }
        INFO("zeros " << zeros << ", row " << r << ", element " << a);
        matrix f = first, s = found;
        CHECK(cell(f, r, a) == Approx(wanted).margin(1e-12));
        CHECK(cell(s, r, a) == Approx(wanted_second).margin(1e-12));
      }
    }
  }
}

/// The derivatives of the product of each row of `x`, for every choice of zeros.
template <int... Dims>
void check_products_of_rows() {
  constexpr int n = 5;
  constexpr auto x = placeholder<"x", double, Dims...>;
  constexpr auto v = placeholder<"v", double, 2, n>;
  const auto by_x = gradient(sum(square(prod<1>(x)) * constant({0.5, 2.0})), x);
  const auto second = gradient(sum(by_x * v), x);
  session sess;
  for (int zeros = 0; zeros < 32; ++zeros) {
    tensor<double, Dims...> at({2, n});
    tensor<double, 2, n> along;
    for (int r = 0; r < 2; ++r)
      for (int k = 0; k < n; ++k) {
        at(r, k) = (zeros >> k & 1) != 0 && (r == 0 || k < 3) ? 0.0 : 0.5 + 0.25 * k - 0.875 * r;
        along(r, k) = 1.0 + 0.5 * k;
      }
    const auto [first, found] = sess.run(fetches(by_x, second), x = at, v = along);
    for (int r = 0; r < 2; ++r) {
      std::vector<double> row(n);
      for (int k = 0; k < n; ++k) row[static_cast<std::size_t>(k)] = at(r, k);
      const double y = product(row, n - 1, -1, -1, false), weight = r == 0 ? 0.5 : 2.0;
      for (int a = 0; a < n; ++a) {
        const double by_a = product(row, n - 1, a, -1, false);
        double wanted = 0;
        for (int b = 0; b < n; ++b) {
          const double by_b = product(row, n - 1, b, -1, false);
          wanted += 2 * weight * (by_a * by_b + (a == b ? 0.0 : y * product(row, n - 1, a, b, false))) * along(r, b);
        }
        INFO("zeros " << zeros << ", row " << r << ", element " << a);
        CHECK(first(r, a) == Approx(2 * weight * y * by_a).margin(1e-12));
        CHECK(found(r, a) == Approx(wanted).margin(1e-12));
      }
    }
  }
}

}  // namespace

TEST_CASE("prod has its first and second derivatives where elements are 0, too", "[gradient]") {
  check_products_of_rows<2, 5>();
  check_products_of_rows<dyn, dyn>();
  constexpr auto x = placeholder<"x", double, 4>;
  const auto all = gradient(sum(gradient(prod(x), x)), x);
  CHECK(evaluate(all, x = {0, 2, 3, 4}) == tensor<double, 4>{26, 12, 8, 6});
  CHECK(evaluate(all, x = {0, 2, 0, 4}) == tensor<double, 4>{8, 0, 8, 0});
  // Beside a zero that is no infinity: 0 times a product that is out of range.
  constexpr auto f = placeholder<"f", float, dyn>;
  CHECK(evaluate(gradient(prod(f), f), f = {0, 1e30f, 1e30f})(1) == 0);
}

TEST_CASE("cumprod has its first and second derivatives where elements are 0, too", "[gradient][scan]") {
  check_products<1, 2, 5>();
  check_products<0, 5, 2>();
  check_products<1, dyn, dyn>(reverse);
}
