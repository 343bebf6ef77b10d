// SPDX-License-Identifier: BSL-1.0
// One trace of several tasks: what comes into the first one's file, and what stays with its task. Processes and MPI are
// in tests/cluster/traces.cpp.
#include "../../cluster/simulated_tasks.hpp"
#include "../catch.hpp"
#include "../session/strict_json.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

using namespace onto_test;

namespace {

constexpr auto x = placeholder<"x", float, 16, 16>;
constexpr auto step = on<task<"worker", 0>>(tanh(x)) + on<task<"worker", 1>>(exp(on<task<"worker", 0>>(sin(x))));

std::string path_of(const char* name) { return "traces_" + std::to_string(getpid()) + "_" + name + ".json"; }

/// What a file holds, which is gone then.
std::string taken(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  std::remove(path.c_str());
  return all.str();
}
int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// Runs a program some times in each of two tasks. *Returns* what the tasks threw, joined.
template <class F>
std::string run_traced(const std::string& path, int runs, const F& after) {
  const outcome o = run_tasks({{"worker", 2}}, 7, [&](server& node) {
    session sess{node, {.timeout = 20, .trace = path}};
    tensor<float, 16, 16> data;
    for (int k = 0; k < runs; ++k) sess.run(step, x = data);
    after(node, sess);
  });
  std::string words;
  for (const std::string& w : o.thrown) words += w;
  if (words.empty()) CHECK(o.left_over == 0);
  return words;
}

}  // namespace

TEST_CASE("two tasks have one trace", "[cluster][threads]") {
  const std::string path = path_of("one");
  CHECK(run_traced(path, 3, [](server&, session&) {}) == "");
  const std::string text = taken(path);
  CHECK(strict_json(text).valid());
  CHECK(count(text, "\"/job:worker/task:0/device:CPU:0\"}") == 1);
  CHECK(count(text, "\"/job:worker/task:1/device:CPU:0\"}") == 1);
  CHECK(count(text, "clock within ") == 1);
  CHECK(count(text, "\"name\": \"Exp\", \"cat\": \"kernel\"") == 3);
  CHECK(count(text, "\"cat\": \"all-reduce\"") == 6);
  CHECK(count(text, "\"ph\": \"s\"") == 3);  // an arrow for each message
  CHECK(count(text, "\"ph\": \"f\"") == 3);
  CHECK(taken(path + ".worker-1") == "");
}

TEST_CASE("tasks that end by an exception lose nothing of the trace, and nobody waits", "[cluster][threads]") {
  const std::string path = path_of("part");
  const std::string words = run_traced(path, 2, [](server& node, session&) {
    if (node.rank() == 1) throw std::runtime_error("that was it");
    throw std::runtime_error("here, too");
  });
  CHECK(count(words, "that was it") == 1);
  const std::string text = taken(path), part = taken(path + ".worker-1");
  CHECK(strict_json(text).valid());
  CHECK((part.empty() || strict_json(part).valid()));  // empty: all has come in time
  CHECK(count(part.empty() ? text : part, "\"name\": \"Exp\", \"cat\": \"kernel\"") == 2);
}

TEST_CASE("tasks of which one has a trace, or cannot write it, are told so", "[cluster][threads]") {
  const std::string path = path_of("alone");
  const outcome some = run_tasks({{"worker", 2}}, 3, [&](server& node) {
    session sess{node, {.timeout = 20, .trace = node.rank() == 0 ? path : std::string()}};
  });
  taken(path);
  for (const std::string& w : some.thrown) CHECK_THAT(w, Catch::Contains("trace on") && Catch::Contains("trace off"));
  const outcome none = run_tasks({{"worker", 2}}, 3, [&](server& node) {
    session sess{node, {.timeout = 20, .trace = node.rank() == 0 ? path : "no/such/folder/t.json"}};
  });
  taken(path);
  for (const std::string& w : none.thrown)
    CHECK_THAT(w, Catch::Contains("[onto.option] trace: 'no/such/folder/t.json.worker-1' cannot be written"));
}
