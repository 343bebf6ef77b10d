// SPDX-License-Identifier: BSL-1.0
// The devices of a session: the GPUs that are there, the backends' and then simulated ones, as far as the options let
// the session see them; then the CPU.
#pragma once

#include <onto/backend/cpu/device.hpp>
#include <onto/backend/simulated/device.hpp>
#include <onto/core/arena.hpp>
#include <onto/session/backends.hpp>
#include <onto/session/device_options.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

inline namespace ONTO_ABI {

/// The same, where the backends' GPUs were found: `gpus` has a class of them for each backend.
template <class... Gpus>
ONTO_COLD ONTO_NOINLINE device_list list_devices(const session_options& options, Gpus... gpus) {
  const int real = (0 + ... + gpus.count());
  const int there = real + options.simulated_gpus;
  arena memory;
  int* visible = memory.make<int>(there);
  const int count = parse_visible_devices(options.gpu.visible_device_list, there, visible);
  auto* totals = memory.make<std::int64_t>(count);
  for (int k = 0; k < count; ++k) {
    totals[k] = simulated_gpu_memory;
    int gpu = visible[k];
    if (gpu < real)
      (void)((gpu < gpus.count() ? (totals[k] = gpus.memory(gpu), true) : (gpu -= gpus.count(), false)) || ...);
  }
  auto* shares = memory.make<gpu_share>(count + static_cast<int>(options.gpu.logical_devices.size()));
  const int shared = share_gpus(options.gpu, visible, totals, count, shares);

  device_list devices;
  for (int k = 0; k < shared; ++k) {
    device* made = nullptr;
    int gpu = shares[k].physical;
    if (gpu < real)
      (void)((gpu < gpus.count() ? (made = gpus.open({device_kind::gpu, k}, gpu, shares[k].limit), true)
                                 : (gpu -= gpus.count(), false)) ||
             ...);
    devices.add(made ? made : new simulated_device(k, shares[k].physical, shares[k].limit, options.simulation));
  }
  const ref<shared_threads> threads(new shared_threads(options.cpu_threads));
  for (int k = 0; k < options.cpus; ++k) devices.add(new cpu_device(k, threads, options.simulation));
  return devices;
}

/// The CPU has no GPUs.
template <class Cpu, class... Backends>
device_list list_devices_of(const session_options& options, backend_list<Cpu, Backends...>) {
  return list_devices(options, typename Backends::gpus(options)...);
}

/// Finds the devices; uses none of them.
/// *Throws* `invalid_argument_error` for options that make no sense, or none with the devices that are there.
ONTO_COLD ONTO_NOINLINE inline device_list find_devices(const session_options& options) {
  check_options(options);
  return list_devices_of(options, backends{});
}

}  // namespace ONTO_ABI

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
