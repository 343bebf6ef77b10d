// SPDX-License-Identifier: BSL-1.0
// How the threads of a block fold what each of them has folded: within warps by shuffles, between warps through shared
// memory, in an order that never changes.
#pragma once

#include <onto/backend/cuda/fold_grid.hpp>
#include <onto/backend/cuda/launch.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {

/// A state as words, which threads hand each other: in one access to shared memory.
template <class State>
struct alignas(sizeof(State) > 8   ? 16
               : sizeof(State) > 4 ? 8
                                   : 4) state_words {
  static constexpr int count = sizeof(State) > 8 ? 4 : sizeof(State) > 4 ? 2 : 1;
  static_assert(sizeof(State) <= 16);
  std::uint32_t word[count];

  ONTO_HD ONTO_INLINE static state_words of(const State& s) {
    state_words w{};
    std::memcpy(&w, &s, sizeof(State));
    return w;
  }
  ONTO_HD ONTO_INLINE State state() const {
    State s;
    std::memcpy(&s, this, sizeof(State));
    return s;
  }
};

/// The bytes of shared memory for each of a block's states.
inline constexpr int bytes_of_state = 16;

/// Folds the states of each output's threads; all of those get the result. All threads of the block call it. Threads
/// may still read `exchange` when it returns.
template <class Accumulator, class State>
__device__ ONTO_INLINE State fold_block(State state, void* exchange, const thread_grid& grid, int thread) {
  using words = state_words<State>;
  constexpr int warp = 32;
  constexpr unsigned all_lanes = 0xffffffffu;
  const int lane = thread % warp;
  // The lanes of one output: neighbours, or as far apart as the block is wide.
  const bool along = grid.neighbours_fold;
  if (grid.depth == 1) return state;
  const int furthest = along && grid.depth < warp ? grid.depth / 2 : warp / 2;
  const int nearest = along ? 1 : grid.width;
  for (int delta = furthest; delta >= nearest; delta /= 2) {
    words other = words::of(state);
    for (int k = 0; k < words::count; ++k)
      other.word[k] = __shfl_down_sync(all_lanes, other.word[k], static_cast<unsigned>(delta));
    Accumulator::merge(state, other.state());  // of use in the lower lanes of an output
  }
  if (along && grid.depth <= warp) {
    words first = words::of(state);
    for (int k = 0; k < words::count; ++k)
      first.word[k] = __shfl_sync(all_lanes, first.word[k], lane & ~(grid.depth - 1));
    return first.state();
  }
  auto* const shared = static_cast<words*>(exchange);
  const int column = grid.column(thread);
  const int in_warp = along ? 1 : grid.width < warp ? grid.width : warp;
  if (lane < in_warp) device_store(shared + thread / warp * in_warp + lane, words::of(state));
  __syncthreads();
  const int warps = grid.threads() / warp;
  const int parts = along ? grid.depth / warp : grid.width < warp ? warps : grid.depth;
  const int first = along ? column * parts : column, step = along ? 1 : grid.width;
  State all = device_load(shared + first).state();
  for (int k = 1; k < parts; ++k) Accumulator::merge(all, device_load(shared + first + k * step).state());
  return all;
}

}  // namespace onto::detail
