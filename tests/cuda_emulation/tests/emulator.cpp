// SPDX-License-Identifier: BSL-1.0
// The emulator finds what it is there to find: each wrong use of a GPU is done once, and named.
#include <onto/backend/cuda/launch.hpp>

#include "catch.hpp"
#include "control.hpp"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace onto::detail;
using cuda_emulation::take_violations;

// Not in a namespace without a name: kernels are named in messages by their symbols.
namespace emulator_test {

constexpr int threads = 64;

/// What each kernel below does wrong, or not.
enum class deed {
  nothing,
  leaves_before_barrier,
  shuffles_alone,
  shuffles_unasked,
  reads_unwritten_shared,
  writes_past_shared,
  races,
  races_in_a_warp,
  reads_past_the_end,
  writes_before_the_beginning,
  reads_the_host,
  misaligned
};

/// Adds up 64 numbers by way of shared memory and shuffles.
__global__ void sum_kernel(const float* in, float* out, deed what) {
  float* const parts = shared_array<float, threads>();
  const int t = static_cast<int>(threadIdx.x);
  if (what == deed::leaves_before_barrier && t == 7) return;
  float value = 0;
  if (what == deed::reads_past_the_end)
    value = device_load(in + t + 1);
  else if (what == deed::misaligned)
    value = device_load(reinterpret_cast<const float*>(reinterpret_cast<const char*>(in) + 2));
  else if (what == deed::reads_the_host)
    value = device_load(&value);
  else
    value = device_load(in + t);
  if (what != deed::reads_unwritten_shared || t != 3) device_store(parts + t, value);
  if (what == deed::writes_past_shared) device_store(parts + threads + t, value);
  __syncthreads();
  float sum = device_load(parts + (t + 32) % threads) + value;
  if (what == deed::races) device_store(parts + t, sum);
  if (what == deed::races_in_a_warp && t < 32) device_store(parts + (t ^ 1) + 32 * (1 - t / 32), sum);
  if (t >= 32) return;
  for (int half = 16; half > 0; half /= 2) {
    unsigned bits = 0;
    std::memcpy(&bits, &sum, sizeof bits);
    unsigned mask = 0xffffffffu;
    if (what == deed::shuffles_unasked) mask = 0xfffffffeu;
    if (what == deed::shuffles_alone && t == 5) {
      mask = 1u << 5;
      bits = __shfl_down_sync(mask, bits, 0);
      continue;
    }
    bits = __shfl_down_sync(mask, bits, static_cast<unsigned>(half));
    float other = 0;
    std::memcpy(&other, &bits, sizeof other);
    sum += other;
  }
  if (t == 0) device_store(what == deed::writes_before_the_beginning ? out - 1 : out, sum);
}

/// In turn `k` thread `k` alone says so; in the others, past the last thread, nobody does.
__global__ void vote_kernel(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  int said = 0;
  for (int turn = threads - 3; turn < threads + 3; ++turn) said = 2 * said + (__syncthreads_or(t == turn) != 0);
  device_store(out + t, said);
}

}  // namespace emulator_test

using namespace emulator_test;

