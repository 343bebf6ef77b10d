// SPDX-License-Identifier: BSL-1.0
// A GPU that is lost while several work together: the error says which one it was, that one alone runs nothing any
// more, and the others go on.
#include <onto/backend/cuda/launch.hpp>
#include <onto/onto.hpp>

#include <string>
#include <vector>

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace {

inline constexpr auto x = placeholder<"x", float, dyn>;

/// Brings a GPU back when the test is over, as a new process would.
struct revived {
  ~revived() {
    cuda_emulation::clear_faults();
    for (int d : {0, 1}) cuda_emulation::revive_device(d);
  }
};

std::string what_of(run_state& run) {
  try {
    run.rethrow();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool breaks = false;
/// Takes the second GPU with it once it is told to.
__global__ void break_kernel(bool is_second) {
  if (is_second && breaks) cuda_emulation::trap();
}
void break_on_demand(gpu_context& context, const kernel_call&) {
  int device = 0;
  cuda_check(cudaGetDevice(&device), "cudaGetDevice");
  launch(context.stream, "launching a test kernel", &break_kernel, {1, 0, 1}, device == 1);
}

/// Two GPUs, and memory on both.
struct pair {
  pair() : other(place{device_kind::gpu, 1}, 1) {
    from = near.upload(values);
    to = other.reserve({size, "test", "copy"});
    copy();
    near.settle(stream_kind::out);
  }
  void copy() { near.gpu.copy_to(work{near.run, near.label}, other, to->data(), from, size); }

  static constexpr std::int64_t size = 4000;
  std::vector<float> values = numbers<float>(1000);
  bench near;
  cuda_device other;
  const float* from = nullptr;
  ref<device_block> to;
};

}  // namespace

TEST_CASE("a copy to a GPU that is lost loses that one", "[lost]") {
  const revived after;
  pair two;
  cuda_emulation::lose_device(1, cudaErrorIllegalAddress);
  two.copy();
  REQUIRE(two.near.run.failed());
  CHECK(two.near.gpu.lost() == nullptr);
  REQUIRE(two.other.lost() != nullptr);
  CHECK(std::string(two.other.lost()) == "cudaErrorIllegalAddress");
  CHECK(has(what_of(two.near.run), "what is lost is /device:GPU:1"));
  CHECK(cudaGetLastError() == cudaSuccess);  // the question which it was has left nothing
  two.near.run.reset();
  CHECK(two.near.download(two.from, 1000) == two.values);
  two.copy();
  CHECK(has(what_of(two.near.run), "[onto.device] /device:GPU:1 was lost (cudaErrorIllegalAddress)"));
}

TEST_CASE("a copy from a GPU that is lost loses that one", "[lost]") {
  const revived after;
  pair two;
  cuda_emulation::lose_device(0, cudaErrorIllegalAddress);
  two.copy();
  REQUIRE(two.near.run.failed());
  CHECK(two.near.gpu.lost() != nullptr);
  CHECK(two.other.lost() == nullptr);
}

TEST_CASE("a first copy to a GPU, which cannot let the other write there, loses that one", "[lost]") {
  const revived after;
  bench near;
  cuda_device other(place{device_kind::gpu, 1}, 1);
  const std::vector<float> values = numbers<float>(10);
  const float* from = near.upload(values);
  const ref<device_block> to = other.reserve({40, "test", "copy"});
  cuda_emulation::lose_device(1, cudaErrorECCUncorrectable);
  near.gpu.copy_to(work{near.run, near.label}, other, to->data(), from, 40);
  REQUIRE(near.run.failed());
  CHECK(near.gpu.lost() == nullptr);
  CHECK(other.lost() != nullptr);
}

TEST_CASE("waiting for a point of a GPU that is lost loses that one", "[lost]") {
  const revived after;
  pair two;
  run_state run;
  const ref<device_event> event = two.other.make_event();
  two.other.record(run, stream_kind::compute, *event);
  cuda_emulation::fail_call("cudaStreamWaitEvent", 1, cudaErrorLaunchFailure);
  cuda_emulation::lose_device(1, cudaErrorLaunchFailure);
  two.near.gpu.wait(run, stream_kind::compute, *event);
  REQUIRE(run.failed());
  CHECK(two.near.gpu.lost() == nullptr);
  CHECK(two.other.lost() != nullptr);
}

TEST_CASE("a status that no GPU stands by loses none", "[lost]") {
  const revived after;
  pair two;
  cuda_emulation::fail_call("cudaMemcpyPeerAsync", 1, cudaErrorLaunchFailure);
  two.copy();
  CHECK(two.near.run.failed());
  CHECK(two.near.gpu.lost() == nullptr);
  CHECK(two.other.lost() == nullptr);
}

TEST_CASE("a client that MPS has terminated has lost its GPU", "[lost]") {
  const revived after;
  pair two;
  cuda_emulation::lose_device(1, cudaErrorMpsClientTerminated);
  run_state run;
  two.other.copy_out(work{run, two.near.label}, host_slot{two.values.data()}, two.to->data(), pair::size);
  CHECK(run.failed());
  CHECK(two.other.lost() != nullptr);
}

TEST_CASE("a replay over two GPUs of which one is lost loses that one", "[lost]") {
  const auto program = onto::on<onto::gpu<0>>(onto::on<onto::gpu<1>>(x * 2.0f) + 1.0f);
  for (const int lost : {0, 1}) {
    const revived after;
    onto::session sess{{.log = nullptr}};
    const auto step = sess.prepare(program);
    const auto here = sess.prepare(onto::on<onto::gpu<0>>(x * 3.0f));
    const auto there = sess.prepare(onto::on<onto::gpu<1>>(x * 3.0f));
    const std::vector<float> ones(1000, 1.0f);
    for (int k = 0; k < 4; ++k) CHECK(step(x = ones)(999) == 3.0f);
    CHECK(here(x = ones)(999) == 3.0f);
    CHECK(there(x = ones)(999) == 3.0f);
    INFO("lost: " << lost);
    cuda_emulation::lose_device(lost, cudaErrorIllegalAddress);
    CHECK_THROWS_AS(step(x = ones), onto::internal_error);
    const auto run_on = [&](int device) { return device == 0 ? here(x = ones)(999) : there(x = ones)(999); };
    CHECK(run_on(1 - lost) == 3.0f);
    CHECK_THROWS_WITH(run_on(lost), Catch::Contains(lost == 0 ? "/device:GPU:0 was lost" : "/device:GPU:1 was lost"));
  }
}

TEST_CASE("whichever call tells first that a GPU is lost, that one is, and no run gives a wrong result", "[lost]") {
  const auto program = onto::on<onto::gpu<0>>(onto::on<onto::gpu<1>>(x * 2.0f) + 1.0f);
  const std::vector<float> ones(20000, 1.0f);
  for (const int lost : {0, 1}) {
    bool was_lost = true;
    for (int n = 1; was_lost; n += 3) {
      REQUIRE(n < 1000);
      const revived after;
      was_lost = false;
      onto::session sess{{.log = nullptr}};
      const auto step = sess.prepare(program);
      const auto good = sess.prepare(onto::on<onto::cpu<0>>(x + 1.0f));
      cuda_emulation::lose_device(lost, cudaErrorLaunchFailure, n);
      for (int k = 0; k < 4; ++k) {
        try {
          if (step(x = ones)(19999) != 3.0f) FAIL("call " << n << ": a wrong result");
        } catch (const onto::error& e) {
          was_lost = true;
          INFO(e.what());
          CHECK(has(e.what(), lost == 0 ? "GPU:0" : "GPU:1"));
        }
      }
      CHECK(good(x = ones)(0) == 2.0f);
    }
  }
}

// The end of the graph is a point of the GPU that recorded it, which is well.
TEST_CASE("a GPU that is lost while it does its part of a replay is found out", "[lost]") {
  const revived after;
  bench near;
  cuda_device other(place{device_kind::gpu, 1}, 1);
  struct program {
    bench& near;
    cuda_device& other;
    run_state run;
    kernel_entry kernel = cuda_entry(&run_in_stream<&break_on_demand>);
    static void issue(void* self) {
      auto& p = *static_cast<program*>(self);
      p.near.gpu.launch(work{p.run, p.near.label}, p.kernel, {});
      p.other.launch(work{p.run, p.near.label}, p.kernel, {});
    }
  } both{near, other, {}};
  const ref<device_graph> graph = near.gpu.record_graph(&program::issue, &both);
  REQUIRE(graph);
  run_state good, bad;
  graph->perform(good);
  CHECK_FALSE(good.failed());
  breaks = true;
  graph->perform(bad);
  breaks = false;
  REQUIRE(bad.failed());
  CHECK(has(what_of(bad), "what is lost is /device:GPU:1"));
  CHECK(near.gpu.lost() == nullptr);
  CHECK(other.lost() != nullptr);
}
