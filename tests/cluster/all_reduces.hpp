// SPDX-License-Identifier: BSL-1.0
// Sums over all tasks of a job `worker`, asked in every task: the same for tasks that are threads and tasks that are
// processes. Programs are compared with a reference, and with sums by hand.
#pragma once

#include "../unit/session/random_program.hpp"
#include "../unit/session/reference.hpp"
#include "rules.hpp"

#include <array>

namespace onto_test {

namespace sums {

inline constexpr auto x = placeholder<"x", float, 2, 3>;
inline constexpr auto m = placeholder<"m", float, 3, 3>;

template <int K>
using worker = task<"worker", K>;

/// One value of a task.
template <unsigned Choice, class X>
constexpr auto term(const X& e) {
  if constexpr (Choice % 5 == 0)
    return tanh(e);
  else if constexpr (Choice % 5 == 1)
    return matmul(e, m);
  else if constexpr (Choice % 5 == 2)
    return transpose(matmul(m, transpose(e)));
  else if constexpr (Choice % 5 == 3)
    return exp(e * 0.5_c) * 0.25_c;
  else
    return e;
}
constexpr unsigned choice(unsigned seed, unsigned k) {
  return static_cast<unsigned>(mixed(std::uint64_t{seed} * 1000 + k) >> 20);
}

template <class... T>
constexpr auto one_by_one(const T&... t) {
  return (t + ...);
}
/// The sum of one value from each task, one by one or all at once.
template <unsigned Seed, class X, int... K>
constexpr auto sum_over_tasks(const X& e, std::integer_sequence<int, K...>) {
  if constexpr (choice(Seed, 99) % 2 == 0)
    return add_n(on<worker<K>>(term<choice(Seed, K)>(e))...);
  else
    return one_by_one(on<worker<K>>(term<choice(Seed, K)>(e))...);
}

/// Sums that are scaled, read by several tasks, reduced again and fetched.
template <unsigned Seed, int Tasks>
constexpr auto random_sums() {
  constexpr std::make_integer_sequence<int, Tasks> tasks{};
  constexpr auto first = sum_over_tasks<Seed>(x, tasks);
  constexpr auto second = sum_over_tasks<Seed + 1>(first * 0.5_c, tasks);
  constexpr auto third = sum_over_tasks<Seed + 2>(tanh(x) * x, tasks);
  constexpr int last = Tasks - 1, some = static_cast<int>(choice(Seed, 50) % Tasks);
  return fetches(second * third, tanh(first), on<worker<last>>(sum<0>(second)), on<worker<0>>(matmul(third, m) + first),
                 on<worker<some>>(exp(third * 0.1_c)), reshape<6>(second) + 1_c);
}

/// A sum of `(k + 1) * i` over the tasks k, of a type that holds it.
template <class T, int Size, int... K>
constexpr auto multiples(std::integer_sequence<int, K...>) {
  return add_n(on<worker<K>>(cast<T>(iota<float, Size>() * c<1.f * (K + 1)>))...);
}

/// A model with replicas of its variables, and data that each place has itself.
template <int K>
constexpr auto rows() {
  if constexpr (K == 0)
    return std::pair{placeholder<"rows_0", float, 4, 2>, placeholder<"wanted_0", float, 4, 1>};
  else
    return std::pair{placeholder<"rows_1", float, 4, 2>, placeholder<"wanted_1", float, 4, 1>};
}
template <class X, class Y, class W, class B, class V>
constexpr auto model_loss(const X& rows, const Y& wanted, const W& w, const B& b, const V& v) {
  return mean(square(matmul(tanh(matmul(rows, w) + b), v) - wanted));
}
inline constexpr auto w = variable<"w", float, 2, 8>(glorot_uniform<float, 2, 8>(1_c));
inline constexpr auto b = variable<"b", float, 8>(zeros<float, 8>());
inline constexpr auto v = variable<"v", float, 8, 1>(glorot_uniform<float, 8, 1>(2_c));
inline constexpr auto tower = [](auto place) {
  constexpr auto own = rows<place.index>();
  return model_loss(own.first, own.second, replica(place, w), replica(place, b), replica(place, v));
};
template <class First, class Second>
inline constexpr auto two_towers = towers(boost::hana::tuple_t<First, Second>, tower);

inline tensor<float, 4, 2> rows_of(int place) {
  tensor<float, 4, 2> t;
  for (int k = 0; k < 8; ++k) t.data()[k] = 0.25f * static_cast<float>((8 * place + k) % 7) - 0.6f;
  return t;
}
inline tensor<float, 4, 1> wanted_of(int place) {
  tensor<float, 4, 1> t;
  const auto r = rows_of(place);
  for (int k = 0; k < 4; ++k) t(k, 0) = r(k, 0) * r(k, 1) - 0.5f * r(k, 0);
  return t;
}

/// What training comes to: losses, and then all parameters of a replica.
template <class Step, class W, class B, class V>
std::vector<float> train(session& sess, const Step& step, const W& own_w, const B& own_b, const V& own_v) {
  const auto go = sess.prepare(step);
  std::vector<float> seen;
  for (int k = 0; k < 12; ++k)
    seen.push_back(go(rows<0>().first = rows_of(0), rows<0>().second = wanted_of(0), rows<1>().first = rows_of(1),
                      rows<1>().second = wanted_of(1)));
  const auto [a, c, d] = sess.run(fetches(own_w * 1_c, own_b * 1_c, own_v * 1_c));
  seen.insert(seen.end(), a.begin(), a.end());
  seen.insert(seen.end(), c.begin(), c.end());
  seen.insert(seen.end(), d.begin(), d.end());
  return seen;
}

}  // namespace sums

/// What a program of `x` and `m` computes, prepared and not, beside what the reference does.
template <class Program>
void check_against_reference(session& sess, rule_checker& r, const Program& program, const std::string& name) {
  using namespace sums;
  tensor<float, 2, 3> xs;
  tensor<float, 3, 3> ms;
  for (int k = 0; k < 6; ++k) xs.data()[k] = 0.3f * static_cast<float>(k) - 0.7f;
  for (int k = 0; k < 9; ++k) ms.data()[k] = 0.2f * static_cast<float>(k % 4) - 0.3f;
  const std::vector<fed> feeds{{(x = xs).id, to_value(xs)}, {(m = ms).id, to_value(ms)}};
  const reference expected = boost::hana::unpack(program.expressions, [&](const auto&... e) {
    return reference(written_graph::of(e...), {e.state.get()...}, feeds);
  });
  const auto step = sess.prepare(program);
  for (int run = 0; run < 3; ++run) {
    const auto got = std::apply([](const auto&... t) { return std::vector<value>{to_value(t)...}; },
                                run == 0 ? sess.run(program, x = xs, m = ms) : step(x = xs, m = ms));
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (got[k].elements.empty()) continue;
      const value& want = expected.fetch(static_cast<int>(k));
      bool good = got[k].elements.size() == want.elements.size();
      for (std::size_t j = 0; good && j < want.elements.size(); ++j)
        good = std::abs(got[k].elements[j] - want.elements[j]) <= 1e-4 * (1 + std::abs(want.elements[j]));
      r.expect(good, name + ", run " + std::to_string(run) + ", result " + std::to_string(k));
    }
  }
}

