// SPDX-License-Identifier: BSL-1.0
// A GPU as a device: memory and its limits, copies, streams beside each other, graphs, and what happens when something
// fails.
#include <onto/backend/cuda/device.hpp>
#include <onto/backend/cuda/launch.hpp>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "catch.hpp"
#include "gpu.hpp"
#include "unit/words_of.hpp"

using namespace gpu_test;
using onto_test::words_of;

namespace {

constexpr std::int64_t MiB = std::int64_t{1} << 20;

__global__ void spin_kernel(long long nanoseconds) {
#if defined(ONTO_CUDA_EMULATION)
  cuda_emulation::spin_nanoseconds(nanoseconds);
#else
  long long begin = 0, now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
#endif
}
__global__ void trap_kernel() {
#if defined(ONTO_CUDA_EMULATION)
  cuda_emulation::trap();
#else
  __trap();
#endif
}
__global__ void twice_kernel(float* values, std::int64_t count) {
  const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k < count) device_store(values + k, 2 * device_load(values + k));
}

/// Keeps the compute stream busy for as many milliseconds as `call.inner` says.
void spin(gpu_context& context, const kernel_call& call) {
  launch(context.stream, "launching a test kernel", &spin_kernel, {1, 0, 1}, call.inner * 1000000);
}
void trap(gpu_context& context, const kernel_call&) {
  launch(context.stream, "launching a test kernel", &trap_kernel, {1, 0, 1});
}
/// What cannot be recorded.
void wait_for_stream(gpu_context& context, const kernel_call&) {
  cuda_check(cudaStreamSynchronize(context.stream), "waiting while recording");
}
/// Doubles `call.inner` floats.
void twice(gpu_context& context, const kernel_call& call) {
  launch(context.stream, "launching a test kernel", &twice_kernel, {grid_blocks((call.inner + 255) / 256), 0, 256},
         static_cast<float*>(call.out.data), call.inner);
}

std::int64_t free_memory() {
  std::size_t unused = 0, all = 0;
  REQUIRE(cudaMemGetInfo(&unused, &all) == cudaSuccess);
  return static_cast<std::int64_t>(unused);
}

std::string what_of(run_state& run) {
  try {
    run.rethrow();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::vector<unsigned char> bytes_of(std::size_t count, unsigned seed) {
  std::vector<unsigned char> v(count);
  std::uint32_t x = seed * 2654435761u + 1;
  for (unsigned char& b : v) {
    x = x * 1664525u + 1013904223u;
    b = static_cast<unsigned char>(x >> 24);
  }
  return v;
}

class recorder final : public trace_sink {
 public:
  recorder() { spans.reserve(1000); }
  void add(const trace_span& span) noexcept override {
    mutex_lock lock(mutex_);
    if (spans.size() < 1000) spans.push_back(span);
  }
  std::int64_t now() const noexcept override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_).count();
  }
  const trace_span* find(const work_label& label) const {
    for (const trace_span& s : spans)
      if (s.label == &label) return &s;
    return nullptr;
  }
  std::vector<trace_span> spans;

 private:
  mutex mutex_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A program: its input goes to the GPU, is doubled there, and comes back.
struct doubling {
  explicit doubling(cuda_device& d, std::int64_t n)
      : gpu(d), count(n), block(d.reserve({n * 4, "program", "doubling"})), in(d.make_event()), out(d.make_event()) {
    call.inner = n;
    call.out.data = block->data();
  }
  void issue() {
    const work w{run, label};
    gpu.copy_in(w, block->data(), from, count * 4);
    gpu.record(run, stream_kind::in, *in);
    gpu.wait(run, stream_kind::compute, *in);
    gpu.launch(w, kernel, call);
    gpu.record(run, stream_kind::compute, *out);
    gpu.wait(run, stream_kind::out, *out);
    gpu.copy_out(w, to, block->data(), count * 4);
  }
  static void issue_it(void* self) { static_cast<doubling*>(self)->issue(); }

  cuda_device& gpu;
  std::int64_t count;
  ref<device_block> block;
  ref<device_event> in, out;
  host_slot from, to;
  kernel_entry kernel = cuda_entry(&run_in_stream<&twice>);
  kernel_call call;
  run_state run;
  work_label label{"Double_1", "Double"};
};

}  // namespace

