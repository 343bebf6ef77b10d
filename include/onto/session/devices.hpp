// SPDX-License-Identifier: BSL-1.0
// The devices of a session: the GPUs that are there, the backends' and then simulated ones, as far as the options let
// the session see them; then the CPU.
#pragma once

#include <onto/backend/cpu/device.hpp>
#include <onto/backend/simulated/device.hpp>
#include <onto/core/arena.hpp>
#include <onto/session/device_options.hpp>
#include <onto/session/makers.hpp>
#include <onto/session/session_runtime.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

#if ONTO_DEFINITIONS
ONTO_RUNTIME device* make_simulated_gpu(int index, int physical, const memory_limit& limit, const cost_model& model) {
  return new simulated_device(index, physical, limit, model);
}
#endif

/// Finds the devices; uses none of them.
/// *Throws* `invalid_argument_error` for options that make no sense, or none with the devices that are there.
ONTO_COLD ONTO_NOINLINE inline device_list find_devices(const session_options& options, const gpu_finder* finders) {
  check_options(options);
  constexpr int most = kernel_entry::slot_count;
  ref<gpu_list> found[most];
  int real = 0;
  for (int b = 0; b < most && finders[b]; ++b) {
    found[b] = finders[b](options);
    real += found[b]->count();
  }
  // The backend of a GPU of the machine, and its number there.
  const auto backend_of = [&](int& gpu) -> gpu_list& {
    int b = 0;
    for (; gpu >= found[b]->count(); ++b) gpu -= found[b]->count();
    return *found[b];
  };
  const int there = real + options.simulated_gpus;
  arena memory;
  int* visible = memory.make<int>(there);
  const int count = parse_visible_devices(options.gpu.visible_device_list, there, visible);
  auto* totals = memory.make<std::int64_t>(count);
  for (int k = 0; k < count; ++k) {
    int gpu = visible[k];
    totals[k] = gpu < real ? backend_of(gpu).memory(gpu) : simulated_gpu_memory;
  }
  auto* shares = memory.make<gpu_share>(count + static_cast<int>(options.gpu.logical_devices.size()));
  const int shared = share_gpus(options.gpu, visible, totals, count, shares);

  device_list devices;
  for (int k = 0; k < shared; ++k) {
    const place where{device_kind::gpu, k};
    const memory_limit limit = shares[k].limit;
    int gpu = shares[k].physical;
    devices.add(gpu < real ? backend_of(gpu).open(where, gpu, limit)
                           : options.simulated_gpus.make(k, shares[k].physical, limit, options.simulation));
  }
  const ref<shared_threads> threads(new shared_threads(options.cpu_threads));
  for (int k = 0; k < options.cpus; ++k) devices.add(new cpu_device(k, threads, options.simulation));
  return devices;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