namespace {

std::string what_was_said() {
  std::string all;
  for (const std::string& s : take_violations()) all += s + "\n";
  return all;
}

/// Runs it on numbers 0 to 63. *Returns* the result, or -1.
float run_sum(deed what) {
  cuda_emulation::revive_device(0);
  std::vector<float> numbers(threads);
  for (int k = 0; k < threads; ++k) numbers[static_cast<std::size_t>(k)] = static_cast<float>(k);
  float *in = nullptr, *out = nullptr;
  REQUIRE(cudaMalloc(&in, threads * sizeof(float)) == cudaSuccess);
  REQUIRE(cudaMalloc(&out, sizeof(float)) == cudaSuccess);
  REQUIRE(cudaMemcpy(in, numbers.data(), threads * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
  launch(nullptr, "summing", &sum_kernel, {dim3(1), 0, threads}, in, out, what);
  float result = -1;
  if (cudaDeviceSynchronize() == cudaSuccess)
    CHECK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess);
  cuda_emulation::revive_device(0);
  CHECK(cudaFree(in) == cudaSuccess);
  CHECK(cudaFree(out) == cudaSuccess);
  (void)cudaGetLastError();
  return result;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a kernel that is right runs, in any order of its threads", "[emulator]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    cuda_emulation::set_seed(seed);
    CHECK(run_sum(deed::nothing) == 2016);
  }
  CHECK(what_was_said().empty());
}

TEST_CASE("what one thread says at a barrier, all threads are told", "[emulator]") {
  int* out = nullptr;
  REQUIRE(cudaMalloc(&out, threads * sizeof(int)) == cudaSuccess);
  launch(nullptr, "voting", &vote_kernel, {dim3(1), 0, threads}, out);
  std::vector<int> said(threads);
  CHECK(cudaMemcpy(said.data(), out, threads * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(said == std::vector<int>(threads, 0b111000));
  CHECK(cudaFree(out) == cudaSuccess);
  CHECK(what_was_said().empty());
}

TEST_CASE("a kernel that is wrong is named, with block and thread", "[emulator]") {
  struct {
    deed what;
    const char* words;
  } const cases[] = {
      {deed::leaves_before_barrier, "it waits at a barrier that thread (7, 0, 0) has left the kernel before"},
      {deed::shuffles_alone, "its mask names lane 5, which has left the kernel"},
      {deed::shuffles_unasked, "thread (0, 0, 0): the mask of its shuffle leaves it out"},
      {deed::reads_unwritten_shared, "it reads shared memory that no thread of the block has written"},
      {deed::writes_past_shared, "it writes past the end of its block's shared memory of 256 bytes"},
      {deed::races, "with no barrier between"},
      {deed::races_in_a_warp, "with no barrier between"},
      {deed::reads_past_the_end, "thread (63, 0, 0): a load of 4 bytes, 0 bytes past the end of an allocation of 256"},
      {deed::writes_before_the_beginning, "thread (0, 0, 0): a store of 4 bytes, where nothing is allocated"},
      {deed::reads_the_host, "it reads memory of the host"},
      {deed::misaligned, "an access of 4 bytes at an address that is no multiple of 4"},
  };
  for (const auto& c : cases) {
    INFO(c.words);
    CHECK(run_sum(c.what) == -1);
    const std::string said = what_was_said();
    INFO(said);
    CHECK(has(said, c.words));
    CHECK(has(said, "sum_kernel, block (0, 0, 0), thread ("));
  }
}

namespace emulator_test {

enum class addition { right, unwritten, reads_at_once, writes_at_once, past_the_end };

/// Each thread adds its number to one of four counters in shared memory, in an order that nobody knows.
__global__ void add_kernel(std::uint64_t* out, addition what) {
  std::uint32_t* const counters = shared_array<std::uint32_t, 4>();
  const unsigned t = threadIdx.x;
  if (t < 4 && what != addition::unwritten) device_store(counters + t, std::uint32_t{0});
  __syncthreads();
  device_add(counters + t % 4, t);
  if (what == addition::reads_at_once && t == 9) device_add(counters + 1, device_load(counters + 1));
  if (what == addition::writes_at_once && t == 9) device_store(counters + 1, std::uint32_t{1});
  __syncthreads();
  const std::uint64_t large = std::uint64_t{device_load(counters + t % 4)} << 32;
  device_add(out + (what == addition::past_the_end ? 2 : 0), large);
  device_add(out + 1, std::uint64_t{1});
}

}  // namespace emulator_test

TEST_CASE("threads that add at once do not race, but with those that do not add", "[emulator]") {
  const auto run = [](addition what) {
    cuda_emulation::revive_device(0);
    std::uint64_t* out = nullptr;
    REQUIRE(cudaMalloc(&out, 2 * sizeof *out) == cudaSuccess);
    REQUIRE(cudaMemset(out, 0, 2 * sizeof *out) == cudaSuccess);
    launch(nullptr, "adding", &add_kernel, {dim3(3), 0, threads}, out, what);
    std::uint64_t result[2] = {};
    if (cudaDeviceSynchronize() == cudaSuccess)
      CHECK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess);
    cuda_emulation::revive_device(0);
    CHECK(cudaFree(out) == cudaSuccess);
    (void)cudaGetLastError();
    return result[0] == std::uint64_t{3 * 16 * 2016} << 32 && result[1] == 3 * threads;
  };
  CHECK(run(addition::right));
  CHECK(what_was_said().empty());
  CHECK_FALSE(run(addition::unwritten));
  CHECK(has(what_was_said(), "it reads shared memory that no thread of the block has written"));
  CHECK_FALSE(run(addition::reads_at_once));
  CHECK(has(what_was_said(), "with no barrier between"));
  CHECK_FALSE(run(addition::writes_at_once));
  CHECK(has(what_was_said(), "with no barrier between"));
  CHECK_FALSE(run(addition::past_the_end));
  CHECK(has(what_was_said(), "an atomic operation of 8 bytes, 0 bytes past the end of an allocation of 16"));
}

TEST_CASE("a wait that is missing is a wrong result", "[emulator]") {
  int wrong[2] = {};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    cuda_emulation::set_seed(seed);
    for (const bool waits : {false, true}) {
      cudaStream_t first = nullptr, second = nullptr;
      cudaEvent_t event = nullptr;
      int* memory = nullptr;
      int* pinned = nullptr;
      REQUIRE(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) == cudaSuccess);
      REQUIRE(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == cudaSuccess);
      REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
      REQUIRE(cudaMalloc(&memory, 4) == cudaSuccess);
      REQUIRE(cudaMallocHost(&pinned, 4) == cudaSuccess);
      REQUIRE(cudaMemsetAsync(memory, 0, 4, first) == cudaSuccess);
      REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
      if (waits) REQUIRE(cudaStreamWaitEvent(second, event, 0) == cudaSuccess);
      REQUIRE(cudaMemcpyAsync(pinned, memory, 4, cudaMemcpyDeviceToHost, second) == cudaSuccess);
      REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);
      wrong[waits] += *pinned != 0;
      REQUIRE(cudaStreamDestroy(first) == cudaSuccess);
      REQUIRE(cudaStreamDestroy(second) == cudaSuccess);
      REQUIRE(cudaEventDestroy(event) == cudaSuccess);
      REQUIRE(cudaFree(memory) == cudaSuccess);
      REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
    }
  }
  CHECK(wrong[false] > 5);
  CHECK(wrong[true] == 0);
  CHECK(what_was_said().empty());
}

