// SPDX-License-Identifier: BSL-1.0
// Scans on the CPU against a plain loop: every fold, type, axis, view and direction, and the same bits for any number
// of threads.
#include <onto/backend/cpu/convert.hpp>
#include <onto/backend/cpu/scan.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "reference.hpp"

using namespace backend_cpu;
using onto::detail::cpu_scan;
using onto::detail::half_kernels;
using onto::detail::thread_pool;

namespace {

constexpr half_kernels conversions{&onto::detail::widen_run, &onto::detail::narrow_run, nullptr};

template <fold F, class T>
using result_of = element_t<onto::op::scan<F, 0, false>::result(element_of<T>)>;

/// The scan as a loop would do it: integers modulo 2^64, floating-point numbers in long double.
template <fold F, class T>
struct plain {
  static constexpr bool whole = std::is_integral_v<T>;
  using number = std::conditional_t<whole, std::uint64_t, long double>;
  number value = F == fold::prod ? 1 : 0;
  long double magnitude = 0;  // of what was added
  int count = 0;

  void add(T x) {
    const T before = static_cast<T>(value);
    ++count;
    if constexpr (F == fold::sum) {
      value += static_cast<number>(x);
      if constexpr (!whole) magnitude += std::abs(static_cast<long double>(x));
    } else if constexpr (F == fold::prod) {
      value *= static_cast<number>(x);
    } else if (count == 1 || x != x || (before == before && (F == fold::min ? x < before : x > before))) {
      value = static_cast<number>(x);
    }
  }
  /// Within one rounding of the result, and for doubles and what is kept in them the errors of each addition.
  bool allows(result_of<F, T> got) const {
    if constexpr (whole) {
      return got == static_cast<result_of<F, T>>(value);
    } else {
      const auto wanted = static_cast<long double>(static_cast<result_of<F, T>>(value));
      const auto given = static_cast<long double>(got);
      if (given == wanted || (given != given && wanted != wanted)) return true;
      if (F == fold::min || F == fold::max) return false;
      const long double eps = sizeof(T) == 8            ? 0x1p-52L
                              : sizeof(T) == 4          ? 0x1p-23L
                              : std::is_same_v<T, half> ? 0x1p-10L
                                                        : 0x1p-7L;
      const long double steps = F == fold::prod ? static_cast<long double>(count) : 0;
      // The least numbers are not normal.
      return std::abs(given - wanted) <= eps * std::abs(wanted) + (0x1p-52L * steps * std::abs(wanted)) +
                                             0x1p-53L * magnitude + (std::is_same_v<T, half> ? 0x1p-24L : 0x1p-149L);
    }
  }
};

template <fold F, class T>
void run(thread_pool& pool, const extents& space, int axis, bool backwards, const view<T>& x,
         result<result_of<F, T>>& out) {
  op_info op{};
  op.kind = op_kind::own_kernel;
  op.attributes = 3;
  op.attribute[0] = static_cast<std::int64_t>(F);
  op.attribute[1] = axis;
  op.attribute[2] = backwards;
  kernel_call call;
  call.space = space;
  call.inputs = 1;
  call.in = &x.v;
  call.out = as_result(out, space);
  call.op = &op;
  call.half_precision = &conversions;
  cpu_scan<F, computed_of<T>>(pool, call);
}

template <fold F, class T>
bool agrees(thread_pool& pool, const extents& space, int axis, bool backwards, const view<T>& x) {
  result<result_of<F, T>> out(space.size());
  run<F, T>(pool, space, axis, backwards, x, out);
  bool good = out.margin_is_whole();
  const int a = axis < 0 ? axis + space.rank : axis;
  std::int64_t step = 1;
  for (int k = a + 1; k < space.rank; ++k) step *= space.dims[k];
  for_each_index(space, [&](std::int64_t first, const std::int64_t* index) {
    if (index[a] != 0) return;
    std::int64_t at[max_rank];
    std::copy(index, index + max_rank, at);
    plain<F, T> wanted;
    for (std::int64_t k = 0; k < space.dims[a]; ++k) {
      at[a] = backwards ? space.dims[a] - 1 - k : k;
      wanted.add(x.at(at));
      good = good && wanted.allows(out[first + at[a] * step]);
    }
  });
  return good;
}

template <class T>
void check(thread_pool& pool, const extents& space, int axis, const view<T>& x) {
  INFO("shape " << to_string(space) << ", axis " << axis << ", " << pool.size() << " threads, "
                << name_of(element_of<T>));
  for (bool backwards : {false, true}) {
    CHECK(agrees<fold::sum, T>(pool, space, axis, backwards, x));
    CHECK(agrees<fold::prod, T>(pool, space, axis, backwards, x));
    CHECK(agrees<fold::min, T>(pool, space, axis, backwards, x));
    CHECK(agrees<fold::max, T>(pool, space, axis, backwards, x));
  }
}

template <class T>
void check_some(thread_pool& pool, rng& r, int rank, int most) {
  const extents space = random_shape(r, rank, most);
  if (space.rank == 0) return;
  check<T>(pool, space, pick(r, -space.rank, space.rank - 1), random_view<T>(space, r));
}

/// A scan's bits with one thread, and with more.
template <fold F, class T>
bool same_for_all_threads(const extents& space, int axis, bool backwards, const view<T>& x) {
  result<result_of<F, T>> first(space.size());
  thread_pool alone(1);
  run<F, T>(alone, space, axis, backwards, x, first);
  bool same = true;
  for (int threads : {2, 3, 8}) {
    thread_pool pool(threads);
    result<result_of<F, T>> out(space.size());
    run<F, T>(pool, space, axis, backwards, x, out);
    same = same && out.bytes == first.bytes;
  }
  return same;
}

/// Whether columns beside each other come to the bits of a loop down each one, and nothing is written beside them.
template <fold F, class T>
bool columns_are_exact(thread_pool& pool, int rows, int columns, bool backwards, rng& r) {
  using rule = onto::detail::scanning<F, T>;
  const extents space = shape_value({rows, columns});
  view<T> x = make_view<T>(space, memory::contiguous, r);
  for (int j = 0; j < columns; ++j) x.data()[j] = F == fold::sum ? T(1e9) : T(1.5);
  result<T> out(space.size());
  run<F, T>(pool, space, 0, backwards, x, out);
  bool good = out.margin_is_whole();
  for (int j = 0; j < columns; ++j) {
    auto kept = rule::empty();
    decltype(kept) lost = 0;
    for (int k = 0; k < rows; ++k) {
      const int at = (backwards ? rows - 1 - k : k) * columns + j;
      rule::add(kept, lost, x.data()[at]);
      const T wanted = rule::finish(kept, lost), got = out[at];
      good = good && std::memcmp(&wanted, &got, sizeof wanted) == 0;
    }
  }
  return good;
}

}  // namespace

