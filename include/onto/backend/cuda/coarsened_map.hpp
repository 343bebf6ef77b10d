// SPDX-License-Identifier: BSL-1.0
// Elementwise programs over rows of neighbours: each thread takes some neighbours and walks with them along another
// dimension, so that what does not change on the way, as a bias, is loaded once. A contiguous map is cut into rows as
// long as the grid. Plain arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/map_operands.hpp>

#include <cstdint>
#include <utility>

namespace onto::detail {

/// How a coarsened map is shared among threads.
struct coarsened_grid {
  short_divisor width;  // threads side by side
  std::uint32_t steps;  // of the dimension that is walked along
  std::uint32_t per_thread;
  std::int32_t end;  // of the results' positions
};

template <class Program>
struct coarsened_map : map_operands<Program> {
  static constexpr int operands = map_operands<Program>::operands;

  coarsened_grid grid;
  short_space<operands> columns;  // where threads begin; the last dimension is of packs of neighbours
  bool advances[operands];        // false: one element for all the neighbours
  std::int32_t step[operands];    // from one step to the next; 0: loaded once
};

/// Steps that a thread loads before it computes the first: so many loads wait for memory together. One where there are
/// many operands, or so much to compute that its code would be long.
template <class Program>
inline constexpr int coarsened_ahead =
    program_operands<Program>::inputs <= 3 && program_operands<Program>::size* map_lanes<Program> <= 64 ? 2 : 1;

template <class Program, int Slot, class Map, class Loads>
ONTO_HD ONTO_INLINE void load_coarsened(const Map& map, Loads& in, bool when, std::int32_t at, std::int32_t left) {
  using type = typename program_operands<Program>::template input<Slot>;
  if (when)
    load_pack(pack_of<Slot>(in), static_cast<const type*>(map.values.data[Slot]) + at, map.advances[Slot], 0, left);
}

template <class Program, class Map, class Loads, int... Result, int... Lane>
ONTO_HD ONTO_INLINE void store_coarsened(const Map& map, const Loads& in, std::int32_t at, std::int32_t left,
                                         std::integer_sequence<int, Result...>, std::integer_sequence<int, Lane...>) {
  using facts = program_operands<Program>;
  using stored = typename result_packs<Program, sizeof...(Lane)>::type;
  using result = typename facts::result;
  stored more;
  lane_pack<result, sizeof...(Lane)> out;
  ((out.at[Lane] = static_cast<result>(
        Program::evaluate(map_source<map_inputs_of<Program>, Loads, stored>{{{map}, in, Lane}, more, at + Lane}))),
   ...);
  store_pack(out, static_cast<result*>(map.out) + at, 0, left);
  (store_pack(pack_of<Result>(more), static_cast<typename facts::template further<Result>*>(map.more.data[Result]) + at,
              0, left),
   ...);
}

template <class Program, int... Slot>
ONTO_HD ONTO_INLINE void run_coarsened(const coarsened_map<Program>& map, std::uint32_t thread,
                                       std::integer_sequence<int, Slot...>) {
  constexpr int lanes = map_lanes<Program>, ahead = coarsened_ahead<Program>, out = program_operands<Program>::inputs;
  const coarsened_grid& grid = map.grid;
  const std::uint32_t piece = grid.width.divide(thread);
  std::uint32_t step = piece * grid.per_thread;
  if (step >= grid.steps) return;
  const std::uint32_t last = step + grid.per_thread < grid.steps ? step + grid.per_thread : grid.steps;
  auto at = locate(map.columns, thread - piece * grid.width.divisor);
  move(at, map.step, step);
  typename input_packs<Program, lanes>::type in[ahead];
  (load_coarsened<Program, Slot>(map, in[0], map.step[Slot] == 0, at.of[Slot], grid.end - at.of[out]), ...);
  for (int k = 1; k < ahead; ++k) in[k] = in[0];
  for (; step < last; step += ahead) {
    // All is loaded before anything is stored: a result may lie where an operand does.
    for (int k = 0; k < ahead; ++k)
      if (step + static_cast<unsigned>(k) < last)
        (load_coarsened<Program, Slot>(map, in[k], map.step[Slot] != 0, at.of[Slot] + k * map.step[Slot],
                                       grid.end - at.of[out] - k * map.step[out]),
         ...);
    for (int k = 0; k < ahead; ++k)
      if (step + static_cast<unsigned>(k) < last)
        store_coarsened<Program>(map, in[k], at.of[out] + k * map.step[out], grid.end - at.of[out] - k * map.step[out],
                                 result_slots<Program>{}, std::make_integer_sequence<int, lanes>{});
    move(at, map.step, ahead);
  }
}

/// What one thread computes.
template <class Program>
ONTO_HD ONTO_INLINE void run_coarsened(const coarsened_map<Program>& map, std::uint32_t thread) {
  run_coarsened(map, thread, input_slots<Program>{});
}

}  // namespace onto::detail
