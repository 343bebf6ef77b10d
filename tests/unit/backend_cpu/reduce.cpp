// SPDX-License-Identifier: BSL-1.0
// Reductions on the CPU against plain ones in double: every fold, type, combination of axes, view and thread count.
#include <onto/backend/cpu/reduce.hpp>

#include <cmath>
#include <limits>

#include "reference.hpp"

using namespace backend_cpu;
using onto::detail::cpu_reduce;
using onto::detail::instruction;
using onto::detail::load_input;
using onto::detail::program;
using onto::detail::thread_pool;

// Not in the anonymous namespace, where nvcc warns of each fact of an operation that this file does not ask for.
namespace backend_cpu::reduce_operations {

struct squared_difference {
  static constexpr op_kind kind = op_kind::map;
  static constexpr int cost = 2;
  static constexpr bool packs = true;
  template <class T>
  static T apply(T a, T b) {
    return (a - b) * (a - b);
  }
};

}  // namespace backend_cpu::reduce_operations

using namespace backend_cpu::reduce_operations;

namespace {

template <class T>
using load_program = program<instruction<load_input, element_of<T>, 0>>;
template <class T>
using difference_program = program<instruction<load_input, element_of<T>, 0>, instruction<load_input, element_of<T>, 1>,
                                   instruction<squared_difference, element_of<T>, 0, 1>>;

// Which axes are folded, a bit for each; all of them may also be said as none.
op_info attributes(fold f, unsigned axes, int rank, rng& r) {
  op_info op{};
  op.kind = op_kind::reduce;
  op.attribute[0] = static_cast<std::int64_t>(f);
  op.attributes = 3;
  if (axes == (1u << rank) - 1 && pick(r, 0, 1) == 0) return op;
  for (int k = 0; k < rank; ++k)
    if ((axes >> k & 1u) != 0) {
      op.attribute[3 + op.attribute[2]++] = pick(r, 0, 1) == 0 ? k : k - rank;
      ++op.attributes;
    }
  return op;
}

std::int64_t results_of(const extents& space, unsigned axes) {
  std::int64_t n = 1;
  for (int k = 0; k < space.rank; ++k)
    if ((axes >> k & 1u) == 0) n *= space.dims[k];
  return n;
}

/// For each result, the values folded into it, in order.
template <class T>
std::vector<std::vector<T>> folded_values(const extents& space, unsigned axes, const view<T>& a, const view<T>* b) {
  std::vector<std::vector<T>> values(static_cast<std::size_t>(results_of(space, axes)));
  for_each_index(space, [&](std::int64_t, const std::int64_t* index) {
    std::int64_t place = 0;
    for (int k = 0; k < space.rank; ++k)
      if ((axes >> k & 1u) == 0) place = place * space.dims[k] + index[k];
    T value = a.at(index);
    if constexpr (!std::is_same_v<T, bool>)
      if (b) value = squared_difference::apply(value, b->at(index));
    values[static_cast<std::size_t>(place)].push_back(value);
  });
  return values;
}

template <fold F, class T>
bool right(const std::vector<T>& v, T got) {
  if constexpr (F == fold::min || F == fold::max) {
    T best = v[0];
    for (T x : v)
      if (x != x || (best == best && (F == fold::min ? x < best : x > best))) best = x;
    return got == best || (best != best && got != got);
  } else if constexpr (std::is_same_v<T, bool>) {
    bool any = false, all = true;
    for (bool x : v) {
      any = any || x;
      all = all && x;
    }
    return got == (F == fold::any ? any : all);
  } else if constexpr (std::is_integral_v<T>) {
    std::make_unsigned_t<T> a = F == fold::prod ? 1 : 0;
    for (T x : v) {
      if (F == fold::prod)
        a *= static_cast<std::make_unsigned_t<T>>(x);
      else
        a += static_cast<std::make_unsigned_t<T>>(x);
    }
    return got == static_cast<T>(a);
  } else {
    long double a = F == fold::prod ? 1 : 0, magnitude = 0;
    for (T x : v) {
      a = F == fold::prod ? a * static_cast<long double>(x) : a + static_cast<long double>(x);
      magnitude += std::abs(static_cast<long double>(x));
    }
    const long double n = static_cast<long double>(v.size());
    if (F == fold::mean) {
      a /= n;
      magnitude /= n;
    }
    if (std::isnan(a)) return std::isnan(got);
    if (std::isinf(static_cast<T>(a))) return got == static_cast<T>(a);
    const long double epsilon = std::numeric_limits<T>::epsilon();
    // A sum is off by some units of what was summed; the products of doubles by a unit per factor.
    const long double allowed = F == fold::prod ? epsilon * (std::is_same_v<T, double> ? n + 1 : 2) * std::abs(a)
                                                : epsilon * (std::is_same_v<T, double> ? 12 : 2) * magnitude;
    return std::abs(static_cast<long double>(got) - a) <=
           allowed + static_cast<long double>(std::numeric_limits<T>::denorm_min());
  }
}

template <fold F, class T>
bool right_place(const std::vector<T>& v, std::int64_t got) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < v.size() && v[best] == v[best]; ++k)
    if (v[k] != v[k] || (F == fold::argmin ? v[k] < v[best] : v[k] > v[best])) best = k;
  return got == static_cast<std::int64_t>(best);
}

