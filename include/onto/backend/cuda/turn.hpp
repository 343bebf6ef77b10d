// SPDX-License-Identifier: BSL-1.0
// Elementwise programs over operands in any order, some elements a thread. Operands whose neighbours lie along another
// dimension than the results' are read in tiles, along their own neighbours, and turned in shared memory. Plain
// arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/map_operands.hpp>

#include <cstdint>
#include <utility>

namespace onto::detail {

/// Elements that a thread takes.
template <class Program>
inline constexpr int turn_lanes = map_lanes<Program> < 4 ? 4 : map_lanes<Program>;

/// A tile is `1 << width` by `1 << height` elements, along the results' neighbours and along those of other operands.
struct tile_shape {
  int width = 0;
  int height = 0;

  /// Where in shared memory an element of a tile lies: rows along the longer side, and between them as much room as
  /// keeps threads that read or write across rows out of each other's banks.
  ONTO_HD constexpr int pitch(int bytes) const {
    const int along = width >= 5 ? width : height, across = width >= 5 ? height : width;
    const int banks = bytes > 4 ? 4 : 5;  // the logarithm of those that a request of so many threads can use
    const int apart = 1 << (banks - (across < banks ? across : banks));
    return (1 << along) + (apart * bytes < 4 ? 4 / bytes : apart);
  }
  ONTO_HD constexpr int at(int i, int j, int bytes) const {
    return width >= 5 ? j * pitch(bytes) + i : i * pitch(bytes) + j;
  }
  constexpr int elements(int bytes) const { return (1 << (width >= 5 ? height : width)) * pitch(bytes); }
};

/// In tiles: `outer` has the dimensions that are in no tile. Else it has all, in the results' order.
template <int Operands>
struct turn_space {
  short_space<Operands> outer;
  std::uint32_t size;  // elements, where there are no tiles
  bool tiled;
  tile_shape tile;
  std::uint32_t columns, rows;            // of all tiles, along their width and their height
  short_divisor tile_columns, tile_rows;  // tiles
  std::int32_t along_width[Operands];     // strides
  std::int32_t along_height[Operands];
  std::int32_t turned[Operands];  // where in shared memory an operand is turned; -1: read as the results are written
};

template <class Program>
struct turn_map : map_operands<Program> {
  turn_space<map_operands<Program>::operands> space;
};

/// What a thread takes: where its elements lie, in the results' order and in that of what is turned.
template <int Operands, int Lanes>
struct turn_thread {
  positions<Operands> at[Lanes];
  bool there[Lanes];
  bool there_turned[Lanes];
  int in_tile[Lanes];  // i + (j << 16)
  int in_tile_turned[Lanes];
};

template <int Operands, int Lanes>
ONTO_HD ONTO_INLINE void place_turn(const turn_space<Operands>& space, std::uint32_t block, int thread,
                               turn_thread<Operands, Lanes>& t) {
  if (!space.tiled) {
    for (int k = 0; k < Lanes; ++k) {
      const std::uint32_t index =
          (block * Lanes + static_cast<std::uint32_t>(k)) * block_threads + static_cast<std::uint32_t>(thread);
      t.there[k] = index < space.size;
      t.at[k] = locate(space.outer, index);
    }
    return;
  }
  const std::uint32_t row = space.tile_columns.divide(block);
  const std::uint32_t outer = space.tile_rows.divide(row);
  const std::uint32_t i0 = (block - row * space.tile_columns.divisor) << space.tile.width;
  const std::uint32_t j0 = (row - outer * space.tile_rows.divisor) << space.tile.height;
  const positions<Operands> start = locate(space.outer, outer);
  const int width = 1 << space.tile.width, height = 1 << space.tile.height;
  for (int k = 0; k < Lanes; ++k) {
    const int e = thread + k * block_threads;
    const int i = e & (width - 1), j = e >> space.tile.width;
    const int i_turned = e >> space.tile.height, j_turned = e & (height - 1);
    t.in_tile[k] = i + (j << 16);
    t.in_tile_turned[k] = i_turned + (j_turned << 16);
    t.there[k] = j < height && i0 + static_cast<std::uint32_t>(i) < space.columns &&
                 j0 + static_cast<std::uint32_t>(j) < space.rows;
    t.there_turned[k] = i_turned < width && i0 + static_cast<std::uint32_t>(i_turned) < space.columns &&
                        j0 + static_cast<std::uint32_t>(j_turned) < space.rows;
    for (int o = 0; o < Operands; ++o) {
      const bool turned = space.turned[o] >= 0;
      t.at[k].of[o] = start.of[o] + static_cast<std::int32_t>(i0 + (turned ? i_turned : i)) * space.along_width[o] +
                      static_cast<std::int32_t>(j0 + (turned ? j_turned : j)) * space.along_height[o];
    }
  }
}

/// Loads an operand in its own order.
template <class Program, int Slot, class Thread, class Loads>
ONTO_HD ONTO_INLINE void load_turn(const turn_map<Program>& map, const Thread& t, Loads& in) {
  using type = typename map_facts<Program>::template input<Slot>;
  const bool turned = map.space.turned[Slot] >= 0;
  for (int k = 0; k < turn_lanes<Program>; ++k)
    if (turned ? t.there_turned[k] : t.there[k])
      pack_of<Slot>(in).at[k] = device_load(static_cast<const type*>(map.values.data[Slot]) + t.at[k].of[Slot]);
}

/// Writes what is to be turned to shared memory, or reads it from there.
template <class Program, int Slot, bool Write, class Thread, class Loads>
ONTO_HD ONTO_INLINE void turn(const turn_map<Program>& map, const Thread& t, Loads& in, char* shared) {
  using type = typename map_facts<Program>::template input<Slot>;
  constexpr int bytes = static_cast<int>(sizeof(type));
  if (map.space.turned[Slot] < 0) return;
  type* tile = reinterpret_cast<type*>(shared + map.space.turned[Slot]);
  for (int k = 0; k < turn_lanes<Program>; ++k) {
    const int e = Write ? t.in_tile_turned[k] : t.in_tile[k];
    type* at = tile + map.space.tile.at(e & 0xffff, e >> 16, bytes);
    if constexpr (Write) {
      if (t.there_turned[k]) device_store(at, pack_of<Slot>(in).at[k]);
    } else {
      if (t.there[k]) pack_of<Slot>(in).at[k] = device_load(at);
    }
  }
}

template <class Program, class Thread, class Loads, int... Result, int... Lane>
ONTO_HD ONTO_INLINE void finish_turn(const turn_map<Program>& map, const Thread& t, const Loads& in,
                                     std::integer_sequence<int, Result...> results,
                                     std::integer_sequence<int, Lane...>) {
  using facts = map_facts<Program>;
  using stored = typename map_stores<Program, sizeof...(Lane), decltype(results)>::type;
  using result = typename facts::result;
  const auto compute = [&](int lane) {
    const std::int32_t at = t.at[lane].of[facts::inputs];
    stored more;
    device_store(static_cast<result*>(map.out) + at,
                 static_cast<result>(
                     Program::evaluate(lane_source<map_inputs_of<Program>, Loads, stored>{map, in, more, at, lane})));
    (device_store(static_cast<typename facts::template further<Result>*>(map.more.data[Result]) + at,
                  pack_of<Result>(more).at[lane]),
     ...);
  };
  ((t.there[Lane] ? compute(Lane) : void()), ...);
}

// ---- on the host

/// Shared memory of a block without asking for more.
inline constexpr int turn_bytes = 48 * 1024;

constexpr int logarithm_from(std::int64_t n, int most) {
  int r = 0;
  while (r < most && (std::int64_t{1} << r) < n) ++r;
  return r;
}

/// The dimension along which most of what is not along the results' neighbours lies; -1 where there is none.
template <class Program>
int turned_dimension(const strided_space<map_operands<Program>::operands>& space) {
  const int inner = space.rank - 1;
  int best = -1, most = 0;
  for (int d = 0; d < inner; ++d) {
    int bytes = 0;
    for (int k = 0; k < map_facts<Program>::inputs; ++k)
      if (space.stride[k][d] == 1 && space.stride[k][inner] != 0) bytes += bytes_of_operand<Program>(k);
    if (bytes > most) best = d, most = bytes;
  }
  return best;
}

/// How a map is gone through, and the shared memory that a block takes.
template <class Program>
struct turn_plan {
  turn_map<Program> map;
  std::int64_t blocks;
  int shared = 0;
};

/// *Preconditions* the space is short.
template <class Program>
turn_plan<Program> turn_map_of(const whole_map<Program>& map) {
  constexpr int operands = map_operands<Program>::operands;
  constexpr int lanes = turn_lanes<Program>, elements = lanes * block_threads;
  const auto& space = map.part.space;
  turn_plan<Program> plan{{map.operands, {}}, 0};
  auto& r = plan.map.space;
  for (int k = 0; k < operands; ++k) r.turned[k] = -1;
  const int inner = space.rank - 1, across = turned_dimension<Program>(space);
  if (across >= 0) {
    const std::int64_t columns = space.extent[inner].divisor, rows = space.extent[across].divisor;
    const int all = logarithm_from(elements, 30);
    tile_shape tile;
    tile.width = logarithm_from(columns, 5);
    tile.height = logarithm_from(rows, all - tile.width < 8 ? all - tile.width : 8);
    tile.width = logarithm_from(columns, all - tile.height < 8 ? all - tile.height : 8);
    // Matrices that fill no half of a block's tile are better read in the results' order: they are small.
    if (tile.width + tile.height >= all - 1) {
      r.tiled = true;
      r.tile = tile;
      r.columns = static_cast<std::uint32_t>(columns);
      r.rows = static_cast<std::uint32_t>(rows);
      r.tile_columns = short_divisor(divide_up(columns, std::int64_t{1} << tile.width));
      r.tile_rows = short_divisor(divide_up(rows, std::int64_t{1} << tile.height));
      r.outer = shortened(space, all_dimensions(inner) & ~(1u << across));
      plan.blocks = space.size / columns / rows * r.tile_columns.divisor * r.tile_rows.divisor;
      for (int k = 0; k < operands; ++k) {
        r.along_width[k] = static_cast<std::int32_t>(space.stride[k][inner]);
        r.along_height[k] = static_cast<std::int32_t>(space.stride[k][across]);
        const int bytes = bytes_of_operand<Program>(k);
        const int needed = (tile.elements(bytes) * bytes + 15) / 16 * 16;
        if (k == map_facts<Program>::inputs || space.stride[k][across] != 1 || space.stride[k][inner] == 0 ||
            plan.shared + needed > turn_bytes)
          continue;
        r.turned[k] = plan.shared;
        plan.shared += needed;
      }
      return plan;
    }
  }
  r.outer = shortened(space, all_dimensions(space.rank));
  r.size = static_cast<std::uint32_t>(space.size);
  plan.blocks = divide_up(space.size, elements);
  return plan;
}

}  // namespace onto::detail
