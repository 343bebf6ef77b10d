// SPDX-License-Identifier: BSL-1.0
// Pinned memory: as much of it as the copies need, and none between a GPU and memory of the caller's that is pinned.
#include <onto/onto.hpp>

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace {

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;
inline constexpr auto x = placeholder<"x", float, dyn>;

std::vector<unsigned char> bytes_of(std::int64_t count, unsigned seed) {
  std::vector<unsigned char> v(static_cast<std::size_t>(count));
  std::uint32_t s = seed * 2654435761u + 1;
  for (unsigned char& b : v) b = static_cast<unsigned char>((s = s * 1664525u + 1013904223u) >> 24);
  return v;
}

/// Floats in pinned memory.
class pinned_floats {
 public:
  explicit pinned_floats(std::size_t count, float value) : count_(count) {
    void* memory = nullptr;
    REQUIRE(cudaMallocHost(&memory, count * sizeof(float)) == cudaSuccess);
    data_ = static_cast<float*>(memory);
    for (std::size_t k = 0; k < count; ++k) data_[k] = value;
  }
  pinned_floats(const pinned_floats&) = delete;
  pinned_floats& operator=(const pinned_floats&) = delete;
  ~pinned_floats() { (void)cudaFreeHost(data_); }
  std::span<const float> all() const { return {data_, count_}; }

 private:
  float* data_ = nullptr;
  std::size_t count_;
};

long calls(const char* name) {
  const std::map<std::string, long> all = cuda_emulation::calls();
  const auto at = all.find(name);
  return at == all.end() ? 0 : at->second;
}

}  // namespace

TEST_CASE("copies take as much pinned memory as their pieces need", "[pinned]") {
  const std::int64_t before = cuda_emulation::pinned_bytes();
  const auto taken = [&] { return cuda_emulation::pinned_bytes() - before; };
  {
    bench b;
    const auto roundtrip = [&](std::int64_t size) {
      const std::vector<unsigned char> values = bytes_of(size, static_cast<unsigned>(size));
      CHECK(b.download(b.upload(values), values.size()) == values);
    };
    roundtrip(100);
    CHECK(taken() == 64 * KiB);  // from the GPU; the other way little goes along with the command
    for (int k = 0; k < 8; ++k) roundtrip(300 * KiB);
    CHECK(taken() <= 2 * 4 * 256 * KiB + 64 * KiB);
    for (int k = 0; k < 4; ++k) roundtrip(9 * MiB);
    CHECK(taken() <= 2 * 4 * (2 * MiB + 256 * KiB) + 64 * KiB);
    const std::int64_t most = taken();
    for (int k = 0; k < 4; ++k) roundtrip(300 * KiB);
    CHECK(taken() == most);
  }
  CHECK(taken() == 0);
}

TEST_CASE("pieces grow while copies through smaller ones are under way", "[pinned]") {
  bench b;
  std::vector<std::vector<unsigned char>> from, to;
  std::vector<host_slot> slots;
  for (const std::int64_t size : {100 * KiB, 300 * KiB, 5 * MiB, 70 * KiB, 9 * MiB, 1 * MiB}) {
    from.push_back(bytes_of(size, static_cast<unsigned>(size)));
    to.emplace_back(from.back().size());
  }
  slots.reserve(2 * from.size());
  const ref<device_event> event = b.gpu.make_event();
  for (std::size_t k = 0; k < from.size(); ++k) {
    auto* p = b.reserve<unsigned char>(from[k].size());
    slots.push_back({from[k].data()});
    b.gpu.copy_in(work{b.run, b.label}, p, slots.back(), static_cast<std::int64_t>(from[k].size()));
    b.gpu.record(b.run, stream_kind::in, *event);
    b.gpu.wait(b.run, stream_kind::out, *event);
    slots.push_back({to[k].data()});
    b.gpu.copy_out(work{b.run, b.label}, slots.back(), p, static_cast<std::int64_t>(from[k].size()));
  }
  b.settle(stream_kind::out);
  CHECK(to == from);
}

TEST_CASE("a replay copies pinned feeds directly, wherever they are", "[pinned]") {
  session sess{{.log = nullptr}};
  const auto step = sess.prepare(on<gpu<0>>(sum(x * 2.0f)));
  constexpr std::size_t count = 50000;
  const pinned_floats a(count, 1), b(count, 2), c(count, 3);
  const std::vector<float> pageable(count, 4);
  const auto run = [&](std::span<const float> feed) {
    cuda_emulation::reset_calls();
    CHECK(step(x = feed) == 2 * static_cast<float>(count) * feed[0]);
  };
  run(a.all());
  run(a.all());  // recorded
  CHECK(calls("cudaLaunchHostFunc") == 0);
  CHECK(calls("cudaGraphInstantiate") == 1);
  run(a.all());
  CHECK(calls("cudaGraphExecMemcpyNodeSetParams1D") == 0);
  CHECK(calls("cudaGraphLaunch") == 1);
  for (const pinned_floats* feed : {&b, &c, &a}) {
    run(feed->all());
    CHECK(calls("cudaGraphExecMemcpyNodeSetParams1D") == 1);
    CHECK(calls("cudaGraphLaunch") == 1);
    CHECK(calls("cudaGraphInstantiate") == 0);
  }
  // Two recordings are kept: one of each kind.
  run(pageable);
  CHECK(calls("cudaLaunchHostFunc") > 0);
  CHECK(calls("cudaGraphInstantiate") == 1);
  for (int k = 0; k < 3; ++k) {
    run(b.all());
    CHECK(calls("cudaGraphInstantiate") == 0);
    run(pageable);
    CHECK(calls("cudaGraphInstantiate") == 0);
    CHECK(calls("cudaGraphLaunch") == 1);
  }
  // A driver that will not change it: recorded again.
  cuda_emulation::fail_call("cudaGraphExecMemcpyNodeSetParams1D", 1, cudaErrorInvalidValue);
  run(c.all());
  CHECK(cuda_emulation::clear_faults() == 1);
  CHECK(calls("cudaGraphInstantiate") == 1);
  run(c.all());
  CHECK(calls("cudaGraphInstantiate") == 0);
}

