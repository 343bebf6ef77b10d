// SPDX-License-Identifier: BSL-1.0
// Runs of programs that are bound for the CPU alone: they give, count and refuse what a session that is watched, and so
// does all that a run may need, gives, counts and refuses. How short their way is benchmarks/instructions counts.
#include <onto/onto.hpp>

#include "../catch.hpp"
#include "saboteur.hpp"
#include "two_sessions.hpp"

#include <cmath>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

using namespace onto;
using onto_test::kernels_of;
using onto_test::refuses;
using onto_test::words_of;

namespace {

constexpr auto x = placeholder<"x", float, dyn, dyn>;
constexpr auto y = placeholder<"y", float, dyn, dyn>;
constexpr auto row = placeholder<"row", float, dyn>;

using matrix = tensor<float, dyn, dyn>;
using vector = tensor<float, dyn>;

matrix waves(int rows, int columns, float phase) {
  matrix m({rows, columns});
  int k = 0;
  for (float& v : m) v = std::sin(phase + 0.37f * static_cast<float>(k++));
  return m;
}
vector line(int length, float phase) {
  const matrix m = waves(1, length, phase);
  vector v({length});
  for (int k = 0; k < length; ++k) v(k) = m(0, k);
  return v;
}

struct two_sessions : onto_test::two_sessions {
  /// The results of `run`, given a session and what it prepared, thrice in each: the first binds the program.
  template <class E, class Run>
  auto expect_same(const E& e, const Run& run) {
    const auto here = plain.prepare(e), there = watched.prepare(e);
    const auto expected = run(there);
    const std::int64_t before = kernels_of(watched);
    CHECK(run(there) == expected);
    const std::int64_t kernels = kernels_of(watched) - before;
    for (int k = 0; k < 3; ++k) {
      const std::int64_t then = kernels_of(plain);
      CHECK(run(here) == expected);
      CHECK(kernels_of(plain) - then == kernels);
      CHECK(run([&](const auto&... feeds) { return plain.run(e, feeds...); }) == expected);
      CHECK(kernels_of(plain) - then == 2 * kernels);
      if constexpr (expression<E>) CHECK(run([&](const auto&... feeds) { return evaluate(e, feeds...); }) == expected);
    }
    return expected;
  }
};

}  // namespace

TEST_CASE("programs of the CPU give the same each time", "[session][host]") {
  two_sessions s;
  for (const int n : {1, 3, 17, 64}) {
    INFO(n);
    const matrix a = waves(n, n, 0), b = waves(n, n, 1);
    const vector r = line(n, 2);
    const auto with_both = [&](const auto& run) { return run(x = a, y = b); };
    const matrix sums = s.expect_same(relu(x + row), [&](const auto& run) { return run(x = a, row = r); });
    for (int k = 0; k < n; ++k) CHECK(sums(k, n - 1) == std::fmax(a(k, n - 1) + r(n - 1), 0.0f));
    CHECK(s.expect_same(x + transpose(y), with_both)(n - 1, 0) == a(n - 1, 0) + b(0, n - 1));
    s.expect_same(slice<range<>, range<0, to_end, 2>>(x), [&](const auto& run) { return run(x = a); });
    s.expect_same(matmul(softmax(matmul(x, y)), x), with_both);
    s.expect_same(fetches(x - mean<1>(x), matmul(x, transpose(y)), sum(y)), with_both);
    const float two = 2, three = 3;
    s.expect_same(softmax(x * two) + softmax(x * three), [&](const auto& run) { return run(x = a); });
    s.expect_same(a + matmul(b, x), [&](const auto& run) { return run(x = a); });
  }
}

TEST_CASE("shapes may change from run to run", "[session][host]") {
  session sess;
  const auto e = matmul(x, transpose(x)) + row;
  const auto step = sess.prepare(e);
  for (int round = 0; round < 3; ++round)
    for (int n = 0; n < 12; ++n) {  // more kinds than a prepared program remembers
      const matrix a = waves(n, 5, static_cast<float>(round));
      const vector r = line(n, 1);
      const matrix here = step(x = a, row = r), there = sess.run(e, x = a, row = r);
      REQUIRE(here.shape()[0] == n);
      CHECK(here == there);
      for (int k = 0; k < n; ++k) {
        double expected = r(n - 1);
        for (int j = 0; j < 5; ++j) expected += double(a(k, j)) * a(n - 1, j);
        CHECK(here(k, n - 1) == Approx(expected).margin(1e-5));
      }
    }
}

TEST_CASE("what is wrong with a feed is said in each run", "[session][host]") {
  two_sessions s;
  const matrix a = waves(4, 4, 0), b = waves(5, 3, 0);
  const vector r = line(4, 0);
  const auto e = matmul(x, y) + row;
  const auto here = s.plain.prepare(e), there = s.watched.prepare(e);
  for (int k = 0; k < 2; ++k) {
    const auto words = [&](const auto& run, const matrix& second) {
      return words_of<invalid_argument_error>([&] { run(x = a, y = second, row = r); });
    };
    const auto by_run = [&](const auto&... feeds) { return s.plain.run(e, feeds...); };
    CHECK(words(here, b).find("[onto.shape]") == 0);
    CHECK(words(here, b) == words(there, b));
    CHECK(words(by_run, b) == words(there, b));
    matrix moved = a;
    const matrix taken = std::move(moved);
    CHECK(words(here, moved) == words(there, moved));
    CHECK(here(x = a, y = a, row = r) == there(x = a, y = a, row = r));
    CHECK(s.plain.run(e, row = r, y = a, x = a) == there(x = a, y = a, row = r));
  }
}

