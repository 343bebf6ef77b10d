// SPDX-License-Identifier: BSL-1.0
// Elementwise programs over rows of neighbours: each thread takes some neighbours and walks with them along another
// dimension, so that what does not change on the way, as a bias, is loaded once. A contiguous map is cut into rows as
// long as the grid. Plain arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/map_operands.hpp>

#include <cstdint>
#include <utility>

namespace onto::detail {

/// How threads walk through a space.
template <int Operands>
struct walk_space {
  short_space<Operands> columns;  // where threads begin; the last dimension is of packs of neighbours
  bool advances[Operands];        // false: one element for all the neighbours
  std::int32_t step[Operands];    // from one step to the next; 0: loaded once
  short_divisor width;            // threads side by side
  std::uint32_t steps;            // of the dimension that is walked along
  std::uint32_t per_thread;
  std::int32_t end;  // of the results' positions
};

template <class Program>
struct walk_map : map_operands<Program> {
  walk_space<map_operands<Program>::operands> space;
};

/// Steps that a thread loads before it computes the first: so many loads wait for memory together.
template <class Program>
inline constexpr int walk_ahead =
    map_facts<Program>::inputs <= 4 && map_facts<Program>::size* map_lanes<Program> <= 128 ? 2 : 1;

template <class Program, int Slot, class Loads>
ONTO_HD ONTO_INLINE void load_walk(const walk_map<Program>& map, Loads& in, bool when, std::int32_t at,
                                   std::int32_t left) {
  using type = typename map_facts<Program>::template input<Slot>;
  if (when)
    load_pack(pack_of<Slot>(in), static_cast<const type*>(map.values.data[Slot]) + at, map.space.advances[Slot], 0,
              left);
}

template <class Program, class Loads, int... Result, int... Lane>
ONTO_HD ONTO_INLINE void finish_walk(const walk_map<Program>& map, const Loads& in, std::int32_t at, std::int32_t left,
                                     std::integer_sequence<int, Result...> results,
                                     std::integer_sequence<int, Lane...>) {
  using facts = map_facts<Program>;
  using stored = typename map_stores<Program, sizeof...(Lane), decltype(results)>::type;
  using result = typename facts::result;
  stored more;
  lane_pack<result, sizeof...(Lane)> out;
  ((out.at[Lane] = static_cast<result>(
        Program::evaluate(lane_source<map_inputs_of<Program>, Loads, stored>{map, in, more, at + Lane, Lane}))),
   ...);
  store_pack(out, static_cast<result*>(map.out) + at, 0, left);
  (store_pack(pack_of<Result>(more), static_cast<typename facts::template further<Result>*>(map.more.data[Result]) + at,
              0, left),
   ...);
}

template <class Program, int... Slot>
ONTO_HD ONTO_INLINE void walk(const walk_map<Program>& map, std::uint32_t thread,
                              std::integer_sequence<int, Slot...> slots) {
  constexpr int lanes = map_lanes<Program>, ahead = walk_ahead<Program>, out = map_facts<Program>::inputs;
  const auto& space = map.space;
  const std::uint32_t piece = space.width.divide(thread);
  std::uint32_t step = piece * space.per_thread;
  if (step >= space.steps) return;
  const std::uint32_t last = step + space.per_thread < space.steps ? step + space.per_thread : space.steps;
  auto at = locate(space.columns, thread - piece * space.width.divisor);
  move(at, space.step, step);
  typename map_loads<Program, lanes, decltype(slots)>::type in[ahead];
  (load_walk<Program, Slot>(map, in[0], space.step[Slot] == 0, at.of[Slot], space.end - at.of[out]), ...);
  for (int k = 1; k < ahead; ++k) in[k] = in[0];
  for (; step < last; step += ahead) {
    // All is loaded before anything is stored: a result may lie where an operand does.
    for (int k = 0; k < ahead; ++k)
      if (step + k < last)
        (load_walk<Program, Slot>(map, in[k], space.step[Slot] != 0, at.of[Slot] + k * space.step[Slot],
                                  space.end - at.of[out] - k * space.step[out]),
         ...);
    for (int k = 0; k < ahead; ++k)
      if (step + k < last)
        finish_walk(map, in[k], at.of[out] + k * space.step[out], space.end - at.of[out] - k * space.step[out],
                    result_slots<Program>{}, std::make_integer_sequence<int, lanes>{});
    move(at, space.step, ahead);
  }
}

/// What one thread computes.
template <class Program>
ONTO_HD ONTO_INLINE void walk(const walk_map<Program>& map, std::uint32_t thread) {
  walk(map, thread, input_slots<Program>{});
}

// ---- on the host

/// Threads that keep the largest GPUs of today busy, each with two loads of 16 bytes under way.
inline constexpr std::int64_t busy_threads = std::int64_t{1} << 17;
/// Steps after which what was loaded once no longer counts.
inline constexpr std::int64_t longest_walk = 64;

/// Whether neighbours lie side by side in all operands, or are one element, and aligned for packs of them.
template <class Program>
bool has_aligned_packs(const whole_map<Program>& map) {
  using facts = map_facts<Program>;
  constexpr int lanes = map_lanes<Program>;
  const auto& space = map.part.space;
  if (space.rank == 0) return false;
  const int inner = space.rank - 1;
  if (space.rank > 1 && space.extent[inner].divisor % lanes != 0) return false;
  for (int k = 0; k <= facts::inputs; ++k) {
    const std::int64_t stride = space.stride[k][inner];
    if (k < facts::inputs && stride == 0) continue;
    const void* data = k < facts::inputs ? map.operands.values.data[k] : map.operands.out;
    if (stride != 1 || !is_aligned(data, bytes_of_operand<Program>(k), lanes)) return false;
    for (int d = 0; d < inner; ++d)
      if (space.stride[k][d] % lanes != 0) return false;
  }
  if constexpr (facts::results > 0)
    for (int k = 0; k < facts::results; ++k)
      if (!is_aligned(map.operands.more.data[k], bytes_of_further<Program>(k), lanes)) return false;
  return true;
}

/// The dimension along which most of what is loaded stays the same; the longest where none does.
template <class Program>
int walked_dimension(const strided_space<map_operands<Program>::operands>& space) {
  const int inner = space.rank - 1;
  int best = 0;
  std::int64_t most = -1;
  for (int d = 0; d < inner; ++d) {
    const std::int64_t extent = space.extent[d].divisor;
    const std::int64_t steps = extent < longest_walk ? extent : longest_walk;
    std::int64_t saved = 0;  // in 1 / longest_walk of bytes
    for (int k = 0; k < map_facts<Program>::inputs; ++k)
      if (space.stride[k][d] == 0)
        saved += bytes_of_operand<Program>(k) *
                 (space.stride[k][inner] == 0 ? 1 : map_lanes<Program>)*(longest_walk - longest_walk / steps);
    if (saved > most || (saved == most && extent > space.extent[best].divisor)) best = d, most = saved;
  }
  return best;
}

/// *Preconditions* `has_aligned_packs`.
template <class Program>
walk_map<Program> walk_map_of(const whole_map<Program>& map) {
  constexpr int operands = map_operands<Program>::operands, lanes = map_lanes<Program>, ahead = walk_ahead<Program>;
  const auto& space = map.part.space;
  const int inner = space.rank - 1;
  const std::int64_t packs = divide_up(space.extent[inner].divisor, lanes);
  walk_map<Program> walk{map.operands, {}};
  auto& r = walk.space;
  std::int64_t pack[operands];
  for (int k = 0; k < operands; ++k) {
    r.advances[k] = space.stride[k][inner] != 0;
    pack[k] = lanes * space.stride[k][inner];
  }
  std::int64_t width = 0, per_thread = ahead;
  if (inner == 0) {
    width = divide_up(divide_up(packs, ahead), block_threads) * block_threads;
    if (width > packs) width = packs;
    r.columns.append(width, pack);
    r.steps = static_cast<std::uint32_t>(divide_up(packs, width));
    for (int k = 0; k < operands; ++k) r.step[k] = static_cast<std::int32_t>(width * pack[k]);
    r.end = static_cast<std::int32_t>(space.size);
  } else {
    const int along = walked_dimension<Program>(space);
    const std::int64_t steps = space.extent[along].divisor;
    r.columns = shortened(space, all_dimensions(inner) & ~(1u << along));
    r.columns.append(packs, pack);
    width = space.size / space.extent[inner].divisor / steps * packs;
    bool keeps = false;
    for (int k = 0; k < operands; ++k) {
      r.step[k] = static_cast<std::int32_t>(space.stride[k][along]);
      keeps = keeps || r.step[k] == 0;
    }
    if (keeps) per_thread = width * steps / busy_threads;
    if (per_thread > longest_walk) per_thread = longest_walk;
    const std::int64_t pieces = divide_up(steps, per_thread < ahead ? ahead : per_thread);
    per_thread = divide_up(divide_up(steps, pieces), ahead) * ahead;
    r.steps = static_cast<std::uint32_t>(steps);
    r.end = 0x7fffffff;
  }
  r.per_thread = static_cast<std::uint32_t>(per_thread);
  r.width = short_divisor(width);
  return walk;
}

/// How many threads walk.
template <int Operands>
constexpr std::int64_t threads_of(const walk_space<Operands>& space) {
  return divide_up(space.steps, space.per_thread) * static_cast<std::int64_t>(space.width.divisor);
}

}  // namespace onto::detail