TEST_CASE("sums and products of columns beside each other, of any number of them") {
  thread_pool pool(1);
  rng r(49);
  for (int columns = 2; columns < 40; ++columns)
    for (int rows : {1, 7, 8, 9, 50})
      for (bool backwards : {false, true}) {
        INFO(rows << " x " << columns);
        CHECK(columns_are_exact<fold::sum, float>(pool, rows, columns, backwards, r));
        CHECK(columns_are_exact<fold::sum, double>(pool, rows, columns, backwards, r));
        CHECK(columns_are_exact<fold::prod, float>(pool, rows, columns, backwards, r));
        CHECK(columns_are_exact<fold::prod, double>(pool, rows, columns, backwards, r));
      }
}

TEST_CASE("a scan agrees with a loop over any axis of any view", "[threads]") {
  rng r(41);
  for (int threads : {1, 2, 4}) {
    thread_pool pool(threads);
    for (int round = 0; round < 40; ++round) {
      check_some<float>(pool, r, 4, 3000);
      check_some<double>(pool, r, 4, 3000);
      check_some<std::int32_t>(pool, r, 4, 3000);
    }
    for (int round = 0; round < 15; ++round) {
      check_some<half>(pool, r, 4, 3000);
      check_some<bfloat16>(pool, r, 3, 3000);
      check_some<std::int8_t>(pool, r, 4, 3000);
      check_some<std::uint8_t>(pool, r, 3, 3000);
      check_some<std::int64_t>(pool, r, 4, 3000);
      check_some<std::uint32_t>(pool, r, 2, 3000);
    }
  }
}

TEST_CASE("a scan of many blocks agrees with a loop", "[threads]") {
  rng r(42);
  for (int threads : {1, 4, 8}) {
    thread_pool pool(threads);
    const extents shapes[] = {shape_value({25000}),       shape_value({2, 18000}),   shape_value({18000, 2}),
                              shape_value({200, 200}),    shape_value({3, 9000, 1}), shape_value({70, 3, 77}),
                              shape_value({1, 12000, 3}), shape_value({50, 1100})};
    for (const extents& space : shapes)
      for (int axis = 0; axis < space.rank; ++axis) {
        check<float>(pool, space, axis, make_view<float>(space, memory::contiguous, r));
        if (threads == 4) continue;  // the element's type says nothing about who does what
        check<half>(pool, space, axis, make_view<half>(space, memory::any, r));
        if (threads == 1) continue;
        check<double>(pool, space, axis, make_view<double>(space, memory::transposed, r));
        check<std::int16_t>(pool, space, axis, make_view<std::int16_t>(space, memory::any, r));
      }
  }
}

TEST_CASE("a scan's result does not depend on the number of threads", "[threads]") {
  rng r(43);
  for (const extents& space : {shape_value({100000}), shape_value({40000, 3}), shape_value({2, 33000})}) {
    const view<float> x = make_view<float>(space, memory::contiguous, r);
    const view<double> y = make_view<double>(space, memory::contiguous, r);
    for (int axis = 0; axis < space.rank; ++axis)
      for (bool backwards : {false, true}) {
        CHECK(same_for_all_threads<fold::sum>(space, axis, backwards, x));
        CHECK(same_for_all_threads<fold::sum>(space, axis, backwards, y));
        CHECK(same_for_all_threads<fold::prod>(space, axis, backwards, x));
      }
  }
}

