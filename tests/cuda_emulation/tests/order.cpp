// SPDX-License-Identifier: BSL-1.0
// What must come after what on a GPU, in many orders of everything else: each test runs with many seeds of the
// emulator.
#include <onto/backend/cuda/launch.hpp>

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

#include <string>
#include <vector>

using namespace gpu_test;

namespace order_test {

__global__ void affine_kernel(float* values, int count, float factor, float addend) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < count) device_store(values + k, device_load(values + k) * factor + addend);
}

}  // namespace order_test

namespace {

constexpr int count = 300;
constexpr std::uint64_t seeds = 30;

void twice(gpu_context& context, const kernel_call& call) {
  launch(context.stream, "doubling", &order_test::affine_kernel, {dim3(2)}, static_cast<float*>(call.out.data), count,
         2.f, 0.f);
}
void plus_one(gpu_context& context, const kernel_call& call) {
  launch(context.stream, "adding one", &order_test::affine_kernel, {dim3(2)}, static_cast<float*>(call.out.data), count,
         1.f, 1.f);
}

/// Numbers on a device, and what is done with them.
struct numbers_on {
  explicit numbers_on(cuda_device& d)
      : gpu(d), block(d.reserve({count * 4, "test", "numbers"})), issued(d.make_event()) {
    call.out.data = block->data();
  }
  void fill(float value) {
    values.assign(count, value);
    from.data = values.data();
    gpu.copy_in(work{run, label}, block->data(), from, count * 4);
    gpu.record(run, stream_kind::in, *issued);
    gpu.wait(run, stream_kind::compute, *issued);
  }
  template <void (*Kernel)(gpu_context&, const kernel_call&)>
  void apply() {
    gpu.launch(work{run, label}, cuda_entry(&run_in_stream<Kernel>), call);
  }
  std::vector<float> read() {
    std::vector<float> result(count);
    const host_slot slot{result.data()};
    gpu.record(run, stream_kind::compute, *issued);
    gpu.wait(run, stream_kind::out, *issued);
    gpu.copy_out(work{run, label}, slot, block->data(), count * 4);
    gpu.record(run, stream_kind::out, *issued);
    issued->wait();
    if (run.failed()) run.rethrow();
    return result;
  }

  cuda_device& gpu;
  ref<device_block> block;
  ref<device_event> issued;
  std::vector<float> values;
  host_slot from;
  kernel_call call;
  run_state run;
  work_label label{"Test_1", "Test"};
};

/// `read` without Catch2's words for 300 numbers.
bool all_are(const std::vector<float>& values, float expected) {
  for (const float v : values)
    if (v != expected) return false;
  return true;
}

}  // namespace

TEST_CASE("kernels before and after a replay keep their places, on one GPU and on two", "[emulator][graph]") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    cuda_emulation::set_seed(seed);
    cuda_device first(place{device_kind::gpu, 0}, 0), second(place{device_kind::gpu, 1}, 1);
    struct programs {
      numbers_on here, there;
      static void issue(void* self) {
        static_cast<programs*>(self)->here.apply<&twice>();
        static_cast<programs*>(self)->there.apply<&twice>();
      }
    } p{numbers_on(first), numbers_on(second)};
    const ref<device_graph> graph = first.record_graph(&programs::issue, &p);
    REQUIRE(graph);
    p.here.fill(1);
    p.there.fill(2);
    for (int k = 0; k < 3; ++k) {
      p.here.apply<&plus_one>();
      p.there.apply<&plus_one>();
      run_state run;
      graph->perform(run);
      REQUIRE_FALSE(run.failed());
      p.there.apply<&plus_one>();
      p.here.apply<&plus_one>();
    }
    // x -> 2 (x + 1) + 1, three times
    CHECK(all_are(p.here.read(), 29));
    CHECK(all_are(p.there.read(), 37));
  }
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("the host's part of a copy comes after what its stream waits for", "[emulator][copies]") {
  constexpr std::int64_t bytes = 200000;  // by way of pinned pieces
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    cuda_emulation::set_seed(seed);
    bench b;
    std::vector<unsigned char> values(bytes), between(bytes, 0), back(bytes, 0);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<unsigned char>(k * 7 + seed);
    const auto* there = b.upload(values);
    auto* again = b.reserve<unsigned char>(bytes);
    const host_slot middle{between.data()}, last{back.data()};
    const ref<device_event> left = b.gpu.make_event(), arrived = b.gpu.make_event(), done = b.gpu.make_event();
    for (int k = 0; k < 2; ++k) {
      // From the GPU to the host, from there to the GPU, and back: nobody waits between.
      const work w{b.run, b.label};
      b.gpu.copy_out(w, middle, there, bytes);
      b.gpu.record(b.run, stream_kind::out, *left);
      b.gpu.wait(b.run, stream_kind::in, *left);
      b.gpu.copy_in(w, again, middle, bytes);
      b.gpu.record(b.run, stream_kind::in, *arrived);
      b.gpu.wait(b.run, stream_kind::out, *arrived);
      b.gpu.copy_out(w, last, again, bytes);
      b.gpu.record(b.run, stream_kind::out, *done);
      done->wait();
      REQUIRE_FALSE(b.run.failed());
      CHECK((back == values));
      std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
      std::fill(between.begin(), between.end(), static_cast<unsigned char>(0));
    }
  }
}

