// SPDX-License-Identifier: BSL-1.0
// The trace of a session: a file that is whole after every run, with a line for each kernel, copy and wait.
#include <onto/onto.hpp>

#include "../catch.hpp"
#include "saboteur.hpp"
#include "strict_json.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace onto;
using onto_test::strict_json;
using onto_test::words_of;

namespace {

constexpr auto x = placeholder<"x", float, 64, 64>;
constexpr auto y = placeholder<"y", float, 64, 64>;
constexpr auto w = variable<"w", float, 64, 64>;

tensor<float, 64, 64> filled(float value) {
  tensor<float, 64, 64> t;
  for (float& e : t) e = value;
  return t;
}

/// A file that is gone at the end.
struct file {
  std::string path;
  explicit file(const std::string& name) : path("trace_" + std::to_string(getpid()) + "_" + name + ".json") {}
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() { std::remove(path.c_str()); }

  std::string text() const {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// One span, as it stands on its line.
struct span {
  std::string name, category, operation;
  int process = -1, thread = -1;
  double begin = 0, took = 0, bytes = -1, flops = -1, bandwidth = -1, speed = -1;
};

double number_after(const std::string& line, const std::string& key) {
  const std::size_t at = line.find("\"" + key + "\": ");
  return at == std::string::npos ? -1 : std::stod(line.substr(at + key.size() + 4));
}
std::string text_after(const std::string& line, const std::string& key) {
  const std::string mark = "\"" + key + "\": \"";
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + mark.size();
  return line.substr(begin, line.find('"', begin) - begin);
}

/// The spans of a trace, which must be JSON.
std::vector<span> spans_of(const std::string& text) {
  INFO(text);
  REQUIRE(strict_json(text).valid());
  std::vector<span> spans;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!contains(line, "\"ph\": \"X\"")) continue;
    span s;
    s.name = text_after(line, "name");
    s.category = text_after(line, "cat");
    s.operation = text_after(line, "operation");
    s.process = static_cast<int>(number_after(line, "pid"));
    s.thread = static_cast<int>(number_after(line, "tid"));
    s.begin = number_after(line, "ts");
    s.took = number_after(line, "dur");
    s.bytes = number_after(line, "bytes");
    s.flops = number_after(line, "flops");
    s.bandwidth = number_after(line, "GB/s");
    s.speed = number_after(line, "GFLOP/s");
    spans.push_back(s);
  }
  return spans;
}

int count(const std::vector<span>& spans, const std::string& category) {
  int n = 0;
  for (const span& s : spans) n += s.category == category ? 1 : 0;
  return n;
}

const span* find(const std::vector<span>& spans, const std::string& name, const std::string& category) {
  for (const span& s : spans)
    if (s.name == name && s.category == category) return &s;
  return nullptr;
}

session_options traced(const file& f, int gpus, const cost_model& model = {}) {
  session_options o;
  o.simulated_gpus = gpus;
  o.simulation = model;
  o.trace = f.path;
  return o;
}

constexpr cost_model model{1e12, 1e12, 1e11, 1e10, 1e11, 1e11, 1e-6, 1e-6};
constexpr auto program =
    on<cpu<0>>(named<"total">(sum(on<gpu<1>>(named<"there">(matmul(on<gpu<0>>(named<"here">(x * y)), y))))));

}  // namespace

TEST_CASE("a trace has every kernel and copy, with names, amounts and rates", "[session][trace][threads]") {
  for (const bool timed : {false, true}) {
    const file f(timed ? "simulated" : "wall");
    session sess{traced(f, 2, timed ? model : cost_model{})};
    REQUIRE(sess.devices().size() == 3);
    sess.run(program, x = filled(1), y = filled(2));
    const auto& p = plan_of<world<cpu<0>, gpu<0>, gpu<1>>>(program);
    const std::vector<span> spans = spans_of(f.text());
    CHECK(count(spans, "kernel") == p.kernels);
    CHECK(count(spans, "copy") == p.transfers);
    CHECK(count(spans, "wait") > 0);

    const span* product = find(spans, "there", "kernel");
    REQUIRE(product);
    CHECK(product->operation == "MatMul");
    CHECK(product->process == 4);  // GPU 1
    CHECK(product->thread == 0);
    CHECK(product->flops == 2.0 * 64 * 64 * 64);
    CHECK(product->bytes == 3.0 * 64 * 64 * 4);
    CHECK(product->took > 0);
    CHECK(product->speed == Approx(product->flops / product->took / 1e3).margin(0.1));
    CHECK(product->bandwidth == Approx(product->bytes / product->took / 1e3).margin(0.1));

    const span* copy = find(spans, "here", "copy");
    REQUIRE(copy);
    CHECK(copy->operation == "copy from /device:GPU:0 to /device:GPU:1");
    CHECK(copy->process == 2);  // the giving side's stream
    CHECK(copy->thread == 2);
    CHECK(copy->bytes == 64 * 64 * 4);
    CHECK(find(spans, "total", "kernel"));
    CHECK(find(spans, "total", "kernel")->process == 1);  // the host

    // Nothing begins before what it needs is there.
    CHECK(find(spans, "here", "kernel")->begin + find(spans, "here", "kernel")->took <= copy->begin + 0.001);
    CHECK(copy->begin + copy->took <= product->begin + 0.001);
    CHECK(product->begin + product->took <= find(spans, "total", "kernel")->begin + 0.001);
    if (timed) {
      CHECK(product->took == Approx(1e6 * model.kernel(2 * 64 * 64 * 64, 3 * 64 * 64 * 4)).margin(0.001));
      CHECK(copy->took == Approx(1e6 * model.link(64 * 64 * 4)).margin(0.001));
    }
  }
}