TEST_CASE("sums of doubles keep what rounding takes from them") {
  thread_pool pool(1);
  rng r(44);
  const extents space = shape_value({4096});
  view<double> x = make_view<double>(space, memory::contiguous, r);
  for (int k = 0; k < 4096; ++k) x.data()[k] = k == 0 ? 1 : 0x1p-53;  // each alone is lost in 1
  result<double> out(4096);
  run<fold::sum, double>(pool, space, 0, false, x, out);
  CHECK(out[4095] == 1 + 4095 * 0x1p-53);
  for (int k = 0; k < 4096; ++k) x.data()[k] = k == 0 ? std::numeric_limits<double>::infinity() : 1;
  run<fold::sum, double>(pool, space, 0, false, x, out);
  CHECK(out[0] == std::numeric_limits<double>::infinity());
  CHECK(out[4095] == std::numeric_limits<double>::infinity());
}

TEST_CASE("a long sum of doubles is right to the last place, from either end") {
  rng r(47);
  for (int n : {255, 256, 300, 2048, 2049, 4400, 8192, 8700, 20000}) {
    const extents space = shape_value({n});
    view<double> x = make_view<double>(space, memory::contiguous, r);
    for (int k = 0; k < n; ++k) x.data()[k] = uniform(r, -1, 1);
    for (const bool backwards : {false, true})
      for (const int threads : {1, 2}) {
        INFO(n << " elements, " << threads << " threads");
        thread_pool pool(threads);
        result<double> out(n);
        run<fold::sum, double>(pool, space, 0, backwards, x, out);
        long double sum = 0;
        bool good = true;
        for (int k = 0; k < n; ++k) {
          const int at = backwards ? n - 1 - k : k;
          sum += x.data()[at];
          good = good &&
                 std::abs(static_cast<double>(out[at] - sum)) <= 0x1p-52 * std::abs(static_cast<double>(sum)) + 1e-17;
        }
        CHECK(good);
      }
  }
}

TEST_CASE("a long sum is infinite from the first infinite element on") {
  thread_pool pool(2);
  rng r(48);
  const extents space = shape_value({9000});
  view<double> x = make_view<double>(space, memory::contiguous, r);
  for (int k = 0; k < 9000; ++k) x.data()[k] = k == 3000 ? std::numeric_limits<double>::infinity() : 0.5;
  result<double> out(9000);
  run<fold::sum, double>(pool, space, 0, false, x, out);
  bool good = true;
  for (int k = 0; k < 9000; ++k) good = good && out[k] == (k < 3000 ? 0.5 * (k + 1) : x.data()[3000]);
  CHECK(good);
}

TEST_CASE("an extreme is NaN from the first NaN on") {
  thread_pool pool(1);
  rng r(45);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const extents space = shape_value({3, 70});
  view<float> x = make_view<float>(space, memory::contiguous, r);
  x.data()[1] = x.data()[70 + 69] = nan;
  for (int axis : {0, 1}) check<float>(pool, space, axis, x);
  result<float> out(210);
  run<fold::max, float>(pool, space, 1, false, x, out);
  CHECK(out[0] == out[0]);
  CHECK(out[1] != out[1]);
  CHECK(out[69] != out[69]);
  CHECK(out[70] == out[70]);
}

template <class T>
static void check_rare_nans() {
  thread_pool pool(2);
  rng r(47);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const extents& space : {shape_value({300}), shape_value({40, 70}), shape_value({9000, 3}), shape_value({33, 1})})
    for (int axis = 0; axis < space.rank; ++axis) {
      view<T> x = make_view<T>(space, memory::contiguous, r);
      for (std::int64_t k = 0; k < space.size(); ++k) {
        x.data()[k] = static_cast<T>(pick(r, -9, 9));
        if (pick(r, 0, 60) == 0) x.data()[k] = std::numeric_limits<T>::quiet_NaN();
        if (pick(r, 0, 30) == 0) x.data()[k] = static_cast<T>(pick(r, 0, 1) ? infinity : -infinity);
      }
      check<T>(pool, space, axis, x);
    }
}

TEST_CASE("extremes of rows and of columns are NaN from there on, wherever a NaN is among others") {
  check_rare_nans<float>();
  check_rare_nans<double>();
  check_rare_nans<half>();
}

TEST_CASE("nothing is scanned where there are no elements") {
  thread_pool pool(2);
  rng r(46);
  for (const extents& space : {shape_value({0}), shape_value({3, 0}), shape_value({0, 3}), shape_value({2, 0, 4})})
    for (int axis = 0; axis < space.rank; ++axis)
      check<float>(pool, space, axis, make_view<float>(space, memory::contiguous, r));
}
