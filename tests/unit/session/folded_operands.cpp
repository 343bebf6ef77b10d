// SPDX-License-Identifier: BSL-1.0
// What a reduction reads for each element of its result stays while the result is made, though it has its shape and
// nobody reads it later.
#include <onto/onto.hpp>

#include "../catch.hpp"

#include <cmath>

using namespace onto;

namespace {

constexpr auto column = placeholder<"column", double, dyn, 1>;
constexpr auto rows = placeholder<"rows", double, dyn, 1, 1>;

/// `e` is, for a column of 0 to `n - 1` and rows of 100 times that, `at(k)` in row `k`.
template <class E, class F>
void check(session& sess, const E& e, int n, F at) {
  tensor<double, dyn, 1> c({n, 1});
  tensor<double, dyn, 1, 1> r({n, 1, 1});
  for (int k = 0; k < n; ++k) {
    c(k, 0) = k;
    r(k, 0, 0) = 100 * k;
  }
  INFO(n);
  const auto got = sess.run(e, column = c, rows = r);
  REQUIRE(got.size() == static_cast<std::size_t>(n));
  for (int k = 0; k < n; ++k) CHECK(got.data()[k] == Approx(at(k)));
}

}  // namespace

TEST_CASE("a result does not take over what its reduction reads again", "[session][memory]") {
  session sess{{.simulated_gpus = 1, .cpu_threads = 2}};
  for (const int n : {2, 17, 40, 300}) {
    check(sess, on<gpu<0>>(max<1>(column + rows)), n, [n](int k) { return 100 * k + n - 1; });
    // Of what a kernel before has made, and a kernel after reads.
    check(sess, on<cpu<0>>(max<1>(tanh(column) + rows) * 2), n,
          [n](int k) { return 2 * (100 * k + std::tanh(n - 1.0)); });
    check(sess, on<gpu<0>>(sum<1>(column + rows, keep_extents) * 2), n,
          [n](int k) { return 2 * (100.0 * k * n + n * (n - 1) / 2); });
  }
}