/// Runs a reduction of one operand, or of the difference of two.
template <fold F, class T, bool Fused>
auto reduced(thread_pool& pool, const extents& space, const op_info& op, unsigned axes, const operand_view& a,
             const operand_view& b) {
  using Out = std::conditional_t<F == fold::argmin || F == fold::argmax, std::int64_t, T>;
  const operand_view in[] = {a, b};
  result<Out> out(results_of(space, axes));
  kernel_call call;
  call.space = space;
  call.inputs = Fused ? 2 : 1;
  call.in = in;
  call.out.data = out.data();
  call.out.type = element_of<Out>;
  call.op = &op;
  using program = std::conditional_t<Fused, difference_program<T>, load_program<T>>;
  if (onto::detail::folds_all(op)) {  // all axes named are the general kernel's, too
    using onto::detail::all_sizes, onto::detail::copies, onto::detail::has_packs;
    cpu_reduce<program, F, copies<all_sizes, true>, has_packs && program::packs.plain, true, true>(pool, call);
  } else {
    cpu_reduce<program, F>(pool, call);
  }
  return out;
}

template <fold F, class T, bool Fused>
bool agrees(thread_pool& pool, const extents& space, unsigned axes, const view<T>& a, const view<T>& b, rng& r) {
  constexpr bool place = F == fold::argmin || F == fold::argmax;
  auto out = reduced<F, T, Fused>(pool, space, attributes(F, axes, space.rank, r), axes, a.v, b.v);
  const auto values = folded_values(space, axes, a, Fused ? &b : nullptr);
  bool good = out.margin_is_whole();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if constexpr (place)
      good = good && right_place<F>(values[k], out[static_cast<std::int64_t>(k)]);
    else
      good = good && right<F>(values[k], out[static_cast<std::int64_t>(k)]);
  }
  return good;
}

template <fold F, class T>
void check(thread_pool& pool, const extents& space, unsigned axes, const view<T>& a, const view<T>& b, rng& r) {
  INFO("fold " << static_cast<int>(F) << ", shape " << to_string(space) << ", axes " << axes << ", size " << sizeof(T)
               << ", " << pool.size() << " threads");
  CHECK(agrees<F, T, false>(pool, space, axes, a, b, r));
  if constexpr (std::is_floating_point_v<T>) CHECK(agrees<F, T, true>(pool, space, axes, a, b, r));
}

// Values whose product stays in range.
template <class T>
view<T> near_one(view<T> x) {
  for (std::size_t k = 0; k < (x.bytes.size() - 64) / sizeof(T); ++k)
    x.data()[k] = static_cast<T>(1 + static_cast<double>(x.data()[k]) / 1000);
  return x;
}

template <class T>
void check_numbers(thread_pool& pool, const extents& space, rng& r) {
  const auto a = random_view<T>(space, r), b = random_view<T>(space, r);
  const unsigned all = 1u << space.rank;
  const unsigned axes = static_cast<unsigned>(pick(r, space.rank > 0 ? 1 : 0, static_cast<int>(all) - 1));
  check<fold::sum>(pool, space, axes, a, b, r);
  check<fold::min>(pool, space, axes, a, b, r);
  check<fold::max>(pool, space, axes, a, b, r);
  if constexpr (std::is_floating_point_v<T>) {
    check<fold::mean>(pool, space, axes, a, b, r);
    CHECK(agrees<fold::prod, T, false>(pool, space, axes, near_one(random_view<T>(space, r)), b, r));
  } else {
    check<fold::prod>(pool, space, axes, a, b, r);
  }
  const unsigned one_axis = space.rank == 0 || pick(r, 0, 2) == 0 ? all - 1 : 1u << pick(r, 0, space.rank - 1);
  check<fold::argmin>(pool, space, one_axis, a, b, r);
  check<fold::argmax>(pool, space, one_axis, a, b, r);
}

