// SPDX-License-Identifier: BSL-1.0
// Memory of GPUs of other kinds: without pools, with neighbours that reach them and neighbours that do not; and pinned
// memory down to the byte.
#include <onto/backend/cuda/gpus.hpp>
#include <onto/backend/cuda/launch.hpp>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace memory_test {

__global__ void nothing_kernel() {}

}  // namespace memory_test

namespace {

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;

/// Another machine for as long as it lives.
struct other_machine {
  explicit other_machine(const cuda_emulation::machine& m) { cuda_emulation::set_machine(m); }
  other_machine(const other_machine&) = delete;
  other_machine& operator=(const other_machine&) = delete;
  ~other_machine() { cuda_emulation::set_machine(usual); }
  cuda_emulation::machine usual = cuda_emulation::current_machine();
};

cuda_emulation::machine without_pools() {
  cuda_emulation::machine m = cuda_emulation::current_machine();
  m.pools = false;
  return m;
}

long calls(const char* name) {
  const std::map<std::string, long> all = cuda_emulation::calls();
  const auto at = all.find(name);
  return at == all.end() ? 0 : at->second;
}

}  // namespace

TEST_CASE("each GPU is asked for its own memory", "[memory]") {
  cuda_gpus gpus(0);
  REQUIRE(gpus.count() > 1);
  std::vector<std::int64_t> amounts;
  for (int k = 0; k < gpus.count(); ++k) {
    cudaDeviceProp properties;
    REQUIRE(cudaGetDeviceProperties(&properties, k) == cudaSuccess);
    amounts.push_back(static_cast<std::int64_t>(properties.totalGlobalMem));
    CHECK(gpus.memory(k) == amounts.back());
  }
  CHECK(amounts[0] != amounts[1]);
}

TEST_CASE("a GPU without pools allocates piece by piece, up to the limit", "[memory]") {
  const other_machine machine(without_pools());
  const auto before = cuda_emulation::live_objects();
  cuda_emulation::reset_calls();
  {
    bench b({8 * MiB, true});
    const std::vector<float> x = numbers<float>(1000);
    CHECK(b.download(b.upload(x), x.size()) == x);
    CHECK(b.gpu.memory().reserved == b.gpu.memory().in_use);
    const std::int64_t left = 8 * MiB - b.gpu.memory().in_use;
    CHECK_THROWS_AS((void)b.gpu.reserve({left + 1, "test", "too much"}), resource_exhausted_error);
    {
      const ref<device_block> rest = b.gpu.reserve({left, "test", "the rest"});
      CHECK(b.gpu.memory().reserved == 8 * MiB);
      CHECK_THROWS_AS((void)b.gpu.reserve({1, "test", "one more"}), resource_exhausted_error);
    }
    CHECK(b.gpu.memory().reserved == 8 * MiB - left);
    CHECK_NOTHROW((void)b.gpu.reserve({left, "test", "again"}));
    b.gpu.trim();
    CHECK(b.download(b.upload(x), x.size()) == x);
  }
  CHECK(calls("cudaMemPoolCreate") == 0);
  CHECK(calls("cudaMallocFromPoolAsync") == 0);
  CHECK(cuda_emulation::live_objects() == before);
}

TEST_CASE("a GPU without pools and without a limit, and one that is to hold all from the start", "[memory]") {
  const other_machine machine(without_pools());
  bench unlimited, whole({8 * MiB, false});
  CHECK_NOTHROW((void)unlimited.gpu.reserve({64 * MiB, "test", "block"}));
  CHECK_NOTHROW((void)whole.gpu.reserve({4 * MiB, "test", "block"}));
}

TEST_CASE("without a limit nothing is held from the start", "[memory]") {
  bench b({0, false});
  CHECK_NOTHROW((void)b.gpu.reserve({MiB, "test", "block"}));
  CHECK(b.gpu.memory().reserved < 64 * MiB);
}

TEST_CASE("a limit of all there is leaves the pool without one", "[memory]") {
  const std::int64_t all = cuda_emulation::current_machine().memory;
  for (const std::int64_t limit : {all - 64 * MiB, all, all + 64 * MiB}) {
    bench b({limit, true});
    CHECK_NOTHROW((void)b.gpu.reserve({all - 128 * MiB, "test", "nearly all"}));
  }
}

TEST_CASE("what is said of a workspace that is not to be had names the limit, if there is one", "[memory]") {
  const auto why = [](memory_limit limit) -> std::string {
    bench b(limit);
    void* data = nullptr;
    try {
      (void)b.gpu.workspace(std::int64_t{1} << 50, data);
    } catch (const resource_exhausted_error& e) {
      return e.what();
    }
    return {};
  };
  CHECK_THAT(why({8 * MiB, true}),
             Catch::Contains("has no memory left for 1024.0 TiB that kernels work in, with a limit of 8.0 MiB;"));
  CHECK_THAT(why({}), Catch::Contains("that kernels work in; use smaller"));
}

