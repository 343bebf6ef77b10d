// SPDX-License-Identifier: BSL-1.0
// The functions of the CUDA runtime that the library and its tests call, as calls of the emulator.
#include <cuda_runtime.h>

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "objects.hpp"

namespace cuda_emulation {
namespace {

struct fault {
  std::string name;
  long left;
  cudaError_t status;
  bool for_good;
};

struct runtime_state {
  machine now;
  std::uint64_t seed = 1;
  std::mt19937_64 random{1};
  std::vector<std::string> violations;
  std::map<std::string, long> calls;
  long made = 0;
  std::vector<fault> faults;
  long failed = 0;
  long calls_to_loss = 0;  // of the device `to_lose`
  int to_lose = 0;
  cudaError_t loss = cudaSuccess;
  std::map<int, cudaStream_t> default_streams;
  std::map<int, CUmemPoolHandle_st> default_pools;
  std::map<const void*, int> shared_limits;  // of kernels that asked for more than 48 KiB

  runtime_state() {
    if (const char* n = std::getenv("ONTO_EMULATED_GPUS")) now.devices = std::atoi(n);
    // As the driver reads it: devices from the first that there is not are hidden.
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
      int count = 0;
      for (const char* at = visible; *at >= '0' && *at <= '9' && std::atoi(at) < now.devices; ++at) {
        ++count;
        at += std::strcspn(at, ",");
        if (!*at) break;
      }
      now.devices = count;
    }
    if (const char* s = std::getenv("ONTO_EMULATION_SEED")) seed = std::strtoull(s, nullptr, 10);
    random.seed(seed);
  }
};

runtime_state& state() {
  static runtime_state& s = *new runtime_state;
  return s;
}

thread_local cudaError_t last_error = cudaSuccess;

/// The status that a test wants this call to return.
cudaError_t injected(const char* name) {
  runtime_state& s = state();
  for (std::size_t k = 0; k < s.faults.size(); ++k) {
    fault& f = s.faults[k];
    if (!f.name.empty() && f.name != name) continue;
    if (f.left > 1) {
      --f.left;
      continue;
    }
    const cudaError_t status = f.status;
    ++s.failed;
    if (!f.for_good) s.faults.erase(s.faults.begin() + static_cast<std::ptrdiff_t>(k));
    return status;
  }
  return cudaSuccess;
}

cudaError_t count_call(const char* name) {
  runtime_state& s = state();
  ++s.calls[name];
  ++s.made;
  if (s.calls_to_loss > 0 && --s.calls_to_loss == 0) device_at(s.to_lose).lost = s.loss;
  return injected(name);
}

bool can_reach(int device, int peer) {
  const machine& m = state().now;
  const auto found = std::find(m.apart.begin(), m.apart.end(), std::pair(device, peer));
  return device != peer && m.peer_access && found == m.apart.end();
}

/// The stream that a handle means: null is the default one of the current device.
cudaStream_t stream_of(cudaStream_t stream) {
  if (stream) return stream;
  cudaStream_t& s = state().default_streams[current_device()];
  if (!s) {
    make_stream(&s, current_device());
    note_object("streams", -1);  // nobody destroys it
  }
  return s;
}

/// What is wrong with a stream's handle, or with its device.
cudaError_t check_stream(const char* name, cudaStream_t stream) {
  if (is_stream(stream)) return device_at(stream->device).lost;
  violation(std::string(name) + " got a stream that is none, or none any more");
  return cudaErrorInvalidResourceHandle;
}

std::string name_of_kernel(const void* kernel) {
  Dl_info found{};
  if (!dladdr(kernel, &found) || !found.dli_sname) return "a kernel";
  int status = 0;
  char* text = abi::__cxa_demangle(found.dli_sname, nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : found.dli_sname;
  std::free(text);
  const std::size_t begin = name.find("onto::detail::");
  const std::size_t end = name.find_first_of("<(", begin == std::string::npos ? 0 : begin);
  if (begin != std::string::npos)
    name = name.substr(begin + 14, end - begin - 14);
  else
    name = name.substr(0, end);
  return name;
}

/// One end of a copy: where it is now, or null after a violation.
struct copy_end {
  const void* at;
  bool device, pinned;
  copy_end(const void* p, std::size_t bytes)
      : at(p), device(is_device_address(p)), pinned(!device && is_pinned_range(p, bytes)) {}
  void* bytes(std::size_t n, const char* what) const {
    if (device) return device_bytes(at, n, what);
    if (pinned && !is_pinned_range(at, n)) {
      violation(std::string(what) + " of pinned memory that was freed before it was done");
      return nullptr;
    }
    return const_cast<void*>(at);
  }
};

piece copy_piece(const copy_end& source, const copy_end& target, std::size_t bytes,
                 const std::shared_ptr<std::vector<char>>& taken) {
  return {"copy", 0,
          [=](std::int64_t& nanoseconds) {
            const void* in = taken ? taken->data() : source.bytes(bytes, "a copy");
            void* out = target.bytes(bytes, "a copy");
            if (!in || !out) return cudaErrorIllegalAddress;
            std::memmove(out, in, bytes);
            nanoseconds += 2000 + static_cast<std::int64_t>(bytes / 20);
            return cudaSuccess;
          },
          false};
}

cudaError_t copy(api_call& call, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const copy_end source(from, bytes), target(to, bytes);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && (to_device != target.device || from_device != source.device)) {
    violation("a copy says another direction than its pointers do");
    return cudaErrorInvalidValue;
  }
  std::shared_ptr<std::vector<char>> taken;
  const bool pageable_source = !source.device && !source.pinned;
  const bool pageable_target = !target.device && !target.pinned;
  const bool captured = is_capturing(stream);
  if (pageable_source && !captured && bytes <= std::size_t{64} << 10)
    taken = std::make_shared<std::vector<char>>(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
  const cudaError_t status = issue(stream, copy_piece(source, target, bytes, taken));
  if (status != cudaSuccess || captured) return status;
  // Copies between pageable memory and a device end before the call does; but for little, whose data goes along.
  if ((pageable_source && !taken) || pageable_target) {
    finish(call.lock, stream);
    return device_at(stream->device).lost;
  }
  return cudaSuccess;
}

}  // namespace

std::mutex& lock_of_everything() {
  static std::mutex& m = *new std::mutex;
  return m;
}
std::mt19937_64& random_numbers() { return state().random; }
std::size_t any_below(std::size_t n) { return static_cast<std::size_t>(state().random() % n); }
const machine& current_machine() { return state().now; }
std::uint64_t seed() { return state().seed; }

void set_machine(const machine& m) {
  drain();
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  state().now = m;
  for (int d = 0; d < m.devices; ++d) device_at(d).lost = cudaSuccess, device_at(d).touched = false;
}

void set_seed(std::uint64_t seed) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  state().seed = seed;
  state().random.seed(seed);
}

