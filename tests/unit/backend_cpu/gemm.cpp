// SPDX-License-Identifier: BSL-1.0
// The built-in product with each instruction set's kernels, against three loops in double: the heights of its tiles,
// its edges, what is packed and what is not, and memory that it may not read.
#include <onto/backend/cpu/gemm.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "reference.hpp"

using namespace backend_cpu;
using onto::detail::gemm_kernels;
using onto::detail::gemm_kernels_for;
using onto::detail::gemm_target;
using onto::detail::gemm_with;
using onto::detail::matrix_view;
using onto::detail::run_partitioned;
using onto::detail::thread_pool;
using onto::detail::tile_heights;

namespace {

template <class T>
struct matrix {
  std::vector<T> values;
  matrix_view<T> view;
  matrix(std::int64_t rows, std::int64_t columns, bool transposed, rng& r)
      : values(static_cast<std::size_t>(rows * columns)) {
    for (T& x : values) x = random_value<T>(r);
    view = transposed ? matrix_view<T>{values.data(), 1, rows} : matrix_view<T>{values.data(), columns, 1};
  }
  double at(std::int64_t i, std::int64_t j) const {
    return static_cast<double>(view.data[i * view.row + j * view.column]);
  }
};

template <class T>
void check(const gemm_kernels<T>& kernels, thread_pool& pool, std::int64_t m, std::int64_t n, std::int64_t k,
           int addend, bool relu, bool transposed_a, bool transposed_b, rng& r) {
  const matrix<T> a(m, k, transposed_a, r), b(k, n, transposed_b, r), bias(1, n, false, r), more(m, n, true, r);
  const std::int64_t margin = 5;
  // What is not read may be NaN; what is not written stays it.
  std::vector<T> c(static_cast<std::size_t>(m * (n + margin)), std::numeric_limits<T>::quiet_NaN());
  if (addend == 2)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[static_cast<std::size_t>(i * (n + margin) + j)] = random_value<T>(r);
  const std::vector<T> before = c;
  gemm_target<T> to{c.data(), n + margin, T{2}, T{3}, {nullptr, 0, 0}, relu};
  if (addend == 1) to.addend = {bias.view.data, 0, 1};
  if (addend == 2) to.addend = {c.data(), n + margin, 1};
  if (addend == 3) to.addend = more.view;
  if (pool.size() == 1)
    gemm_with(kernels, m, n, k, a.view, b.view, to);
  else
    run_partitioned(pool, pool.size(), m, n, k, a.view, b.view, to, onto::detail::gemm_costs,
                    [&](auto... part) { gemm_with(kernels, part...); });
  bool good = true;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n + margin; ++j) {
      const std::size_t at = static_cast<std::size_t>(i * (n + margin) + j);
      if (j >= n) {
        good = good && c[at] != c[at];
        continue;
      }
      double expected = 0, magnitude = 1;
      for (std::int64_t p = 0; p < k; ++p) {
        expected += 2 * a.at(i, p) * b.at(p, j);
        magnitude += std::abs(2 * a.at(i, p) * b.at(p, j));
      }
      if (addend == 1) expected += 3 * bias.at(0, j);
      if (addend == 2) expected += 3 * static_cast<double>(before[at]);
      if (addend == 3) expected += 3 * more.at(i, j);
      if (relu && expected < 0) expected = 0;
      const double allowed = std::numeric_limits<T>::epsilon() * (8 + std::sqrt(static_cast<double>(k))) * magnitude;
      if (!(std::abs(static_cast<double>(c[at]) - expected) <= allowed)) good = false;
    }
  INFO(m << " x " << k << " x " << n << ", addend " << addend << ", relu " << relu << ", transposed " << transposed_a
         << transposed_b << ", tiles of " << kernels.heights.most << " x " << kernels.columns << ", " << pool.size()
         << " threads, size " << sizeof(T));
  CHECK(good);
}

template <class T>
void check_random(int bytes, thread_pool& pool, rng& r, int m, int n, int k) {
  check<T>(gemm_kernels_for<T>(bytes), pool, m, n, k, pick(r, 0, 3), pick(r, 0, 1) == 1, pick(r, 0, 1) == 1,
           pick(r, 0, 1) == 1, r);
}