template <unsigned Seed, int Tasks>
void check_random_sums(session& sess, rule_checker& r) {
  constexpr auto program = sums::random_sums<Seed, Tasks>();
  if constexpr (Tasks > 1) static_assert(plan_of(program).all_reduces >= 2);
  check_against_reference(sess, r, program, "sums of seed " + std::to_string(Seed));
}

template <class T, int Size, int Tasks>
void check_multiples(session& sess, rule_checker& r, const char* type) {
  constexpr auto total = sums::multiples<T, Size>(std::make_integer_sequence<int, Tasks>{});
  const auto got = sess.run(total);
  bool good = got.size() == Size;
  for (int k = 0; good && k < Size; ++k)
    good = static_cast<float>(got(k)) == static_cast<float>(k * Tasks * (Tasks + 1) / 2);
  r.expect(good, std::string("a sum over all tasks of ") + type);
}

/// All types, small and large, alone and in one call.
template <int Tasks>
void check_types(session& sess, rule_checker& r) {
  check_multiples<float, 12, Tasks>(sess, r, "float");
  check_multiples<double, 12, Tasks>(sess, r, "double");
  check_multiples<bfloat16, 12, Tasks>(sess, r, "bfloat16");
  check_multiples<std::int8_t, 12, Tasks>(sess, r, "int8");
  check_multiples<std::int64_t, 1, Tasks>(sess, r, "int64");
  check_multiples<float, 300'001, Tasks>(sess, r, "many floats");
  check_multiples<half, 150, Tasks>(sess, r, "half, of any size");
}

/// The same bits in every run and every task, and those of the sum in the order of the tasks.
inline void check_order(session& sess, rule_checker& r) {
  using namespace sums;
  constexpr auto of = [](auto number) { return sin(iota<float, 9001>() * number); };
  constexpr auto left = on<worker<0>>(of(0.37_c));
  constexpr auto right = on<worker<1>>(of(1.91_c));
  constexpr auto sum = left + right;
  static_assert(plan_of(sum).all_reduces == 1 && plan_of(sum).messages == 0);
  const auto [one, other] = sess.run(fetches(left * 1_c, right * 1_c));
  for (int run = 0; run < 3; ++run) {
    const auto got = sess.run(sum);
    bool good = true;
    for (int k = 0; k < 9001; ++k) good = good && got(k) == one(k) + other(k);
    r.expect(good, "a sum in the order of the tasks");
  }
}

/// Two towers over two tasks take the steps that one tower with all the rows takes, and their replicas stay the same.
template <class Minimize>
void check_training(session& sess, rule_checker& r, const Minimize& minimized, const char* what) {
  using namespace sums;
  const auto step = minimized(two_towers<worker<0>, worker<1>>);
  sess.initialize(step);
  const std::vector<float> got = train(sess, step, w, b, v);
  const auto [a, c, d] =
      sess.run(fetches(replica(worker<1>{}, w) * 1_c, replica(worker<1>{}, b) * 1_c, replica(worker<1>{}, v) * 1_c));
  std::vector<float> other(got.begin(), got.begin() + 12);
  other.insert(other.end(), a.begin(), a.end());
  other.insert(other.end(), c.begin(), c.end());
  other.insert(other.end(), d.begin(), d.end());
  r.expect(got == other, std::string("replicas are the same after ") + what);

  session alone{{.cpu_threads = 1}};
  const auto whole = minimized(
      model_loss(concat<0>(rows<0>().first, rows<1>().first), concat<0>(rows<0>().second, rows<1>().second), w, b, v));
  alone.initialize(whole);
  const std::vector<float> expected = train(alone, whole, w, b, v);
  bool good = got.size() == expected.size() && got.size() == 12 + 32;
  for (std::size_t k = 0; good && k < got.size(); ++k) good = std::abs(got[k] - expected[k]) < 2e-5f;
  r.expect(good, std::string("two towers learn what one does by ") + what);
  r.expect(got[0] > 1.02f * got[11], std::string("the loss goes down by ") + what);
}

}  // namespace onto_test
