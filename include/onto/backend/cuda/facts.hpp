// SPDX-License-Identifier: BSL-1.0
// The GPUs of this machine: which there are and what is known of each, without setting anything up on them.
#pragma once

#include <onto/backend/cuda/check.hpp>
#include <onto/core/message.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// How many GPUs there are; where there are none, why.
struct cuda_presence {
  int count = 0;
  std::string reason;
};

/// Asks the driver. A machine without a driver or without a GPU has none, which is no error.
ONTO_COLD ONTO_NOINLINE inline cuda_presence find_cuda_devices() {
  cuda_presence p;
  const cudaError_t status = cudaGetDeviceCount(&p.count);
  if (status == cudaSuccess && p.count > 0) return p;
  cuda_ignore(status);
  message why(status == cudaSuccess ? "no GPU is visible" : cudaGetErrorString(status));
  // The driver says "no CUDA-capable device is detected" where it was told to hide what there is.
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible && (status == cudaSuccess || status == cudaErrorNoDevice))
    why << "; CUDA_VISIBLE_DEVICES is '" << visible << "'";
  return {0, why.text()};
}

/// What is known of a GPU without using it.
struct cuda_facts {
  std::string name;
  std::string pci_bus_id;
  int major = 0, minor = 0;
  std::int64_t memory = 0;  // bytes
  bool has_pools = false;
};

/// `ordinal` is the GPU's number in the CUDA runtime.
ONTO_COLD ONTO_NOINLINE inline cuda_facts facts_of_cuda_device(int ordinal) {
  cudaDeviceProp properties;
  cuda_check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  char bus[32] = {};
  cuda_check(cudaDeviceGetPCIBusId(bus, static_cast<int>(sizeof bus), ordinal), "cudaDeviceGetPCIBusId");
  int pools = 0;
  cuda_check(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, ordinal), "cudaDeviceGetAttribute");
  return {
      properties.name, bus, properties.major, properties.minor, static_cast<std::int64_t>(properties.totalGlobalMem),
      pools != 0};
}

/// Whether something has been set up on a GPU already. Through the driver, since the runtime would set it up to answer.
inline bool is_in_use(int ordinal) {
  using query = int (*)(int, unsigned*, int*);
  static const query is_active = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &entry, 7000, cudaEnableDefault, &found);
    cuda_ignore(status);
    return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<query>(entry) : nullptr;
  }();
  unsigned flags = 0;
  int active = 1;
  return !is_active || is_active(ordinal, &flags, &active) != 0 || active != 0;
}

/// Makes a GPU current on this thread for as long as it lives. A GPU that was current but never used is not made
/// current again, since that alone would take memory on it.
class current_cuda_device {
 public:
  explicit current_cuda_device(int ordinal) {
    cuda_check(cudaGetDevice(&previous_), "cudaGetDevice");
    changed_ = previous_ != ordinal;
    if (changed_) cuda_check(cudaSetDevice(ordinal), "cudaSetDevice");
  }
  current_cuda_device(const current_cuda_device&) = delete;
  current_cuda_device& operator=(const current_cuda_device&) = delete;
  ~current_cuda_device() {
    if (changed_ && is_in_use(previous_)) cuda_ignore(cudaSetDevice(previous_));
  }

 private:
  int previous_ = 0;
  bool changed_ = false;
};

/// Takes something down with its GPU current, on one that is lost too. Every call of the runtime may set up the GPU
/// that is current on its thread, so that this is not left to chance.
template <class Work>
void quietly_on(int ordinal, const Work& work) noexcept {
  int previous = ordinal;
  cuda_ignore(cudaGetDevice(&previous));
  if (previous != ordinal) cuda_ignore(cudaSetDevice(ordinal));
  work();
  if (previous != ordinal && is_in_use(previous)) cuda_ignore(cudaSetDevice(previous));
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