TEST_CASE("memory that was freed, and memory of another device, is not there", "[emulator]") {
  float *mine = nullptr, *other = nullptr;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaMalloc(&other, 256) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  REQUIRE(cudaMalloc(&mine, 256) == cudaSuccess);
  launch(nullptr, "summing", &sum_kernel, {dim3(1), 0, threads}, other, mine, deed::nothing);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(has(what_was_said(), "of memory of device 1, which it may not reach"));
  cuda_emulation::revive_device(0);
  REQUIRE(cudaFree(mine) == cudaSuccess);
  CHECK(cudaMemset(mine, 0, 4) == cudaErrorIllegalAddress);
  CHECK(has(what_was_said(), "a memset of 4 bytes, where nothing is allocated"));
  cuda_emulation::revive_device(0);
  REQUIRE(cudaFree(other) == cudaSuccess);
  (void)cudaGetLastError();
}

TEST_CASE("the rules of capture are kept", "[emulator]") {
  cudaStream_t origin = nullptr, side = nullptr;
  cudaEvent_t fork = nullptr, outside = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaEventCreate(&fork) == cudaSuccess);
  REQUIRE(cudaEventCreate(&outside) == cudaSuccess);
  REQUIRE(cudaEventRecord(outside, side) == cudaSuccess);
  int* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 4) == cudaSuccess);
  const auto capture = [&](auto&& what) {
    REQUIRE(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(memory, 0, 4, origin) == cudaSuccess);
    what();
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(origin, &graph);
    CHECK((status == cudaSuccess) == (graph != nullptr));
    if (graph) CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    (void)cudaGetLastError();
    return status;
  };
  CHECK(capture([] {}) == cudaSuccess);
  CHECK(capture([&] { CHECK(cudaStreamSynchronize(origin) == cudaErrorStreamCaptureUnsupported); }) ==
        cudaErrorStreamCaptureInvalidated);
  CHECK(capture([&] { CHECK(cudaStreamWaitEvent(origin, outside, 0) == cudaErrorStreamCaptureIsolation); }) ==
        cudaErrorStreamCaptureInvalidated);
  const auto branch = [&] {
    CHECK(cudaEventRecord(fork, origin) == cudaSuccess);
    CHECK(cudaEventQuery(fork) == cudaErrorCapturedEvent);
    CHECK(cudaStreamWaitEvent(side, fork, 0) == cudaSuccess);
    CHECK(cudaMemsetAsync(memory, 1, 4, side) == cudaSuccess);
  };
  CHECK(capture(branch) == cudaErrorStreamCaptureUnjoined);
  CHECK(capture([&] {
          branch();
          CHECK(cudaEventRecord(fork, side) == cudaSuccess);
          CHECK(cudaStreamWaitEvent(origin, fork, 0) == cudaSuccess);
        }) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(side, fork, 0) == cudaErrorCapturedEvent);
  (void)cudaGetLastError();
  REQUIRE(cudaStreamDestroy(origin) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(side) == cudaSuccess);
  REQUIRE(cudaEventDestroy(fork) == cudaSuccess);
  REQUIRE(cudaEventDestroy(outside) == cudaSuccess);
  REQUIRE(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("host functions may not call the runtime; memory in use may not be freed", "[emulator]") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaLaunchHostFunc(
              stream,
              [](void*) {
                int count = 0;
                (void)cudaGetDeviceCount(&count);
              },
              nullptr) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(has(what_was_said(), "cudaGetDeviceCount was called from a host function"));
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    cuda_emulation::set_seed(seed);
    int* memory = nullptr;
    void* pinned = nullptr;
    REQUIRE(cudaMalloc(&memory, 64) == cudaSuccess);
    REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(memory, pinned, 64, cudaMemcpyHostToDevice, stream) == cudaSuccess);
    REQUIRE(cudaFreeHost(pinned) == cudaSuccess);  // too early
    (void)cudaStreamSynchronize(stream);
    found += has(what_was_said(), "of pinned memory that was freed before it was done");
    cuda_emulation::revive_device(0);
    REQUIRE(cudaFree(memory) == cudaSuccess);
  }
  CHECK(found > 5);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  (void)cudaGetLastError();
}

