// SPDX-License-Identifier: BSL-1.0
// Copies by way of pinned memory that are given up half way, waited for by their stream, or left to a device that goes:
// when they are said to be over, the host's part of them is.
#include <onto/backend/cuda/launch.hpp>

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace copies_test {

__global__ void invert_kernel(unsigned char* values, int count) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < count) device_store(values + k, static_cast<unsigned char>(~device_load(values + k)));
}

}  // namespace copies_test

namespace {

/// Inverts the first thousand bytes.
void invert(gpu_context& context, const kernel_call& call) {
  launch(context.stream, "inverting", &copies_test::invert_kernel, {dim3(4)},
         static_cast<unsigned char*>(call.out.data), 1000);
}

constexpr std::int64_t bytes = 1500000;  // six pieces, of which four are under way at once
constexpr std::uint64_t seeds = 12;

std::vector<unsigned char> values_of(unsigned char from) {
  std::vector<unsigned char> v(static_cast<std::size_t>(bytes));
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = static_cast<unsigned char>(k * 11 + k / 1000 + from);
  return v;
}

}  // namespace

TEST_CASE("a copy that is given up half way is over when its stream is, and another comes through", "[copies]") {
  const std::vector<unsigned char> values = values_of(3);
  std::vector<unsigned char> given_up = values_of(9);
  for (const char* call : {"cudaLaunchHostFunc", "cudaMemcpyAsync", "cudaEventRecord", "cudaStreamWaitEvent"})
    for (const stream_kind l : {stream_kind::in, stream_kind::out})
      for (long n = 1; n <= 6; ++n) {
        INFO(call << ", call " << n << ", lane " << static_cast<int>(l));
        cuda_emulation::set_seed(static_cast<std::uint64_t>(n));
        bench b;
        auto* const there = b.reserve<unsigned char>(values.size());
        auto* const zeros = b.upload(std::vector<unsigned char>(values.size()));
        const host_slot slot{given_up.data()};
        const ref<device_event> over = b.gpu.make_event();
        run_state run;
        cuda_emulation::fail_call(call, n, cudaErrorInvalidValue);
        if (l == stream_kind::in)
          b.gpu.copy_in(work{run, b.label}, there, slot, bytes);
        else
          b.gpu.copy_out(work{run, b.label}, slot, zeros, bytes);
        CHECK(cuda_emulation::clear_faults() == 1);
        CHECK(run.failed());
        b.gpu.record(run, l, *over);
        over->wait();
        CHECK(cuda_emulation::host_functions_left() == 0);
        b.write(there, values.data(), values.size());
        CHECK((b.download(there, values.size()) == values));
      }
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a stream that is waited for is done, also where the driver refuses to wait for a stream", "[copies]") {
  const std::vector<unsigned char> values = values_of(5);
  std::vector<unsigned char> back(values.size());
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    cuda_emulation::set_seed(seed);
    bench b;
    auto* const there = b.upload(values);
    auto* const other = b.reserve<unsigned char>(values.size());
    const host_slot from{const_cast<unsigned char*>(values.data())}, to{back.data()};
    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    b.gpu.copy_in(work{b.run, b.label}, other, from, bytes);
    b.gpu.copy_out(work{b.run, b.label}, to, there, bytes);
    if (seed % 3 == 1) cuda_emulation::fail_call("cudaStreamSynchronize", 1, cudaErrorInvalidValue);
    if (seed % 3 == 2) cuda_emulation::fail_call("cudaStreamSynchronize", 2, cudaErrorInvalidValue);
    b.gpu.finish(stream_kind::in);
    CHECK(cuda_emulation::clear_faults() == (seed % 3 == 0 ? 0 : 1));
    if (seed % 3 == 1) cuda_emulation::fail_call("cudaStreamSynchronize", 1, cudaErrorInvalidValue);
    if (seed % 3 == 2) cuda_emulation::fail_call("cudaStreamSynchronize", 2, cudaErrorInvalidValue);
    b.gpu.finish(stream_kind::out);
    CHECK(cuda_emulation::clear_faults() == (seed % 3 == 0 ? 0 : 1));
    CHECK(cuda_emulation::host_functions_left() == 0);
    CHECK((back == values));
    CHECK((b.download(other, values.size()) == values));
    CHECK(cudaGetLastError() == cudaSuccess);
  }
}