TEST_CASE("the GPUs of the machine are found and described", "[cuda][device]") {
  const cuda_presence found = find_cuda_devices();
  REQUIRE(found.count > 0);
  CHECK(found.reason.empty());
  device_list devices;
  for (int k = 0; k < found.count; ++k)
    devices.add(make_cuda_device(place{device_kind::gpu, k}, k, facts_of_cuda_device(k), {}));
  CHECK(devices[0].where() == place{device_kind::gpu, 0});
  const std::string text = devices[0].description();
  CHECK(text.rfind("device: 0, name: ", 0) == 0);
  CHECK(has(text, ", pci bus id: "));
  CHECK(has(text, ", compute capability: "));
  cuda_device part(place{device_kind::gpu, 7}, 0, {64 * MiB, true});
  CHECK(part.description() == text);
}

TEST_CASE("a device that is not used is not touched", "[cuda][device]") {
  const int last = find_cuda_devices().count - 1;
  const bool before = is_in_use(last);
  {
    cuda_device idle(place{device_kind::gpu, last}, last, {64 * MiB, false});
    CHECK(idle.memory().reserved == 0);
    CHECK(idle.memory().limit == 64 * MiB);
    idle.trim();
    const ref<device_event> event = idle.make_event();
    event->wait();
    CHECK(idle.memory().reserved == 0);
  }
  CHECK(is_in_use(last) == before);
}

TEST_CASE("data goes to a GPU and comes back, in pieces or at once", "[cuda][device]") {
  bench b;
  const std::size_t KiB = 1024;
  const std::size_t edges[] = {0,          1,          64 * KiB,       256 * KiB,      2048 * KiB,
                               4096 * KiB, 8192 * KiB, 4 * 4096 * KiB, 8 * 4096 * KiB, 40 * 1024 * KiB + 7};
  std::int64_t copied = 0, copies = 0;
  for (const std::size_t edge : edges) {
    for (int off = -1; off <= 1; ++off) {
      const std::size_t size = edge + static_cast<std::size_t>(edge == 0 && off < 0 ? 0 : off);
      const std::vector<unsigned char> values = bytes_of(size, static_cast<unsigned>(size));
      const unsigned char* p = b.upload(values);
      CHECK(b.download(p, size) == values);
      copied += 2 * static_cast<std::int64_t>(size);
      copies += 2;
    }
  }
  CHECK(b.gpu.counters.transfers == copies);
  CHECK(b.gpu.counters.transfer_bytes == copied);
}

TEST_CASE("pinned memory is copied from and to directly", "[cuda][device]") {
  bench b;
  const std::size_t size = 3 << 20;
  const std::vector<unsigned char> values = bytes_of(size, 5);
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, size) == cudaSuccess);
  CHECK(is_pinned(pinned, 3 << 20));
  CHECK_FALSE(is_pinned(values.data(), 3 << 20));
  auto* bytes = static_cast<unsigned char*>(pinned);
  std::memcpy(bytes, values.data(), size);
  const unsigned char* p = b.upload(bytes, size);
  std::memset(bytes, 0, size);
  b.download(p, bytes, size);
  CHECK(std::memcmp(bytes, values.data(), size) == 0);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("copies of several threads do not mix", "[cuda][device]") {
  cuda_device gpu(place{device_kind::gpu, 0}, 0);
  constexpr int threads = 4;
  bool right[threads] = {};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&gpu, &right, t] {
      const work_label label{"Copy", "Copy"};
      const ref<device_event> event = gpu.make_event();
      const std::int64_t size = 5 * MiB + 1001 * t;
      const ref<device_block> block = gpu.reserve({size, "test", "copy"});
      bool same = true;
      for (int k = 0; k < 10; ++k) {
        run_state run;
        std::vector<unsigned char> values = bytes_of(static_cast<std::size_t>(size), static_cast<unsigned>(17 * t + k));
        std::vector<unsigned char> back(values.size());
        const host_slot from{values.data()}, to{back.data()};
        gpu.copy_in(work{run, label}, block->data(), from, size);
        gpu.record(run, stream_kind::in, *event);
        gpu.wait(run, stream_kind::out, *event);
        gpu.copy_out(work{run, label}, to, block->data(), size);
        gpu.record(run, stream_kind::out, *event);
        event->wait();
        same = same && !run.failed() && back == values;
      }
      right[t] = same;
    });
  }
  for (std::thread& t : all) t.join();
  for (const bool r : right) CHECK(r);
}