/// The values of `a` with the elements of each row two apart, which no short way takes.
template <class T>
view<T> apart(const view<T>& a) {
  view<T> x;
  x.space = a.space;
  x.v = a.v;
  const std::int64_t n = a.space.size();
  x.bytes.resize(static_cast<std::size_t>(2 * n) * sizeof(T) + 64);
  x.v.data = x.bytes.data();
  for (int k = 0; k < a.space.rank; ++k) x.v.stride[k] *= 2;
  for (std::int64_t k = 0; k < n; ++k) x.data()[2 * k] = static_cast<const T*>(a.v.data)[k];
  return x;
}

template <fold F, class T>
void check_short_way(thread_pool& pool, const extents& space, unsigned axes, rng& r) {
  const auto a = make_view<T>(space, memory::contiguous, r), b = make_view<T>(space, memory::contiguous, r);
  const auto c = apart(a), d = apart(b);
  const op_info op = attributes(F, axes, space.rank, r);
  INFO("fold " << static_cast<int>(F) << ", shape " << to_string(space) << ", axes " << axes << ", size " << sizeof(T)
               << ", " << pool.size() << " threads");
  bool same = reduced<F, T, false>(pool, space, op, axes, a.v, b.v).bytes ==
              reduced<F, T, false>(pool, space, op, axes, c.v, d.v).bytes;
  if constexpr (std::is_floating_point_v<T>)
    same = same && reduced<F, T, true>(pool, space, op, axes, a.v, b.v).bytes ==
                       reduced<F, T, true>(pool, space, op, axes, c.v, d.v).bytes;
  CHECK(same);
}

}  // namespace

TEST_CASE("a small reduction of values next to each other is bit for bit that of values apart") {
  rng r(19);
  thread_pool one(1), three(3);
  for (int round = 0; round < 120; ++round) {
    extents space;
    std::int64_t left = onto::detail::small_reduction;
    for (int n = pick(r, 1, 4); n > 0; --n) {
      space.push_back(pick(r, 0, 2) == 0 ? 1 : pick(r, 1, static_cast<int>(std::min<std::int64_t>(left, 40))));
      left /= space.dims[space.rank - 1];
    }
    if (round % 20 == 0) space.push_back(0);
    const unsigned axes = static_cast<unsigned>(pick(r, 1, (1 << space.rank) - 1));
    thread_pool& pool = round % 2 == 0 ? one : three;
    check_short_way<fold::sum, float>(pool, space, axes, r);
    check_short_way<fold::mean, double>(pool, space, axes, r);
    check_short_way<fold::prod, std::int32_t>(pool, space, axes, r);
    if (space.size() == 0) continue;
    check_short_way<fold::max, float>(pool, space, axes, r);
    check_short_way<fold::min, std::int64_t>(pool, space, axes, r);
    check_short_way<fold::argmax, double>(pool, space, 1u << pick(r, 0, space.rank - 1), r);
  }
}

TEST_CASE("reductions agree with plain ones over any axes of any view", "[threads]") {
  rng r(11);
  for (int threads : {1, 2, 4}) {
    thread_pool pool(threads);
    for (int round = 0; round < 60; ++round) {
      const extents space = random_shape(r, 5, 3000);
      check_numbers<float>(pool, space, r);
      check_numbers<double>(pool, space, r);
      check_numbers<std::int32_t>(pool, space, r);
      check_numbers<std::int64_t>(pool, space, r);
      const auto a = random_view<bool>(space, r), b = random_view<bool>(space, r);
      const unsigned axes = static_cast<unsigned>(pick(r, space.rank > 0 ? 1 : 0, (1 << space.rank) - 1));
      check<fold::any>(pool, space, axes, a, b, r);
      check<fold::all>(pool, space, axes, a, b, r);
    }
  }
}

