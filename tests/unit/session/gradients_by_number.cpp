// SPDX-License-Identifier: BSL-1.0
// Gradients of what reads, writes and orders elements by number, and of scans, beside central differences.
#include <onto/sort.hpp>

#include "gradient_check.hpp"

using namespace onto;
using namespace onto_test;

TEST_CASE("elements that are read by number get back what was made of them", "[gradient][indexing]") {
  CHECK_BOTH(take<0>(e, constant({0, 2, -1, 2, 7})));
  CHECK_BOTH(take<1>(e, constant({{0, 2}, {1, 1}})));
  CHECK_BOTH(take(e, constant({{0, 11}, {5, 5}})));
  CHECK_BOTH(take_along_axis<1>(e, constant({{0, 2}, {1, 1}, {2, 2}, {0, 0}})));
  CHECK_BOTH(take_along_axis<0>(e, constant({{0, 2, 1}, {3, 3, 3}})));
  CHECK_BOTH(take_along_axis<0>(e, constant({{0}, {3}, {3}})));
  CHECK_BOTH(take_along_axis<1>(slice<0, 1>(e), constant({{0, 2}, {1, 1}, {2, 2}, {0, 0}})));
  CHECK_BOTH(dynamic_slice<2, 2>(e, constant({1, 1})));
}

TEST_CASE("elements that are written by number give what came of them", "[gradient][indexing]") {
  CHECK_BOTH(update_slice(e, square(slice<0, 2>(e)), constant({1, 0})));
  CHECK_BOTH(scatter(e, constant({1, 1, 9}), square(slice<0, 3>(e))));
  CHECK_BOTH(scatter_add(e, constant({1, 1, -1}), square(slice<0, 3>(e))));
  CHECK_BOTH(segment_sum<3>(e, constant({1, 1, 0, 4})));
  CHECK_BOTH(segment_max<2>(e, constant({1, 1, 0, 4})));
}

TEST_CASE("the gradient of an update has a gradient", "[gradient][indexing]") {
  static constexpr auto v = placeholder<"v", double, 4>;
  static constexpr auto u = placeholder<"u", double, 2>;
  const auto loss = sum(square(square(update_slice(v, u, constant({1})))));
  const auto feeds = [&](const auto& e) { return evaluate(e, v = {1, 2, 3, 4}, u = {1, 2}); };
  CHECK(feeds(gradient(sum(gradient(loss, u)), u)) == tensor<double, 2>{12, 48});
  CHECK(feeds(gradient(sum(gradient(loss, v) * v), v)) == tensor<double, 4>{16, 0, 0, 1024});
}

TEST_CASE("order passes its gradient back by numbers", "[gradient][sort]") {
  CHECK_BOTH(sort(e));
  CHECK_BOTH(sort<0>(e, descending));
  CHECK_BOTH(top_k<2>(e).values);
  CHECK_BOTH(unique<5>(e).values);
}

TEST_CASE("scans have their derivatives", "[gradient][scan]") {
  CHECK_BOTH(cumsum<0>(e, reverse));
  CHECK_BOTH(cumprod(e));
  CHECK_BOTH(cumprod<0>(e, reverse));
  CHECK_BOTH(cummax<0>(e));
  CHECK_BOTH(cummax(e));
  CHECK_BOTH(cummin(e, reverse));
}

TEST_CASE("a scan of products passes zeros as products do", "[gradient][scan]") {
  constexpr auto v = placeholder<"v", double, 5>;
  session run;
  const auto by_v = [&](tensor<double, 5> at) { return run.run(gradient(sum(cumprod(v)), v), v = at); };
  // y = 2, 0, 0, 0, 0: by the zero the products without it, 2 + 6 + 24 + 120; by the others only what is before it.
  CHECK(by_v({2, 0, 3, 4, 5}) == tensor<double, 5>{1, 2 * (1 + 3 + 12 + 60), 0, 0, 0});
  CHECK(by_v({2, 0, 3, 0, 5}) == tensor<double, 5>{1, 2 * (1 + 3), 0, 0, 0});
}

TEST_CASE("of equal extremes a scan's last one has the gradient", "[gradient][scan]") {
  constexpr auto v = placeholder<"v", double, 4>;
  session run;
  CHECK(run.run(gradient(sum(cummax(v)), v), v = tensor<double, 4>{1, 1, 2, 2}) == tensor<double, 4>{1, 1, 1, 1});
  CHECK(run.run(gradient(sum(cummax(v)), v), v = tensor<double, 4>{3, 1, 2, 2}) == tensor<double, 4>{4, 0, 0, 0});
}

TEST_CASE("numbers have second derivatives", "[gradient][indexing]") {
  const auto taken = gradient(sum(cumsum(square(take<0>(x, constant({0, 2, 2}))))), x);
  check(sum(square(taken)), x, points(0.1, 1.2));
  const auto put = gradient(sum(square(scatter(x, constant({1, 1, 9}), square(slice<0, 3>(x))))), x);
  check(sum(square(put)), x, points(0.1, 1.2));
}

TEST_CASE("a gradient has the extents of values that nothing needs", "[gradient]") {
  session run;
  constexpr auto v = placeholder<"v", double, dyn>;
  const tensor<double, dyn> at{1, 2, 3, 4, 5};
  CHECK(run.run(gradient(sum(cumsum(v)), v), v = at) == tensor<double, dyn>{5, 4, 3, 2, 1});
  CHECK(run.run(gradient(mean(cumsum(v, reverse)), v), v = tensor<double, dyn>{1, 2, 3, 4}) ==
        tensor<double, dyn>{0.25, 0.5, 0.75, 1});
  CHECK(run.run(gradient(sum(take<0>(sort(v), constant({4, 4}))), v), v = at) == tensor<double, dyn>{0, 0, 0, 0, 2});
  CHECK(evaluate(gradient(sum(cumsum(v)), v), v = at) == tensor<double, dyn>{5, 4, 3, 2, 1});

  // Nothing needs the sums either, nor has the result their extents.
  constexpr auto table = placeholder<"table", double, dyn, dyn>;
  CHECK(run.run(gradient(sum(cumsum(sum<0>(table))), table), table = tensor<double, dyn, dyn>{{1, 2, 3}, {4, 5, 6}}) ==
        tensor<double, dyn, dyn>{{3, 2, 1}, {3, 2, 1}});
}
