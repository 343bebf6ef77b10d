// SPDX-License-Identifier: BSL-1.0
// Options of sessions that see no GPU but simulated ones, on a machine with real ones too.
#pragma once

#include <onto/onto.hpp>

#include <cstddef>
#include <string>

namespace onto_test {

/// How many real GPUs a session of this program sees.
inline std::size_t real_gpus() {
  static const std::size_t count = onto::session{}.devices().size() - 1;
  return count;
}

/// *Preconditions* there are simulated GPUs: where there are none, nothing hides the real ones.
inline onto::session_options simulated_alone(onto::session_options o) {
  for (int k = 0; k < o.simulated_gpus; ++k)
    o.gpu.visible_device_list += (k ? "," : "") + std::to_string(real_gpus() + static_cast<std::size_t>(k));
  return o;
}

}  // namespace onto_test