TEST_CASE("results may go where a program reads", "[session][host]") {
  two_sessions s;
  for (session* const sess : {&s.plain, &s.watched}) {
    const matrix first = waves(6, 6, 0), second = waves(6, 6, 1);
    matrix a = first, b = second;
    auto step = sess->prepare(fetches(matmul(x, y), x - y)).to(std::tie(a, b));
    for (int k = 0; k < 3; ++k) {
      a = first;
      b = second;
      step(x = a, y = b);
      CHECK(a == sess->run(matmul(x, y), x = first, y = second));
      CHECK(b(5, 0) == first(5, 0) - second(5, 0));
    }
    std::vector<float> room(36);
    auto shared = sess->prepare(fetches(matmul(x, y), x - y)).to(std::tuple(std::span(room), std::span(room)));
    CHECK(words_of<invalid_argument_error>([&] { shared(x = first, y = second); }).find("share memory") !=
          std::string::npos);
    auto narrow = sess->prepare(matmul(x, y)).to(std::span(room));
    narrow(x = first, y = second);
    const matrix large = waves(7, 7, 0);
    for (int k = 0; k < 2; ++k)
      CHECK(words_of<invalid_argument_error>([&] { narrow(x = large, y = large); }).find("[onto.run]") == 0);
  }
}

TEST_CASE("a guard is heard in a program that ran without one", "[session][host]") {
  session soft{{.allow_soft_placement = true}}, hard;
  const matrix a = waves(3, 3, 0);
  const auto sum_of = [] { return matmul(x, x) + 1.0f; };
  const matrix expected = hard.run(sum_of(), x = a);
  for (int k = 0; k < 2; ++k) {
    CHECK(hard.run(sum_of(), x = a) == expected);
    CHECK(soft.run(sum_of(), x = a) == expected);
    const device_guard there(gpu<0>{});
    CHECK(soft.run(sum_of(), x = a) == expected);
    CHECK_THROWS_AS(hard.run(sum_of(), x = a), invalid_argument_error);
  }
}

TEST_CASE("values of a program that was not prepared are those of the run", "[session][host]") {
  session sess;
  const matrix a = waves(3, 3, 0);
  for (const float v : {1.0f, 2.0f, 2.0f, -3.0f, 0.5f}) {
    CHECK(sess.run(matmul(x, x) * v, x = a)(1, 1) == Approx(sess.run(matmul(x, x), x = a)(1, 1) * v));
    const float w = v == 2.0f ? v : v + 1;  // the two of one value are one node
    const matrix both = sess.run(softmax(x * v) + softmax(x * w), x = a);
    CHECK(both(0, 0) + both(0, 1) + both(0, 2) == Approx(2));
    const matrix c = waves(3, 3, v);
    CHECK(sess.run(matmul(c, x), x = a) == sess.run(matmul(y, x), x = a, y = c));
  }
}

TEST_CASE("a session that begins to be watched sees its runs", "[session][host]") {
  session sess;
  const matrix a = waves(3, 3, 0);
  const auto step = sess.prepare(matmul(x, x) + 1.0f);
  step(x = a);
  step(x = a);
  onto_test::saboteur hook;
  sess.inject(hook.hook());
  step(x = a);
  CHECK(hook.kernels > 0);
  hook.at = hook.calls;
  CHECK_THROWS_AS(step(x = a), internal_error);
  sess.inject({});
  CHECK(step(x = a) == sess.run(matmul(x, x) + 1.0f, x = a));
}

TEST_CASE("several threads run programs of one session", "[session][host][threads]") {
  session sess;
  const auto e = matmul(x, transpose(x)) + row;
  const auto step = sess.prepare(e);
  constexpr int threads = 4, rounds = 100;
  std::vector<int> wrong(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      const matrix a = waves(3 + t % 2, 5, static_cast<float>(t));
      const vector r = line(3 + t % 2, 0);
      const matrix expected = evaluate(e, x = a, row = r);
      for (int k = 0; k < rounds; ++k)
        wrong[static_cast<std::size_t>(t)] +=
            !(step(x = a, row = r) == expected) || !(sess.run(e, x = a, row = r) == expected);
    });
  for (std::thread& t : all) t.join();
  CHECK(wrong == std::vector<int>(threads));
}

TEST_CASE("what an operation throws comes with its name, whichever way it runs", "[session][host]") {
  session sess;
  const auto loop = call<refuses>(x);
  const auto last = call<refuses>(matmul(x, x));
  const auto one = sess.prepare(loop);
  const auto two = sess.prepare(last);
  const auto words = [](const auto& run) { return words_of<internal_error>(run); };
  const std::string expected = "five is too many; in Refuses (Refuses) on /device:CPU:0";
  const matrix good({40, 40});
  matrix bad = good, out = good;
  for (float& v : bad) v = 6;
  for (int k = 0; k < 2; ++k) {
    CHECK(one(x = good) == good);
    CHECK(two(x = good) == good);
    CHECK(sess.run(last, x = good) == good);
    CHECK(words([&] { one(x = bad); }) == expected);
    CHECK(words([&] { one.to(out)(x = bad); }) == expected);
    CHECK(words([&] { evaluate(loop, x = bad); }) == expected);
    CHECK(words([&] { evaluate_to(out, loop, x = bad); }) == expected);
    CHECK(words([&] { two(x = bad); }) == expected);
    CHECK(words([&] { sess.run(last, x = bad); }) == expected);
    CHECK(words([&] { evaluate(last, x = bad); }) == expected);
  }
}
