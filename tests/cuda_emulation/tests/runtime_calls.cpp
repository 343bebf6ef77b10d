// SPDX-License-Identifier: BSL-1.0
// What a run asks of the CUDA runtime: the calls of each kind of run, exactly. A call costs up to some microseconds on
// a GPU, and a replay of a tiny program is little else. Contexts, which are what is current on a thread, are left out
// of the lists: those calls touch the thread alone, and are counted apart.
#include <onto/onto.hpp>

#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "control.hpp"

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", float, dyn>;
inline constexpr auto tiny = placeholder<"tiny", float, 8>;

/// Calls while `work` is done, as `cudaEventRecord 2, cudaGraphLaunch 1`.
template <class Work>
std::string calls_of(const Work& work) {
  cuda_emulation::reset_calls();
  work();
  std::string text;
  for (const auto& [name, count] : cuda_emulation::calls()) {
    if (name.rfind("cuCtx", 0) == 0 || name == "cudaGetDriverEntryPointByVersion") continue;
    text += (text.empty() ? "" : ", ") + name.substr(name.rfind("cuda", 0) == 0 ? 4 : 0) + " " + std::to_string(count);
  }
  return text;
}

const tensor<float, 8> given{1, 2, 3, 4, 5, 6, 7, 8}, twice{2, 4, 6, 8, 10, 12, 14, 16};

}  // namespace

TEST_CASE("a session asks what there is, once for each GPU", "[calls]") {
  const std::string gpus = std::to_string(cuda_emulation::current_machine().devices);
  CHECK(calls_of([] { session sess{{.log = nullptr}}; }) == "DeviceGetAttribute " + gpus + ", DeviceGetPCIBusId " +
                                                                gpus + ", GetDeviceCount 1, GetDeviceProperties " +
                                                                gpus);
}

// The first runs of a session, while it sets up what is kept, ask for more: see "large data" below.
TEST_CASE("calls of a plain run", "[calls]") {
  session sess{{.log = nullptr}};
  const auto run = [&] { CHECK(sess.run(on<gpu<0>>(tiny * 2.0f), tiny = given) == twice); };
  for (int k = 0; k < 4; ++k) run();  // until there is pinned memory for all pieces
  CHECK(calls_of(run) ==
        "EventCreateWithFlags 1, EventDestroy 1, EventRecord 8, EventSynchronize 3, FreeAsync 1, LaunchHostFunc 1, "
        "LaunchKernelExC 1, MallocFromPoolAsync 1, MemcpyAsync 2, PointerGetAttributes 1, StreamSynchronize 1, "
        "StreamWaitEvent 5");
}

TEST_CASE("a replay of a tiny program is one launch and one wait", "[calls]") {
  session sess{{.log = nullptr}};
  const auto step = sess.prepare(on<gpu<0>>(tiny * 2.0f));
  const auto run = [&] { CHECK(step(tiny = given) == twice); };
  CHECK(calls_of(run) ==
        "EventCreateWithFlags 8, EventDestroy 1, EventRecord 8, EventSynchronize 3, HostAlloc 1, LaunchHostFunc 1, "
        "LaunchKernelExC 1, MemcpyAsync 2, PointerGetAttributes 1, StreamCreateWithFlags 1, StreamWaitEvent 4");
  CHECK(calls_of(run) ==
        "EventCreateWithFlags 5, EventDestroy 3, EventRecord 6, EventSynchronize 1, GraphDestroy 1, "
        "GraphInstantiate 1, GraphLaunch 1, HostAlloc 1, LaunchKernelExC 1, MemcpyAsync 2, StreamBeginCapture 1, "
        "StreamCreateWithFlags 3, StreamDestroy 3, StreamEndCapture 1, StreamWaitEvent 6");
  for (int k = 0; k < 3; ++k) CHECK(calls_of(run) == "EventRecord 1, EventSynchronize 1, GraphLaunch 1");
  std::map<std::string, long> all = cuda_emulation::calls();
  CHECK(all["cuCtxGetCurrent"] == 1);
  CHECK(all["cuCtxPushCurrent"] == 1);
  CHECK(all["cuCtxPopCurrent"] == 1);
  // Where the GPU is current already there is nothing to change.
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  CHECK(calls_of(run) == "EventRecord 1, EventSynchronize 1, GraphLaunch 1");
  all = cuda_emulation::calls();
  CHECK(all["cuCtxGetCurrent"] == 1);
  CHECK(all["cuCtxPushCurrent"] == 0);
}

TEST_CASE("a replay of large data asks beside that where the data is", "[calls]") {
  session sess{{.log = nullptr}};
  const auto step = sess.prepare(on<gpu<0>>(x * 2.0f));
  const std::vector<float> ones(75000, 1.0f);
  const auto run = [&] { CHECK(step(x = ones)(74999) == 2.0f); };
  CHECK(calls_of(run) ==
        "cuDevicePrimaryCtxRetain 1, EventCreateWithFlags 15, EventDestroy 2, EventRecord 15, EventSynchronize 3, "
        "HostAlloc 4, LaunchHostFunc 4, LaunchKernelExC 1, MallocFromPoolAsync 1, MemPoolCreate 1, "
        "MemPoolSetAttribute 1, MemcpyAsync 4, PointerGetAttributes 2, StreamCreateWithFlags 6, StreamSynchronize 1, "
        "StreamWaitEvent 8");
  CHECK(calls_of(run) ==
        "EventCreateWithFlags 16, EventDestroy 6, EventRecord 17, EventSynchronize 1, GraphDestroy 1, "
        "GraphInstantiate 1, GraphLaunch 1, HostAlloc 4, LaunchHostFunc 4, LaunchKernelExC 1, MemcpyAsync 4, "
        "PointerGetAttributes 2, StreamBeginCapture 1, StreamCreateWithFlags 5, StreamDestroy 5, StreamEndCapture 1, "
        "StreamWaitEvent 15");
  CHECK(calls_of(run) == "EventRecord 1, EventSynchronize 1, GraphLaunch 1, PointerGetAttributes 2");
}

TEST_CASE("a replay over two GPUs puts their streams in order", "[calls]") {
  session sess{{.log = nullptr}};
  const auto step = sess.prepare(on<gpu<0>>(on<gpu<1>>(tiny * 2.0f) * 1.0f));
  const auto run = [&] { CHECK(step(tiny = given) == twice); };
  run();
  run();
  CHECK(calls_of(run) == "EventQuery 1, EventRecord 2, EventSynchronize 1, GraphLaunch 1, StreamWaitEvent 2");
}
