// SPDX-License-Identifier: BSL-1.0
// How the threads of a block fold what each of them has folded: through shared memory, in an order that never changes.
#pragma once

#include <onto/backend/cuda/fold_grid.hpp>
#include <onto/backend/cuda/launch.hpp>

namespace onto::detail {

/// Folds the states of a block's rows; the result is that of row 0. All threads of the block call it.
template <class Accumulation>
__device__ ONTO_INLINE void fold_rows(typename Accumulation::state* slots, const fold_grid& grid, int row, int column) {
  __syncthreads();
  for (int half = grid.depth / 2; half > 0; half /= 2) {
    if (row < half) {
      auto* const mine = slots + row * grid.width + column;
      auto state = device_load(mine);
      Accumulation::merge(state, device_load(mine + half * grid.width));
      device_store(mine, state);
    }
    __syncthreads();
  }
}

}  // namespace onto::detail
