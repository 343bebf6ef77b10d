// SPDX-License-Identifier: BSL-1.0
// The times that a trace shows of GPUs: when work began and ended there, by the clock of whoever asks.
#include <onto/backend/cuda/launch.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace trace_test {

__global__ void spin_kernel(long long nanoseconds) { cuda_emulation::spin_nanoseconds(nanoseconds); }

}  // namespace trace_test

namespace {

constexpr std::int64_t ms = 1000000;

void spin(gpu_context& context, const kernel_call& call) {
  launch(context.stream, "spinning", &trace_test::spin_kernel, {1, 0, 1}, static_cast<long long>(call.inner));
}

class recorder final : public trace_sink {
 public:
  void add(const trace_span& span) noexcept override { spans.push_back(span); }
  std::int64_t now() const noexcept override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_).count();
  }
  const trace_span& last(trace_span::kind what) const {
    for (std::size_t k = spans.size(); k > 0; --k)
      if (spans[k - 1].what == what) return spans[k - 1];
    FAIL("no such span");
    return spans.front();
  }
  long count(trace_span::kind what) const {
    long n = 0;
    for (const trace_span& s : spans) n += s.what == what ? 1 : 0;
    return n;
  }
  std::vector<trace_span> spans;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void issue_spin(bench& b, std::int64_t nanoseconds) {
  kernel_call call;
  call.inner = nanoseconds;
  b.gpu.launch(work{b.run, b.label}, cuda_entry(&run_in_stream<&spin>), call);
}

}  // namespace

TEST_CASE("kernels have their own begin and end, in one run and the next", "[trace]") {
  recorder trace;
  bench b;
  b.run.trace = &trace;
  // That a span is no longer than its kernel is seen in the shortest: other work may stop any of them for a while.
  std::int64_t shortest = 1000 * ms;
  for (int run = 0; run < 3 || (shortest >= 5 * ms && run < 100); ++run) {
    INFO("run " << run);
    const std::int64_t before = trace.now();
    issue_spin(b, 3 * ms);
    issue_spin(b, 5 * ms);
    b.settle(stream_kind::compute);
    const std::int64_t after = trace.now();
    REQUIRE(trace.count(trace_span::kernel) == 2 * (run + 1));
    const trace_span& first = trace.spans[trace.spans.size() - 2];
    const trace_span& second = trace.spans.back();
    CHECK(first.begin >= before);
    CHECK(first.end - first.begin >= 3 * ms - 1000);
    CHECK(second.begin >= first.end - 1000);
    CHECK(second.end - second.begin >= 5 * ms - 1000);
    CHECK(second.end <= after + ms);
    shortest = std::min(shortest, first.end - first.begin);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(shortest < 5 * ms);
}

TEST_CASE("each sink has times by its own clock, also of a device that was traced before", "[trace]") {
  bench b;
  std::deque<recorder> sinks;
  for (int k = 0; k < 3; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    recorder& trace = sinks.emplace_back();
    const std::int64_t before = trace.now();
    b.run.trace = &trace;
    issue_spin(b, ms);
    b.settle(stream_kind::compute);
    REQUIRE(trace.count(trace_span::kernel) == 1);
    CHECK(trace.spans[0].begin >= before);
    CHECK(trace.spans[0].end <= trace.now() + ms);
    b.run.trace = nullptr;
  }
}

TEST_CASE("copies take their time in the stream that does them", "[trace]") {
  recorder trace;
  bench b;
  cuda_device other(place{device_kind::gpu, 1}, 1);
  constexpr std::int64_t bytes = std::int64_t{4} << 20;  // 200 microseconds and more on an emulated GPU
  constexpr std::int64_t least = 150000;
  const std::vector<unsigned char> values(bytes, 7);
  std::vector<unsigned char> back(bytes);
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, bytes) == cudaSuccess);
  auto* const here = b.upload(values);
  const ref<device_block> there = other.reserve({bytes, "test", "there"});
  const work w{b.run, b.label};
  const auto check = [&](const char* what, stream_kind l, const auto& copy) {
    INFO(what);
    // The other lanes have nothing to do: what ends there has ended at once.
    b.run.trace = &trace;
    const std::int64_t before = trace.now();
    copy();
    b.run.trace = nullptr;
    b.settle(l);
    const trace_span& span = trace.last(trace_span::copy);
    CHECK(span.stream == l);
    CHECK(span.begin >= before);
    CHECK(span.end - span.begin >= least);
  };
  const host_slot from{const_cast<unsigned char*>(values.data())}, to{back.data()}, fast{pinned};
  check("in, by way of pinned memory", stream_kind::in, [&] { b.gpu.copy_in(w, here, from, bytes); });
  check("in, from pinned memory", stream_kind::in, [&] { b.gpu.copy_in(w, here, fast, bytes); });
  check("out, by way of pinned memory", stream_kind::out, [&] { b.gpu.copy_out(w, to, here, bytes); });
  check("out, to pinned memory", stream_kind::out, [&] { b.gpu.copy_out(w, fast, here, bytes); });
  check("to another GPU", stream_kind::out, [&] { b.gpu.copy_to(w, other, there->data(), here, bytes); });
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("what nobody waits for is read when there is much of it, and spans come in order", "[trace]") {
  recorder trace;
  bench b;
  b.run.trace = &trace;
  constexpr int many = 4500;
  for (int k = 0; k < many; ++k) {
    issue_spin(b, 1000);
    if (k == 4000) cuda_emulation::drain();
  }
  CHECK(trace.count(trace_span::kernel) >= 4000);
  CHECK(trace.count(trace_span::kernel) < many);
  b.settle(stream_kind::compute);
  CHECK(trace.count(trace_span::kernel) == many);
  for (std::size_t k = 1; k < trace.spans.size(); ++k) REQUIRE(trace.spans[k].begin >= trace.spans[k - 1].begin);
}

