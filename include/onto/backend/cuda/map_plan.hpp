// SPDX-License-Identifier: BSL-1.0
// How a map is gone through, decided on the host: along which dimension a thread takes several elements, and how it is
// cut into tiles. Plain arithmetic, the same code for all programs.
#pragma once

#include <onto/backend/cuda/coarsened_map.hpp>
#include <onto/backend/cuda/map_layout.hpp>
#include <onto/backend/cuda/tiled_map.hpp>

#include <cstdint>

namespace onto::detail {

/// Whether packs of `lanes` neighbours lie side by side in all operands, or are one element, and are aligned.
ONTO_COLD inline bool has_aligned_packs(const map_layout& m, int lanes) {
  if (m.rank == 0) return false;
  const int inner = m.rank - 1, out = m.operands - 1;
  if (inner > 0 && m.extent[inner] % lanes != 0) return false;
  for (int k = 0; k <= out; ++k) {
    const std::int64_t stride = m.stride[k][inner];
    if (k < out && stride == 0) continue;
    if (!lies_in_packs(m.data[k], m.bytes[k], lanes, stride, m.stride[k], inner)) return false;
  }
  for (int k = 0; k < m.more; ++k)
    if (!is_aligned(m.further(k), m.bytes[m.operands + k], lanes)) return false;
  return true;
}

/// Threads that keep the largest GPUs of today busy, each with two loads of 16 bytes under way, a few times over: where
/// all of them begin at once and some have to wait for the others' end, those run alone.
inline constexpr std::int64_t busy_threads = std::int64_t{1} << 20;
/// Steps after which what was loaded once no longer counts.
inline constexpr std::int64_t most_coarsened = 64;

/// The dimension along which most of what is loaded stays the same; the longest where none does.
ONTO_COLD inline int coarsened_dimension(const map_layout& m, int lanes) {
  const int inner = m.rank - 1;
  int best = 0;
  std::int64_t most = 0;
  for (int d = 0; d < inner; ++d) {
    const std::int64_t steps = m.extent[d] < most_coarsened ? m.extent[d] : most_coarsened;
    std::int64_t saved = 0;  // in 1 / most_coarsened of bytes
    for (int k = 0; k + 1 < m.operands; ++k)
      if (m.stride[k][d] == 0)
        saved += m.bytes[k] * (m.stride[k][inner] == 0 ? 1 : lanes) * (most_coarsened - most_coarsened / steps);
    if (saved > most || (saved == most && m.extent[d] > m.extent[best])) best = d, most = saved;
  }
  return best;
}

/// A coarsened map of any number of operands, to be written to.
struct coarsened_map_ref {
  coarsened_grid& grid;
  short_space_ref columns;
  bool* advances;
  std::int32_t* step;

  template <class Program>
  explicit coarsened_map_ref(coarsened_map<Program>& m)
      : grid(m.grid), columns(m.columns), advances(m.advances), step(m.step) {}
};

/// Lays out a coarsened map; `ahead`: steps that are loaded before the first is computed. *Returns* the number of
/// threads. *Preconditions* `has_aligned_packs`, and the map is short.
ONTO_COLD inline std::int64_t plan_coarsened_map(const map_layout& m, int lanes, int ahead,
                                                 const coarsened_map_ref& coarsened) {
  const int inner = m.rank - 1;
  const std::int64_t packs = divide_up(m.extent[inner], lanes);
  std::int64_t width = packs, steps = 1, per_thread = ahead;
  int along = -1;
  coarsened.grid.end = static_cast<std::int32_t>(short_limit);  // beyond every position
  if (inner == 0) {
    width = least(packs, divide_up(divide_up(packs, ahead), block_threads) * block_threads);
    steps = divide_up(packs, width);
    coarsened.grid.end = static_cast<std::int32_t>(m.size);
  } else {
    along = coarsened_dimension(m, lanes);
    steps = m.extent[along];
    coarsened.columns.append(m, all_dimensions(inner) & ~(1u << along));
    width = m.size / m.extent[inner] / steps * packs;
  }
  std::int32_t* pack = coarsened.columns.append(inner == 0 ? width : packs);
  bool keeps = false;
  for (int k = 0; k < m.operands; ++k) {
    coarsened.advances[k] = m.stride[k][inner] != 0;
    pack[k] = static_cast<std::int32_t>(lanes * m.stride[k][inner]);
    coarsened.step[k] = static_cast<std::int32_t>(along < 0 ? width * pack[k] : m.stride[k][along]);
    keeps = keeps || (along >= 0 && coarsened.step[k] == 0);
  }
  if (keeps) {
    per_thread = greatest(least(width * steps / busy_threads, most_coarsened), ahead);
    per_thread = divide_up(divide_up(steps, divide_up(steps, per_thread)), ahead) * ahead;
  }
  coarsened.grid.steps = static_cast<std::uint32_t>(steps);
  coarsened.grid.per_thread = static_cast<std::uint32_t>(per_thread);
  coarsened.grid.width = short_divisor(width);
  return divide_up(steps, per_thread) * width;
}

/// Shared memory of a block without asking for more.
inline constexpr int tile_bytes = 48 * 1024;

/// The dimension along which most of what is not along the results' neighbours lies; -1 where there is none.
ONTO_COLD inline int transposed_dimension(const map_layout& m) {
  const int inner = m.rank - 1;
  int best = -1, most = 0;
  for (int d = 0; d < inner; ++d) {
    int bytes = 0;
    for (int k = 0; k + 1 < m.operands; ++k)
      if (m.stride[k][d] == 1 && m.stride[k][inner] != 0) bytes += m.bytes[k];
    if (bytes > most) best = d, most = bytes;
  }
  return best;
}

/// The tile of a block for a matrix: 32 by 32, or as many elements where the matrix is narrower.
constexpr tile_shape tile_for(std::int64_t columns, std::int64_t rows, int elements) {
  const int all = logarithm_from(elements, 30), longest = 8;  // a block's threads are not more
  tile_shape tile;
  tile.width = logarithm_from(columns, 5);
  tile.height = logarithm_from(rows, all - tile.width < longest ? all - tile.width : longest);
  tile.width = logarithm_from(columns, all - tile.height < longest ? all - tile.height : longest);
  return tile;
}

/// The same in tiles, of any number of operands, to be written to.
struct tiled_map_ref {
  tiled_grid& grid;
  short_space_ref outer;
  std::int32_t* along_width;
  std::int32_t* along_height;
  std::int32_t* tile_offset;

