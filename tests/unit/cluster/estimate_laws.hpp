// SPDX-License-Identifier: BSL-1.0
// What holds for the time of any plan over tasks, whatever its placement.
#pragma once

#include <onto/cluster_model.hpp>

#include "../catch.hpp"

#include <random>
#include <vector>

namespace onto_test {

/// Numbers that have nothing to do with each other.
inline onto::cluster_model random_model(std::mt19937& random) {
  const auto rate = [&] { return 1e3 + static_cast<double>(random() % 1000) * 97.3; };
  const auto latency = [&] { return static_cast<double>(random() % 100) * 1.3e-4; };
  onto::cluster_model m;
  m.device = {rate(), rate(), rate(), rate(), rate(), rate(), latency(), latency()};
  m.tasks_per_node = 1 + static_cast<int>(random() % 3);
  m.node_bandwidth = rate();
  m.node_latency = latency();
  m.network_bandwidth = rate();
  m.network_latency = latency();
  m.note = latency();
  m.direct = random() % 2 == 0;
  m.host_moves = random() % 2 == 0;
  return m;
}

/// Checks a schedule, whose `here` is not looked at.
inline void check_estimate_laws(const onto::detail::order_input& in, const onto::extents* shapes, unsigned seed) {
  using namespace onto;
  std::mt19937 random(seed);
  const cluster_model model = random_model(random);
  std::vector<timed_step> steps(static_cast<std::size_t>(in.step_count) + 1);
  std::vector<device_time> devices(static_cast<std::size_t>(in.device_count));
  const auto seconds = [&](const cluster_model& m, int towers = 0) {
    for (int d = 0; d < in.device_count; ++d) devices[static_cast<std::size_t>(d)] = {in.devices[d], 0, 0};
    return detail::cluster_timer(in, shapes, m, towers).run(steps.data(), devices.data());
  };
  const double all = seconds(model);
  const double last = all * (1 + 1e-12);

  // No step ends before it begins, none is left out, and what a step reads is there. A GPU is busy no longer than all.
  const detail::value_finder values(in);
  for (int k = 0; k < in.step_count; ++k) {
    const timed_step& s = steps[static_cast<std::size_t>(k)];
    CHECK(s.step.node == in.steps[k].node);
    CHECK((s.begin >= 0 && s.end >= s.begin && s.end <= last));
    values.for_each_read(k, [&](int v) {
      if (in.values[v].birth < k) CHECK(steps[static_cast<std::size_t>(in.values[v].birth)].end <= s.begin + 1e-9);
    });
  }
  for (const device_time& d : devices) CHECK((d.busy >= 0 && d.busy <= last));

  // More of anything is never slower.
  double cost_model::*const rates[] = {&cost_model::flops,          &cost_model::memory_bandwidth,
                                       &cost_model::link_bandwidth, &cost_model::host_bandwidth,
                                       &cost_model::host_flops,     &cost_model::host_memory_bandwidth};
  for (const auto rate : rates) {
    cluster_model faster = model;
    faster.device.*rate *= 1.7;
    CHECK(seconds(faster) <= last);
  }
  for (const auto rate : {&cluster_model::node_bandwidth, &cluster_model::network_bandwidth}) {
    cluster_model faster = model;
    faster.*rate *= 1.7;
    CHECK(seconds(faster) <= last);
  }
  for (const auto latency : {&cost_model::kernel_latency, &cost_model::copy_latency}) {
    cluster_model faster = model;
    faster.device.*latency *= 0.6;
    CHECK(seconds(faster) <= last);
  }
  for (const auto latency : {&cluster_model::node_latency, &cluster_model::network_latency, &cluster_model::note}) {
    cluster_model faster = model;
    faster.*latency *= 0.6;
    CHECK(seconds(faster) <= last);
  }
  // Nor is what moves beside kernels.
  cluster_model beside = model;
  beside.host_moves = false;
  CHECK(seconds(beside) <= last);

  // Everything twice as slow takes twice as long.
  cluster_model half = model;
  for (const auto rate : rates) half.device.*rate /= 2;
  half.device.kernel_latency *= 2;
  half.device.copy_latency *= 2;
  half.node_bandwidth /= 2;
  half.network_bandwidth /= 2;
  half.node_latency *= 2;
  half.network_latency *= 2;
  half.note *= 2;
  CHECK(seconds(half) == Approx(2 * all).epsilon(1e-9));
}

}  // namespace onto_test
