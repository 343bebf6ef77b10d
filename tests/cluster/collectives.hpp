// SPDX-License-Identifier: BSL-1.0
// Values of a task that all use, values of all side by side, and rows of sums: asked in every task, the same for tasks
// that are threads and tasks that are processes.
#pragma once

#include "all_reduces.hpp"

namespace onto_test {

namespace shared {

using sums::worker;
using sums::x;

/// All collectives, in an order that the seed chooses, with what reads them.
template <unsigned Seed, int... K>
constexpr auto random_collectives(std::integer_sequence<int, K...>) {
  constexpr int tasks = sizeof...(K), axis = static_cast<int>(sums::choice(Seed, 77) % 2);
  constexpr auto gathered = concat<0>(on<worker<K>>(sums::term<sums::choice(Seed, K)>(x))...);
  constexpr auto beside = concat<axis>(on<worker<tasks - 1 - K>>(tanh(gathered) * c<0.25f * (K + 1)>)...);
  constexpr auto total = (on<worker<K>>(sin(gathered * c<0.5f * (K + 1)>)) + ...);
  constexpr auto rows = concat<0>(on<worker<K>>(exp(slice<2 * K, 2 * K + 2>(total)) * c<0.1f>)...);
  constexpr int some = static_cast<int>(sums::choice(Seed, 78) % tasks);
  constexpr auto sent = on<worker<some>>(matmul(gathered, sums::m) + gathered);
  return fetches(rows, beside * 2_c, exp(sent * 0.1_c), on<worker<K>>(tanh(sent) * c<1.f + K>)...,
                 on<worker<0>>(sum<0>(rows)));
}

/// The elements of task k are `(k + 1) * i`.
template <class T, int Size, int K>
constexpr auto multiples_of() {
  return on<worker<K>>(cast<T>(iota<float, Size>() * c<1.f * (K + 1)>));
}
template <class T, int Size, int... K>
constexpr auto side_by_side(std::integer_sequence<int, K...>) {
  return concat<0>(multiples_of<T, Size, K>()...);
}
template <class T, int Size, int... K>
constexpr auto rows_of_sum(std::integer_sequence<int, K...>) {
  constexpr int part = Size / static_cast<int>(sizeof...(K));
  constexpr auto sum = add_n(multiples_of<T, Size, K>()...);
  return concat<0>(on<worker<K>>(slice<part * K, part*(K + 1)>(sum) + slice<part * K, part*(K + 1)>(sum))...);
}

}  // namespace shared

template <unsigned Seed, int Tasks>
void check_random_collectives(session& sess, rule_checker& r) {
  constexpr auto program = shared::random_collectives<Seed>(std::make_integer_sequence<int, Tasks>{});
  constexpr const auto& p = plan_of(program);
  if constexpr (Tasks > 1) static_assert(p.all_gathers >= 2 && p.reduce_scatters == 1);
  if constexpr (Tasks > 3) static_assert(p.broadcasts >= 1);
  check_against_reference(sess, r, program, "collectives of seed " + std::to_string(Seed));
}

/// Elements of a type, so many on each task: side by side, rows of their sum, and those of one task on all.
template <class T, int Size, int Tasks>
void check_shared(session& sess, rule_checker& r, const std::string& type) {
  constexpr std::make_integer_sequence<int, Tasks> tasks{};
  constexpr auto all = shared::side_by_side<T, Size>(tasks);
  constexpr auto rows = shared::rows_of_sum<T, Size>(tasks);
  constexpr auto last = shared::multiples_of<T, Size, Tasks - 1>() * 1_c;
  static_assert(plan_of(all).all_gathers == 1 && plan_of(rows).reduce_scatters == 1 && plan_of(rows).messages == 0);
  static_assert(plan_of(fetches(all, rows, last)).broadcasts == (Tasks > 3 ? 1 : 0));
  const auto [a, b, d] = sess.run(fetches(all, rows, last));
  bool good = a.size() == Size * Tasks && b.size() == Size / Tasks * Tasks && d.size() == Size;
  for (int k = 0; good && k < Size * Tasks; ++k)
    good = static_cast<float>(a(k)) == static_cast<float>(k % Size * (k / Size + 1));
  r.expect(good, "all tasks have values of all side by side, of " + type);
  for (int k = 0; good && k < Size / Tasks * Tasks; ++k)
    good = static_cast<float>(b(k)) == static_cast<float>(k * Tasks * (Tasks + 1));
  r.expect(good, "each task has its rows of a sum of " + type);
  for (int k = 0; good && k < Size; ++k) good = static_cast<float>(d(k)) == static_cast<float>(k * Tasks);
  r.expect(good, "all tasks have what one task has made, of " + type);
}

/// All types, small and large. Halves hold few whole numbers.
template <int Tasks>
void check_shared_types(session& sess, rule_checker& r) {
  check_shared<float, 12, Tasks>(sess, r, "float");
  check_shared<double, 12, Tasks>(sess, r, "double");
  check_shared<std::int64_t, 13, Tasks>(sess, r, "int64");
  check_shared<onto::half, 50, Tasks>(sess, r, "half");
  check_shared<float, 300'001, Tasks>(sess, r, "many floats");
}

}  // namespace onto_test