// Not under the lock, which whoever finds something wrong may hold.
static std::mutex& violations_lock() {
  static std::mutex& m = *new std::mutex;
  return m;
}
void violation(const std::string& sentence) {
  const std::lock_guard<std::mutex> lock(violations_lock());
  std::fprintf(stderr, "emulated CUDA (seed %llu): %s\n", static_cast<unsigned long long>(seed()), sentence.c_str());
  state().violations.push_back(sentence);
}
std::vector<std::string> take_violations() {
  const std::lock_guard<std::mutex> lock(violations_lock());
  return std::exchange(state().violations, {});
}

void fail_call(std::string_view name, long nth, cudaError_t status, bool for_good) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  state().faults.push_back({std::string(name), nth, status, for_good});
}
long clear_faults() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  state().faults.clear();
  return std::exchange(state().failed, 0);
}
std::map<std::string, long> calls() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return state().calls;
}
long calls_made() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return state().made;
}
void reset_calls() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  state().calls.clear();
  state().made = 0;
}

void lose_device(int ordinal, cudaError_t status, long after_calls) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  state().to_lose = ordinal;
  state().loss = status;
  state().calls_to_loss = after_calls;
  if (after_calls == 0) device_at(ordinal).lost = status;
}
void revive_device(int ordinal) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  device_at(ordinal).lost = cudaSuccess;
  if (state().to_lose == ordinal) state().calls_to_loss = 0;
}

api_call::api_call(const char* name, kind k) {
  if (in_host_function()) {
    // The lock is free then, but the call is not allowed.
    violation(std::string(name) + " was called from a host function");
    status = cudaErrorNotPermitted;
    return;
  }
  lock = std::unique_lock<std::mutex>(lock_of_everything());
  status = count_call(name);
  if (k == asks || (status != cudaSuccess && k != destroys)) return;
  if (!has_device(current_device())) {
    status = state().now.devices == 0 ? cudaErrorNoDevice : cudaErrorInvalidDevice;
    return;
  }
  device_at(current_device()).touched = true;
  choose_device(current_device());
  go_on_at_random(lock);
  if (status == cudaSuccess) status = device_at(current_device()).lost;
}

