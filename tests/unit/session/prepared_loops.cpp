// SPDX-License-Identifier: BSL-1.0
// Prepared programs of one loop, which run where they are called: they give, count and refuse what a session that is
// watched, and so runs them itself, gives, counts and refuses. That they do not go through the session is what
// benchmarks/instructions counts.
#include <onto/onto.hpp>

#include "../catch.hpp"
#include "saboteur.hpp"
#include "two_sessions.hpp"

#include <cmath>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace onto;
using onto_test::kernels_of;
using onto_test::saboteur;
using onto_test::words_of;

namespace {

constexpr auto x = placeholder<"x", float, dyn>;
constexpr auto y = placeholder<"y", float, dyn>;
constexpr auto n = placeholder<"n", std::int32_t, dyn, 3>;
constexpr auto eight = placeholder<"eight", float, 8>;

using vector = tensor<float, dyn>;

vector waves(int length, float phase) {
  vector t({length});
  for (int k = 0; k < length; ++k) t(k) = std::sin(phase + 0.37f * static_cast<float>(k));
  return t;
}

struct two_sessions : onto_test::two_sessions {
  template <class E, class... Symbols>
  auto expect_same(const E& e, const feed<Symbols>&... feeds) {
    const std::int64_t before[] = {kernels_of(plain), kernels_of(watched)};
    const auto here = plain.prepare(e), there = watched.prepare(e);
    auto r = here(feeds...);
    CHECK(r == there(feeds...));
    CHECK(here(feeds...) == r);
    CHECK(there(feeds...) == r);
    CHECK(kernels_of(plain) - before[0] == kernels_of(watched) - before[1]);
    return r;
  }
};

}  // namespace

TEST_CASE("a prepared loop gives what the session gives, for each length", "[session][prepared]") {
  two_sessions s;
  for (const int length : {0, 1, 3, 8, 17, 63, 64, 65, 1000, 4097, 70000, 300000}) {
    const vector a = waves(length, 0), b = waves(length, 1);
    INFO(length);
    const vector r = s.expect_same(x * y + 0.5f, x = a, y = b);
    REQUIRE(r.shape()[0] == length);
    for (int k = 0; k < length; ++k) CHECK_FALSE(std::abs(r(k) - (a(k) * b(k) + 0.5f)) > 1e-6f);
    s.expect_same(exp(x) > y, x = a, y = b);
    s.expect_same(sum(x * y), x = a, y = b);
    if (length == 0) continue;
    const float most = s.expect_same(max(abs(x)), x = a);
    float expected = 0;
    for (const float v : a) expected = std::abs(v) > expected ? std::abs(v) : expected;
    CHECK(most == expected);
  }
  tensor<std::int32_t, dyn, 3> whole({2, 3});
  for (int k = 0; k < 6; ++k) whole(k / 3, k % 3) = k * 1000000;
  CHECK(s.expect_same(n * 3 - 1, n = whole)(1, 2) == 14999999);
}

TEST_CASE("what a prepared loop reads may be broadcast, told apart, or of the program", "[session][prepared]") {
  two_sessions s;
  const vector a = waves(12, 0), one = waves(1, 3);
  vector b = waves(12, 2);
  CHECK(s.expect_same(x * y, x = a, y = one)(5) == a(5) * one(0));
  CHECK(s.expect_same(a + b)(7) == a(7) + b(7));
  CHECK(s.expect_same(a * a)(7) == a(7) * a(7));
  const float two = 2, three = 3;
  CHECK(s.expect_same(x * two + x * three, x = a)(1) == a(1) * 2 + a(1) * 3);
  CHECK(s.expect_same(x * two + x * two, x = a)(1) == a(1) * 2 + a(1) * 2);
  const auto step = s.plain.prepare(a + b);
  b(3) = 40;  // it is referred to
  CHECK(step()(3) == a(3) + 40);
}

