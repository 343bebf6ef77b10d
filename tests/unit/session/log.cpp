// SPDX-License-Identifier: BSL-1.0
// The placement log: which lines, where they go, and that each program's are written once.
#include <onto/onto.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "../catch.hpp"
#include "simulated.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 2, 2>;
constexpr auto w = variable<"w", float, 2, 2>;
const tensor<float, 2, 2> values{{1, 2}, {3, 4}};
const std::string gpu0 = "/job:localhost/replica:0/task:0/device:GPU:0";
const std::string cpu0 = "/job:localhost/replica:0/task:0/device:CPU:0";

using lines = std::vector<std::string>;

session_options logging_to(lines& out, int gpus, bool soft = false) {
  session_options o;
  o.log_device_placement = true;
  o.allow_soft_placement = soft;
  o.simulated_gpus = gpus;
  o.log = [&out](std::string_view line) { out.emplace_back(line); };
  return o;
}

}  // namespace

TEST_CASE("without a GPU the log says so, and has a line for each node", "[session]") {
  lines log;
  session sess{logging_to(log, 0)};
  sess.run(on<cpu<0>>(matmul(x, matmul(x, x))), x = values);
  const std::size_t real = onto_test::real_gpus();
  REQUIRE(log.size() == 4 + real);
  CHECK(log[0] == (real ? "Device mapping:" : "Device mapping: no known devices."));
  log.erase(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(1 + real));
  CHECK(log == lines{"x: (Placeholder): " + cpu0, "MatMul: (MatMul): " + cpu0, "MatMul_1: (MatMul): " + cpu0});
}

TEST_CASE("the device mapping names each GPU", "[session]") {
  lines log;
  session sess{onto_test::simulated_alone(logging_to(log, 2))};
  sess.run(on<gpu<0>>(matmul(x, x)), x = values);
  REQUIRE(log.size() == 5);
  CHECK(log[0] == "Device mapping:");
  CHECK(log[1].find(gpu0 + " -> device: 0, name: simulated") == 0);
  CHECK(log[2].find("/job:localhost/replica:0/task:0/device:GPU:1 -> device: 1, name: simulated") == 0);
  CHECK(log[3] == "x: (Placeholder): " + gpu0);
  CHECK(log[4] == "MatMul: (MatMul): " + gpu0);
}

TEST_CASE("a node that was moved has its request and the reason in the log", "[session]") {
  lines log;
  session sess{onto_test::simulated_alone(logging_to(log, 1, true))};
  sess.run(on<gpu<2>>(tanh(x)), x = values);
  CHECK(log.back() == "Tanh: (Tanh): " + gpu0 + " (requested /device:GPU:2; moved: no such device)");
}

TEST_CASE("a program is logged once, each program by itself", "[session]") {
  lines log;
  session sess{logging_to(log, 1)};
  const auto first = on<gpu<0>>(exp(x));
  sess.run(first, x = values);
  const std::size_t once = log.size();
  CHECK(once > 0);
  for (int k = 0; k < 3; ++k) sess.run(first, x = values);
  sess.prepare(first)(x = values);
  sess.placement(first);
  CHECK(log.size() == once);
  sess.run(on<cpu<0>>(exp(x)), x = values);
  CHECK(log.size() > once);
}

TEST_CASE("the first values of variables are logged under one heading", "[session]") {
  static constexpr auto a = variable<"a", float, 2>(1_c);
  static constexpr auto b = variable<"b", float, 2>(2_c);
  static constexpr auto c = variable<"c", float, 2>(3_c);
  lines log;
  session sess{onto_test::simulated_alone(logging_to(log, 1))};
  const auto headings = [&] { return std::count(log.begin(), log.end(), "Device mapping:"); };
  sess.initialize(a + b);
  CHECK(headings() == 1);
  CHECK(log.size() == 6);  // the heading, the GPU, and two lines for each variable
  CHECK(log[2] == "a: (Variable): " + gpu0);
  CHECK(log[4] == "b: (Variable): " + gpu0);
  sess.run(assign(c, 1.0f));
  CHECK(headings() == 2);
  sess.run(a * b);
  CHECK(headings() == 3);
}

TEST_CASE("a program that runs with other shapes is not logged again", "[session]") {
  constexpr auto open = placeholder<"open", float, dyn>;
  lines log;
  session sess{logging_to(log, 1)};
  sess.run(sum(open), open = {1, 2});
  const std::size_t once = log.size();
  sess.run(sum(open), open = {1, 2, 3});
  CHECK(log.size() == once);
}

TEST_CASE("initialization is logged like any other program", "[session]") {
  lines log;
  session sess{logging_to(log, 1)};
  sess.initialize(w(values));
  bool assigned = false;
  for (const std::string& line : log) assigned = assigned || line == "Assign: (Assign): " + gpu0;
  CHECK(assigned);
}

TEST_CASE("the log goes to a stream", "[session]") {
  lines expected;
  std::ostringstream out;
  {
    session_options o = logging_to(expected, 1);
    session to_callback{o};
    to_callback.run(tanh(x), x = values);
    o.log = &out;
    session{o}.run(tanh(x), x = values);
    o.log = out;
    session{o}.run(tanh(x), x = values);
  }
  std::string joined;
  for (const std::string& line : expected) joined += line + "\n";
  CHECK(out.str() == joined + joined);
}

TEST_CASE("without log_device_placement, or with a null stream, nothing is written", "[session]") {
  lines log;
  session_options o = logging_to(log, 1);
  o.log_device_placement = false;
  session{o}.run(tanh(x), x = values);
  CHECK(log.empty());
  o.log_device_placement = true;
  o.log = static_cast<std::ostream*>(nullptr);
  session{o}.run(tanh(x), x = values);
  CHECK(log.empty());
}

TEST_CASE("every device name in a log parses", "[session]") {
  lines log;
  session sess{logging_to(log, 3, true)};
  sess.run(fetches(on<gpu<5>>(tanh(x)), on<cpu<0>>(exp(x)), matmul(x, x)), x = values);
  int names = 0;
  for (const std::string& line : log) {
    for (std::size_t at = line.find('/'); at != std::string::npos; at = line.find('/', at)) {
      const std::size_t end = line.find_first_of(" ;,)", at);
      const std::string name = line.substr(at, end == std::string::npos ? end : end - at);
      CHECK(device_name::parse(name).to_string() == name);
      ++names;
      at = end == std::string::npos ? line.size() : end;
    }
  }
  CHECK(names >= 8);
}