TEST_CASE("a wait for what was there already is none", "[trace]") {
  recorder trace;
  bench b;
  b.run.trace = &trace;
  issue_spin(b, ms);
  b.settle(stream_kind::compute);
  b.order(stream_kind::compute, stream_kind::out);
  b.settle(stream_kind::out);
  const auto long_waits = [&] {
    long n = 0;
    for (const trace_span& s : trace.spans) n += s.what == trace_span::wait && s.end - s.begin > 3 * ms ? 1 : 0;
    return n;
  };
  CHECK(long_waits() == 0);
  issue_spin(b, 5 * ms);
  b.order(stream_kind::compute, stream_kind::out);
  b.settle(stream_kind::out);
  CHECK(long_waits() == 1);
}

TEST_CASE("what cannot be asked for has no times", "[trace]") {
  recorder trace;
  bench b;
  b.run.trace = &trace;
  issue_spin(b, ms);
  cuda_emulation::fail_call("cudaEventQuery", 1, cudaErrorInvalidValue);
  b.settle(stream_kind::compute);
  CHECK(cuda_emulation::clear_faults() == 1);
  CHECK(trace.count(trace_span::kernel) == 0);
  issue_spin(b, ms);
  b.settle(stream_kind::compute);
  CHECK(trace.count(trace_span::kernel) == 1);
}

TEST_CASE("a device that goes takes its times with it", "[trace]") {
  recorder trace;
  bench staying;
  staying.run.trace = &trace;
  for (int k = 0; k < 3; ++k) {
    bench going;
    going.run.trace = &trace;
    issue_spin(going, 1000);
    issue_spin(staying, 1000);
  }
  const auto with = trace.count(trace_span::kernel);
  staying.settle(stream_kind::compute);
  CHECK(trace.count(trace_span::kernel) >= 3);
  CHECK(trace.count(trace_span::kernel) <= with + 3);
}