  template <class Program>
  explicit tiled_map_ref(tiled_map<Program>& m)
      : grid(m.space.grid),
        outer(m.space.outer),
        along_width(m.space.along_width),
        along_height(m.space.along_height),
        tile_offset(m.space.tile_offset) {}
};

/// The blocks of a launch, and the shared memory of each.
struct tiled_launch {
  std::int64_t blocks;
  int shared;
};

/// Lays out a map of any strides, `elements` a block. *Preconditions* the map is short.
ONTO_COLD inline tiled_launch plan_tiled_map(const map_layout& m, int elements, const tiled_map_ref& tiled) {
  tiled_launch launch{divide_up(m.size, elements), 0};
  tiled.grid = {};
  for (int k = 0; k < m.operands; ++k) tiled.tile_offset[k] = -1, tiled.along_width[k] = 0, tiled.along_height[k] = 0;
  tiled.grid.size = static_cast<std::uint32_t>(m.size);
  const int inner = m.rank - 1, across = transposed_dimension(m);
  const tile_shape tile = across < 0 ? tile_shape{} : tile_for(m.extent[inner], m.extent[across], elements);
  // Matrices that fill no half of a block's tile are better read in the results' order: they are small.
  tiled.grid.tiled = across >= 0 && (elements >> 1) <= (1 << (tile.width + tile.height));
  tiled.outer.append(m, tiled.grid.tiled ? all_dimensions(inner) & ~(1u << across) : all_dimensions(m.rank));
  if (!tiled.grid.tiled) return launch;
  const std::int64_t columns = m.extent[inner], rows = m.extent[across];
  tiled.grid.tile = tile;
  tiled.grid.columns = static_cast<std::uint32_t>(columns);
  tiled.grid.rows = static_cast<std::uint32_t>(rows);
  tiled.grid.tile_columns = short_divisor(divide_up(columns, std::int64_t{1} << tile.width));
  tiled.grid.tile_rows = short_divisor(divide_up(rows, std::int64_t{1} << tile.height));
  launch.blocks = m.size / columns / rows * tiled.grid.tile_columns.divisor * tiled.grid.tile_rows.divisor;
  for (int k = 0; k < m.operands; ++k) {
    tiled.along_width[k] = static_cast<std::int32_t>(m.stride[k][inner]);
    tiled.along_height[k] = static_cast<std::int32_t>(m.stride[k][across]);
    const int needed = (tile.elements(m.bytes[k]) * m.bytes[k] + 15) / 16 * 16;
    if (k + 1 == m.operands || m.stride[k][across] != 1 || m.stride[k][inner] == 0 ||
        launch.shared + needed > tile_bytes)
      continue;
    tiled.tile_offset[k] = launch.shared;
    launch.shared += needed;
  }
  return launch;
}

/// The operands of a part of a map.
template <class Program>
ONTO_COLD map_operands<Program> operands_of(const map_layout& part, const std::uint64_t* scalars) {
  using facts = program_operands<Program>;
  map_operands<Program> o;
  for (int k = 0; k < facts::inputs; ++k) o.values.data[k] = part.data[k];
  for (int k = 0; k < facts::scalars; ++k) o.values.scalars[k] = scalars[k];
  if constexpr (facts::results > 0)
    for (int k = 0; k < facts::results; ++k) o.more.data[k] = const_cast<void*>(part.further(k));
  o.first = part.first;
  o.out = const_cast<void*>(part.data[facts::inputs]);
  return o;
}

}  // namespace onto::detail