cudaError_t api_call::give(cudaError_t result) {
  if (result != cudaSuccess) last_error = result;
  return result;
}

cudaError_t begin_call(const char* name) {
  api_call call(name);
  return call.give(call.status);
}

cudaError_t launch_kernel(const cudaLaunchConfig_t& c, const void* kernel, std::size_t parameter_bytes,
                          std::function<void()> thread) {
  api_call call("cudaLaunchKernelExC");
  if (call.status != cudaSuccess) return call.give(call.status);
  const cudaStream_t stream = stream_of(c.stream);
  if (const cudaError_t wrong = check_stream("a launch", stream)) return call.give(wrong);
  if (stream->device != current_device()) {
    violation("a kernel was launched into a stream of a device that is not current");
    return call.give(cudaErrorInvalidResourceHandle);
  }
  const auto threads = std::uint64_t{c.blockDim.x} * c.blockDim.y * c.blockDim.z;
  const auto limit = state().shared_limits.find(kernel);
  const std::size_t most_shared =
      limit == state().shared_limits.end() ? std::size_t{48} << 10 : static_cast<std::size_t>(limit->second);
  if (c.gridDim.x == 0 || c.gridDim.y == 0 || c.gridDim.z == 0 || c.gridDim.x > 0x7fffffff || c.gridDim.y > 65535 ||
      c.gridDim.z > 65535 || threads == 0 || threads > 1024 || c.dynamicSmemBytes > most_shared ||
      parameter_bytes > 32764)
    return call.give(cudaErrorInvalidConfiguration);
  kernel_launch k{name_of_kernel(kernel), stream->device, c.gridDim, c.blockDim, c.dynamicSmemBytes, std::move(thread)};
  return call.give(
      issue(stream, {"kernel", 0, [k](std::int64_t& nanoseconds) { return run_grid(k, nanoseconds); }, false}));
}

}  // namespace cuda_emulation

using namespace cuda_emulation;

#define ONTO_BEGIN(...)                \
  api_call call(__func__ __VA_ARGS__); \
  if (call.status != cudaSuccess) return call.give(call.status)
// What destroys does so on a lost device too, and where it is told to fail.
#define ONTO_BEGIN_DESTROY()                   \
  api_call call(__func__, api_call::destroys); \
  if (!call.lock) return call.give(call.status)
#define ONTO_STREAM(handle)                      \
  const cudaStream_t stream = stream_of(handle); \
  if (const cudaError_t wrong = check_stream(__func__, stream)) return call.give(wrong)

extern "C" {

// ---- errors and devices -----------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t CUDARTAPI cudaPeekAtLastError() { return last_error; }

const char* CUDARTAPI cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorGraphExecUpdateFailure: return "cudaErrorGraphExecUpdateFailure";
    case cudaErrorMpsClientTerminated: return "cudaErrorMpsClientTerminated";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorECCUncorrectable: return "cudaErrorECCUncorrectable";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorNotSupported: return "cudaErrorNotSupported";
    default: return "cudaErrorUnknown";
  }
}
const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorNoDevice ? "no CUDA-capable device is detected" : "as the emulator was told";
}

// What a call that fails leaves where its results go is not to be read: it is what would be believed.
cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
  *count = 1;
  ONTO_BEGIN(, api_call::asks);
  *count = current_machine().devices;
  return call.give(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}