TEST_CASE("devices and streams of a trace have names", "[session][trace]") {
  const file f("names");
  session sess{traced(f, 2)};
  REQUIRE(sess.devices().size() == 3);
  for (int k = 0; k < 2; ++k) sess.run(program, x = filled(1), y = filled(2));
  const std::string text = f.text();
  for (const char* device : {"/device:CPU:0", "/device:GPU:0", "/device:GPU:1"}) {
    const std::string line = std::string("\"args\": {\"name\": \"") + device + "\"}";
    CHECK(contains(text, line));
    CHECK(text.find(line, text.find(line) + 1) == std::string::npos);  // once
  }
  for (const char* stream : {"compute", "copies in", "copies out", "host"})
    CHECK(contains(text, std::string("\"args\": {\"name\": \"") + stream + "\"}"));
}

TEST_CASE("one stream does one thing at a time", "[session][trace][threads]") {
  const file f("streams");
  session sess{traced(f, 2, model)};
  REQUIRE(sess.devices().size() == 3);
  for (int k = 0; k < 3; ++k) sess.run(program, x = filled(1), y = filled(2));
  const std::vector<span> spans = spans_of(f.text());
  for (std::size_t a = 0; a < spans.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      if (spans[a].process != spans[b].process || spans[a].thread != spans[b].thread) continue;
      INFO(spans[a].name << " " << spans[a].begin << " and " << spans[b].name << " " << spans[b].begin);
      CHECK((spans[a].begin + 0.0011 >= spans[b].begin + spans[b].took ||
             spans[b].begin + 0.0011 >= spans[a].begin + spans[a].took));
    }
}

TEST_CASE("a trace is whole before, between and after runs, and when they fail", "[session][trace]") {
  const file f("whole");
  {
    std::optional<session> sess(std::in_place, traced(f, 1));
    CHECK(strict_json(f.text()).valid());
    std::size_t before = f.text().size();
    for (int k = 0; k < 5; ++k) {
      sess->run(on<gpu<0>>(x + y), x = filled(1), y = filled(2));
      const std::string text = f.text();
      CHECK(strict_json(text).valid());
      CHECK(text.size() > before);
      before = text.size();

      onto_test::saboteur s;
      s.at = k;
      sess->inject(s.hook());
      CHECK_THROWS_AS(sess->run(on<gpu<0>>(tanh(x + y)), x = filled(1), y = filled(2)), internal_error);
      sess->inject({});
      CHECK(strict_json(f.text()).valid());
    }
    const auto step = sess->prepare(assign(on<gpu<0>>(w), x));
    sess.reset();
    for (int k = 0; k < 3; ++k) step(x = filled(1));
    CHECK(count(spans_of(f.text()), "kernel") >= 8);
    onto_test::saboteur s;
  }
  CHECK(strict_json(f.text()).valid());
}

TEST_CASE("a trace whose last run failed is JSON", "[session][trace]") {
  const file f("failed");
  {
    session sess{traced(f, 1)};
    for (int k = 1; k < 4; ++k) {
      onto_test::saboteur s;
      s.at = k;
      sess.inject(s.hook());
      CHECK_THROWS_AS(sess.run(on<gpu<0>>(tanh(x + y)), x = filled(1), y = filled(2)), internal_error);
      sess.inject({});
    }
  }
  CHECK(count(spans_of(f.text()), "copy") > 0);
}