TEST_CASE("freed memory is used again", "[cuda][memory]") {
  bench b;
  const std::int64_t bytes = b.gpu.facts().memory / 4;
  for (int k = 0; k < 8; ++k) (void)b.gpu.reserve({bytes, "test", "quarter"});
  CHECK(b.gpu.memory().in_use == 0);
  CHECK(b.gpu.memory().peak >= bytes);
  CHECK(b.gpu.memory().reserved < 2 * bytes);
}

TEST_CASE("memory that is not there is refused, and the device stays usable", "[cuda][memory]") {
  bench b;
  const std::string why = words_of<resource_exhausted_error>([&] {
    (void)b.gpu.reserve({b.gpu.facts().memory * 2, "variable", "w"});
  });
  CHECK(has(why, "[onto.memory] /device:GPU:0 has no memory left for "));
  CHECK(has(why, " of variable 'w'"));
  const std::vector<float> values = numbers<float>(1000);
  CHECK(b.download(b.upload(values), 1000) == values);
}

TEST_CASE("a device keeps to its limit, whatever others in the process take", "[cuda][memory]") {
  bench b({256 * MiB, true});
  CHECK_THROWS_AS((void)b.gpu.reserve({1024 * MiB, "test", "large"}), resource_exhausted_error);
  std::vector<ref<device_block>> blocks;
  const auto fill = [&] {
    blocks.clear();
    try {
      for (int k = 0; k < 100; ++k)  // with an end: clang++ runs this while it compiles the checks below
        blocks.push_back(b.gpu.reserve({32 * MiB, "test", "block"}));
    } catch (const resource_exhausted_error&) {
    }
    return blocks.size();
  };
  const std::size_t fit = fill();
  CHECK(fit >= 6);
  CHECK(fit <= 8);
  CHECK(b.gpu.memory().reserved <= 256 * MiB);
  // Memory of others is not the session's, and the session's does not grow because of it.
  void* foreign = nullptr;
  void* pooled = nullptr;
  REQUIRE(cudaMalloc(&foreign, 512 * MiB) == cudaSuccess);
  REQUIRE(cudaMallocAsync(&pooled, 512 * MiB, nullptr) == cudaSuccess);
  CHECK(fill() == fit);
  CHECK(b.gpu.memory().reserved <= 256 * MiB);
  CHECK(cudaFreeAsync(pooled, nullptr) == cudaSuccess);
  CHECK(cudaFree(foreign) == cudaSuccess);
  blocks.clear();
  CHECK(b.gpu.memory().in_use == 0);
  (void)b.gpu.reserve({64 * MiB, "test", "block"});
}

TEST_CASE("devices that share a GPU have limits of their own", "[cuda][memory]") {
  bench small({64 * MiB, true}), large({512 * MiB, true});
  CHECK_THROWS_AS((void)small.gpu.reserve({128 * MiB, "test", "block"}), resource_exhausted_error);
  const ref<device_block> block = large.gpu.reserve({256 * MiB, "test", "block"});
  CHECK(large.gpu.memory().reserved >= 256 * MiB);
  CHECK(small.gpu.memory().reserved <= 64 * MiB);
  CHECK_NOTHROW((void)small.gpu.reserve({16 * MiB, "test", "block"}));
}

TEST_CASE("memory grows, or is all taken when the device is first used", "[cuda][memory]") {
  bench grows({1024 * MiB, true}), whole({1024 * MiB, false});
  CHECK(whole.gpu.memory().reserved == 0);
  const float x = 1;
  (void)grows.upload(&x, 1);
  (void)whole.upload(&x, 1);
  CHECK(grows.gpu.memory().reserved > 0);
  CHECK(grows.gpu.memory().reserved <= 256 * MiB);
  CHECK(whole.gpu.memory().reserved >= (1024 - 32) * MiB);
  CHECK(whole.gpu.memory().reserved <= 1024 * MiB);
  // A limit that is no multiple of anything.
  bench odd({100 * 1000 * 1000 + 1, false});
  (void)odd.upload(&x, 1);
  CHECK(odd.gpu.memory().reserved >= 64 * MiB);
  CHECK(odd.gpu.memory().reserved <= 128 * MiB);
}