TEST_CASE("calls fail where they are told to, and say so once", "[emulator]") {
  void* memory = nullptr;
  cuda_emulation::fail_call("cudaMalloc", 2, cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&memory, 4) == cudaSuccess);
  void* none = nullptr;
  CHECK(cudaMalloc(&none, 4) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaFree(memory) == cudaSuccess);
  CHECK(cuda_emulation::clear_faults() == 1);
  cuda_emulation::lose_device(0, cudaErrorECCUncorrectable);
  CHECK(cudaMalloc(&memory, 4) == cudaErrorECCUncorrectable);
  CHECK(cudaDeviceSynchronize() == cudaErrorECCUncorrectable);
  cuda_emulation::revive_device(0);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  (void)cudaGetLastError();
}

TEST_CASE("sectors and bank conflicts are counted as a profiler counts them", "[emulator]") {
  cuda_emulation::count_accesses(true);
  CHECK(run_sum(deed::nothing) == 2016);
  cuda_emulation::count_accesses(false);
  const auto counts = cuda_emulation::take_counts();
  REQUIRE(counts.size() == 1);
  const cuda_emulation::kernel_counts& k = counts.begin()->second;
  CHECK(k.launches == 1);
  CHECK(k.blocks == 1);
  CHECK(k.load_requests == 2);
  CHECK(k.load_sectors == 8);
  CHECK(k.load_bytes == 256);
  CHECK(k.store_requests == 1);
  CHECK(k.store_sectors == 1);
  CHECK(k.shared_requests == 4);
  CHECK(k.bank_conflicts == 0);
  CHECK(k.shared_bytes == 256);
}
