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
  if (status == cudaSuccess) return p;
  cuda_ignore(status);
  message why(cudaGetErrorString(status));
  // The driver says "no CUDA-capable device is detected" where it was told to hide what there is.
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible && status == cudaErrorNoDevice) why << "; CUDA_VISIBLE_DEVICES is '" << visible << "'";
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

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