cudaError_t CUDARTAPI cudaGetDevice(int* device) {
  ONTO_BEGIN(, api_call::asks);
  *device = current_device();
  return cudaSuccess;
}
/// Since CUDA 12 it sets the device up.
cudaError_t CUDARTAPI cudaSetDevice(int device) {
  ONTO_BEGIN(, api_call::asks);
  if (!has_device(device)) return call.give(cudaErrorInvalidDevice);
  choose_device(device);
  device_at(device).touched = true;
  return call.give(device_at(device).lost);
}
// A macro in some toolkits, to a newer version of itself.
#undef cudaGetDeviceProperties
cudaError_t CUDARTAPI cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  ONTO_BEGIN(, api_call::asks);
  if (!has_device(device)) return call.give(cudaErrorInvalidDevice);
  std::memset(static_cast<void*>(p), 0, sizeof *p);
  std::strcpy(p->name, "Emulated GPU");
  p->major = 9;
  p->minor = 0;
  p->totalGlobalMem = static_cast<std::size_t>(current_machine().memory - (std::int64_t{device} << 20));
  p->multiProcessorCount = 132;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char* text, int length, int device) {
  ONTO_BEGIN(, api_call::asks);
  if (!has_device(device)) return call.give(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", device + 1);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  ONTO_BEGIN(, api_call::asks);
  if (!has_device(device)) return call.give(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMemoryPoolsSupported: *value = current_machine().pools; break;
    case cudaDevAttrMultiProcessorCount: *value = 132; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 227 << 10; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    default:
      violation("an attribute that the emulator does not know was asked for");
      return call.give(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  ONTO_BEGIN(, api_call::asks);
  if (!has_device(device) || !has_device(peer)) return call.give(cudaErrorInvalidDevice);
  *can = can_reach(device, peer);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceSynchronize() {
  ONTO_BEGIN();
  finish_device(call.lock, current_device());
  return call.give(device_at(current_device()).lost);
}
cudaError_t CUDARTAPI cudaPointerGetAttributes(cudaPointerAttributes* found, const void* p) {
  std::memset(found, 0, sizeof *found);
  found->type = cudaMemoryTypeHost;
  ONTO_BEGIN(, api_call::asks);
  found->type = is_device_address(p)    ? cudaMemoryTypeDevice
                : is_pinned_range(p, 1) ? cudaMemoryTypeHost
                                        : cudaMemoryTypeUnregistered;
  found->device = found->type == cudaMemoryTypeDevice ? device_of(p) : -1;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  ONTO_BEGIN();
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > 227 << 10) return call.give(cudaErrorInvalidValue);
  state().shared_limits[kernel] = value;
  return cudaSuccess;
}

// ---- streams and events -----------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* made, unsigned) {
  ONTO_BEGIN();
  return make_stream(made, current_device());
}
cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* made) { return cudaStreamCreateWithFlags(made, 0); }
cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t handle) {
  ONTO_BEGIN_DESTROY();
  if (!handle || !is_stream(handle)) {
    violation("cudaStreamDestroy got a stream that is none, or none any more");
    return call.give(cudaErrorInvalidResourceHandle);
  }
  destroy_stream(handle);
  return call.give(call.status);
}
cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t handle) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  if (is_capturing(stream)) return call.give(spoil_capture(stream));
  finish(call.lock, stream);
  return call.give(device_at(stream->device).lost);
}
cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t handle) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  if (is_capturing(stream)) return call.give(spoil_capture(stream));
  return call.give(stream->items.empty() ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  return call.give(wait_event(stream, event));
}
cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  return call.give(issue(stream, {"host function", 0,
                                  [=](std::int64_t& nanoseconds) {
                                    function(data);
                                    nanoseconds += 10000;
                                    return cudaSuccess;
                                  },
                                  true}));
}
cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  ONTO_BEGIN();
  return make_event(event, current_device(), !(flags & cudaEventDisableTiming));
}
cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
  ONTO_BEGIN_DESTROY();
  destroy_event(event);
  return call.give(call.status);
}
cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  return call.give(record_event(event, stream));
}
cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) {
  ONTO_BEGIN();
  const cudaError_t status = query_event(event);
  return call.give(status == cudaSuccess ? device_at(event->device).lost : status);
}
cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
  ONTO_BEGIN();
  const int device = event->device;
  const cudaError_t status = wait_for_event(call.lock, event);
  return call.give(status == cudaSuccess ? device_at(device).lost : status);
}
cudaError_t CUDARTAPI cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  ONTO_BEGIN();
  return call.give(elapsed(milliseconds, begin, end));
}