TEST_CASE("a stream_kind of copies is waited for to the last of its streams", "[copies]") {
  std::vector<unsigned char> values = values_of(5);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    cuda_emulation::set_seed(seed);
    bench b;
    auto* const there = b.reserve<unsigned char>(values.size());
    const host_slot from{values.data()};
    b.gpu.copy_in(work{b.run, b.label}, there, from, 300000);
    b.gpu.finish(stream_kind::in);
    // By nobody's order, but the stream has been waited for.
    std::vector<unsigned char> back(300000);
    REQUIRE(cudaMemcpy(back.data(), there, back.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(std::equal(back.begin(), back.end(), values.begin()));
  }
}

TEST_CASE("a device that goes finishes what was issued to it", "[copies]") {
  const std::vector<unsigned char> values = values_of(7);
  std::vector<unsigned char> back(values.size());
  const host_slot to{back.data()};
  const work_label label{"Test_1", "Test"};
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    cuda_emulation::set_seed(seed);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    void* foreign = nullptr;  // memory that is not the device's own, which must be given back before
    REQUIRE(cudaMalloc(&foreign, values.size()) == cudaSuccess);
    REQUIRE(cudaMemcpy(foreign, values.data(), values.size(), cudaMemcpyHostToDevice) == cudaSuccess);
    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    {
      cuda_device gpu(place{device_kind::gpu, 0}, 0);
      run_state run;
      gpu.copy_out(work{run, label}, to, foreign, bytes);
      CHECK_FALSE(run.failed());
    }
    CHECK(cuda_emulation::host_functions_left() == 0);
    CHECK((back == values));
    REQUIRE(cudaFree(foreign) == cudaSuccess);
  }
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("pinned copies of a graph come after what they wait for", "[copies]") {
  constexpr std::int64_t size = 100000;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    cuda_emulation::set_seed(seed);
    bench b;
    void *in = nullptr, *out = nullptr;
    REQUIRE(cudaMallocHost(&in, size) == cudaSuccess);
    REQUIRE(cudaMallocHost(&out, size) == cudaSuccess);
    std::vector<unsigned char> values = values_of(static_cast<unsigned char>(seed));
    std::copy(values.begin(), values.begin() + size, static_cast<unsigned char*>(in));
    for (std::size_t k = 0; k < 1000; ++k) values[k] = static_cast<unsigned char>(~values[k]);
    struct program {
      bench& b;
      unsigned char* there;
      host_slot from, to;
      static void issue(void* self) {
        auto& p = *static_cast<program*>(self);
        const work w{p.b.run, p.b.label};
        p.b.gpu.copy_in(w, p.there, p.from, size);
        p.b.order(stream_kind::in, stream_kind::compute);
        kernel_call call;
        call.out.data = p.there;
        p.b.gpu.launch(w, cuda_entry(&run_in_stream<&invert>), call);
        p.b.order(stream_kind::compute, stream_kind::out);
        p.b.gpu.copy_out(w, p.to, p.there, size);
        p.b.order(stream_kind::out, stream_kind::in);
        p.b.gpu.copy_in(w, p.there + size, p.to, size);
      }
    } p{b, b.reserve<unsigned char>(2 * size), {in}, {out}};
    {
      const ref<device_graph> graph = b.gpu.record_graph(&program::issue, &p);
      REQUIRE(graph);
      for (int k = 0; k < 3; ++k) {
        std::fill_n(static_cast<unsigned char*>(out), size, static_cast<unsigned char>(0));
        run_state run;
        graph->perform(run);
        REQUIRE_FALSE(run.failed());
        CHECK(std::equal(values.begin(), values.begin() + size, static_cast<unsigned char*>(out)));
        const std::vector<unsigned char> second = b.download(p.there + size, size);
        CHECK(std::equal(second.begin(), second.end(), values.begin()));
      }
    }
    CHECK(cudaFreeHost(in) == cudaSuccess);
    CHECK(cudaFreeHost(out) == cudaSuccess);
  }
}

TEST_CASE("a graph whose end could not be waited for is done before it goes", "[copies]") {
  const std::vector<unsigned char> values = values_of(1);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    cuda_emulation::set_seed(seed);
    bench b;
    std::vector<unsigned char> back(values.size());
    struct program {
      bench& b;
      unsigned char* there;
      host_slot out;
      static void issue(void* self) {
        auto& p = *static_cast<program*>(self);
        p.b.gpu.copy_out(work{p.b.run, p.b.label}, p.out, p.there, bytes);
      }
    } p{b, b.upload(values), {back.data()}};
    ref<device_graph> graph = b.gpu.record_graph(&program::issue, &p);
    REQUIRE(graph);
    run_state run;
    cuda_emulation::fail_call("cudaEventSynchronize", 1, cudaErrorInvalidValue);
    graph->perform(run);
    CHECK(cuda_emulation::clear_faults() == 1);
    CHECK(run.failed());
    graph = {};
    CHECK((back == values));
  }
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a graph that is replayed copies the same way each time, twice the same", "[copies]") {
  std::vector<unsigned char> values = values_of(1), again = values_of(2), back(values.size());
  bench b;
  struct program {
    bench& b;
    unsigned char* there;
    host_slot first, second, out;
    static void issue(void* self) {
      auto& p = *static_cast<program*>(self);
      const work w{p.b.run, p.b.label};
      p.b.gpu.copy_in(w, p.there, p.first, bytes);
      p.b.gpu.copy_in(w, p.there, p.second, bytes / 2);
      p.b.order(stream_kind::in, stream_kind::out);
      p.b.gpu.copy_out(w, p.out, p.there, bytes);
    }
  } p{b, b.reserve<unsigned char>(values.size()), {values.data()}, {again.data()}, {back.data()}};
  const ref<device_graph> graph = b.gpu.record_graph(&program::issue, &p);
  REQUIRE(graph);
  for (int k = 0; k < 4; ++k) {
    cuda_emulation::set_seed(static_cast<std::uint64_t>(k));
    values = values_of(static_cast<unsigned char>(k));
    p.first.data = values.data();
    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    CHECK(graph->adapt());
    run_state run;
    graph->perform(run);
    REQUIRE_FALSE(run.failed());
    CHECK(std::equal(back.begin(), back.begin() + bytes / 2, again.begin()));
    CHECK(std::equal(back.begin() + bytes / 2, back.end(), values.begin() + bytes / 2));
  }
}