TEST_CASE("memory that cannot be held from the start is an error that says so", "[cuda][memory]") {
  bench b({std::int64_t{1} << 50, false});
  const std::string why = words_of<resource_exhausted_error>([&] { (void)b.gpu.reserve({4, "test", "block"}); });
  CHECK(has(why, "is to hold from the start"));
}

TEST_CASE("trimming gives back what is not in use", "[cuda][memory]") {
  bench b;
  (void)b.gpu.reserve({256 * MiB, "test", "block"});
  CHECK(b.gpu.memory().in_use == 0);
  CHECK(b.gpu.memory().reserved >= 256 * MiB);
  const std::int64_t before = free_memory();
  b.gpu.trim();
  CHECK(b.gpu.memory().reserved == 0);
  CHECK(free_memory() >= before + 192 * MiB);
  const std::vector<float> values = numbers<float>(1000);
  const float* p = b.upload(values);
  b.gpu.trim();
  CHECK(b.download(p, 1000) == values);
}

TEST_CASE("a device that is gone has given everything back", "[cuda][memory]") {
  const auto use = [] {
    bench b;
    const std::vector<unsigned char> values = bytes_of(20u << 20, 3);
    const unsigned char* p = b.upload(values);
    CHECK(b.download(p, values.size()) == values);
    void* data = nullptr;
    const ref<counted> space = b.gpu.workspace(32 * MiB, data);
    (void)b.gpu.reserve({512 * MiB, "test", "block"});
  };
  use();  // the driver's own part of a GPU stays
  const std::int64_t before = free_memory();
  for (int k = 0; k < 5; ++k) use();
  CHECK(free_memory() >= before - 32 * MiB);
}

TEST_CASE("kernels' workspace is one block, and an old one lives as long as its users", "[cuda][memory]") {
  bench b;
  void* first = nullptr;
  void* same = nullptr;
  void* larger = nullptr;
  ref<counted> a = b.gpu.workspace(MiB, first);
  const ref<counted> c = b.gpu.workspace(1000, same);
  CHECK(first != nullptr);
  CHECK(same == first);
  const ref<counted> d = b.gpu.workspace(8 * MiB, larger);
  CHECK(larger != first);
  CHECK(b.gpu.memory().workspace == 9 * MiB);
  CHECK(b.gpu.memory().in_use == 0);
  void* none = &b;
  CHECK_FALSE(b.gpu.workspace(0, none));
  CHECK(none == nullptr);
  // Both are still memory of the GPU.
  CHECK(cudaMemset(first, 0, MiB) == cudaSuccess);
  CHECK(cudaMemset(larger, 0, 8 * MiB) == cudaSuccess);
  bench limited({64 * MiB, true});
  void* much = nullptr;
  CHECK_THROWS_AS((void)limited.gpu.workspace(128 * MiB, much), resource_exhausted_error);
}

TEST_CASE("two devices on one GPU copy to each other and wait for each other", "[cuda][device]") {
  bench a, b;
  const std::vector<int> values(5000, 42);
  const int* from = a.upload(values);
  int* to = b.reserve<int>(5000);
  const ref<device_event> sent = a.gpu.make_event();
  a.gpu.copy_to(work{a.run, a.label}, b.gpu, to, from, 20000);
  a.gpu.record(a.run, stream_kind::out, *sent);
  b.gpu.wait(b.run, stream_kind::out, *sent);
  CHECK(b.download(to, 5000) == values);
  CHECK_FALSE(a.run.failed());
}

TEST_CASE("two GPUs copy to each other", "[cuda][device]") {
  if (find_cuda_devices().count < 2) {
    WARN("skipped: one GPU only");
    return;
  }
  bench a;
  cuda_device other(place{device_kind::gpu, 1}, 1);
  const std::vector<int> values(5000, 42);
  const int* from = a.upload(values);
  const ref<device_block> to = other.reserve({20000, "test", "copy"});
  const ref<device_event> sent = a.gpu.make_event(), back = other.make_event();
  a.gpu.copy_to(work{a.run, a.label}, other, to->data(), from, 20000);
  a.gpu.record(a.run, stream_kind::out, *sent);
  other.wait(a.run, stream_kind::out, *sent);
  std::vector<int> result(5000);
  const host_slot slot{result.data()};
  other.copy_out(work{a.run, a.label}, slot, to->data(), 20000);
  other.record(a.run, stream_kind::out, *back);
  back->wait();
  if (a.run.failed()) a.run.rethrow();
  CHECK(result == values);
}