TEST_CASE("rows of every length are folded, wherever they begin") {
  rng r(18);
  thread_pool pool(1);
  for (int n = 1; n <= 130; ++n)
    for (int rows : {1, 3, 303}) {  // the last are no small reduction
      if (rows > 3 && n > 33) continue;
      const extents space = shape_value({rows, n}), with_one_more = shape_value({rows * n + 1});
      auto a = make_view<float>(with_one_more, memory::contiguous, r),
           b = make_view<float>(with_one_more, memory::contiguous, r);
      auto c = make_view<double>(with_one_more, memory::contiguous, r),
           d = make_view<double>(with_one_more, memory::contiguous, r);
      const auto shifted = [&](auto& x) {  // one element from the start of a cache line
        x.space = space;
        x.v.data = x.data() + 1;
        x.v.stride[0] = n;
        x.v.stride[1] = 1;
      };
      shifted(a);
      shifted(b);
      shifted(c);
      shifted(d);
      for (unsigned axes : {2u, 3u}) {
        check<fold::sum>(pool, space, axes, a, b, r);
        check<fold::max>(pool, space, axes, a, b, r);
        check<fold::mean>(pool, space, axes, c, d, r);
        check<fold::min>(pool, space, axes, c, d, r);
      }
      check<fold::argmax>(pool, space, 2, a, b, r);
      check<fold::argmin>(pool, space, 2, c, d, r);
      for (int k = 0; k < 2; ++k) a.data()[pick(r, 0, rows * n - 1)] = std::numeric_limits<float>::quiet_NaN();
      check<fold::min>(pool, space, 2, a, b, r);
      check<fold::argmax>(pool, space, 2, a, b, r);
      for (std::int64_t k = 0; k < rows * n; ++k) a.data()[k] = -std::numeric_limits<float>::infinity();
      check<fold::argmax>(pool, space, 2, a, b, r);
      check<fold::max>(pool, space, 3, a, b, r);
    }
}

TEST_CASE("large reductions agree on several threads, every combination of axes", "[threads]") {
  rng r(12);
  for (int threads : {1, 2, 4}) {
    thread_pool pool(threads);
    for (const extents& space : {shape_value({90007}), shape_value({3, 30000}), shape_value({30000, 3}),
                                 shape_value({300, 300}), shape_value({30, 100, 30}), shape_value({8, 9, 10, 125})})
      for (unsigned axes = 1; axes < 1u << space.rank; ++axes) {
        const auto a = random_view<float>(space, r), b = random_view<float>(space, r);
        check<fold::sum>(pool, space, axes, a, b, r);
        if (threads == 2) continue;
        if ((axes & (axes - 1)) == 0) check<fold::argmax>(pool, space, axes, a, b, r);
        if (threads == 1) continue;
        const auto c = make_view<double>(space, memory::contiguous, r), d = random_view<double>(space, r);
        check<fold::mean>(pool, space, axes, c, d, r);
      }
  }
}

TEST_CASE("few short rows are folded into columns, of many groups", "[threads]") {
  rng r(31);
  for (int threads : {1, 3}) {
    thread_pool pool(threads);
    for (int round = 0; round < 40; ++round) {
      const extents space = shape_value({pick(r, 1, 4), pick(r, 1, 700), pick(r, 2, 20), pick(r, 1, 16)});
      const unsigned axes = pick(r, 0, 2) == 0 ? 5 : 4;  // the first one, too
      const auto a = make_view<float>(space, memory::contiguous, r), b = random_view<float>(space, r);
      const auto c = make_view<double>(space, memory::contiguous, r), d = random_view<double>(space, r);
      check<fold::sum>(pool, space, axes, a, b, r);
      check<fold::mean>(pool, space, axes, c, d, r);
      if (axes == 4) check<fold::argmax>(pool, space, axes, a, b, r);
    }
  }
}