TEST_CASE("what a prepared program hands from a GPU to the CPU is pinned, and copied directly", "[pinned]") {
  constexpr std::size_t count = 400000;
  const pinned_floats feed(count, 2);
  const auto program = on<cpu<0>>(sum(on<gpu<0>>(x * 3.0f) - 1.0f));
  const float expected = 5 * static_cast<float>(count);
  {
    session sess{{.log = nullptr}};
    const auto step = sess.prepare(program);
    cuda_emulation::reset_calls();
    CHECK(step(x = feed.all()) == expected);
    CHECK(calls("cudaHostRegister") == 0);
    for (int k = 0; k < 3; ++k) CHECK(step(x = feed.all()) == expected);
    CHECK(calls("cudaHostRegister") == 1);
    CHECK(calls("cudaHostUnregister") == 0);
    cuda_emulation::reset_calls();
    CHECK(step(x = feed.all()) == expected);
    CHECK(calls("cudaGraphLaunch") == 1);
    CHECK(cuda_emulation::live_objects().at("registered host memory") == 1);
  }
  CHECK(calls("cudaHostUnregister") == 1);
  // A system that pins no more: copies are staged.
  session sess{{.log = nullptr}};
  const auto step = sess.prepare(program);
  CHECK(step(x = feed.all()) == expected);
  cuda_emulation::fail_call("cudaHostRegister", 1, cudaErrorMemoryAllocation);
  for (int k = 0; k < 3; ++k) CHECK(step(x = feed.all()) == expected);
  CHECK(cuda_emulation::clear_faults() == 1);
  CHECK(calls("cudaHostUnregister") == 1);
}

TEST_CASE("each call fails once in replays with pinned and pageable feeds", "[pinned]") {
  constexpr std::size_t count = 20000;
  const pinned_floats a(count, 1), b(count, 2);
  const std::vector<float> pageable(count, 3);
  const std::span<const float> feeds[] = {a.all(), a.all(), b.all(), pageable, pageable, a.all()};
  const auto program = on<gpu<0>>(sum(on<gpu<1>>(x * 2.0f) + x));
  long n = 0, failed = 1;
  while (failed > 0) {
    REQUIRE((n += 2) < 1000);
    session sess{{.log = nullptr}};
    const auto step = sess.prepare(program);
    int errors = 0;
    cuda_emulation::fail_call("", n, cudaErrorInvalidValue);
    for (const std::span<const float> feed : feeds) {
      try {
        if (!(step(x = feed) == 3 * static_cast<float>(count) * feed[0])) FAIL("call " << n << ": a wrong result");
      } catch (const error&) {
        ++errors;
      }
    }
    failed = cuda_emulation::clear_faults();
    CHECK(errors <= 1);
    CHECK(step(x = feeds[2]) == 6 * static_cast<float>(count));
  }
  CHECK(n > 100);
}

TEST_CASE("pinned memory that has become pageable, at the same address, is staged", "[pinned]") {
  bench b;
  constexpr std::int64_t size = 100 * KiB;
  struct program {
    bench& b;
    void* there;
    host_slot from, to;
    run_state run;
    static void issue(void* self) {
      auto& p = *static_cast<program*>(self);
      const work w{p.run, p.b.label};
      const ref<device_event> in = p.b.gpu.make_event();
      p.b.gpu.copy_in(w, p.there, p.from, size);
      p.b.gpu.record(p.run, stream_kind::in, *in);
      p.b.gpu.wait(p.run, stream_kind::out, *in);
      p.b.gpu.copy_out(w, p.to, p.there, size);
    }
  } p{b, b.reserve<unsigned char>(size), {}, {}, {}};
  void *in = nullptr, *out = nullptr;
  REQUIRE(cudaMallocHost(&in, size) == cudaSuccess);
  REQUIRE(cudaMallocHost(&out, size) == cudaSuccess);
  std::vector<unsigned char> values = bytes_of(size, 7), result(values.size());
  std::memcpy(in, values.data(), values.size());
  p.from.data = in;
  p.to.data = out;
  cuda_emulation::reset_calls();
  const ref<device_graph> graph = b.gpu.record_graph(&program::issue, &p);
  REQUIRE(graph);
  CHECK(calls("cudaLaunchHostFunc") == 0);
  run_state run;
  CHECK(graph->adapt());
  graph->perform(run);
  CHECK_FALSE(run.failed());
  CHECK(std::memcmp(out, values.data(), values.size()) == 0);
  p.to.data = result.data();
  CHECK_FALSE(graph->adapt());
  p.to.data = out;
  CHECK(graph->adapt());
  REQUIRE(cudaFreeHost(in) == cudaSuccess);
  CHECK_FALSE(graph->adapt());
  CHECK(cudaFreeHost(out) == cudaSuccess);
}
