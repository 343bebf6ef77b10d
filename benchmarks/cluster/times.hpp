// SPDX-License-Identifier: BSL-1.0
// How long something takes that several processes do together.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace cluster_times {

/// In seconds.
struct times {
  double median = 0, least = 0;
};

/// Of so many times, each that of the slowest process; all begin together. `before`: so many are not counted.
template <class F>
times measure(int count, const F& f, int before = 0) {
  using clock = std::chrono::steady_clock;
  std::vector<double> took;
  for (int k = -before; k < count; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = clock::now();
    f();
    const std::chrono::duration<double> mine = clock::now() - begin;
    double own = mine.count(), most = 0;
    MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (k >= 0) took.push_back(most);
  }
  std::sort(took.begin(), took.end());
  return {took[took.size() / 2], took[0]};
}

}  // namespace cluster_times
