// SPDX-License-Identifier: BSL-1.0
// Sorts in sessions: rows of every length along any axis, stable, of special numbers.
#include <onto/sort.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto line = placeholder<"line", float, dyn>;
constexpr auto m = placeholder<"m", float, dyn, dyn>;

/// Elements of which many are equal, from -40 to 40.
template <class Tensor>
void fill(Tensor& t) {
  std::uint32_t k = 1;
  for (auto& v : t) v = static_cast<float>(static_cast<int>((k = k * 1664525u + 1013904223u) >> 8) % 81 - 40);
}

/// Whether the rows of `numbers` are those of `t` in a stable order, beginning with the greatest where `down`.
bool are_stable(const tensor<float, dyn, dyn>& t, const tensor<std::int64_t, dyn, dyn>& numbers, bool down) {
  const int n = t.shape()[1], count = numbers.shape()[1];
  for (int r = 0; r < t.shape()[0]; ++r) {
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(n));
    std::iota(wanted.begin(), wanted.end(), 0);
    std::stable_sort(wanted.begin(), wanted.end(), [&](std::int64_t a, std::int64_t b) {
      const float x = t(r, static_cast<int>(a)), y = t(r, static_cast<int>(b));
      return down ? x > y : x < y;
    });
    for (int k = 0; k < count; ++k)
      if (numbers(r, k) != wanted[static_cast<std::size_t>(k)]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("rows of every length are sorted, and their numbers are stable", "[session]") {
  session sess{{.cpu_threads = 3}};
  for (const int n : {1, 2, 31, 63, 64, 200, 1000, 70000}) {
    INFO(n);
    tensor<float, dyn, dyn> t({n > 1000 ? 1 : 5, n});
    fill(t);
    const auto numbers = sess.run(argsort(m), m = t);
    CHECK(are_stable(t, numbers, false));
    CHECK(are_stable(t, sess.run(argsort(m, descending), m = t), true));
    const auto sorted = sess.run(fetches(sort(m), take_along_axis<1>(m, argsort(m))), m = t);
    CHECK(get<0>(sorted) == get<1>(sorted));
    CHECK(sess.run(sort(m, descending), m = t) == sess.run(flip<1>(sort(m)), m = t));
    // Along the other axis, whose elements lie apart.
    CHECK(sess.run(sort<0>(transpose(m)), m = t) == sess.run(transpose(sort(m)), m = t));
    CHECK(sess.run(argsort<0>(m), m = tensor<float, dyn, dyn>({n, 20})) ==
          sess.run(iota_like<0, std::int64_t>(m), m = tensor<float, dyn, dyn>({n, 20})));
  }
}

TEST_CASE("of 64 bits, too", "[session]") {
  session sess{{.cpu_threads = 2}};
  constexpr auto d = placeholder<"d", double, dyn, dyn>;
  for (const int n : {100, 3000, 70000}) {
    tensor<float, dyn, dyn> t({1, n});
    fill(t);
    tensor<double, dyn, dyn> x({1, n});
    std::copy(t.begin(), t.end(), x.begin());
    CHECK(are_stable(t, sess.run(argsort(d), d = x), false));
    const auto sorted = sess.run(sort(d), d = x);
    CHECK(std::is_sorted(sorted.begin(), sorted.end()));
    CHECK(sess.run(sum(d) - sum(sort(d)), d = x) == 0);
  }
}

TEST_CASE("the greatest k are those of the sort, few and many", "[session]") {
  session sess;
  tensor<float, dyn, dyn> t({3, 5000});
  fill(t);
  CHECK(are_stable(t, sess.run(top_k<10>(m).indices, m = t), true));
  CHECK(are_stable(t, sess.run(top_k<1>(m).indices, m = t), true));
  CHECK(are_stable(t, sess.run(top_k<4000>(m).indices, m = t), true));
  // Each better than all before it: what is kept is cut again and again.
  std::sort(t.begin(), t.end());
  CHECK(are_stable(t, sess.run(top_k<10>(m).indices, m = t), true));
  CHECK(sess.run(top_k<10>(m).values, m = t) == sess.run(slice<range<>, range<0, 10>>(sort(m, descending)), m = t));
  CHECK(sess.run(top_k<0>(m).values, m = t).size() == 0);
  CHECK_THROWS_WITH(sess.run(top_k<5001>(m).values, m = t), Catch::Contains("fewer elements than are asked for") &&
                                                                Catch::Contains("asked for: [") &&
                                                                Catch::Contains("5001]"));
}

namespace {

/// The greatest `K` of rows of every length: any order of them, both ways along memory and across.
template <int K>
void check_greatest(session& sess) {
  for (const int n : {K, K + 1, 2 * K + 1, 9 * K + 20, 700, 5000}) {
    INFO(K << " of " << n);
    tensor<float, dyn, dyn> t({3, n});
    fill(t);  // many are equal
    const auto check = [&] {
      CHECK(are_stable(t, sess.run(top_k<K>(m).indices, m = t), true));
      CHECK(are_stable(t, sess.run(transpose(top_k<K, 0>(transpose(m)).indices), m = t), true));
    };
    check();
    for (std::size_t k = 0; k < t.size(); ++k) t.data()[k] = t.data()[k] * 1e4f + static_cast<float>(k * 7919 % 104729);
    check();
    std::sort(t.begin(), t.end());  // each is before all that are kept
    check();
    std::reverse(t.begin(), t.end());
    check();
    std::fill(t.begin(), t.end(), 1.0f);
    check();
  }
}

}  // namespace

TEST_CASE("the greatest few of rows of every length and order", "[session]") {
  session sess;
  check_greatest<1>(sess);
  check_greatest<4>(sess);
  check_greatest<32>(sess);
  check_greatest<33>(sess);
}

TEST_CASE("what makes several runs as it is", "[session]") {
  static constexpr auto v = placeholder<"v", float, 6>;
  const tensor<float, 6> t{3, 1, 4, 1, 5, 9};
  session sess;
  const auto [values, indices] = sess.run(top_k<2>(v), v = t);
  CHECK(values == tensor<float, 2>{9, 5});
  CHECK(indices == tensor<std::int64_t, 2>{5, 4});
  const auto [marks, counts, found] = evaluate(unique<3>(v), v = t);
  CHECK(marks == tensor<float, 3>{1, 3, 4});
  CHECK(counts == tensor<std::int64_t, 3>{2, 1, 1});
  CHECK(found == 5);
  const auto step = sess.prepare(top_k<1>(v));
  CHECK(std::get<0>(step(v = t)) == tensor<float, 1>{9});
  CHECK(std::get<2>(sess.run(fetches(sum(v), top_k<2>(v)), v = t)) == indices);
}

namespace {

/// The first few of a long row of elements with many equal ones, zeros of both signs, infinities and NaN, both ways.
template <class T>
void check_first(session& sess, unsigned seed) {
  constexpr auto x = placeholder<"x", T, dyn>;
  tensor<T, dyn> t({1500});
  for (T& v : t) {
    seed = seed * 1664525u + 1013904223u;
    const int number = static_cast<int>(seed >> 16 & 255) - (std::is_unsigned_v<T> ? 0 : 128);
    v = static_cast<T>(static_cast<float>(number));
    if constexpr (is_floating(element_of<T>)) {
      const float inf = std::numeric_limits<float>::infinity(), nan = inf - inf;
      if (number > 124 && seed % 3 == 0)
        v = static_cast<T>(seed % 2 == 0 ? inf : std::copysign(nan, seed % 5 == 0 ? 1.0f : -1.0f));
      if (number == 0 && seed % 2 == 0) v = static_cast<T>(-0.0f);
    }
  }
  CHECK(sess.run(top_k<7>(x).indices, x = t) == sess.run(slice<0, 7>(argsort(x, descending)), x = t));
}

}  // namespace

TEST_CASE("the first few of long rows of elements of every kind", "[session]") {
  session sess;
  for (unsigned seed : {1u, 2u, 3u}) {
    check_first<float>(sess, seed);
    check_first<half>(sess, seed);
    check_first<std::int8_t>(sess, seed);
    check_first<std::uint64_t>(sess, seed);
  }
}

TEST_CASE("NaN comes last whatever its bits are, and -0 before 0", "[session]") {
  session sess;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const tensor<float, 6> in{0, nan, -1, -0.0f, std::copysign(nan, -1.0f), 2};
  const auto up = sess.run(sort(line), line = in);
  CHECK((up(0) == -1 && std::signbit(up(1)) && !std::signbit(up(2)) && up(3) == 2));
  CHECK((std::isnan(up(4)) && std::isnan(up(5))));
  CHECK(sess.run(argsort(line), line = in) == tensor<std::int64_t, 6>{2, 0, 3, 5, 1, 4});
  CHECK(sess.run(argsort(line, descending), line = in) == tensor<std::int64_t, 6>{1, 4, 5, 0, 3, 2});
  CHECK(std::isnan(sess.run(top_k<1>(line).values, line = in)(0)));
}

TEST_CASE("distinct values are counted; where there is no room for all, how many there are is still told",
          "[session]") {
  session sess;
  const tensor<float, 7> in{3, 1, 3, 3, 9, 1, 5};
  const auto u = unique<3>(line);
  const auto [values, counts, found] = sess.run(fetches(u.values, u.counts, u.found), line = in);
  CHECK(values == tensor<float, 3>{1, 3, 5});
  CHECK(counts == tensor<std::int64_t, 3>{2, 3, 1});
  CHECK(found == 4);
  CHECK(sess.run(unique<2>(line).counts, line = tensor<float, 1>{7}) == tensor<std::int64_t, 2>{1, 0});
  CHECK(sess.run(unique<2>(line).values, line = tensor<float, dyn>({0})) == tensor<float, 2>{0, 0});
  CHECK(sess.run(unique<2>(line).counts, line = tensor<float, dyn>({0})) == tensor<std::int64_t, 2>{0, 0});
  CHECK(sess.run(unique<2>(line).found, line = tensor<float, dyn>({0})) == 0);
}

TEST_CASE("nothing is sorted where there is nothing", "[session]") {
  session sess;
  CHECK(sess.run(sort(m), m = tensor<float, dyn, dyn>({0, 5})).size() == 0);
  CHECK(sess.run(argsort(m), m = tensor<float, dyn, dyn>({5, 0})).size() == 0);
}

TEST_CASE("sorts on simulated GPUs, between maps, prepared", "[session]") {
  session sess{{.simulated_gpus = 2}};
  auto step = sess.prepare(on<cpu<0>>(on<gpu<0>>(sort(m * 2_c)) + on<gpu<1>>(sort(m, descending))));
  for (int round = 1; round <= 3; ++round) {
    const auto r = static_cast<float>(round);
    CHECK(step(m = tensor<float, 1, 3>{{3 * r, r, 2 * r}}) == tensor<float, 1, 3>{{5 * r, 6 * r, 7 * r}});
  }
  CHECK(plan_of(sort(m)).text().find("Sort") != std::string::npos);
}

TEST_CASE("what a sort takes to work with waits for the next one", "[session]") {
  using onto::detail::spare_storage;
  constexpr auto row = placeholder<"row", float, dyn>;
  session sess{{.cpu_threads = 1}};
  tensor<float, dyn> t({1 << 18});
  for (float k = 0; float& e : t) e = -(k += 1);
  auto sorted = t;
  auto step = sess.prepare(sort(row));
  auto into = step.to(sorted);
  onto::detail::trim_storage();
  const auto blocks = [] {
    std::vector<const void*> found;
    for (const auto& each : spare_storage.sizes)
      if (each.block) found.push_back(each.block);
    return found;
  };
  for (int run = 0; run < 3; ++run) into(row = t);
  const auto kept = blocks();
  CHECK(kept.empty() == !onto::detail::may_be_spare(t.size() * sizeof(float)));
  into(row = t);
  CHECK(blocks() == kept);
  CHECK(sorted(0) == -static_cast<float>(1 << 18));
}
