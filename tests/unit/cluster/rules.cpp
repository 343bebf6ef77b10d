// SPDX-License-Identifier: BSL-1.0
// The rules of programs over several tasks, and what becomes of those who do not keep to them.
#include "../../cluster/rules.hpp"

#include "../../cluster/simulated_tasks.hpp"
#include "../catch.hpp"

#include <atomic>
#include <chrono>

using namespace onto_test;
using namespace onto_test::rules;

TEST_CASE("programs over three tasks keep the rules", "[cluster][threads]") {
  for (unsigned seed = 0; seed < 3; ++seed) {
    std::vector<rule_checker> checkers{rule_checker(0), rule_checker(1), rule_checker(2)};
    const outcome o = run_tasks({{"ps", 1}, {"worker", 2}}, seed, [&](server& node) {
      check_rules(node, checkers[static_cast<std::size_t>(node.rank())]);
    });
    for (const rule_checker& r : checkers) {
      for (const std::string& failure : r.failures()) FAIL_CHECK(failure);
      CHECK(r.checks() > 30);
    }
    for (const std::string& words : o.thrown) CHECK(words == "");
    CHECK(o.left_over == 0);
  }
}

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("a task that does not come is named by all others in time", "[cluster][threads]") {
  const int missing = GENERATE(0, 1, 2);
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> waiting{2};
  const outcome o = run_tasks({{"ps", 1}, {"worker", 2}}, 1, [&](server& node) {
    session sess{node, {.timeout = 1.5}};
    if (node.rank() == missing) {
      while (waiting > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return;
    }
    const tensor<float, 2, 2> ones{{1, 1}, {1, 1}};
    const tensor<float, dyn, dyn> open(std::vector<float>(4, 1.f), {2, 2});
    std::string first;
    try {
      sess.run(both, x = ones, y = open);
    } catch (const failed_precondition_error& e) {
      first = e.what();
    }
    --waiting;
    try {
      sess.run(at_first, x = ones);
    } catch (const failed_precondition_error& e) {
      if (first == e.what()) throw;  // the session says the same from then on
    }
  });
  const char* const names[] = {"/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"};
  for (int r = 0; r < 3; ++r) {
    const std::string& words = o.thrown[static_cast<std::size_t>(r)];
    if (r == missing)
      CHECK(words.empty());
    else
      CHECK(words.find(std::string(names[missing]) + " did not answer within 1.5 s") != std::string::npos);
  }
  CHECK(seconds_since(begin) < 30);
}

TEST_CASE("a task that ends early is named at once", "[cluster][threads]") {
  const auto begin = std::chrono::steady_clock::now();
  const outcome o = run_tasks({{"ps", 1}, {"worker", 2}}, 1, [&](server& node) {
    session sess{node, {.timeout = 60}};
    if (node.rank() == 2) return;
    sess.run(at_first, x = tensor<float, 2, 2>{{1, 1}, {1, 1}});
  });
  CHECK(o.thrown[0].find("/job:worker/task:1 has ended its session") != std::string::npos);
  CHECK(o.thrown[1] == o.thrown[0]);
  CHECK(seconds_since(begin) < 20);
}

TEST_CASE("notes from another version and garbage are not read", "[cluster]") {
  detail::process_note n, back;
  n.round = 7;
  n.program = 8;
  n.failure = detail::failure_kind::not_found;
  n.operation = "MatMul";
  n.text = "why";
  n.said = std::string("a\0b", 3);
  const std::string bytes = detail::write_note(n);
  REQUIRE(detail::read_note(bytes, back));
  CHECK(back.round == 7);
  CHECK(back.same_failure(n));
  CHECK(back.said == n.said);
  for (std::size_t k = 0; k < bytes.size(); ++k) CHECK_FALSE(detail::read_note(bytes.substr(0, k), back));
  for (std::size_t k = 0; k < 8; ++k) {
    std::string other = bytes;
    other[k] = static_cast<char>(other[k] + 1);
    CHECK_FALSE(detail::read_note(other, back));
  }
  CHECK_FALSE(detail::read_note(bytes + "x", back));

  const detail::task_name there{"w", 1, 1};
  const auto devices = [&](std::string_view text) {
    detail::device_list found;
    return detail::read_devices(text, there, {}, found) ? found.count() : -1;
  };
  CHECK(devices("") == 0);
  CHECK(devices("2 0 1 5 7 1 0 device: 0, name: x\n1 0 0 0 0 0 0 \n") == 2);
  for (const char* const garbage :
       {"1 0 0 0 0 0 0 x", "1 0\n", "1 0 0 0 0 0\n", "1 0 0 0 0 0 0\n", "0 0 0 0 0 0 0 \n", "3 0 0 0 0 0 0 \n", "a\n",
        "1 -1 0 0 0 0 0 \n", "1 0 0 0 0 0 -1 \n", "1 99999999999999999999 0 0 0 0 0 \n", "1 1048576 0 0 0 0 0 \n",
        "99999999999 0 0 0 0 0 0 \n"})
    CHECK(devices(garbage) == -1);
}

TEST_CASE("a cluster of one process needs no other", "[cluster]") {
  const outcome o = run_tasks({{"local", 1}}, 1, [](server& node) {
    session sess{node, {.timeout = 1}};
    const auto r = sess.run(on<task<"local", 0>>(x + x), x = tensor<float, 2, 2>{{1, 1}, {1, 1}});
    if (!all_are(r, 2, 4)) throw std::runtime_error("wrong");
    if (sess.devices()[0].name.to_string() != "/job:local/replica:0/task:0/device:CPU:0")
      throw std::runtime_error("name");
  });
  CHECK(o.thrown[0] == "");
}
