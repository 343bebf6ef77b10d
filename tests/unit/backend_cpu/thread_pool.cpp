// SPDX-License-Identifier: BSL-1.0
// The thread pool: every element once, from any number of threads, whatever a piece of work does.
#include <onto/backend/cpu/thread_pool.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"

using onto::detail::split;
using onto::detail::thread_pool;

namespace {

bool covers_once(thread_pool& pool, std::int64_t count, std::int64_t grain) {
  std::vector<int> seen(static_cast<std::size_t>(count), 0);
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    for (std::int64_t k = lo; k < hi; ++k) ++seen[static_cast<std::size_t>(k)];
  };
  split(pool, count, grain, body);
  for (int s : seen)
    if (s != 1) return false;
  return true;
}

}  // namespace

TEST_CASE("a pool works and ends in the child of a fork, which has none of its threads") {
  auto pool = std::make_unique<thread_pool>(3);
  REQUIRE(covers_once(*pool, 4097, 1));
  usleep(5000);  // until the threads sleep
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool covers = covers_once(*pool, 4097, 1);
    pool.reset();
    _exit(covers ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(covers_once(*pool, 4097, 1));
}

TEST_CASE("a range is covered once, whatever its length, grain and threads", "[threads]") {
  for (int threads : {1, 2, 3, 4}) {
    thread_pool pool(threads);
    REQUIRE(pool.size() == threads);
    for (std::int64_t count : {0, 1, 2, 3, 7, 63, 64, 65, 1000, 4097})
      for (std::int64_t grain : {0, 1, 3, 64, 100, 5000}) CHECK(covers_once(pool, count, grain));
  }
}

TEST_CASE("a pool of 0 threads has one for each processor", "[threads]") {
  thread_pool pool(0);
  CHECK(pool.size() >= 1);
  CHECK(covers_once(pool, 1000, 1));
}

TEST_CASE("no piece but the last is smaller than the grain", "[threads]") {
  thread_pool pool(4);
  std::atomic<int> small{0};
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    if (hi - lo < 100 && hi != 1050) ++small;
  };
  split(pool, 1050, 100, body);
  CHECK(small == 0);
}

TEST_CASE("brief work wakes no thread, unless more of it follows", "[threads]") {
  thread_pool pool(2);
  int calls = 0;
  auto whole = [&](std::int64_t lo, std::int64_t hi) { calls += lo == 0 && hi == 1000; };
  split(pool, 1000, 10, whole, true);
  CHECK(calls == 1);
  std::atomic<int> pieces{0};
  auto count = [&](std::int64_t, std::int64_t) { ++pieces; };
  for (int k = 0; k < 10000 && pieces <= k + 1; ++k) split(pool, 1000, 10, count, true);
  CHECK(pieces > 1);
  CHECK(covers_once(pool, 1000, 10));
}

TEST_CASE("work is cut into as many pieces for each thread, up to four", "[threads]") {
  thread_pool pool(3);
  for (std::int64_t most = 0; most < 100; ++most) {
    const std::int64_t pieces = pool.pieces_of(most);
    CHECK(pieces <= most);
    CHECK(pieces <= 12);
    CHECK((pieces == most || pieces % 3 == 0));
    CHECK((pieces == 12 || most - pieces < 3));
  }
}

TEST_CASE("little work stays on the caller's thread", "[threads]") {
  thread_pool pool(4);
  const auto caller = std::this_thread::get_id();
  bool here = false;
  int calls = 0;
  auto body = [&](std::int64_t, std::int64_t) {
    here = std::this_thread::get_id() == caller;
    ++calls;
  };
  split(pool, 199, 100, body);
  CHECK(here);
  CHECK(calls == 1);
}

TEST_CASE("what a piece throws reaches the caller, and the pool goes on", "[threads]") {
  for (int threads : {1, 2, 4}) {
    thread_pool pool(threads);
    for (int round = 0; round < 50; ++round) {
      auto body = [&](std::int64_t lo, std::int64_t hi) {
        if (lo <= 500 && 500 < hi) throw std::runtime_error("piece with 500");
      };
      std::string what;
      try {
        split(pool, 1000, 1, body);
      } catch (const std::runtime_error& e) {
        what = e.what();
      }
      REQUIRE(what == "piece with 500");
      REQUIRE(covers_once(pool, 1000, 1));
    }
  }
}

TEST_CASE("a piece may use the pool itself", "[threads]") {
  thread_pool pool(4);
  std::atomic<std::int64_t> total{0};
  auto outer = [&](std::int64_t lo, std::int64_t hi) {
    for (std::int64_t k = lo; k < hi; ++k) {
      auto inner = [&](std::int64_t a, std::int64_t b) { total += b - a; };
      split(pool, 100, 1, inner);
    }
  };
  split(pool, 64, 1, outer);
  CHECK(total == 6400);
}

TEST_CASE("several threads may use one pool at once", "[threads]") {
  thread_pool pool(3);
  std::vector<std::thread> users;
  std::atomic<int> wrong{0};
  for (int u = 0; u < 4; ++u)
    users.emplace_back([&, u] {
      for (int round = 0; round < 200; ++round) {
        std::vector<std::int64_t> values(static_cast<std::size_t>(100 + u), 0);
        auto body = [&](std::int64_t lo, std::int64_t hi) {
          for (std::int64_t k = lo; k < hi; ++k) values[static_cast<std::size_t>(k)] += k + round;
        };
        split(pool, 100 + u, 1, body);
        for (std::int64_t k = 0; k < 100 + u; ++k) wrong += values[static_cast<std::size_t>(k)] != k + round;
      }
    });
  for (auto& t : users) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("pools come and go, used or not, their threads asleep or not", "[threads]") {
  for (int round = 0; round < 60; ++round) {
    thread_pool unused(3);
    const auto pool = std::make_unique<thread_pool>(1 + round % 4);
    if (round % 3 != 0) REQUIRE(covers_once(*pool, 300, 1));
    if (round % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (round % 2 != 0) REQUIRE(covers_once(*pool, 300, 1));
  }
  thread_pool last(3);
  CHECK(covers_once(last, 300, 1));
}
