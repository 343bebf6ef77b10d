// SPDX-License-Identifier: BSL-1.0
// Guards: what nested scopes ask for (tests/conformance/device_scopes.tsv), guards beside `on`, and guards on several
// threads.
#include <onto/onto.hpp>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;
const tensor<float, 2> two{1, 2};

/// What the node asks for. A request for another process cannot be placed, and the error then says what it was.
template <class E>
std::string request_of(const E& e, std::string_view node = "Add") {
  session sess{{.allow_soft_placement = true}};
  try {
    return sess.placement(e).at(node).requested.to_string();
  } catch (const invalid_argument_error& refused) {
    const std::string text = refused.what();
    const std::size_t line = text.find("operation " + std::string(node) + ":");
    REQUIRE(line != std::string::npos);
    const std::size_t begin = text.find('\'', line) + 1;
    return text.substr(begin, text.find('\'', begin) - begin);
  }
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + separator.size()) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

}  // namespace

TEST_CASE("nested guards ask for what the conformance table says", "[session]") {
  std::ifstream file(ONTO_TESTS_DIR "/conformance/device_scopes.tsv");
  REQUIRE(file.good());
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> columns = split(line, "\t");
    REQUIRE(columns.size() >= 2);
    INFO(line);
    std::vector<std::unique_ptr<device_guard>> guards;
    for (const std::string& scope : split(columns[0], " > "))
      guards.push_back(scope == "NONE" ? std::make_unique<device_guard>(no_device)
                                       : std::make_unique<device_guard>(scope));
    const auto e = x + y;
    CHECK(request_of(e) == (columns[1] == "\"\"" ? "" : columns[1]));
    while (!guards.empty()) guards.pop_back();
    CHECK(request_of(e) == (columns[1] == "\"\"" ? "" : columns[1]));
    CHECK(request_of(x + y).empty());
    ++rows;
  }
  CHECK(rows >= 12);
}

TEST_CASE("a guard places what is written while it lives, and nothing else", "[session]") {
  const auto before = x + y;
  auto during = [] {
    device_guard g{gpu<1>{}};
    return x - y;
  }();
  const auto after = x * y;
  CHECK(request_of(before).empty());
  CHECK(request_of(during, "Sub") == "/device:GPU:1");
  CHECK(request_of(after, "Mul").empty());
  // In a larger expression each keeps its own.
  const auto whole = exp(before + during);
  CHECK(request_of(whole, "Sub") == "/device:GPU:1");
  CHECK(request_of(whole, "Exp").empty());
}

TEST_CASE("guards that end in another order leave none behind", "[session]") {
  auto scope = std::make_unique<device_guard>("/cpu:0");
  const auto first = square(x);
  scope = std::make_unique<device_guard>("/gpu:1");  // made before the one it replaces ends
  const auto second = sqrt(x);
  CHECK(request_of(first, "Square") == "/device:CPU:0");
  CHECK(request_of(second, "Sqrt") == "/device:GPU:1");
  {
    const device_guard inner("/gpu:0");
    scope.reset();
    CHECK(request_of(exp(x), "Exp") == "/device:GPU:0");
  }
  CHECK(request_of(exp(x), "Exp").empty());
  // And where no expression keeps the guard that has ended.
  scope = std::make_unique<device_guard>("/cpu:0");
  scope = std::make_unique<device_guard>("/gpu:1");
  CHECK(request_of(exp(x), "Exp") == "/device:GPU:1");
  scope.reset();
  CHECK(request_of(exp(x), "Exp").empty());
}

TEST_CASE("a guard is made from a place, a text, a name, or no_device", "[session]") {
  const auto under = [](const auto& scope) {
    device_guard g{scope};
    return request_of(x + y);
  };
  CHECK(under(gpu<1>{}) == "/device:GPU:1");
  CHECK(under(cpu<0>{}) == "/device:CPU:0");
  CHECK(under("/gpu:1") == "/device:GPU:1");
  CHECK(under(std::string("gpu:1")) == "/device:GPU:1");
  CHECK(under(device_name::parse("/device:GPU:*")) == "/device:GPU:*");
  CHECK(under(no_device).empty());
  CHECK_THROWS_AS(device_guard("/gpu:x"), invalid_argument_error);
  CHECK(request_of(x + y).empty());  // a name that is refused leaves no guard behind
}

TEST_CASE("guards and on scopes nest, and the inner one wins field by field", "[session]") {
  const auto sum_on = [](const auto& scope) {
    device_guard g{scope};
    return on<gpu<1>>(x + y);
  };
  // A guard outside, `on` inside.
  CHECK(request_of(sum_on("/cpu:0")) == "/device:GPU:1");
  CHECK(request_of(sum_on("/gpu:7")) == "/device:GPU:1");
  CHECK(request_of(sum_on("/job:w")) == "/job:w/device:GPU:1");
  CHECK(request_of(sum_on(no_device)) == "/device:GPU:1");
  // `on` outside, a guard inside.
  const auto inside = [](const auto& scope) {
    return on<gpu<1>>([&] {
      device_guard g{scope};
      return x + y;
    });
  };
  CHECK(request_of(inside("/cpu:0")) == "/device:CPU:0");
  CHECK(request_of(inside("/gpu:*")) == "/device:GPU:1");
  CHECK(request_of(inside("/job:w")) == "/job:w/device:GPU:1");
  CHECK(request_of(inside(no_device)).empty());
  // All of them.
  device_guard outer{"/job:w/task:3/gpu:5"};
  const auto mixed = on<cpu<0>>([] {
    device_guard inner{"/gpu:*"};
    return x + y;
  });
  CHECK(request_of(mixed) == "/job:w/task:3/device:GPU:*");
}