TEST_CASE("copies to and from the GPU run under a kernel, and the trace shows it", "[cuda][trace]") {
  recorder trace;
  bench b;
  const std::vector<unsigned char> values = bytes_of(16u << 20, 9);
  const unsigned char* there = b.upload(values);
  auto* to = b.reserve<unsigned char>(values.size());
  std::vector<unsigned char> back(values.size());
  const work_label busy{"Spin_1", "Spin"}, comes{"CopyIn_1", "Copy", 16 * MiB}, goes{"CopyOut_1", "Copy", 16 * MiB};
  const host_slot from{const_cast<unsigned char*>(values.data())}, result{back.data()};
  const ref<device_event> computed = b.gpu.make_event(), in = b.gpu.make_event(), out = b.gpu.make_event();
  kernel_call call;
  call.inner = 500;
  const auto begun = trace.now();
  b.run.trace = &trace;
  b.gpu.launch(work{b.run, busy}, cuda_entry(&run_in_stream<&spin>), call);
  b.gpu.record(b.run, stream_kind::compute, *computed);
  b.gpu.copy_in(work{b.run, comes}, to, from, 16 * MiB);
  b.gpu.copy_out(work{b.run, goes}, result, there, 16 * MiB);
  CHECK(trace.now() - begun < 400000000);  // issuing waits for none of it
  b.gpu.record(b.run, stream_kind::in, *in);
  b.gpu.wait(b.run, stream_kind::out, *computed);
  b.gpu.record(b.run, stream_kind::out, *out);
  in->wait();
  out->wait();
  computed->wait();
  REQUIRE_FALSE(b.run.failed());
  CHECK(back == values);
  const trace_span* kernel = trace.find(busy);
  const trace_span* copy_in = trace.find(comes);
  const trace_span* copy_out = trace.find(goes);
  REQUIRE(kernel);
  REQUIRE(copy_in);
  REQUIRE(copy_out);
  CHECK(kernel->what == trace_span::kernel);
  CHECK(kernel->stream == stream_kind::compute);
  CHECK(kernel->end - kernel->begin > 490000000);
  CHECK(kernel->begin >= begun);
  CHECK(kernel->end <= trace.now());
  for (const trace_span* c : {copy_in, copy_out}) {
    CHECK(c->what == trace_span::copy);
    CHECK(c->end > c->begin);
    CHECK(c->begin < kernel->end);
    CHECK(c->end < kernel->end);
  }
  CHECK(copy_in->stream == stream_kind::in);
  CHECK(copy_out->stream == stream_kind::out);
  int waits = 0;
  for (const trace_span& s : trace.spans)
    if (s.what == trace_span::wait && s.stream == stream_kind::out && s.end - s.begin > 100000000) ++waits;
  CHECK(waits == 1);
}

TEST_CASE("what was recorded is done again with other data", "[cuda][graph]") {
  for (const std::int64_t count : {std::int64_t{10}, std::int64_t{16384}, std::int64_t{16385}, 3 * MiB + 5}) {
    bench b;
    doubling program(b.gpu, count);
    const ref<device_graph> graph = b.gpu.record_graph(&doubling::issue_it, &program);
    REQUIRE(graph);
    CHECK_FALSE(program.run.failed());
    CHECK(b.gpu.counters.kernels == 0);
    CHECK(b.gpu.counters.transfers == 0);
    const ref<device_event> done = b.gpu.make_event();
    for (int k = 0; k < 5; ++k) {
      std::vector<float> x(static_cast<std::size_t>(count)), y(x.size(), -1), expected(x.size());
      for (std::size_t e = 0; e < x.size(); ++e) {
        x[e] = static_cast<float>(number(e + static_cast<std::size_t>(k)));
        expected[e] = 2 * x[e];
      }
      program.from.data = x.data();
      program.to.data = y.data();
      run_state run;
      CHECK(graph->adapt());
      graph->perform(run);
      REQUIRE_FALSE(run.failed());
      CHECK(y == expected);
      // An edge of the graph: the end of that was waited for.
      program.out->wait();
      b.gpu.wait(run, stream_kind::in, *program.out);
      CHECK_FALSE(run.failed());
    }
    CHECK(b.gpu.counters.kernels == 5);
    CHECK(b.gpu.counters.transfers == 10);
    CHECK(b.gpu.counters.transfer_bytes == 5 * 8 * count);
    // The same program as it stands, between two replays.
    std::vector<float> x(static_cast<std::size_t>(count), 3), y(x.size());
    program.from.data = x.data();
    program.to.data = y.data();
    program.issue();
    b.gpu.record(program.run, stream_kind::out, *done);
    done->wait();
    REQUIRE_FALSE(program.run.failed());
    CHECK(y == std::vector<float>(x.size(), 6));
  }
}