TEST_CASE("shared memory beyond what needs no asking is asked for", "[memory]") {
  CHECK(most_shared_bytes() == 227 << 10);
  bench b;
  (void)b.reserve<float>(1);
  b.run.trace = nullptr;
  const auto asked = [&](std::size_t bytes) {
    cuda_emulation::reset_calls();
    kernel_call call;
    call.inner = static_cast<std::int64_t>(bytes);
    b.launch(
        [](gpu_context& context, const kernel_call& c) {
          launch(context.stream, "doing nothing", &memory_test::nothing_kernel,
                 {1, static_cast<std::size_t>(c.inner), 32});
        },
        call);
    b.settle(stream_kind::compute);
    return calls("cudaFuncSetAttribute");
  };
  CHECK(asked(usual_shared_bytes) == 0);
  CHECK(asked(usual_shared_bytes + 16) == 1);
  cuda_emulation::fail_call("cudaFuncSetAttribute", 1, cudaErrorInvalidValue);
  CHECK_THROWS_AS(asked(usual_shared_bytes + 16), internal_error);
  CHECK(cuda_emulation::clear_faults() == 1);
}

TEST_CASE("a machine without a GPU says what the driver says", "[memory]") {
  cuda_emulation::machine none = cuda_emulation::current_machine();
  none.devices = 0;
  const other_machine machine(none);
  const cuda_presence found = find_cuda_devices();
  CHECK(found.count == 0);
  CHECK(found.reason.rfind("no CUDA-capable device is detected", 0) == 0);
  // What hides GPUs is named where it may be the reason.
  REQUIRE(setenv("CUDA_VISIBLE_DEVICES", "7", 1) == 0);
  CHECK_THAT(find_cuda_devices().reason, Catch::Contains("CUDA_VISIBLE_DEVICES is '7'"));
  cuda_emulation::fail_call("cudaGetDeviceCount", 1, cudaErrorNotSupported);
  CHECK_THAT(find_cuda_devices().reason, !Catch::Contains("CUDA_VISIBLE_DEVICES"));
  CHECK(cuda_emulation::clear_faults() == 1);
  REQUIRE(unsetenv("CUDA_VISIBLE_DEVICES") == 0);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("memory of nothing is memory", "[memory]") {
  bench b;
  const ref<device_block> none = b.gpu.reserve({0, "test", "nothing"});
  CHECK(b.gpu.memory().in_use < 1024);
}

TEST_CASE("memory is there when it is handed out, and gone when it is trimmed, in any order of all else", "[memory]") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    INFO("seed " << seed);
    cuda_emulation::set_seed(seed);
    bench b;
    const std::vector<float> x(100, 1.5f);
    for (int k = 0; k < 3; ++k) CHECK(b.download(b.upload(x), x.size()) == x);
    {
      const ref<device_block> large = b.gpu.reserve({256 * MiB, "test", "block"});
      REQUIRE(cudaMemset(large->data(), 0, 1000) == cudaSuccess);
    }
    CHECK(b.gpu.memory().reserved >= 256 * MiB);
    b.gpu.trim();
    CHECK(b.gpu.memory().reserved <= 2 * MiB);
  }
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a GPU that can reach another's memory is let in, once, and no other", "[memory]") {
  cuda_emulation::machine partly = cuda_emulation::current_machine();
  partly.apart = {{0, 1}, {2, 0}};
  const other_machine machine(partly);
  const std::vector<float> x = numbers<float>(1000);
  const auto copies = [&](int from, int to) {
    cuda_device source(place{device_kind::gpu, from}, from), target(place{device_kind::gpu, to}, to);
    const ref<device_block> here = source.reserve({4000, "test", "here"}),
                            there = target.reserve({4000, "test", "there"});
    const ref<device_event> arrived = source.make_event(), read = target.make_event();
    const work_label label{"Test_1", "Test"};
    run_state run;
    std::vector<float> back(1000);
    const host_slot in{const_cast<float*>(x.data())}, out{back.data()};
    source.copy_in(work{run, label}, here->data(), in, 4000);
    source.record(run, stream_kind::in, *arrived);
    source.wait(run, stream_kind::out, *arrived);
    cuda_emulation::reset_calls();
    for (int k = 0; k < 2; ++k) source.copy_to(work{run, label}, target, there->data(), here->data(), 4000);
    CHECK(calls("cudaDeviceCanAccessPeer") == 1);
    const long admitted = calls("cudaMemPoolSetAccess");
    source.record(run, stream_kind::out, *arrived);
    target.wait(run, stream_kind::out, *arrived);
    target.copy_out(work{run, label}, out, there->data(), 4000);
    target.record(run, stream_kind::out, *read);
    read->wait();
    CHECK_FALSE(run.failed());
    CHECK(back == x);
    return admitted;
  };
  CHECK(copies(0, 1) == 0);
  CHECK(copies(1, 0) == 1);
  CHECK(copies(0, 2) == 1);
  CHECK(copies(2, 0) == 0);
  CHECK(copies(1, 2) == 1);
  CHECK(copies(2, 1) == 1);
}