// ---- memory -----------------------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaMalloc(void** memory, std::size_t bytes) {
  ONTO_BEGIN();
  *memory = bytes ? allocate(current_device(), nullptr, static_cast<std::int64_t>(bytes), false) : nullptr;
  return call.give(*memory || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t CUDARTAPI cudaFree(void* memory) {
  ONTO_BEGIN_DESTROY();
  finish_device(call.lock, current_device());
  if (!memory || release(memory)) return call.give(call.status);
  violation("cudaFree got what was never allocated, or was freed before");
  return call.give(cudaErrorInvalidValue);
}
cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t pool,
                                              cudaStream_t handle) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  const auto take = [&] { return allocate(pool->pool.device, &pool->pool, static_cast<std::int64_t>(bytes), true); };
  void* p = take();
  if (!p && !is_capturing(stream)) {
    finish(call.lock, stream);  // what was freed in it may be enough
    p = take();
  }
  if (!p) return call.give(cudaErrorMemoryAllocation);
  *memory = p;
  return call.give(issue(stream, {"allocation", 0,
                                  [p](std::int64_t&) {
                                    open_memory(p);
                                    return cudaSuccess;
                                  },
                                  false}));
}
static cudaMemPool_t default_pool() {
  CUmemPoolHandle_st& pool = state().default_pools[current_device()];
  pool.pool.device = current_device();
  return &pool;
}
cudaError_t CUDARTAPI cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t handle) {
  cudaMemPool_t pool = nullptr;
  {
    const std::lock_guard<std::mutex> lock(lock_of_everything());
    pool = default_pool();
  }
  return cudaMallocFromPoolAsync(memory, bytes, pool, handle);
}
cudaError_t CUDARTAPI cudaFreeAsync(void* memory, cudaStream_t handle) {
  ONTO_BEGIN_DESTROY();
  if (!give_up(memory)) {
    violation("cudaFreeAsync got what was never allocated, or was freed before");
    return call.give(cudaErrorInvalidValue);
  }
  const cudaStream_t stream = stream_of(handle);
  if (const cudaError_t wrong = check_stream(__func__, stream)) {
    release(memory);
    return call.give(wrong);
  }
  const cudaError_t status = issue(stream, {"free", 0,
                                            [memory](std::int64_t&) {
                                              if (!release(memory)) violation("memory was freed twice");
                                              return cudaSuccess;
                                            },
                                            false});
  return call.give(call.status != cudaSuccess ? call.status : status);
}
cudaError_t CUDARTAPI cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  ONTO_BEGIN();
  *memory = allocate_pinned(bytes);
  return call.give(*memory ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t CUDARTAPI cudaMallocHost(void** memory, std::size_t bytes) { return cudaHostAlloc(memory, bytes, 0); }
cudaError_t CUDARTAPI cudaFreeHost(void* memory) {
  ONTO_BEGIN_DESTROY();
  if (release_pinned(memory)) return call.give(call.status);
  violation("cudaFreeHost got what is no pinned memory");
  return call.give(cudaErrorInvalidValue);
}
cudaError_t CUDARTAPI cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
  ONTO_BEGIN();
  return call.give(register_pinned(memory, bytes) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered);
}
cudaError_t CUDARTAPI cudaHostUnregister(void* memory) {
  ONTO_BEGIN_DESTROY();
  if (unregister_pinned(memory)) return call.give(call.status);
  violation("cudaHostUnregister got memory that is not registered");
  return call.give(cudaErrorHostMemoryNotRegistered);
}
cudaError_t CUDARTAPI cudaMemGetInfo(std::size_t* unused, std::size_t* all) {
  ONTO_BEGIN();
  *all = static_cast<std::size_t>(current_machine().memory);
  *unused = *all - static_cast<std::size_t>(device_at(current_device()).used);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                      cudaStream_t handle) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  return call.give(copy(call, to, from, bytes, kind, stream));
}
cudaError_t CUDARTAPI cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  ONTO_BEGIN();
  ONTO_STREAM(nullptr);
  const cudaError_t status = copy(call, to, from, bytes, kind, stream);
  finish(call.lock, stream);
  return call.give(status);
}
cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                          cudaStream_t handle) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  if (device_of(to) != to_device || device_of(from) != from_device) {
    violation("cudaMemcpyPeerAsync got memory that is not of the devices it names");
    return call.give(cudaErrorInvalidValue);
  }
  for (const int d : {to_device, from_device})
    if (device_at(d).lost != cudaSuccess) return call.give(device_at(d).lost);
  return call.give(copy(call, to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}
cudaError_t CUDARTAPI cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  return call.give(issue(stream, {"memset", 0,
                                  [=](std::int64_t& nanoseconds) {
                                    void* out = device_bytes(to, bytes, "a memset");
                                    if (!out) return cudaErrorIllegalAddress;
                                    std::memset(out, value, bytes);
                                    nanoseconds += 2000;
                                    return cudaSuccess;
                                  },
                                  false}));
}
cudaError_t CUDARTAPI cudaMemset(void* to, int value, std::size_t bytes) {
  const cudaError_t status = cudaMemsetAsync(to, value, bytes, nullptr);
  return status == cudaSuccess ? cudaStreamSynchronize(nullptr) : status;
}

cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t* made, const cudaMemPoolProps* properties) {
  ONTO_BEGIN();
  if (properties->allocType != cudaMemAllocationTypePinned || properties->location.type != cudaMemLocationTypeDevice ||
      !has_device(properties->location.id))
    return call.give(cudaErrorInvalidValue);
  *made = new CUmemPoolHandle_st;
  (*made)->pool.device = properties->location.id;
  // The driver's own unit, as seen on an H100: a pool of 4 MiB gives out 32.
  constexpr std::int64_t unit = std::int64_t{32} << 20;
  (*made)->pool.most = (static_cast<std::int64_t>(properties->maxSize) + unit - 1) / unit * unit;
  note_object("pools", 1);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t pool) {
  ONTO_BEGIN_DESTROY();
  if (pool->pool.used > 0) violation("a pool was destroyed while memory of it was in use");
  trim(pool->pool, 0);
  pool->pool.destroyed = true;
  if (pool->pool.used == 0 && pool->pool.leaving == 0) delete pool;
  note_object("pools", -1);
  return call.give(call.status);
}
cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  ONTO_BEGIN();
  if (attribute != cudaMemPoolAttrReleaseThreshold) return call.give(cudaErrorInvalidValue);
  std::memcpy(&pool->pool.threshold, value, sizeof pool->pool.threshold);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  ONTO_BEGIN();
  const std::int64_t found = attribute == cudaMemPoolAttrReservedMemCurrent ? pool->pool.reserved : pool->pool.used;
  const auto bytes = static_cast<std::uint64_t>(found);
  std::memcpy(value, &bytes, sizeof bytes);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, std::size_t count) {
  ONTO_BEGIN();
  for (std::size_t k = 0; k < count; ++k) {
    const int reader = access[k].location.id;
    if (reader != pool->pool.device && !can_reach(reader, pool->pool.device)) return call.give(cudaErrorInvalidDevice);
    pool->pool.readers.push_back(reader);
  }
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t keep) {
  ONTO_BEGIN();
  trim(pool->pool, static_cast<std::int64_t>(keep));
  return cudaSuccess;
}

// ---- graphs -----------------------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  return call.give(begin_capture(stream, mode));
}
cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  api_call call(__func__);
  // Ends in any case, or what fails here would be found in every later call.
  ONTO_STREAM(handle);
  const cudaError_t status = end_capture(stream, graph);
  if (call.status != cudaSuccess && *graph) {
    destroy_graph(*graph);
    *graph = nullptr;
  }
  return call.give(call.status != cudaSuccess ? call.status : status);
}
cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                               unsigned long long* id, cudaGraph_t* graph,
                                               const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                               std::size_t* count) {
  static const cudaGraphNode_t believed = nullptr;
  *status = cudaStreamCaptureStatusActive;
  if (nodes) *nodes = &believed;
  if (count) *count = 1;
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  if (id || graph || !nodes || !edges || !count) return call.give(cudaErrorNotSupported);
  *edges = nullptr;
  return call.give(capture_info(stream, status, nodes, count));
}
cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t program, cudaGraphNode_t node, void* to,
                                                         const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  ONTO_BEGIN();
  const copy_end source(from, bytes), target(to, bytes);
  // What it was recorded with was device memory and pinned memory.
  const bool in = kind == cudaMemcpyHostToDevice;
  const copy_end& host = in ? source : target;
  const copy_end& device = in ? target : source;
  if (bytes == 0 || !host.pinned || !device.device) return call.give(cudaErrorInvalidValue);
  return call.give(change_node(program, node, copy_piece(source, target, bytes, nullptr)));
}
cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* program, cudaGraph_t graph, unsigned long long) {
  ONTO_BEGIN();
  return call.give(instantiate(program, graph));
}
cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t program, cudaStream_t handle) {
  ONTO_BEGIN();
  ONTO_STREAM(handle);
  return call.give(launch_graph(program, stream));
}
cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
  ONTO_BEGIN_DESTROY();
  destroy_graph(graph);
  return call.give(call.status);
}
cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t program) {
  ONTO_BEGIN_DESTROY();
  destroy_program(program);
  return call.give(call.status);
}

}  // extern "C"