TEST_CASE("a graph spans devices, and keeps its place among their kernels", "[cuda][graph]") {
  bench a;
  const int second = find_cuda_devices().count > 1 ? 1 : 0;
  cuda_device other(place{device_kind::gpu, 1}, second);
  doubling here(a.gpu, 50000), there(other, 50000);
  struct both {
    doubling* d[2];
    static void issue(void* self) {
      for (doubling* d : static_cast<both*>(self)->d) d->issue();
    }
  } programs{{&here, &there}};
  const ref<device_graph> graph = a.gpu.record_graph(&both::issue, &programs);
  REQUIRE(graph);
  const ref<device_event> kernels = other.make_event();
  std::vector<float> x(50000, 1.5f), y(50000), z(50000);
  here.from.data = there.from.data = x.data();
  here.to.data = y.data();
  there.to.data = z.data();
  run_state run;
  kernel_call call;
  call.inner = 100;
  other.launch(work{run, here.label}, cuda_entry(&run_in_stream<&spin>), call);  // the graph comes after it
  graph->perform(run);
  other.launch(work{run, here.label}, there.kernel, there.call);  // and this after the graph: 4 times the data
  other.record(run, stream_kind::compute, *kernels);
  other.wait(run, stream_kind::out, *kernels);
  std::vector<float> last(50000);
  const host_slot slot{last.data()};
  other.copy_out(work{run, here.label}, slot, there.block->data(), 200000);
  other.record(run, stream_kind::out, *kernels);
  kernels->wait();
  REQUIRE_FALSE(run.failed());
  CHECK(y == std::vector<float>(50000, 3));
  CHECK(z == std::vector<float>(50000, 3));
  CHECK(last == std::vector<float>(50000, 6));
  CHECK(other.counters.kernels == 3);
}

TEST_CASE("what cannot be recorded gives no graph, and does no harm", "[cuda][graph]") {
  bench b;
  doubling program(b.gpu, 1000);
  program.kernel = {};
  CHECK_FALSE(b.gpu.record_graph(&doubling::issue_it, &program));
  CHECK_FALSE(program.run.failed());
  program.kernel = cuda_entry(&run_in_stream<&wait_for_stream>);
  CHECK_FALSE(b.gpu.record_graph(&doubling::issue_it, &program));
  CHECK_FALSE(program.run.failed());
  CHECK_THROWS_AS((void)b.gpu.record_graph([](void*) { throw not_found_error("for the test"); }, nullptr),
                  not_found_error);
  program.kernel = cuda_entry(&run_in_stream<&twice>);
  std::vector<float> x(1000, 4), y(1000);
  program.from.data = x.data();
  program.to.data = y.data();
  program.issue();
  b.settle(stream_kind::out);
  REQUIRE_FALSE(program.run.failed());
  CHECK(y == std::vector<float>(1000, 8));
  CHECK(b.gpu.record_graph(&doubling::issue_it, &program));
}

TEST_CASE("a launch of a graph fails like a kernel", "[cuda][graph]") {
  bench b;
  doubling program(b.gpu, 1000);
  const ref<device_graph> graph = b.gpu.record_graph(&doubling::issue_it, &program);
  REQUIRE(graph);
  int calls = 0;
  b.gpu.fault.context = &calls;
  b.gpu.fault.before = [](void* context, const char* what) {
    if (std::string(what) == "kernel" && ++*static_cast<int*>(context) == 1) throw internal_error("for the test");
  };
  run_state failing, next;
  graph->perform(failing);
  CHECK(calls == 1);
  CHECK(has(what_of(failing), "for the test; in graph"));
  CHECK(b.gpu.counters.kernels == 0);
  std::vector<float> x(1000, 4), y(1000);
  program.from.data = x.data();
  program.to.data = y.data();
  graph->perform(next);
  CHECK_FALSE(next.failed());
  CHECK(y == std::vector<float>(1000, 8));
}

