// SPDX-License-Identifier: BSL-1.0
// The devices of a session: the GPUs that are there, real ones and then simulated ones, as far as the options let the
// session see them; then the CPU.
#pragma once

#include <onto/backend/cpu/device.hpp>
#include <onto/backend/simulated/device.hpp>
#include <onto/core/arena.hpp>
#include <onto/session/device_options.hpp>
#if ONTO_CUDA
#include <onto/backend/cuda/device.hpp>

#include <memory>
#endif

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

inline namespace ONTO_ABI {

/// Finds the devices; uses none of them.
/// *Throws* `invalid_argument_error` for options that make no sense, or none with the devices that are there.
ONTO_COLD ONTO_NOINLINE inline device_list find_devices(const session_options& options) {
  check_options(options);
#if ONTO_CUDA
  const int real = find_cuda_devices().count;
#else
  const int real = 0;
#endif
  const int there = real + options.simulated_gpus;
  arena memory;
  int* visible = memory.make<int>(there);
  const int count = parse_visible_devices(options.gpu.visible_device_list, there, visible);
  auto* totals = memory.make<std::int64_t>(count);
#if ONTO_CUDA
  const std::unique_ptr<cuda_facts[]> facts(new cuda_facts[static_cast<std::size_t>(there)]);
#endif
  for (int k = 0; k < count; ++k) {
    totals[k] = simulated_gpu_memory;
#if ONTO_CUDA
    if (visible[k] >= real) continue;
    facts[static_cast<std::size_t>(visible[k])] = facts_of_cuda_device(visible[k]);
    totals[k] = facts[static_cast<std::size_t>(visible[k])].memory;
#endif
  }
  auto* shares = memory.make<gpu_share>(count + static_cast<int>(options.gpu.logical_devices.size()));
  const int gpus = share_gpus(options.gpu, visible, totals, count, shares);

  device_list devices;
  for (int k = 0; k < gpus; ++k) {
#if ONTO_CUDA
    if (const int gpu = shares[k].physical; gpu < real) {
      devices.add(make_cuda_device({device_kind::gpu, k}, gpu, facts[static_cast<std::size_t>(gpu)], shares[k].limit));
      continue;
    }
#endif
    devices.add(new simulated_device(k, shares[k].physical, shares[k].limit, options.simulation));
  }
  const ref<shared_threads> threads(new shared_threads(options.cpu_threads));
  for (int k = 0; k < options.cpus; ++k) devices.add(new cpu_device(k, threads, options.simulation));
  return devices;
}

}  // namespace ONTO_ABI

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
