// SPDX-License-Identifier: BSL-1.0
// The products of libraries, called for sizes of all kinds, against three loops: operands of any strides, what is
// added, and the parts that threads take. cpu_matmul leaves small products to the built-in, and would not get here.
// Built without a library, as by the sanitizers, there is nothing to call.
#include <onto/backend/cpu/matmul.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "reference.hpp"

using namespace backend_cpu;
using onto::detail::gemm_target;
using onto::detail::has_cblas;
using onto::detail::has_onednn;
using onto::detail::matmul_library;
using onto::detail::matrix_view;
using onto::detail::thread_pool;

#if defined(ONTO_HAS_CBLAS) || defined(ONTO_HAS_ONEDNN)

namespace {

enum class layout { rows, columns, spread };
enum class addend { none, bias, column, turned, in_place };

/// A matrix with a margin between its runs.
template <class T>
struct matrix {
  std::vector<T> values;
  matrix_view<T> view;

  matrix(std::int64_t rows, std::int64_t columns, layout l, rng& r) {
    const std::int64_t step = l == layout::spread ? 2 : 1;
    const std::int64_t lead = (l == layout::columns ? rows : columns) * step + 3;
    values.resize(static_cast<std::size_t>((l == layout::columns ? columns : rows) * lead));
    for (T& x : values) x = random_value<T>(r);
    view = l == layout::columns ? matrix_view<T>{values.data(), 1, lead} : matrix_view<T>{values.data(), lead, step};
  }
  double at(std::int64_t i, std::int64_t j) const {
    return static_cast<double>(view.data[i * view.row + j * view.column]);
  }
};

template <class T, matmul_library Library>
void check(thread_pool& pool, std::int64_t m, std::int64_t n, std::int64_t k, layout of_a, layout of_b, addend adds,
           bool relu, rng& r) {
  const matrix<T> a(m, k, of_a, r), b(k, n, of_b, r), bias(1, n, layout::rows, r), column(m, 1, layout::rows, r),
      turned(m, n, layout::columns, r);
  std::vector<T> c(static_cast<std::size_t>(m * n + 8), std::numeric_limits<T>::quiet_NaN());
  if (adds == addend::in_place)
    for (std::int64_t i = 0; i < m * n; ++i) c[static_cast<std::size_t>(i)] = random_value<T>(r);
  const std::vector<T> before = c;
  gemm_target<T> to{c.data(), n, T{2}, T{3}, {nullptr, 0, 0}, relu};
  if (adds == addend::bias) to.addend = {bias.view.data, 0, 1};
  if (adds == addend::column) to.addend = {column.view.data, column.view.row, 0};
  if (adds == addend::turned) to.addend = turned.view;
  if (adds == addend::in_place) to.addend = {c.data(), n, 1};
  onto::detail::multiply_with_library<T, Library>(pool, m, n, k, a.view, b.view, to);

  bool good = true;
  for (std::int64_t i = m * n; i < m * n + 8; ++i)
    good = good && c[static_cast<std::size_t>(i)] != c[static_cast<std::size_t>(i)];
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j);
      double expected = 0, magnitude = 1;
      for (std::int64_t p = 0; p < k; ++p) {
        expected += 2 * a.at(i, p) * b.at(p, j);
        magnitude += std::abs(2 * a.at(i, p) * b.at(p, j));
      }
      if (adds == addend::bias) expected += 3 * bias.at(0, j);
      if (adds == addend::column) expected += 3 * column.at(i, 0);
      if (adds == addend::turned) expected += 3 * turned.at(i, j);
      if (adds == addend::in_place) expected += 3 * static_cast<double>(before[at]);
      if (relu && expected < 0) expected = 0;
      const double allowed = std::numeric_limits<T>::epsilon() * (8 + std::sqrt(static_cast<double>(k))) * magnitude;
      if (!(std::abs(static_cast<double>(c[at]) - expected) <= allowed)) good = false;
    }
  INFO(m << " x " << k << " x " << n << ", layouts " << static_cast<int>(of_a) << " and " << static_cast<int>(of_b)
         << ", addend " << static_cast<int>(adds) << ", relu " << relu << ", " << pool.size() << " threads, library "
         << static_cast<int>(Library) << ", size " << sizeof(T));
  CHECK(good);
}

template <class T, matmul_library Library>
void check_library(rng& r) {
  for (int threads : {1, 2, 5}) {
    thread_pool pool(threads);
    for (int of_a = 0; of_a < 3; ++of_a)
      for (int of_b = 0; of_b < 3; ++of_b)
        for (int adds = 0; adds < 5; ++adds)
          check<T, Library>(pool, pick(r, 1, 50), pick(r, 1, 70), pick(r, 1, 60), static_cast<layout>(of_a),
                            static_cast<layout>(of_b), static_cast<addend>(adds), pick(r, 0, 1) == 1, r);
    // Deeper than what is turned at a time, with m the smaller one and n.
    for (addend adds : {addend::none, addend::bias, addend::in_place}) {
      check<T, Library>(pool, 5, 33, 2100, layout::columns, layout::columns, adds, false, r);
      check<T, Library>(pool, 40, 9, 1030, layout::columns, layout::columns, adds, true, r);
    }
  }
}

}  // namespace

TEST_CASE("a library's products agree with three loops", "[threads]") {
  rng r(61);
  if constexpr (has_onednn) check_library<float, matmul_library::onednn>(r);
  if constexpr (has_cblas) {
    check_library<float, matmul_library::cblas>(r);
    check_library<double, matmul_library::cblas>(r);
  }
}

#endif
