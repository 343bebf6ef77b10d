// SPDX-License-Identifier: BSL-1.0
// Whatever a session does with its GPUs, the GPU that is current for the caller stays so, and one that nobody used is
// not set up.
#include <onto/backend/cuda/current.hpp>
#include <onto/onto.hpp>

#include <functional>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "control.hpp"

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", float, dyn>;

session second_gpu() { return session{{.log = nullptr, .gpu = {.visible_device_list = "1"}}}; }

void use(session& sess) {
  const auto step = sess.prepare(on<gpu<0>>(sum(x * 2.0f)));
  for (int size : {4, 40000})
    for (int k = 0; k < 3; ++k) {
      const std::vector<float> ones(static_cast<std::size_t>(size), 1.0f);
      if (!(step(x = ones) == 2.0f * static_cast<float>(size))) throw internal_error("a wrong result");
    }
  (void)sess.memory(gpu<0>{});
  sess.trim();
}

/// In a thread that has said nothing to CUDA yet.
void in_new_thread(const std::function<void()>& work) { std::thread(work).join(); }

int current() {
  int device = -1;
  REQUIRE(cudaGetDevice(&device) == cudaSuccess);
  return device;
}

}  // namespace

TEST_CASE("a GPU that is current but not used is left alone", "[current]") {
  cuda_emulation::forget_use(0);
  int between = -1, after = -1;
  in_new_thread([&] {
    {
      session sess = second_gpu();
      use(sess);
      (void)cudaGetDevice(&between);
    }
    (void)cudaGetDevice(&after);
  });
  CHECK(between == 0);
  CHECK(after == 0);
  CHECK(cuda_emulation::is_touched(1));
  CHECK_FALSE(cuda_emulation::is_touched(0));
}

TEST_CASE("a GPU that the caller chose stays chosen", "[current]") {
  in_new_thread([] {
    session sess = second_gpu(), both{{.log = nullptr}};
    for (int device : {0, 1, 0}) {
      REQUIRE(cudaSetDevice(device) == cudaSuccess);
      use(sess);
      CHECK(current() == device);
      use(both);
      CHECK(current() == device);
    }
  });
}

TEST_CASE("where a GPU cannot be made current the run fails, and the caller's stays", "[current]") {
  session sess = second_gpu();
  use(sess);
  in_new_thread([&] {
    cuda_emulation::fail_call("cuCtxPushCurrent", 3, cudaErrorInvalidValue);
    CHECK_THROWS_AS(use(sess), internal_error);
    CHECK(cuda_emulation::clear_faults() == 1);
    CHECK(current() == 0);
    use(sess);
    CHECK(current() == 0);
  });
}

TEST_CASE("what is taken down where its GPU cannot be made current leaves the current one", "[current]") {
  in_new_thread([] {
    const detail::cuda_gpu first(0), second(1);
    (void)first.context();
    const detail::current_cuda_device outer(second);
    REQUIRE(current() == 1);
    cuda_emulation::fail_call("cuCtxPushCurrent", 1, cudaErrorInvalidValue);
    int meanwhile = -1;
    detail::quietly_on(first, [&] { meanwhile = current(); });
    CHECK(cuda_emulation::clear_faults() == 1);
    CHECK(meanwhile == 1);
    CHECK(current() == 1);
    detail::quietly_on(first, [&] { meanwhile = current(); });
    CHECK(meanwhile == 0);
    CHECK(current() == 1);
  });
}