TEST_CASE("a failure is kept with its name, and what follows in its run is not issued", "[cuda][device]") {
  bench b;
  b.gpu.fault.before = [](void*, const char* what) {
    if (std::string(what) == "copy") throw internal_error("for the test");
  };
  float x = 1;
  const host_slot slot{&x};
  const work w{b.run, b.label};
  float* p = b.reserve<float>(1);
  b.gpu.copy_in(w, p, slot, 4);
  CHECK(b.run.failed());
  b.gpu.fault.before = nullptr;
  b.gpu.copy_in(w, p, slot, 4);
  CHECK(b.gpu.counters.transfers == 0);
  CHECK_THROWS_AS(b.run.rethrow(), internal_error);
  CHECK(has(what_of(b.run), "for the test; in Test_1 (Test) on /device:GPU:0"));
  run_state next;
  b.gpu.copy_in(work{next, b.label}, p, slot, 4);
  CHECK_FALSE(next.failed());
  b.gpu.synchronize();
}

TEST_CASE("an allocation that fails leaves nothing behind", "[cuda][memory]") {
  bench b;
  b.gpu.fault.before = [](void*, const char* what) {
    if (std::string(what) == "allocate") throw resource_exhausted_error("for the test");
  };
  CHECK_THROWS_AS((void)b.gpu.reserve({1000, "test", "block"}), resource_exhausted_error);
  void* data = nullptr;
  CHECK_THROWS_AS((void)b.gpu.workspace(1000, data), resource_exhausted_error);
  b.gpu.fault.before = nullptr;
  CHECK(b.gpu.memory().in_use == 0);
  CHECK_NOTHROW((void)b.gpu.reserve({1000, "test", "block"}));
}

TEST_CASE("a device that a hook takes away says so, and others go on", "[cuda][device]") {
  bench lost, other;
  const float x = 1;
  float* p = lost.upload(&x, 1);
  lost.gpu.fault.before = [](void*, const char*) { throw device_lost{"for the test"}; };
  const host_slot slot{const_cast<float*>(&x)};
  run_state run;
  lost.gpu.copy_in(work{run, lost.label}, p, slot, 4);
  lost.gpu.fault.before = nullptr;
  CHECK(has(what_of(run), "[onto.device] /device:GPU:0 was lost (for the test)"));
  CHECK(std::string(lost.gpu.lost()) == "for the test");
  run_state next;
  lost.gpu.copy_in(work{next, lost.label}, p, slot, 4);
  CHECK(next.failed());
  CHECK_THROWS_AS((void)lost.gpu.reserve({4, "test", "block"}), internal_error);
  CHECK_FALSE(lost.gpu.record_graph([](void*) {}, nullptr));
  CHECK(other.download(other.upload(&x, 1), 1) == std::vector<float>{1});
}

// In a process of its own: no other test could use the GPU after it.
TEST_CASE("a kernel that takes the GPU with it", "[.][cuda_lost]") {
  bench b;
  const ref<device_event> event = b.gpu.make_event();
  b.gpu.launch(work{b.run, b.label}, cuda_entry(&run_in_stream<&trap>), {});
  b.gpu.record(b.run, stream_kind::compute, *event);
  const std::string why = words_of<internal_error>([&] {
    event->wait();
    b.run.rethrow();  // where it was found out before
  });
  CHECK(has(why, "[onto.cuda] "));
  CHECK(has(why, " failed: cudaError"));
  CHECK(has(why, "the device is lost to this process"));
  REQUIRE(b.gpu.lost() != nullptr);
  run_state next;
  b.gpu.launch(work{next, b.label}, cuda_entry(&run_in_stream<&spin>), {});
  CHECK(next.failed());
  CHECK(has(what_of(next), "[onto.device] /device:GPU:0 was lost (cudaError"));
  CHECK_THROWS_AS((void)b.gpu.reserve({4, "test", "block"}), internal_error);
}

TEST_CASE("a GPU that is lost in mid-run is an error, not a crash", "[cuda][device]") {
  CHECK(std::system("\"$(readlink /proc/$PPID/exe)\" '[cuda_lost]' > /dev/null") == 0);
}