/// A matrix whose elements lie in one of many ways: in runs of rows or of columns, apart, or repeated.
template <class T>
matrix_view<T> any_view(std::vector<T>& values, std::int64_t rows, std::int64_t columns, rng& r) {
  const std::int64_t apart = pick(r, 0, 2) == 0 ? pick(r, 2, 3) : 1, pitch = pick(r, 0, 2);
  matrix_view<T> v{nullptr, (columns * apart) + pitch, apart};
  if (pick(r, 0, 1) == 1) v = {nullptr, apart, (rows * apart) + pitch};
  if (pick(r, 0, 5) == 0) v.row = 0;
  if (pick(r, 0, 5) == 0) v.column = 0;
  values.resize(static_cast<std::size_t>(rows * v.row + columns * v.column + 1));
  for (T& x : values) {
    x = random_value<T>(r);
#if defined(__FP_FAST_FMAF) || defined(__FP_FAST_FMA)
    x = static_cast<T>(static_cast<std::int64_t>(x * 8));  // a product and a sum may be one rounding: exact ones
#endif
  }
  v.data = values.data();
  return v;
}

template <class T>
bool tiny_is_in_order(std::int64_t m, std::int64_t n, std::int64_t k, rng& r) {
  std::vector<T> x, y, z;
  const matrix_view<T> a = any_view(x, m, k, r), b = any_view(y, k, n, r), more = any_view(z, m, n, r);
  const std::int64_t row = n + pick(r, 0, 3);
  std::vector<T> tiny(static_cast<std::size_t>(m * row + 4), T{7}), expected;
  for (T& e : tiny) e = static_cast<T>(pick(r, -8, 8));
  expected = tiny;
  gemm_target<T> to{
      tiny.data(),       row, static_cast<T>(pick(r, -1, 3)), static_cast<T>(pick(r, -1, 3)), {nullptr, 0, 0},
      pick(r, 0, 2) == 0};
  const int addend = pick(r, 0, 2);
  if (addend == 1) to.addend = more;
  if (addend == 2) to.addend = {tiny.data(), row, 1};
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      T v = 0;
      for (std::int64_t p = 0; p < k; ++p) v += a.data[i * a.row + p * a.column] * b.data[p * b.row + j * b.column];
      v *= to.alpha;
      if (addend != 0) v += to.beta * to.addend.data[i * to.addend.row + j * to.addend.column];
      expected[static_cast<std::size_t>(i * row + j)] = to.relu ? onto::detail::relu_of(v) : v;
    }
  onto::detail::gemm_tiny(m, n, k, a, b, to);
  return std::memcmp(tiny.data(), expected.data(), tiny.size() * sizeof(T)) == 0;
}

}  // namespace

TEST_CASE("a tiny product is bit for bit the sums in their order") {
  rng r(45);
  for (int round = 0; round < 3000; ++round) {
    const int m = pick(r, 0, 12), n = pick(r, 0, 2) == 0 ? 1 : pick(r, 0, 20), k = pick(r, 0, 15);
    INFO(m << " x " << k << " x " << n << ", round " << round);
    REQUIRE(tiny_is_in_order<float>(m, n, k, r));
    REQUIRE(tiny_is_in_order<double>(m, n, k, r));
    REQUIRE(tiny_is_in_order<std::uint32_t>(m, n, k, r));
    REQUIRE(tiny_is_in_order<std::uint64_t>(m, n, k, r));
  }
}

TEST_CASE("a factor of a tiny product is one of its sum") {
  const std::vector<float> x(4, 1e20f), y(4, 1e-30f);
  for (const bool turned : {false, true}) {
    std::vector<float> made(4);
    const matrix_view<float> b = turned ? matrix_view<float>{y.data(), 1, 2} : matrix_view<float>{y.data(), 2, 1};
    onto::detail::gemm_tiny<float>(2, 2, 2, {x.data(), 2, 1}, b, {made.data(), 2, 1e30f, 0, {nullptr, 0, 0}, false});
    for (const float v : made) CHECK(std::abs(v - 2e20f) < 1e15f);
  }
}

