// SPDX-License-Identifier: BSL-1.0
// Machines of simulated GPUs: as a world for plans, as a list for towers, as options of a session with a clock.
#pragma once

#include <onto/onto.hpp>

namespace onto_test {

template <int... K>
auto world_with(std::integer_sequence<int, K...>) -> onto::world<onto::cpu<0>, onto::gpu<K>...>;
template <int Gpus>
using machine_of = decltype(world_with(std::make_integer_sequence<int, Gpus>{}));

template <int... K>
constexpr auto gpus_of(std::integer_sequence<int, K...>) {
  return boost::hana::tuple_t<onto::gpu<K>...>;
}
template <int Gpus>
constexpr auto gpu_list = gpus_of(std::make_integer_sequence<int, Gpus>{});

inline onto::session_options timed(int gpus, const onto::cost_model& model) {
  onto::session_options o;
  o.allow_soft_placement = true;
  o.simulated_gpus = gpus;
  o.simulation = model;
  o.cpu_threads = 1;
  return o;
}

}  // namespace onto_test
