// SPDX-License-Identifier: BSL-1.0
// Which real GPUs a session sees: what CUDA_VISIBLE_DEVICES hides is not there, a list chooses, and one GPU can be
// several. The program starts itself again to ask with another environment, since the driver reads it once.
#include <onto/onto.hpp>

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "catch.hpp"

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", float, dyn, dyn>;
const tensor<float, dyn, dyn> values{{1, 2}, {3, 4}};
const tensor<float, dyn, dyn> squares{{7, 10}, {15, 22}};

/// Whether a program for GPUs runs on the CPU alone, and with simulated GPUs as if they were the only ones.
bool sees_no_gpu() {
  session host{{.allow_soft_placement = true, .gpu = {.allow_growth = true, .memory_limit = 64 << 20}}};
  if (host.devices().size() != 1 || !(host.run(on<gpu<0>>(matmul(x, x)), x = values) == squares)) return false;
  try {
    session named{{.gpu = {.visible_device_list = "0"}}};
    return false;
  } catch (const invalid_argument_error& e) {
    if (std::string(e.what()).find("; there is no GPU") == std::string::npos) return false;
  }
  session simulated{{.simulated_gpus = 1}};
  return simulated.devices().size() == 2 && simulated.run(on<gpu<0>>(matmul(x, x)), x = values) == squares;
}

/// Asked by the program that started this one. Before main, which wants a GPU.
const bool asked = [] {
  if (!std::getenv("ONTO_TEST_SEES_NO_GPU")) return false;
  bool right = false;
  try {
    right = sees_no_gpu();
  } catch (...) {
  }
  std::_Exit(right ? 0 : 1);
}();

int ask(const std::string& environment) {
  return std::system((environment + " ONTO_TEST_SEES_NO_GPU=1 /proc/" + std::to_string(getpid()) + "/exe").c_str());
}

std::string number_of(const session& sess, int device) {
  const std::string all = sess.devices().at(static_cast<std::size_t>(device)).description;
  return all.substr(0, all.find(','));
}

}  // namespace

TEST_CASE("GPUs that CUDA_VISIBLE_DEVICES hides are not there", "[cuda][session]") {
  CHECK(!asked);
  CHECK(ask("CUDA_VISIBLE_DEVICES=") == 0);
  CHECK(ask("CUDA_VISIBLE_DEVICES=-1") == 0);
  CHECK(ask("") != 0);  // there are GPUs: the question is one that can be answered either way
}

TEST_CASE("a list chooses among real and simulated GPUs", "[cuda][session]") {
  const int real = static_cast<int>(session{}.devices().size()) - 1;
  const std::string simulated = std::to_string(real);
  session sess{{.gpu = {.visible_device_list = simulated + ",0"}, .simulated_gpus = 1}};
  REQUIRE(sess.devices().size() == 3);
  CHECK(number_of(sess, 1) == "device: " + simulated);
  CHECK(sess.devices()[1].description.find("simulated") != std::string::npos);
  CHECK(number_of(sess, 2) == "device: 0");
  CHECK(sess.run(on<gpu<1>>(matmul(x, x)), x = values) == squares);
  CHECK(sess.run(on<gpu<0>>(matmul(x, x)), x = values) == squares);
  CHECK_THROWS_AS((session{{.gpu = {.visible_device_list = std::to_string(real)}}}), invalid_argument_error);
}

TEST_CASE("a program for four GPUs runs on parts of one real GPU", "[cuda][session]") {
  const logical_device part{.gpu = 0, .memory_limit = 256 << 20};
  session sess{
      {.gpu = {.allow_growth = true, .visible_device_list = "0", .logical_devices = {part, part, part, part}}}};
  REQUIRE(sess.devices().size() == 5);
  for (int k = 0; k < 4; ++k) {
    CHECK(number_of(sess, k + 1) == "device: 0");
    CHECK(sess.memory(place{device_kind::gpu, k}).limit == 256 << 20);
    CHECK(sess.memory(place{device_kind::gpu, k}).reserved == 0);
  }
  const auto program = on<cpu<0>>(add_n(on<gpu<0>>(matmul(x, x)), on<gpu<1>>(matmul(x, x * 2.f)),
                                        on<gpu<2>>(matmul(x, x * 3.f)), on<gpu<3>>(matmul(x, x * 4.f))));
  CHECK(sess.run(program, x = values) == tensor<float, dyn, dyn>{{70, 100}, {150, 220}});
  for (int k = 0; k < 4; ++k) CHECK(sess.memory(place{device_kind::gpu, k}).reserved > 0);
}