TEST_CASE("prepared and queued runs are traced each time", "[session][trace][threads]") {
  const file f("prepared");
  {
    session sess{traced(f, 1)};
    REQUIRE(sess.devices().size() == 2);
    sess.run(assign(on<gpu<0>>(w), 0));
    const auto step = sess.prepare(assign_add(on<gpu<0>>(w), x));
    const auto value = filled(1);
    for (int k = 0; k < 4; ++k) step(x = value);
    std::vector<decltype(step.async(x = value))> runs;
    for (int k = 0; k < 4; ++k) runs.push_back(step.async(x = value));
    for (auto& r : runs) r.wait();
  }
  const auto spans = spans_of(f.text());
  int adds = 0, feeds = 0;
  for (const span& s : spans) {
    adds += s.category == "kernel" && contains(s.operation, "AssignAdd") ? 1 : 0;
    feeds += s.category == "copy" && s.name == "x" ? 1 : 0;
  }
  CHECK(adds == 8);
  CHECK(feeds == 8);
}

TEST_CASE("threads trace into one file", "[session][trace][threads]") {
  const file f("threads");
  session sess{traced(f, 2)};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) sess.run(program, x = filled(1), y = filled(2));
    });
  for (std::thread& t : threads) t.join();
  const auto spans = spans_of(f.text());
  REQUIRE(sess.devices().size() == 3);
  CHECK(count(spans, "kernel") == 40 * plan_of<world<cpu<0>, gpu<0>, gpu<1>>>(program).kernels);
}

TEST_CASE("two sessions trace into two files", "[session][trace]") {
  const file one("one"), two("two");
  session first{traced(one, 1)}, second{traced(two, 2, model)};
  first.run(on<gpu<0>>(named<"of_first">(x + y)), x = filled(1), y = filled(2));
  second.run(on<gpu<0>>(named<"of_second">(x * y)), x = filled(1), y = filled(2));
  CHECK(find(spans_of(one.text()), "of_first", "kernel"));
  CHECK_FALSE(find(spans_of(one.text()), "of_second", "kernel"));
  CHECK(find(spans_of(two.text()), "of_second", "kernel"));
  CHECK_FALSE(find(spans_of(two.text()), "of_first", "kernel"));
}

TEST_CASE("two sessions at a time do not write one file; one after the other does", "[session][trace]") {
  const file f("shared");
  {
    session first{{.trace = f.path}};
    first.run(x + y, x = filled(1), y = filled(2));
    try {
      session second{{.trace = f.path}};
      FAIL("two sessions share a trace");
    } catch (const invalid_argument_error& e) {
      CHECK(e.what() ==
            "[onto.option] trace: '" + f.path + "' is written by another session; give each a file of its own");
    }
    first.run(x + y, x = filled(1), y = filled(2));
    CHECK(strict_json(f.text()).valid());
  }
  session third{{.trace = f.path}};
  CHECK(strict_json(f.text()).valid());
}

TEST_CASE("a trace on a disk that is full is given up, and the log says so once", "[session][trace]") {
  // As full as a disk: the files of this process may have 2000 bytes.
  const file f("full");
  std::vector<std::string> lines;
  session_options o;
  o.trace = f.path;
  o.log = [&lines](std::string_view line) { lines.emplace_back(line); };
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  int wrong = 0;
  {
    session sess{o};
    rlimit small = before;
    small.rlim_cur = 2000;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    for (int k = 0; k < 50; ++k) wrong += sess.run(x + y, x = filled(1), y = filled(2)) == filled(3) ? 0 : 1;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  }
  std::signal(SIGXFSZ, handler);
  CHECK(wrong == 0);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("The trace '" + f.path + "' could not be written to its end: ") == 0);
}

TEST_CASE("a path that cannot be written is refused when the session is made", "[session][trace]") {
  session_options o;
  o.trace = "/no/such/folder/run.json";
  CHECK(words_of<invalid_argument_error>([&] { session{o}; }) ==
        "[onto.option] trace: '/no/such/folder/run.json' cannot be written: No such file or directory");
  if (access("/dev/full", W_OK) == 0) {
    o.trace = "/dev/full";
    CHECK(words_of<invalid_argument_error>([&] { session{o}; }) ==
          "[onto.option] trace: '/dev/full' cannot be written: No space left on device");
  }
  o.trace = "/";
  CHECK(words_of<invalid_argument_error>([&] { session{o}; }).find("[onto.option] trace: '/' cannot be written") == 0);
}

TEST_CASE("simulated time goes on from run to run", "[session][trace]") {
  const file f("clock");
  session sess{traced(f, 2, model)};
  REQUIRE(sess.devices().size() == 3);
  double before = 0;
  for (int k = 0; k < 3; ++k) {
    sess.run(program, x = filled(1), y = filled(2));
    const double now = sess.simulated_seconds();
    CHECK(now > before);
    double last = 0;
    for (const span& s : spans_of(f.text())) last = std::max(last, s.begin + s.took);
    CHECK(last == Approx(now * 1e6).margin(0.01));
    before = now;
  }
}
