// SPDX-License-Identifier: BSL-1.0
// How long work takes on devices that are not there: for plans that are timed without running, and simulated GPUs.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// What a GPU and its host can do; rates per second, 0 where something is to cost nothing.
/// A kernel takes the longer of its operations and its memory traffic, a copy its bytes, each after a latency.
struct cost_model {
  double flops = 0;                  ///< floating-point operations per second, of each GPU
  double memory_bandwidth = 0;       ///< bytes per second between a GPU and its memory
  double link_bandwidth = 0;         ///< bytes per second from one GPU to another
  double host_bandwidth = 0;         ///< bytes per second between the host and each GPU, each way
  double host_flops = 0;             ///< floating-point operations per second of the host
  double host_memory_bandwidth = 0;  ///< bytes per second between the host and its memory
  double kernel_latency = 0;         ///< seconds a kernel takes however small it is
  double copy_latency = 0;           ///< seconds a copy takes however small it is

  constexpr bool is_set() const {
    return flops > 0 || memory_bandwidth > 0 || link_bandwidth > 0 || host_bandwidth > 0 || host_flops > 0 ||
           host_memory_bandwidth > 0 || kernel_latency > 0 || copy_latency > 0;
  }
  /// Seconds of a kernel on a GPU.
  constexpr double kernel(std::int64_t operations, std::int64_t bytes) const {
    return kernel_latency + longer(at(operations, flops), at(bytes, memory_bandwidth));
  }
  /// Seconds of a kernel on the host.
  constexpr double host_kernel(std::int64_t operations, std::int64_t bytes) const {
    return longer(at(operations, host_flops), at(bytes, host_memory_bandwidth));
  }
  /// Seconds of a copy between two GPUs.
  constexpr double link(std::int64_t bytes) const { return copy_latency + at(bytes, link_bandwidth); }
  /// Seconds of a copy between the host and a GPU.
  constexpr double host_copy(std::int64_t bytes) const { return copy_latency + at(bytes, host_bandwidth); }

 private:
  static constexpr double at(std::int64_t amount, double rate) {
    return rate > 0 && amount > 0 ? static_cast<double>(amount) / rate : 0;
  }
  static constexpr double longer(double a, double b) { return a > b ? a : b; }
};

/// An NVIDIA H200 SXM on NVLink and PCIe 5 by its data sheet: float32 without tensor cores, and a two-socket host.
inline constexpr cost_model h200{67e12, 4.8e12, 450e9, 55e9, 5e12, 400e9, 3e-6, 8e-6};

}  // namespace onto
ONTO_END_RUNS_ONCE