TEST_CASE("a NaN is what every fold finds, and the first of them is the place") {
  rng r(13);
  thread_pool pool(2);
  for (int n : {1, 2, 31, 32, 33, 1000, 5000, 300000})
    for (int nans : {1, 3}) {
      const extents space = shape_value({n});
      auto a = make_view<float>(space, memory::contiguous, r);
      const auto b = make_view<float>(space, memory::contiguous, r);
      for (int k = 0; k < nans; ++k) a.data()[pick(r, 0, n - 1)] = std::numeric_limits<float>::quiet_NaN();
      check<fold::sum>(pool, space, 1, a, b, r);
      check<fold::min>(pool, space, 1, a, b, r);
      check<fold::max>(pool, space, 1, a, b, r);
      check<fold::argmin>(pool, space, 1, a, b, r);
      check<fold::argmax>(pool, space, 1, a, b, r);
    }
  const extents columns = shape_value({50, 70});
  auto a = make_view<double>(columns, memory::contiguous, r);
  const auto b = make_view<double>(columns, memory::contiguous, r);
  for (int k = 0; k < 60; ++k) a.data()[pick(r, 0, 3499)] = std::numeric_limits<double>::quiet_NaN();
  for (unsigned axes = 1; axes < 4; ++axes) {
    check<fold::max>(pool, columns, axes, a, b, r);
    if (axes < 3) check<fold::argmin>(pool, columns, axes, a, b, r);
  }
}

TEST_CASE("infinities are summed, and ties go to the first") {
  rng r(14);
  thread_pool pool(1);
  const extents space = shape_value({2000});
  auto a = make_view<double>(space, memory::contiguous, r);
  const auto b = make_view<double>(space, memory::broadcast, r);
  a.data()[700] = std::numeric_limits<double>::infinity();
  CHECK(agrees<fold::sum, double, false>(pool, space, 1, a, b, r));
  CHECK(agrees<fold::mean, double, false>(pool, space, 1, a, b, r));
  a.data()[1900] = -a.data()[700];
  CHECK(agrees<fold::sum, double, false>(pool, space, 1, a, b, r));
  auto ties = make_view<std::int32_t>(space, memory::contiguous, r);
  const auto unused = make_view<std::int32_t>(space, memory::contiguous, r);
  for (int k = 0; k < 2000; ++k) ties.data()[k] = k % 7;
  check<fold::argmax>(pool, space, 1, ties, unused, r);
  check<fold::argmin>(pool, space, 1, ties, unused, r);
}

TEST_CASE("folds of nothing give what the fold starts from") {
  rng r(15);
  thread_pool pool(2);
  const extents space = shape_value({3, 0});
  const auto a = make_view<float>(space, memory::contiguous, r), b = make_view<float>(space, memory::contiguous, r);
  const auto t = make_view<bool>(space, memory::contiguous, r), u = make_view<bool>(space, memory::contiguous, r);
  for (unsigned axes : {2u, 3u}) {
    CHECK(agrees<fold::sum, float, true>(pool, space, axes, a, b, r));
    CHECK(agrees<fold::prod, float, false>(pool, space, axes, a, b, r));
    CHECK(agrees<fold::mean, float, false>(pool, space, axes, a, b, r));
    CHECK(agrees<fold::any, bool, false>(pool, space, axes, t, u, r));
    CHECK(agrees<fold::all, bool, false>(pool, space, axes, t, u, r));
  }
  CHECK(agrees<fold::sum, float, false>(pool, space, 1, a, b, r));  // no results
}

TEST_CASE("integer sums wrap around") {
  rng r(16);
  thread_pool pool(2);
  const extents space = shape_value({999});
  auto a = make_view<std::int32_t>(space, memory::contiguous, r);
  const auto b = make_view<std::int32_t>(space, memory::contiguous, r);
  for (int k = 0; k < 999; ++k) a.data()[k] = std::numeric_limits<std::int32_t>::max() - k;
  CHECK(agrees<fold::sum, std::int32_t, false>(pool, space, 1, a, b, r));
  CHECK(agrees<fold::prod, std::int32_t, false>(pool, space, 1, a, b, r));
}

TEST_CASE("the result does not depend on which thread was faster", "[threads]") {
  rng r(17);
  thread_pool pool(4);
  const extents space = shape_value({500000});
  const auto a = make_view<float>(space, memory::contiguous, r);
  const op_info op = attributes(fold::sum, 1, 1, r);
  float first = 0;
  for (int round = 0; round < 20; ++round) {
    float out = 0;
    kernel_call call;
    call.space = space;
    call.inputs = 1;
    call.in = &a.v;
    call.out.data = &out;
    call.op = &op;
    cpu_reduce<load_program<float>, fold::sum>(pool, call);
    if (round == 0) first = out;
    CHECK(out == first);
  }
}
