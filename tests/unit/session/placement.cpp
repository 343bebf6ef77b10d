// SPDX-License-Identifier: BSL-1.0
// Where a session puts operations: free choice, soft placement on each of its conditions, and what hard placement says.
#include <onto/onto.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 2, 2>;
constexpr auto n = placeholder<"n", std::int32_t, 2, 2>;
constexpr auto w = variable<"w", float, 2, 2>;
constexpr auto count = variable<"count", std::int32_t, 2>;

const tensor<float, 2, 2> values{{1, 2}, {3, 4}};
const std::string gpu0 = "/job:localhost/replica:0/task:0/device:GPU:0";
const std::string gpu1 = "/job:localhost/replica:0/task:0/device:GPU:1";
const std::string cpu0 = "/job:localhost/replica:0/task:0/device:CPU:0";

template <class F>
std::string refusal(F run) {
  try {
    run();
  } catch (const invalid_argument_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

std::string where(const placement_report& r, std::string_view name) { return r.at(name).assigned.to_string(); }

}  // namespace

TEST_CASE("what asks for nothing goes to the first device with a kernel", "[session]") {
  session sess{{.simulated_gpus = 12}};
  const auto report = sess.placement(fetches(matmul(x, x), matmul(n, n), on<cpu<0>>(tanh(x))));
  CHECK(where(report, "MatMul") == gpu0);
  CHECK(where(report, "MatMul_1") == cpu0);  // int32
  CHECK(where(report, "Tanh") == cpu0);
  CHECK(report.at("MatMul").requested.constrains_nothing());
  CHECK(report.at("MatMul").reason == placement_reason::free);
  CHECK(report.at("Tanh").reason == placement_reason::requested);
  CHECK(report.moved() == 0);
  session host;
  CHECK(where(host.placement(matmul(x, x)), "MatMul").size() == cpu0.size());
}

TEST_CASE("a report has a line for each node and is found by name", "[session]") {
  session sess{{.simulated_gpus = 1}};
  const auto report = sess.placement(on<gpu<0>>(named<"layer">(matmul(x, matmul(x, x))) + 1));
  CHECK(report.to_string() == "x: (Placeholder): " + gpu0 + "\nMatMul: (MatMul): " + gpu0 +
                                  "\nlayer: (MatMul): " + gpu0 + "\nAdd: (Add): " + gpu0 + "\n");
  std::ostringstream out;
  out << report;
  CHECK(out.str() == report.to_string());
  CHECK_THROWS_AS(report.at("MatMul_7"), not_found_error);
  for (const placement_entry& e : report.nodes) CHECK(device_name::parse(e.assigned.to_string()) == e.assigned);
  CHECK(sess.statistics(gpu<0>{}).kernels == 0);
}

TEST_CASE("soft placement: a missing GPU is another GPU, index modulo their number", "[session]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 2}};
  const auto report = sess.placement(fetches(on<gpu<2>>(exp(x)), on<gpu<3>>(tanh(x)), on<gpu<1>>(abs(x))));
  CHECK(where(report, "Exp") == gpu0);
  CHECK(where(report, "Tanh") == gpu1);
  CHECK(where(report, "Abs") == gpu1);
  CHECK(report.at("Exp").reason == placement_reason::moved_no_device);
  CHECK(report.at("Exp").requested == device_name(gpu<2>{}));
  CHECK(report.at("Abs").reason == placement_reason::requested);
  CHECK(report.moved() == 2);
  CHECK(report.at("Exp").to_string() == "Exp: (Exp): " + gpu0 + " (requested /device:GPU:2; moved: no such device)");
}

TEST_CASE("soft placement: without any GPU, the CPU", "[session]") {
  session sess{{.allow_soft_placement = true}};
  REQUIRE(sess.devices().size() == 1);
  const auto report = sess.placement(on<gpu<2>>(exp(x)));
  CHECK(where(report, "Exp") == cpu0);
  CHECK(sess.run(on<gpu<2>>(x + x), x = values) == tensor<float, 2, 2>{{2, 4}, {6, 8}});
}

TEST_CASE("soft placement: a missing CPU is the CPU, never a GPU", "[session]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 2}};
  CHECK(where(sess.placement(on<cpu<1>>(exp(x))), "Exp") == cpu0);
}

TEST_CASE("soft placement: an operation without a kernel there goes to the CPU", "[session]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 1}};
  const auto report = sess.placement(on<gpu<0>>(matmul(n, n)));
  CHECK(where(report, "MatMul") == cpu0);
  CHECK(report.at("MatMul").reason == placement_reason::moved_no_kernel);
  CHECK(report.at("MatMul").why ==
        "moved: no int32 kernel there; MatMul has kernels for: CPU (float, double, int32, int64, half, bfloat16, "
        "uint32, uint64), GPU (float, double, half, bfloat16)");
  CHECK(sess.run(on<gpu<0>>(matmul(n, n)), n = {{1, 2}, {3, 4}}) == tensor<std::int32_t, 2, 2>{{7, 10}, {15, 22}});
}

TEST_CASE("soft placement: an int32 variable asked for on a GPU stays on the CPU, and so does what writes it",
          "[session]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 1}};
  const auto step = on<gpu<0>>(assign_add(on<gpu<0>>(count), 1));
  sess.run(assign(count, 5));
  const auto report = sess.placement(step);
  CHECK(where(report, "count") == cpu0);
  CHECK(where(report, "AssignAdd") == cpu0);
  CHECK(is_move(report.at("count").reason));
  CHECK(is_move(report.at("AssignAdd").reason));
  CHECK(sess.run(step) == tensor<std::int32_t, 2>{6, 6});
}

TEST_CASE("soft placement: what writes state goes where the state is", "[session]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 2}};
  sess.run(assign(on<cpu<0>>(w), x), x = values);
  const auto report = sess.placement(on<gpu<1>>(assign_add(w, x)));
  CHECK(where(report, "w") == cpu0);
  CHECK(where(report, "AssignAdd") == cpu0);
  CHECK(report.at("AssignAdd").reason == placement_reason::moved_variable);
  CHECK(report.at("AssignAdd").why == "moved: variable w is here");
  CHECK(sess.run(on<gpu<1>>(assign_add(w, x)), x = values) == tensor<float, 2, 2>{{2, 4}, {6, 8}});
}

TEST_CASE("soft placement never changes the job or the task", "[session]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 1}};
  device_guard g{"/job:worker/task:1/gpu:0"};
  CHECK_THROWS_AS(sess.run(exp(x), x = values), invalid_argument_error);
  CHECK_THROWS_AS(sess.placement(exp(x)), invalid_argument_error);
  device_guard here{"/job:localhost/task:0/gpu:0"};
  CHECK(where(sess.placement(exp(x)), "Exp") == gpu0);
}

TEST_CASE("hard placement: a device that is not there", "[session]") {
  session sess{{.simulated_gpus = 1}};
  REQUIRE(sess.devices().size() == 2);
  const std::string text =
      "Cannot assign a device for operation MatMul: Could not satisfy explicit device specification '/device:GPU:2' "
      "because "
      "no devices matching that specification are registered in this process; available devices: "
      "/job:localhost/replica:0/task:0/device:CPU:0, /job:localhost/replica:0/task:0/device:GPU:0";
  CHECK(refusal([&] { sess.run(on<gpu<2>>(matmul(x, x)), x = values); }) == text);
  CHECK(refusal([&] { sess.placement(on<gpu<2>>(matmul(x, x))); }) == text);
  CHECK(refusal([&] {
          device_guard g{"/gpu:2"};
          sess.run(matmul(x, x), x = values);
        }) == text);
  CHECK(sess.statistics(cpu<0>{}).kernels + sess.statistics(gpu<0>{}).kernels + sess.statistics(gpu<0>{}).transfers ==
        0);
}

TEST_CASE("hard placement: no kernel there", "[session]") {
  session sess{{.simulated_gpus = 1}};
  CHECK(refusal([&] { sess.run(on<gpu<0>>(matmul(n, n)), n = tensor<std::int32_t, 2, 2>{}); }) ==
        "Cannot assign a device for operation MatMul: Could not satisfy explicit device specification '/device:GPU:0' "
        "because "
        "no supported kernel for GPU devices is available; MatMul has kernels for: CPU (float, double, int32, int64, "
        "half, bfloat16, uint32, uint64), GPU (float, double, half, bfloat16)");
  CHECK(refusal([&] { sess.placement(on<gpu<0>>(count) + 1); })
            .find("operation count: Could not satisfy explicit device "
                  "specification '/device:GPU:0' because no supported kernel "
                  "for GPU devices is available") != std::string::npos);
}

TEST_CASE("hard placement: what writes state that is elsewhere", "[session]") {
  session sess{{.simulated_gpus = 1}};
  sess.run(assign(on<cpu<0>>(w), x), x = values);
  const std::string text = refusal([&] { sess.run(on<gpu<0>>(assign_add(w, 1))); });
  CHECK(text.find("Cannot assign a device for operation AssignAdd: Could not satisfy explicit device specification "
                  "'/device:GPU:0' because variable w is on " +
                  cpu0) == 0);
  CHECK(sess.run(w) == values);
}

TEST_CASE("hard placement: a program that only reads a variable elsewhere", "[session]") {
  session sess{{.simulated_gpus = 2}};
  sess.run(assign(on<gpu<1>>(w), x), x = values);
  CHECK(
      refusal([&] { sess.run(exp(on<gpu<0>>(w))); }) ==
      "Cannot assign a device for operation w: Could not satisfy explicit device specification '/device:GPU:0' because "
      "variable w is on " +
          gpu1 + ", and a variable stays where it got its first value; ask for that device or for none");
}

TEST_CASE("available devices are named in the order of devices()", "[session]") {
  session sess{{.simulated_gpus = 2, .cpus = 3}};
  const std::string said = refusal([&] { sess.run(on<gpu<7>>(exp(x)), x = values); });
  std::string list = "available devices: ";
  for (const device_info& d : sess.devices()) list += (list.back() == ' ' ? "" : ", ") + d.name.to_string();
  INFO(said);
  CHECK(said.find(list) != std::string::npos);
  CHECK(list.find(cpu0) < list.find("CPU:1"));
  CHECK(list.find("CPU:2") < list.find(gpu0));
}

TEST_CASE("a name with line ends stays on its line", "[session]") {
  std::string log;
  session sess{{.log_device_placement = true,
                .log = [&](std::string_view line) { log += std::string(line) + "|"; },
                .simulated_gpus = 1}};
  const auto e = on<gpu<0>>(named<"two\nlines\t\x01">(exp(x)));
  const placement_report report = sess.placement(e);
  CHECK(report.at("two\nlines\t\x01").operation == "Exp");
  const std::string line = "two\\nlines\\t\\x01: (Exp): " + gpu0;
  CHECK(report.at("two\nlines\t\x01").to_string() == line);
  CHECK(report.to_string() == "x: (Placeholder): " + gpu0 + "\n" + line + "\n");
  CHECK(report.to_json().find("two\\nlines\\t\\u0001") != std::string::npos);
  sess.run(e, x = values);
  CHECK(log.find("|" + line + "|") != std::string::npos);
  CHECK(refusal([&] { sess.placement(on<gpu<3>>(named<"two\nlines">(exp(x)))); }).find('\n') == std::string::npos);
}

TEST_CASE("hard placement names every operation that it cannot place in one error", "[session]") {
  session sess{{.simulated_gpus = 1}};
  const std::string text = refusal([&] {
    sess.run(fetches(on<gpu<7>>(exp(x)), on<gpu<0>>(matmul(n, n)), tanh(x), on<gpu<8>>(exp(tanh(x)))), x = values,
             n = tensor<std::int32_t, 2, 2>{});
  });
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  REQUIRE(lines.size() >= 3);
  int exp_7 = 0, exp_8 = 0, product = 0;
  for (const std::string& line : lines) {
    CHECK(line.find("Cannot assign a device for operation ") == 0);
    exp_7 += line.find("'/device:GPU:7'") != std::string::npos;
    exp_8 += line.find("'/device:GPU:8'") != std::string::npos;
    product += line.find("operation MatMul:") != std::string::npos;
  }
  CHECK(exp_7 == 1);
  CHECK(exp_8 == 2);  // its own Tanh is in that scope too
  CHECK(product == 1);
}

TEST_CASE("after a refusal the session goes on", "[session]") {
  session sess{{.simulated_gpus = 1}};
  for (int k = 0; k < 3; ++k) {
    CHECK_THROWS_AS(sess.run(on<gpu<2>>(exp(x)), x = values), invalid_argument_error);
    CHECK(sess.run(on<gpu<0>>(x + x), x = values) == tensor<float, 2, 2>{{2, 4}, {6, 8}});
  }
}

TEST_CASE("towers spread over the GPUs that are there, and their sum is right on any machine", "[session]") {
  constexpr auto a = placeholder<"a", float, 2, 3>;
  constexpr auto b = placeholder<"b", float, 3, 2>;
  for (const int gpus : {0, 1, 2, 3, 4}) {
    session sess{{.allow_soft_placement = true, .simulated_gpus = gpus}};
    const auto total = on<cpu<0>>(add_n(on<gpu<2>>(matmul(a, b)), on<gpu<3>>(matmul(a, b))));
    CHECK(sess.run(total, a = {{1, 2, 3}, {4, 5, 6}}, b = {{1, 2}, {3, 4}, {5, 6}}) ==
          tensor<float, 2, 2>{{44, 56}, {98, 128}});
  }
}