TEST_CASE("every instruction set's product agrees with three loops", "[threads]") {
  rng r(41);
  for (int bytes : {16, 32, 64})
    for (int threads : {1, 2, 4}) {
      thread_pool pool(threads);
      for (int round = 0; round < 12; ++round) {
        check_random<float>(bytes, pool, r, pick(r, 1, 50), pick(r, 1, 80), pick(r, 0, 40));
        check_random<double>(bytes, pool, r, pick(r, 1, 50), pick(r, 1, 80), pick(r, 0, 40));
      }
      // Deeper, higher and wider than a block.
      check_random<float>(bytes, pool, r, 20, 33, 1100);
      check_random<float>(bytes, pool, r, 700, 70, 30);
      check_random<double>(bytes, pool, r, 40, 600, 300);
    }
}

namespace {

/// A product of a matrix and one or two vectors, in any layout; and its last three lines of results alone, which are
/// bit for bit what they are beside the others.
template <class T>
bool thin_is_right(thread_pool& pool, bool upright, std::int64_t lines, std::int64_t vectors, std::int64_t k, rng& r) {
  const std::int64_t m = upright ? lines : vectors, n = upright ? vectors : lines,
                     parts = 32 * onto::detail::thin_depth;
  std::vector<T> x, y, z;
  const matrix_view<T> a = any_view(x, m, k, r), b = any_view(y, k, n, r), more = any_view(z, m, n, r);
  const auto element = [](const matrix_view<T>& v, std::int64_t i, std::int64_t j) {
    return static_cast<double>(v.data[i * v.row + j * v.column]);
  };
  const std::int64_t row = n + pick(r, 0, 3);
  std::vector<T> c(static_cast<std::size_t>(m * row), T{7});
  gemm_target<T> to{c.data(), row, T{2}, T{3}, {nullptr, 0, 0}, pick(r, 0, 2) == 0};
  if (pick(r, 0, 1) == 1) to.addend = more;
  onto::detail::gemm_thin(pool, m, n, k, a, b, to);
  bool good = true;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < row; ++j) {
      const auto made = static_cast<double>(c[static_cast<std::size_t>(i * row + j)]);
      if (j >= n) {
        good = good && made == 7;
        continue;
      }
      double expected = to.addend.data ? 3 * element(more, i, j) : 0, magnitude = 1 + std::abs(expected);
      for (std::int64_t p = 0; p < k; ++p) {
        expected += 2 * element(a, i, p) * element(b, p, j);
        magnitude += std::abs(2 * element(a, i, p) * element(b, p, j));
      }
      if (to.relu && expected < 0) expected = 0;
      good = good && std::abs(made - expected) <= std::numeric_limits<T>::epsilon() *
                                                      (16 + static_cast<double>(std::min(k, parts)) / 4) * magnitude;
    }
  std::vector<T> alone(static_cast<std::size_t>(m * row), T{7});
  const std::int64_t i = upright ? m - 3 : 0, j = upright ? 0 : n - 3;
  gemm_target<T> last = to;
  last.data = alone.data() + i * row + j;
  if (last.addend.data != nullptr) last.addend = part_of(last.addend, i, j);
  onto::detail::gemm_thin(pool, upright ? 3 : m, upright ? n : 3, k, part_of(a, i, 0), part_of(b, 0, j), last);
  for (std::int64_t p = i; p < m; ++p)
    for (std::int64_t q = j; q < n; ++q) {
      const auto at = static_cast<std::size_t>(p * row + q);
      good = good && std::memcmp(&alone[at], &c[at], sizeof(T)) == 0;
    }
  return good;
}

}  // namespace