TEST_CASE("a guard does not reach symbols, and on reaches one where it stands around it alone", "[session]") {
  session sess{{.simulated_gpus = 2}};
  device_guard g{"/gpu:1"};
  const auto report = sess.placement(on<gpu<0>>(x) + y);
  CHECK(report.at("Add").assigned == device_name::local(gpu<1>::value));
  CHECK(report.at("x").assigned == device_name::local(gpu<0>::value));
  CHECK(report.at("y").requested.constrains_nothing());
  CHECK(report.at("y").assigned == device_name::local(gpu<1>::value));
}

TEST_CASE("a constant that is written under a guard is placed by it", "[session]") {
  session sess{{.simulated_gpus = 2}};
  const auto c = [] {
    device_guard g{"/gpu:1"};
    return constant<"c">({1.f, 2.f});
  }();
  CHECK(sess.placement(x + c).at("c").assigned == device_name::local(gpu<1>::value));
  CHECK(sess.run(x + c, x = two) == tensor<float, 2>{2, 4});
}

TEST_CASE("operations of one kernel that guards send to several devices run there, one by one", "[session]") {
  session sess{{.simulated_gpus = 3}};
  const auto under = [](const char* where, auto make) {
    device_guard g{where};
    return make();
  };
  const auto a = under("/gpu:0", [] { return x + y; });
  const auto b = under("/gpu:1", [&] { return a * a; });
  const auto c = under("/cpu:0", [&] { return b - x; });
  const auto d = under("/gpu:2", [&] { return sum(c * b); });
  const auto report = sess.placement(d);
  CHECK(report.at("Add").assigned.index() == 0);
  CHECK(report.at("Mul").assigned.index() == 1);
  CHECK(report.at("Sub").assigned.kind() == "CPU");
  CHECK(report.at("Sum").assigned.index() == 2);
  CHECK(sess.run(d, x = two, y = two) == (4.f - 1) * 4 + (16.f - 2) * 16);
  CHECK(sess.statistics(gpu<0>{}).kernels == 1);
  CHECK(sess.statistics(gpu<1>{}).kernels == 1);
  CHECK(sess.statistics(cpu<0>{}).kernels == 1);
  CHECK(sess.statistics(gpu<2>{}).kernels == 2);
  // The same program without guards is one kernel.
  session plain;
  CHECK(plain.run(sum(((x + y) * (x + y) - x) * ((x + y) * (x + y))), x = two, y = two) ==
        (4.f - 1) * 4 + (16.f - 2) * 16);
  CHECK(plain.statistics(cpu<0>{}).kernels == 1);
}

TEST_CASE("the same text under equal guards is one node, under different guards an error", "[session]") {
  session sess{{.simulated_gpus = 2}};
  const auto under = [](const char* where) {
    device_guard g{where};
    return exp(x + y);
  };
  CHECK(sess.run(sum(under("/gpu:1") - under("/device:GPU:1")), x = two, y = two) == 0.0f);
  CHECK_THROWS_AS(sess.run(under("/gpu:0") - under("/gpu:1"), x = two, y = two), invalid_argument_error);
  // `on` is part of what they are, and tells them apart.
  CHECK(sess.run(sum(on<gpu<0>>(exp(x + y)) - on<gpu<1>>(exp(x + y))), x = two, y = two) == 0.0f);
}

TEST_CASE("what is named under a guard may be used twice", "[session]") {
  session sess{{.simulated_gpus = 2}};
  device_guard g{"/gpu:1"};
  const auto h = named<"h">(2.0f * x);
  CHECK(sess.run(h * h - h, x = two) == tensor<float, 2>{2, 12});
  CHECK(sess.placement(h * h - h).at("h").assigned.index() == 1);
}

TEST_CASE("threads do not see each other's guards", "[session][threads]") {
  std::atomic<int> wrong{0};
  device_guard mine{"/gpu:7"};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&wrong, t] {
      session sess{{.allow_soft_placement = true}};
      const auto requested = [&](const auto& e) { return sess.placement(e).at("Add").requested.to_string(); };
      for (int k = 0; k < 20; ++k) {
        wrong += requested(x + y).empty() ? 0 : 1;
        const std::string name = "/device:GPU:" + std::to_string(10 * t + k);
        device_guard outer{name};
        wrong += requested(x + y) == name ? 0 : 1;
        device_guard inner{"/cpu:0"};
        wrong += requested(x + y) == "/device:CPU:0" ? 0 : 1;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(request_of(x + y) == "/device:GPU:7");
}

TEST_CASE("an expression written under a guard may be run on another thread", "[session][threads]") {
  session sess{{.simulated_gpus = 2}};
  device_guard g{"/gpu:1"};
  const auto e = sum(x * y);
  float result = 0;
  std::thread other([&] { result = sess.run(e, x = two, y = two); });
  other.join();
  CHECK(result == 5.0f);
  CHECK(sess.statistics(gpu<1>{}).kernels == 1);
}