TEST_CASE("a GPU lets in several others", "[memory]") {
  cuda_device target(place{device_kind::gpu, 0}, 0);
  const ref<device_block> there = target.reserve({400, "test", "there"});
  const work_label label{"Test_1", "Test"};
  for (const int k : {1, 2}) {
    cuda_device source(place{device_kind::gpu, k}, k);
    const ref<device_block> here = source.reserve({400, "test", "here"});
    run_state run;
    cuda_emulation::reset_calls();
    source.copy_to(work{run, label}, target, there->data(), here->data(), 400);
    CHECK(calls("cudaMemPoolSetAccess") == 1);
    source.finish(stream_kind::out);
    CHECK_FALSE(run.failed());
  }
}

TEST_CASE("copies of nothing ask a GPU for nothing", "[memory]") {
  bench b;
  cuda_device other(place{device_kind::gpu, 1}, 1);
  (void)b.reserve<float>(1);
  const work w{b.run, b.label};
  const host_slot none{nullptr};
  cuda_emulation::reset_calls();
  b.gpu.copy_in(w, nullptr, none, 0);
  b.gpu.copy_out(w, none, nullptr, 0);
  b.gpu.copy_to(w, other, nullptr, nullptr, 0);
  CHECK(calls("cudaMemcpyAsync") + calls("cudaMemcpyPeerAsync") + calls("cudaLaunchHostFunc") == 0);
  CHECK(calls("cudaPointerGetAttributes") == 0);
  CHECK_FALSE(b.run.failed());
  CHECK(b.gpu.counters.transfers == 3);
  // The same in a graph.
  struct program {
    bench& b;
    const host_slot& none;
    static void issue(void* self) {
      auto& p = *static_cast<program*>(self);
      p.b.gpu.copy_in(work{p.b.run, p.b.label}, nullptr, p.none, 0);
      p.b.gpu.copy_out(work{p.b.run, p.b.label}, p.none, nullptr, 0);
    }
  } p{b, none};
  const ref<device_graph> graph = b.gpu.record_graph(&program::issue, &p);
  REQUIRE(graph);
  run_state run;
  graph->perform(run);
  CHECK_FALSE(run.failed());
  CHECK(b.gpu.counters.transfers == 5);
}

TEST_CASE("small pieces of pinned memory fill a block to its end", "[memory]") {
  const std::int64_t before = cuda_emulation::pinned_bytes();
  pinned_arena arena;
  auto* const first = static_cast<char*>(arena.take(100));
  CHECK(static_cast<char*>(arena.take(1)) == first + 256);
  CHECK(static_cast<char*>(arena.take(64 * KiB - 512)) == first + 512);
  CHECK(cuda_emulation::pinned_bytes() - before == 64 * KiB);
  (void)arena.take(1);
  CHECK(cuda_emulation::pinned_bytes() - before == 128 * KiB);
  (void)arena.take(100 * KiB);
  CHECK(cuda_emulation::pinned_bytes() - before == 228 * KiB);
  arena.close();
  CHECK(cuda_emulation::pinned_bytes() == before);
}

TEST_CASE("a copy opens as many chunks as it has pieces, of their size", "[memory]") {
  const auto taken_by = [](std::int64_t bytes) {
    const std::int64_t before = cuda_emulation::pinned_bytes();
    bench b;
    const std::vector<unsigned char> values(static_cast<std::size_t>(bytes), 7);
    (void)b.upload(values);
    return cuda_emulation::pinned_bytes() - before;
  };
  CHECK(taken_by(64 * KiB) == 0);
  CHECK(taken_by(64 * KiB + 1) == 128 * KiB);
  CHECK(taken_by(256 * KiB) == 256 * KiB);
  CHECK(taken_by(512 * KiB) == 512 * KiB);
  CHECK(taken_by(768 * KiB) == 768 * KiB);
  CHECK(taken_by(4 * MiB) == 2 * MiB);      // eighths
  CHECK(taken_by(4 * MiB + 8) == 4 * MiB);  // of 576 KiB
  CHECK(taken_by(40 * MiB) == 16 * MiB);
}