TEST_CASE("products of a matrix and one or two vectors, in every layout", "[threads]") {
  rng r(46);
  for (int threads : {1, 3}) {
    thread_pool pool(threads);
    for (int round = 0; round < 400; ++round) {
      const bool upright = pick(r, 0, 1) == 1;
      const int vectors = pick(r, 1, 2), lines = pick(r, 3, round % 20 == 0 ? 400 : 40),
                k = pick(r, 0,
                         round % 20 == 1   ? 7000
                         : round % 10 == 0 ? 700
                                           : 90);
      INFO((upright ? "upright " : "flat ") << lines << " x " << k << ", " << vectors << ", round " << round);
      REQUIRE(thin_is_right<float>(pool, upright, lines, vectors, k, r));
      REQUIRE(thin_is_right<double>(pool, upright, lines, vectors, k, r));
    }
  }
}

TEST_CASE("sums of a million equal products are as exact as pairwise ones", "[accuracy]") {
  thread_pool pool(1);
  const std::int64_t k = 1 << 20;
  const std::vector<float> rows(static_cast<std::size_t>(3 * k), 0.1f), vector(static_cast<std::size_t>(k), 0.1f);
  const double exact = static_cast<double>(k) * static_cast<double>(0.1f) * static_cast<double>(0.1f);
  for (const matrix_view<float>& a : {matrix_view<float>{rows.data(), k, 1}, matrix_view<float>{rows.data(), 1, 3}}) {
    float c[3] = {};
    onto::detail::gemm_thin(pool, 3, 1, k, a, {vector.data(), 1, 1},
                            gemm_target<float>{c, 1, 1, 0, {nullptr, 0, 0}, false});
    for (float x : c) CHECK(std::abs(x - exact) < 20 * std::numeric_limits<float>::epsilon() * exact);
  }
}

TEST_CASE("deep sums of integers wrap around, in every layout") {
  thread_pool pool(1);
  const std::int64_t k = 10007;
  std::vector<std::uint64_t> rows(static_cast<std::size_t>(3 * k)), vector(static_cast<std::size_t>(k));
  for (std::size_t p = 0; p < rows.size(); ++p) rows[p] = 0x9e3779b97f4a7c15u * (p + 1);
  for (std::size_t p = 0; p < vector.size(); ++p) vector[p] = 0xc2b2ae3d27d4eb4fu * (p + 3);
  using view = matrix_view<std::uint64_t>;
  for (const view& a : {view{rows.data(), k, 1}, view{rows.data(), 1, 3}}) {
    std::uint64_t c[3] = {};
    onto::detail::gemm_thin(pool, 3, 1, k, a, {vector.data(), 1, 1},
                            gemm_target<std::uint64_t>{c, 1, 1, 0, {nullptr, 0, 0}, false});
    for (std::int64_t i = 0; i < 3; ++i) {
      std::uint64_t sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += a.data[i * a.row + p * a.column] * vector[static_cast<std::size_t>(p)];
      CHECK(c[i] == sum);
    }
  }
}

TEST_CASE("every number of rows is covered by tiles") {
  for (const tile_heights heights : {tile_heights{14, 8, 4}, tile_heights{6, 4, 2}, tile_heights{6, 6, 6}})
    for (std::int64_t rows = 1; rows < 200; ++rows) {
      std::int64_t left = rows;
      int last = 0;
      while (left > 0) {
        last = heights.next(left);
        REQUIRE(last > 0);
        if (left < last) break;
        left -= last;
      }
      int height = 0;
      REQUIRE(heights.tail(rows, height) == left);
      if (left > 0) REQUIRE(height == last);
    }
}

TEST_CASE("infinities and NaN go through a product as they go through a sum") {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> a(20 * 20, 1), b(20 * 20, 1), c(20 * 20);
  a[0] = inf;
  b[1] = -inf;  // row 0, column 1
  b[2] = 0;
  for (int bytes : {16, 32, 64}) {
    gemm_with<float>(gemm_kernels_for<float>(bytes), 20, 20, 20, {a.data(), 20, 1}, {b.data(), 20, 1},
                     {c.data(), 20, 1, 0, {nullptr, 0, 0}, true});
    CHECK(c[0] == inf);
    CHECK(c[1] == 0);        // relu of -inf
    CHECK(c[2] != c[2]);     // inf * 0
    CHECK(c[20 + 3] == 20);  // and nothing else
  }
}
