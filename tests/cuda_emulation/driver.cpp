// SPDX-License-Identifier: BSL-1.0
// Which device a thread works with, and the functions of the driver that the library asks for by name.
#include <cstring>

#include "objects.hpp"

namespace cuda_emulation {
namespace {

// What the runtime was told, or took for itself at its first call that needs a device.
thread_local int chosen = 0;
thread_local bool has_chosen = false;
/// Contexts that were pushed: devices; what the runtime chose is below them. Needs no destructor: sessions of static
/// lifetime come here when the thread's own objects are gone.
constexpr int most_pushed = 64;
thread_local int pushed[most_pushed] = {};
thread_local int pushed_count = 0;

/// The primary context of a device, as a handle.
void* context_of(int device) {
  static char contexts[64];
  return &contexts[device];
}
int device_of_context(const void* context) {
  for (int d = 0; has_device(d); ++d)
    if (context_of(d) == context) return d;
  return -1;
}

int retain(void** context, int device) {
  api_call call("cuDevicePrimaryCtxRetain", api_call::asks);
  if (call.status != cudaSuccess) return call.status;
  if (!has_device(device)) return cudaErrorInvalidDevice;
  device_at(device).touched = true;
  *context = context_of(device);
  return device_at(device).lost;
}
int state(int device, unsigned* flags, int* active) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  *flags = 0;
  *active = device_at(device).touched;
  return cudaSuccess;
}
int get_current(void** context) {
  api_call call("cuCtxGetCurrent", api_call::asks);
  if (call.status != cudaSuccess) return call.status;
  *context = pushed_count > 0 || has_chosen ? context_of(current_device()) : nullptr;
  return cudaSuccess;
}
int push(void* context) {
  api_call call("cuCtxPushCurrent", api_call::asks);
  if (call.status != cudaSuccess) return call.status;
  const int device = device_of_context(context);
  if (device < 0) return cudaErrorDeviceUninitialized;
  if (pushed_count == most_pushed) {
    violation("contexts are pushed and not popped");
    return cudaErrorInvalidValue;
  }
  pushed[pushed_count++] = device;
  return cudaSuccess;
}
int pop(void** context) {
  api_call call("cuCtxPopCurrent", api_call::asks);
  if (pushed_count == 0) return cudaErrorDeviceUninitialized;
  *context = context_of(pushed[--pushed_count]);
  return cudaSuccess;
}

}  // namespace

int current_device() { return pushed_count == 0 ? chosen : pushed[pushed_count - 1]; }
void choose_device(int ordinal) {
  if (pushed_count > 0) {
    pushed[pushed_count - 1] = ordinal;
    return;
  }
  chosen = ordinal;
  has_chosen = true;
}

}  // namespace cuda_emulation

using namespace cuda_emulation;

extern "C" cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(const char* symbol, void** entry, unsigned,
                                                                  unsigned long long,
                                                                  cudaDriverEntryPointQueryResult* found) {
  api_call call(__func__, api_call::asks);
  if (call.status != cudaSuccess) return call.give(call.status);
  const std::pair<const char*, void*> known[] = {
      {"cuDevicePrimaryCtxGetState", reinterpret_cast<void*>(&state)},
      {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(&retain)},
      {"cuCtxGetCurrent", reinterpret_cast<void*>(&get_current)},
      {"cuCtxPushCurrent", reinterpret_cast<void*>(&push)},
      {"cuCtxPopCurrent", reinterpret_cast<void*>(&pop)},
  };
  *entry = nullptr;
  for (const auto& [name, function] : known)
    if (std::strcmp(name, symbol) == 0) *entry = function;
  if (found) *found = *entry ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