TEST_CASE("a prepared loop refuses what the session refuses", "[session][prepared]") {
  two_sessions s;
  const vector a = waves(4, 0), longer = waves(5, 0), nothing;
  const auto here = s.plain.prepare(x + y), there = s.watched.prepare(x + y);
  const auto words = [&](const auto& step, const vector& p, const vector& q) {
    return words_of<invalid_argument_error>([&] { step(x = p, y = q); });
  };
  CHECK(words(here, a, longer).find("[onto.shape]") == 0);
  CHECK(words(here, a, longer) == words(there, a, longer));
  CHECK(here(x = a, y = a)(2) == a(2) + a(2));

  auto fixed = s.plain.prepare(eight * 2.0f);
  std::vector<float> seven(7);
  CHECK(words_of<invalid_argument_error>([&] { fixed(eight = seven); }).find("[onto.") == 0);

  vector kept = waves(2, 0);
  const vector before = kept;
  std::vector<float> room(3, 7.0f);
  CHECK(words_of<invalid_argument_error>([&] { here.to(std::span(room))(x = a, y = a); }).find("[onto.run]") == 0);
  CHECK(room == std::vector<float>(3, 7.0f));
  CHECK_THROWS_AS(here.to(kept)(x = a, y = longer), invalid_argument_error);
  CHECK(kept == before);
}

TEST_CASE("a prepared loop writes what it reads", "[session][prepared]") {
  two_sessions s;
  for (session* const sess : {&s.plain, &s.watched}) {
    vector a = waves(100, 0);
    const vector was = a;
    sess->prepare(x * 2.0f).to(a)(x = a);
    for (int k = 0; k < 100; ++k) REQUIRE(a(k) == was(k) * 2.0f);

    std::vector<float> line(101);
    for (int k = 0; k < 101; ++k) line[static_cast<std::size_t>(k)] = static_cast<float>(k);
    const std::span<float> first(line.data(), 100), second(line.data() + 1, 100);
    sess->prepare(x + 1000.0f).to(second)(x = first);  // one behind what is read
    for (int k = 0; k < 100; ++k) REQUIRE(line[static_cast<std::size_t>(k) + 1] == static_cast<float>(k) + 1000.0f);

    vector other = waves(3, 0);
    auto step = sess->prepare(x + y).to(other);  // it takes the result's shape
    step(x = a, y = a);
    REQUIRE(other.shape()[0] == 100);
    CHECK(other(4) == a(4) + a(4));
    const float* const where = other.data();
    step(x = was, y = a);
    CHECK(other.data() == where);
    CHECK(other(4) == was(4) + a(4));
  }
}

TEST_CASE("a session whose runs are watched does them itself", "[session][prepared]") {
  session sess;
  const vector a = waves(9, 0);
  const auto step = sess.prepare(x * 3.0f);
  CHECK(step(x = a)(8) == a(8) * 3.0f);
  saboteur hook;
  sess.inject(hook.hook());
  CHECK(step(x = a)(8) == a(8) * 3.0f);
  CHECK(hook.kernels == 1);
  sess.inject({});

  session simulated{{.simulated_gpus = 1}};
  const auto there = simulated.prepare(on<gpu<0>>(x * 3.0f));
  CHECK(there(x = a)(8) == a(8) * 3.0f);
  CHECK(kernels_of(simulated) == 0);
}

TEST_CASE("guards and scopes place a prepared loop", "[session][prepared]") {
  const vector a = waves(5, 0);
  session soft{{.allow_soft_placement = true}};
  session hard;
  {
    const device_guard here(gpu<0>{});
    CHECK(soft.prepare(x - 1.0f)(x = a)(4) == a(4) - 1.0f);
    CHECK_THROWS_AS(hard.prepare(x - 1.0f), invalid_argument_error);
  }
  CHECK(soft.prepare(on<gpu<3>>(x - 1.0f))(x = a)(4) == a(4) - 1.0f);
  const device_guard here(cpu<0>{});
  CHECK(hard.prepare(x - 1.0f)(x = a)(4) == a(4) - 1.0f);
  CHECK(hard.prepare(on<cpu<0>>(x - 1.0f))(x = a)(4) == a(4) - 1.0f);
}

TEST_CASE("several threads call one prepared loop", "[session][prepared][threads]") {
  session sess;
  const auto step = sess.prepare(x * x + 1.0f);
  constexpr int threads = 4, rounds = 200;
  std::vector<int> wrong(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      const vector a = waves(50 + t, static_cast<float>(t));
      for (int k = 0; k < rounds; ++k) {
        const vector r = step(x = a);
        wrong[static_cast<std::size_t>(t)] += r.shape()[0] != 50 + t || r(20) != a(20) * a(20) + 1.0f;
      }
    });
  for (std::thread& t : all) t.join();
  CHECK(wrong == std::vector<int>(threads));
  CHECK(kernels_of(sess) == threads * rounds);

  auto run = step.async(x = waves(6, 0));
  CHECK(run.get().shape()[0] == 6);
}