TEST_CASE("a device that is waited for has done everything", "[emulator][device]") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    cuda_emulation::set_seed(seed);
    cuda_device gpu(place{device_kind::gpu, 0}, 0);
    numbers_on n(gpu);
    n.fill(1);
    n.apply<&plus_one>();
    std::vector<float> result(count, -1.f);
    const host_slot slot{result.data()};
    gpu.record(n.run, stream_kind::compute, *n.issued);
    gpu.wait(n.run, stream_kind::out, *n.issued);
    gpu.copy_out(work{n.run, n.label}, slot, n.block->data(), count * 4);
    gpu.synchronize();
    CHECK(all_are(result, 2));
  }
}

TEST_CASE("each GPU says what it is, and works with memory of its own", "[emulator][device]") {
  for (int k = 0; k < cuda_emulation::current_machine().devices; ++k) {
    cuda_device gpu(place{device_kind::gpu, k}, k);
    CHECK(gpu.description().find("device: " + std::to_string(k) + ", name: Emulated GPU") == 0);
    CHECK(gpu.description().find("pci bus id: 0000:0" + std::to_string(k + 1) + ":00.0") != std::string::npos);
    CHECK(gpu.facts().memory == cuda_emulation::current_machine().memory - (std::int64_t{k} << 20));
    const ref<device_block> block = gpu.reserve({1000, "test", "block"});
    cudaPointerAttributes found{};
    REQUIRE(cudaPointerGetAttributes(&found, block->data()) == cudaSuccess);
    CHECK(found.device == k);
  }
}

TEST_CASE("GPUs that cannot reach each other copy all the same", "[emulator][device]") {
  cuda_emulation::machine apart = cuda_emulation::current_machine();
  const cuda_emulation::machine usual = apart;
  for (const bool peers : {false, true}) {
    INFO("peer access " << peers);
    apart.peer_access = peers;
    cuda_emulation::set_machine(apart);
    cuda_device first(place{device_kind::gpu, 0}, 0), second(place{device_kind::gpu, 1}, 1);
    numbers_on here(first), there(second);
    here.fill(5);
    here.apply<&twice>();
    first.record(here.run, stream_kind::compute, *here.issued);
    first.wait(here.run, stream_kind::out, *here.issued);
    first.copy_to(work{here.run, here.label}, second, there.block->data(), here.block->data(), count * 4);
    first.record(here.run, stream_kind::out, *here.issued);
    second.wait(there.run, stream_kind::compute, *here.issued);
    there.apply<&plus_one>();
    CHECK(all_are(there.read(), 11));
    CHECK_FALSE(here.run.failed());
  }
  cuda_emulation::set_machine(usual);
}
