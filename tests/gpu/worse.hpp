// SPDX-License-Identifier: BSL-1.0
// The greater of two errors, for tests: std::fmax would leave out what is no number, and with it what was never
// written.
#pragma once

#include <limits>

namespace gpu_test {

inline double worse(double worst, double error) {
  return error <= worst ? worst : error == error ? error : std::numeric_limits<double>::infinity();
}

}  // namespace gpu_test
