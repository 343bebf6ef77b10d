// SPDX-License-Identifier: BSL-1.0
// Elementwise programs over operands in any order, some elements a thread. Operands whose neighbours lie along another
// dimension than the results' are read in tiles, along their own neighbours, and transposed in shared memory. Plain
// arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/map_operands.hpp>

#include <cstdint>
#include <utility>

namespace onto::detail {

/// Elements that a thread takes.
template <class Program>
inline constexpr int tiled_lanes = map_lanes<Program> < 4 ? 4 : map_lanes<Program>;

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

/// How a space is cut into tiles, if it is.
struct tiled_grid {
  std::uint32_t size;  // elements, where there are no tiles
  bool tiled;
  tile_shape tile;
  std::uint32_t columns, rows;            // of all tiles, along their width and their height
  short_divisor tile_columns, tile_rows;  // tiles
};

/// In tiles: `outer` has the dimensions that are in no tile. Else it has all, in the results' order.
template <int Operands>
struct tiled_space {
  tiled_grid grid;
  short_space<Operands> outer;
  std::int32_t along_width[Operands];  // strides
  std::int32_t along_height[Operands];
  std::int32_t tile_offset[Operands];  // where in shared memory the tile of a transposed operand is; -1: read as the
                                       // results are written
};

template <class Program>
struct tiled_map : map_operands<Program> {
  tiled_space<map_operands<Program>::operands> space;
};

/// What a thread takes: where its elements lie, in the results' order and in that of what is transposed.
template <int Operands, int Lanes>
struct tiled_thread {
  positions<Operands> at[Lanes];
  // Whether there are such elements, a bit for each: as flags, those of 8 elements were spilled.
  unsigned there;
  unsigned there_transposed;
  int in_tile[Lanes];  // i + (j << 16)
  int in_tile_transposed[Lanes];
};

template <int Operands, int Lanes>
ONTO_HD ONTO_INLINE void place_tiled_thread(const tiled_space<Operands>& space, std::uint32_t block, int thread,
                                            tiled_thread<Operands, Lanes>& t) {
  t.there = 0;
  t.there_transposed = 0;
  if (!space.grid.tiled) {
    for (int k = 0; k < Lanes; ++k) {
      const std::uint32_t index =
          (block * Lanes + static_cast<std::uint32_t>(k)) * block_threads + static_cast<std::uint32_t>(thread);
      t.there |= (index < space.grid.size ? 1u : 0u) << k;
      t.at[k] = locate(space.outer, index);
    }
    return;
  }
  const std::uint32_t row = space.grid.tile_columns.divide(block);
  const std::uint32_t outer = space.grid.tile_rows.divide(row);
  const std::uint32_t i0 = (block - row * space.grid.tile_columns.divisor) << space.grid.tile.width;
  const std::uint32_t j0 = (row - outer * space.grid.tile_rows.divisor) << space.grid.tile.height;
  const positions<Operands> start = locate(space.outer, outer);
  const int width = 1 << space.grid.tile.width, height = 1 << space.grid.tile.height;
  for (int k = 0; k < Lanes; ++k) {
    const int e = thread + k * block_threads;
    const int i = e & (width - 1), j = e >> space.grid.tile.width;
    const int i_transposed = e >> space.grid.tile.height, j_transposed = e & (height - 1);
    t.in_tile[k] = i + (j << 16);
    t.in_tile_transposed[k] = i_transposed + (j_transposed << 16);
    const bool there = j < height && i0 + static_cast<std::uint32_t>(i) < space.grid.columns &&
                       j0 + static_cast<std::uint32_t>(j) < space.grid.rows;
    const bool there_transposed = i_transposed < width &&
                                  i0 + static_cast<std::uint32_t>(i_transposed) < space.grid.columns &&
                                  j0 + static_cast<std::uint32_t>(j_transposed) < space.grid.rows;
    t.there |= (there ? 1u : 0u) << k;
    t.there_transposed |= (there_transposed ? 1u : 0u) << k;
    for (int o = 0; o < Operands; ++o) {
      const bool turned = space.tile_offset[o] >= 0;
      t.at[k].of[o] =
          start.of[o] +
          static_cast<std::int32_t>(i0 + static_cast<unsigned>(turned ? i_transposed : i)) * space.along_width[o] +
          static_cast<std::int32_t>(j0 + static_cast<unsigned>(turned ? j_transposed : j)) * space.along_height[o];
    }
  }
}

/// Loads an operand in its own order.
template <class Program, int Slot, class Thread, class Loads>
ONTO_HD ONTO_INLINE void load_tiled(const tiled_map<Program>& map, const Thread& t, Loads& in) {
  using type = typename program_operands<Program>::template input<Slot>;
  const bool turned = map.space.tile_offset[Slot] >= 0;
  for (int k = 0; k < tiled_lanes<Program>; ++k)
    if ((turned ? t.there_transposed : t.there) >> k & 1u)
      pack_of<Slot>(in).at[k] = device_load(static_cast<const type*>(map.values.data[Slot]) + t.at[k].of[Slot]);
}

/// Writes what is to be transposed to shared memory, or reads it from there.
template <class Program, int Slot, bool Write, class Thread, class Loads>
ONTO_HD ONTO_INLINE void transpose_tile(const tiled_map<Program>& map, const Thread& t, Loads& in, char* shared) {
  using type = typename program_operands<Program>::template input<Slot>;
  constexpr int bytes = static_cast<int>(sizeof(type));
  if (map.space.tile_offset[Slot] < 0) return;
  type* tile = reinterpret_cast<type*>(shared + map.space.tile_offset[Slot]);
  for (int k = 0; k < tiled_lanes<Program>; ++k) {
    const int e = Write ? t.in_tile_transposed[k] : t.in_tile[k];
    type* at = tile + map.space.grid.tile.at(e & 0xffff, e >> 16, bytes);
    if constexpr (Write) {
      if (t.there_transposed >> k & 1u) device_store(at, pack_of<Slot>(in).at[k]);
    } else {
      if (t.there >> k & 1u) pack_of<Slot>(in).at[k] = device_load(at);
    }
  }
}

template <class Program, class Thread, class Loads, int... Result, int... Lane>
ONTO_HD ONTO_INLINE void store_tiled(const tiled_map<Program>& map, const Thread& t, const Loads& in,
                                     std::integer_sequence<int, Result...>, std::integer_sequence<int, Lane...>) {
  using facts = program_operands<Program>;
  using stored = typename result_packs<Program, sizeof...(Lane)>::type;
  using result = typename facts::result;
  const auto compute = [&](int lane) {
    const std::int32_t at = t.at[lane].of[facts::inputs];
    stored more;
    device_store(static_cast<result*>(map.out) + at,
                 static_cast<result>(Program::evaluate(
                     map_source<map_inputs_of<Program>, Loads, stored>{{{map}, in, lane}, more, at})));
    (device_store(static_cast<typename facts::template further<Result>*>(map.more.data[Result]) + at,
                  pack_of<Result>(more).at[lane]),
     ...);
  };
  (((t.there >> Lane & 1u) != 0 ? compute(Lane) : void()), ...);
}

}  // namespace onto::detail
