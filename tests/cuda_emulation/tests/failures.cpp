// SPDX-License-Identifier: BSL-1.0
// A call of the CUDA runtime that fails is told of: each call of a kind of work fails once, and the work ends with an
// error, leaves nothing behind and leaves no error for others to find.
#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/matmul.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

namespace failures_test {

__global__ void twice_kernel(float* values, int count) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < count) device_store(values + k, 2 * device_load(values + k));
}

}  // namespace failures_test

namespace {

// Floats: they go by way of pinned memory, in more pieces than there are chunks of it.
constexpr std::size_t large = 280000;
constexpr int doubled = 1000;

void twice(gpu_context& context, const kernel_call& call) {
  launch(context.stream, "doubling", &failures_test::twice_kernel, {grid_blocks(divide_up(doubled, 256))},
         static_cast<float*>(call.out.data), doubled);
}

class spans_dropped final : public trace_sink {
 public:
  void add(const trace_span&) noexcept override {}
  std::int64_t now() const noexcept override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

/// Work that failed half way is over before its memory goes.
struct finished {
  cuda_device& gpu;
  ~finished() { wait(); }
  void wait() const {
    for (const stream_kind l : {stream_kind::in, stream_kind::compute, stream_kind::out}) gpu.finish(l);
  }
};

/// Calls whose failure nobody needs to hear of, and why.
const std::set<std::string> may_fail = {
    "cudaStreamDestroy",        "cudaEventDestroy",    "cudaFreeAsync",        "cudaFreeHost",
    "cudaMemPoolDestroy",       "cudaGraphDestroy",    "cudaGraphExecDestroy",  // nobody is left to tell
    "cudaPointerGetAttributes",                                                 // the memory is taken for pageable
    "cudaEventQuery",           "cudaEventElapsedTime"};                        // of a trace that lacks a span

/// *Returns* whether it was told of a failure.
template <class Work>
bool is_told(const Work& work) {
  cuda_emulation::set_seed(1);
  try {
    return work();
  } catch (const error&) {
    return true;
  }
}

/// Each call of `work` fails once. `silent`: instead of those above, from which on calls of this work may fail.
template <class Work>
void check_each_call(cudaError_t status, const Work& work, const std::map<std::string, long>& silent = {}) {
  (void)is_told(work);  // what is set up once in a process is there
  cuda_emulation::drain();
  const auto before = cuda_emulation::live_objects();
  cuda_emulation::reset_calls();
  REQUIRE_FALSE(is_told(work));
  const std::map<std::string, long> calls = cuda_emulation::calls();
  CHECK(calls.size() > 10);
  for (const auto& [name, count] : calls) {
    if (name.rfind("cuCtx", 0) == 0 || name == "cublasLtDestroy") continue;  // not of the runtime
    const auto from = silent.find(name);
    for (long n = 1; n <= count; ++n) {
      const bool may = from != silent.end() ? n >= from->second : may_fail.count(name) > 0;
      INFO(name << ", call " << n << " of " << count << ", status " << static_cast<int>(status));
      cuda_emulation::fail_call(name, n, status);
      const bool told = is_told(work);
      CHECK(cuda_emulation::clear_faults() == 1);
      CHECK((told || may));
      CHECK(cudaGetLastError() == cudaSuccess);
      cuda_emulation::drain();
      CHECK(cuda_emulation::live_objects() == before);
    }
  }
  CHECK(cuda_emulation::take_violations().empty());
}

std::vector<float> expected() {
  std::vector<float> v(large, 1.5f);
  std::fill(v.begin(), v.begin() + doubled, 3.f);
  return v;
}

constexpr cudaError_t statuses[] = {cudaErrorInvalidValue, cudaErrorMemoryAllocation};

/// Copies to, on, between and from GPUs that were not used before, and kernels.
bool run_once(trace_sink* trace) {
  std::vector<float> values(large, 1.5f), back(large), few(100);
  cuda_device second(place{device_kind::gpu, 1}, 1);
  ref<device_block> there;
  bench b;
  const host_slot all{back.data()}, some{few.data()};
  const finished after{b.gpu}, after_second{second};
  b.run.trace = trace;
  kernel_call call;
  call.out.data = b.upload(values);
  b.order(stream_kind::in, stream_kind::compute);
  b.launch(&twice, call);
  // A copy of one run on the GPU, of what it does not change.
  const operand_view last = view_of(static_cast<float*>(call.out.data) + large - 100, element::float32, {1});
  kernel_call copy;
  copy.space = shape_of({100});
  copy.inputs = 1;
  copy.in = &last;
  copy.out = last;
  copy.out.data = static_cast<float*>(call.out.data) + large - 200;
  b.launch(&cuda_copy, copy);
  b.order(stream_kind::compute, stream_kind::in);  // what is copied next comes after the kernels
  (void)b.upload(few);
  there = second.reserve({large * 4, "test", "there"});
  const ref<device_event> sent = b.gpu.make_event(), read = second.make_event();
  const work w{b.run, b.label};
  b.order(stream_kind::compute, stream_kind::out);
  b.gpu.copy_to(w, second, there->data(), call.out.data, large * 4);
  b.gpu.record(b.run, stream_kind::out, *sent);
  second.wait(b.run, stream_kind::out, *sent);
  second.copy_out(w, all, there->data(), large * 4);
  second.copy_out(w, some, there->data(), 400);
  second.record(b.run, stream_kind::out, *read);
  read->wait();
  if (b.run.failed()) return true;
  CHECK((back == expected() && few == std::vector<float>(100, 3)));
  return false;
}

/// Where the streams are waited for once more when all is over: two allocations are before that.
const std::map<std::string, long> finishing = {{"cudaStreamSynchronize", 3}};

}  // namespace

// First, since the driver is asked once in a process.
TEST_CASE("a driver without a function that is needed says which", "[failures]") {
  for (long n = 1; n <= 4; ++n) {
    cuda_emulation::fail_call("cudaGetDriverEntryPointByVersion", n, cudaErrorNotSupported);
    std::string why;
    try {
      (void)bench().reserve<float>(1);
    } catch (const error& e) {
      why = e.what();
    }
    CHECK(cuda_emulation::clear_faults() == 1);
    CHECK(why.rfind("[onto.cuda] cu", 0) == 0);
  }
  CHECK_NOTHROW((void)bench().reserve<float>(1));
}

TEST_CASE("a driver that does not say how much shared memory there is has what needs no asking", "[failures]") {
  cuda_emulation::fail_call("cudaDeviceGetAttribute", 2, cudaErrorNotSupported);  // of the second GPU
  CHECK(most_shared_bytes() == usual_shared_bytes);
  CHECK(cuda_emulation::clear_faults() == 1);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a GPU that cannot be made current is told of", "[failures]") {
  for (const char* call : {"cuCtxGetCurrent", "cuCtxPushCurrent"}) {
    bench b;
    float* const there = b.reserve<float>(1);
    float one = 1;
    const host_slot slot{&one};
    cuda_emulation::fail_call(call, 1, cudaErrorInvalidValue);
    b.gpu.copy_in(work{b.run, b.label}, there, slot, 4);
    CHECK(cuda_emulation::clear_faults() == 1);
    CHECK(b.run.failed());
  }
}

TEST_CASE("each call that fails in a run is told of", "[failures]") {
  check_each_call(
      cudaErrorInvalidValue, [] { return run_once(nullptr); }, finishing);
}

TEST_CASE("each call that fails in a traced run is told of", "[failures]") {
  spans_dropped trace;
  check_each_call(
      cudaErrorInvalidValue, [&] { return run_once(&trace); }, finishing);
}

TEST_CASE("each call that fails where memory is held, trimmed and waited for is told of", "[failures]") {
  for (const cudaError_t status : statuses)
    check_each_call(
        status,
        [] {
          constexpr std::int64_t MiB = std::int64_t{1} << 20;
          bench b({64 * MiB, false});
          (void)b.gpu.reserve({MiB, "test", "block"});
          b.gpu.trim();
          b.gpu.synchronize();
          return false;
        },
        // Where there is no memory it is tried again, with less or after some was given back.
        status == cudaErrorMemoryAllocation
            ? std::map<std::string, long>{{"cudaMallocFromPoolAsync", 1}, {"cudaStreamSynchronize", 1}}
            : std::map<std::string, long>{{"cudaStreamSynchronize", 5}, {"cudaFreeAsync", 2}});
}

TEST_CASE("a recording of which a call fails is none, or its replay fails", "[failures]") {
  struct program {
    bench b;
    cuda_device second{place{device_kind::gpu, 1}, 1};
    float* here = b.reserve<float>(large);
    ref<device_block> there = second.reserve({large * 4, "test", "there"});
    std::vector<float> from = std::vector<float>(large, 1.5f), to = std::vector<float>(large),
                       few = std::vector<float>(100);
    host_slot in{from.data()}, out{to.data()}, some{few.data()};
    kernel_call call;
    finished after{b.gpu}, after_second{second};
    static void issue(void* self) { static_cast<program*>(self)->issue(); }
    void issue() {
      const work w{b.run, b.label};
      const ref<device_event> sent = b.gpu.make_event();
      b.gpu.copy_in(w, here, in, large * 4);
      b.order(stream_kind::in, stream_kind::compute);
      b.gpu.launch(w, cuda_entry(&run_in_stream<&twice>), call);
      b.order(stream_kind::compute, stream_kind::out);
      b.gpu.copy_to(w, second, there->data(), here, large * 4);
      b.gpu.record(b.run, stream_kind::out, *sent);
      second.wait(b.run, stream_kind::out, *sent);
      second.copy_out(w, out, there->data(), large * 4);
      second.copy_out(w, some, there->data(), 400);
    }
  };
  check_each_call(cudaErrorInvalidValue,
                  [] {
                    program p;
                    p.call.out.data = p.here;
                    const ref<device_graph> graph = p.b.gpu.record_graph(&program::issue, &p);
                    if (!graph || !graph->adapt()) return true;
                    run_state run;
                    graph->perform(run);
                    if (run.failed()) {
                      p.after.wait();  // nothing else says when the graph is done
                      return true;
                    }
                    CHECK((p.to == expected() && p.few == std::vector<float>(100, 3)));
                    return false;
                  },
                  {{"cudaStreamSynchronize", 3}, {"cudaEventSynchronize", 2}});  // once more where the graph goes
}

TEST_CASE("each call that fails in a product is told of", "[failures]") {
  const auto multiply = [] {
    bench b;
    const std::vector<float> x(4 * 6 * 8, 0.5f);
    const extents space = shape_of({4, 6, 8});
    operand_view in[3];
    in[0] = contiguous_view(b.upload(x), element::float32, shape_of({4, 6, 5}));
    in[1] = contiguous_view(b.upload(x), element::float32, shape_of({4, 5, 8}));
    in[2] = view_of(b.upload(x), element::float32, {0, 0, 1});
    kernel_call call;
    call.space = space;
    call.inner = 5;
    call.inputs = 3;
    call.in = in;
    call.form = matmul_form{1, 1, true};
    float* const out = b.reserve<float>(x.size());
    call.out.data = out;
    b.order(stream_kind::in, stream_kind::compute);
    b.launch(&cuda_matmul<float>, call, &cuda_matmul_workspace<float>);
    const std::vector<float> product = b.download(out, x.size());
    CHECK(product == std::vector<float>(x.size(), 5 * 0.25f + 0.5f));
    call.inner = 0;
    call.form = {};
    b.launch(&cuda_matmul<float>, call);
    const std::vector<float> zeros_out = b.download(out, x.size());
    CHECK(zeros_out == std::vector<float>(x.size()));
    return b.run.failed();
  };
  check_each_call(cudaErrorInvalidValue, multiply, {{"cudaStreamSynchronize", 6}});  // after five allocations
}
