// SPDX-License-Identifier: BSL-1.0
// Reductions on the CPU, fused with the map before them: values are made run by run in L1 and folded
// there, along memory whatever the axes.
#pragma once

#include <onto/backend/cpu/reduce_all.hpp>
#include <onto/backend/cpu/reduction.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

ONTO_RUNTIME void run_reduce(thread_pool& pool, const reduction& r, const kernel_call& call);

#if ONTO_DEFINITIONS
/// The operand's space with kept and folded dimensions in turn: neighbours of one kind are one, extents of 1 are left
/// out.
struct reduce_shape {
  int rank;
  std::int64_t dims[max_rank];
  bool kept[max_rank];
  std::int64_t results = 1;
  std::int64_t folded = 1;

  ONTO_COLD explicit reduce_shape(const kernel_call& call) {
    const dimension_set folds = folded_axes(*call.op, call.space.rank);
    dimension_set joined = 0, before = 0;  // whether the dimension before folds
    for (int k = 0; k < call.space.rank; ++k) {
      if (call.space.dims[k] == 1) continue;
      if ((folds >> k & 1u) == before) joined |= 1u << k;
      before = folds >> k & 1u;
    }
    const coalesced_space c = coalesce(call.space, joined);
    for (int k = 0; k < c.rank; ++k) {
      dims[k] = c.extent[k];
      kept[k] = (folds >> c.dimension[k] & 1u) == 0;
      (kept[k] ? results : folded) *= dims[k];
    }
    rank = c.rank;
    if (rank > 0) return;
    dims[rank] = 1;
    kept[rank++] = false;
  }
  /// The longest dimension of one kind, or -1.
  int longest(bool keep) const {
    int best = -1;
    for (int k = 0; k < rank; ++k)
      if (kept[k] == keep && (best < 0 || dims[k] > dims[best])) best = k;
    return best;
  }
};

/// Values that are turned at a time, so that rows of several groups are one.
inline constexpr std::int64_t turned_most = 1024;

/// Part of a reduction: all of its space, but `[lo, hi)` in dimension `cut`.
struct reduce_box {
  const reduce_shape& shape;
  int cut;
  std::int64_t lo;
  std::int64_t hi;
};

/// Folds groups of few short rows into the columns of each: with the dimensions outside of a group in `l`, for its
/// values, from `begin` on, and its accumulators. Several groups are turned at a time, so that their rows are one.
inline void fold_short_columns(const reduction& of, value_reader& values, const strided_layout<2>& l,
                               std::int64_t begin, std::int64_t rows, std::int64_t n, char* accumulators) {
  alignas(64) char turned[8 * turned_most];
  const std::int64_t size = of.fold.accumulator_size, bytes = n * size_of(of.type), group = rows * n;
  const std::int64_t most = (values.most < turned_most ? values.most : turned_most) / group;
  const std::int64_t along = l.extent[l.rank - 1];
  std::int64_t some;
  for (std::int64_t g = 0, groups = l.size(); g < groups; g += some) {
    const std::int64_t left = along - g % along;
    some = left < most ? left : most;
    const auto* const v =
        static_cast<const char*>(values.read(begin + offset_of(l.rank, l.extent, l.stride[0], g), some * group));
    for (std::int64_t r = 0; r < rows; ++r)
      copy_rows(turned + r * some * bytes, bytes, v + r * bytes, rows * bytes, some, bytes);
    const std::int64_t place = offset_of(l.rank, l.extent, l.stride[1], g);
    of.fold.columns(accumulators + place * size, turned, rows, some * n, some * n, 0);
  }
}

/// Folds a box of values into accumulators for its results, which are in row-major order, or into these themselves.
inline void fold_box(const reduction& of, value_reader& values, const reduce_box& box, char* accumulators) {
  const fold_table& fold = of.fold;
  const std::int64_t size = values.whole ? fold.result_size : fold.accumulator_size;
  const reduce_shape& s = box.shape;
  std::int64_t begins[max_rank]{}, extent[max_rank]{};
  for (int k = 0; k < s.rank; ++k) {
    begins[k] = k == box.cut ? box.lo : 0;
    extent[k] = k == box.cut ? box.hi - box.lo : s.dims[k];
  }
  const int inner = s.rank - 1;
  const std::int64_t n = extent[inner], pitch = s.dims[inner];
  const std::int64_t rows = inner > 0 ? extent[inner - 1] : 1, row0 = inner > 0 ? begins[inner - 1] : 0;
  const std::int64_t most = values.most;
  const bool kept = s.kept[inner];
  // Rows are read together where they lie together.
  std::int64_t together = 1;
  if (values.direct && (kept || n == pitch))
    together = rows;
  else if (n == pitch && n < most)
    together = most / n;

  // The dimensions outside the innermost: where values begin, and the accumulators of their results.
  strided_layout<2> l;
  std::int64_t begin = begins[inner], step = pitch, results = kept ? n : 1;
  for (int k = inner - 1; k >= 0; --k) {
    l.extent[k] = extent[k];
    l.stride[0][k] = step;
    begin += begins[k] * step;
    step *= s.dims[k];
    l.stride[1][k] = s.kept[k] ? results : 0;
    if (s.kept[k]) results *= l.extent[k];
  }
  l.rank = inner > 0 ? inner - 1 : 0;
  if (kept && l.rank > 0 && n == pitch && rows == s.dims[inner - 1] && 4 * rows * n <= turned_most &&
      rows * n <= values.most)
    return fold_short_columns(of, values, l, begin, rows, n, accumulators);
  for (std::int64_t g = 0, groups = l.size(); g < groups; ++g) {
    std::int64_t first = begin + offset_of(l.rank, l.extent, l.stride[0], g);
    const std::int64_t place = offset_of(l.rank, l.extent, l.stride[1], g);
    constexpr std::int64_t several = value_reader::rows_together, part = value_reader::row_most;
    // Of few rows that are made together, parts of several are made, one after the other.
    if (kept && !of.bare && rows > 1 && together < several && most >= part) {
      for (std::int64_t c = 0; c < n; c += part)
        for (std::int64_t r = 0; r < rows; r += several) {
          const std::int64_t count = n - c < part ? n - c : part, some = rows - r < several ? rows - r : several;
          const void* v = nullptr;
          for (std::int64_t k = 0; k < some; ++k) v = values.read(first + (r + k) * pitch + c, count, k * count);
          fold.columns(accumulators + (place + c) * size, v, some, count, count, row0 + r);
        }
      continue;
    }
    for (std::int64_t r = 0; r < rows; r += together, first += together * pitch) {
      const std::int64_t some = rows - r < together ? rows - r : together;
      if (kept && (some > 1 || n <= most)) {
        const bool apart = values.direct;
        const void* v = values.read(first, apart ? (some - 1) * pitch + n : some * n);
        fold.columns(accumulators + place * size, v, some, n, apart ? pitch : n, row0 + r);
      } else if (kept) {
        for (std::int64_t c = 0; c < n; c += most) {
          const std::int64_t count = n - c < most ? n - c : most;
          fold.columns(accumulators + (place + c) * size, values.read(first + c, count), 1, count, count, row0 + r);
        }
      } else {
        char* const to = accumulators + (place + r) * size;
        if (some > 1 || n <= most) {
          values.fold_rows(to, first, some, n, begins[inner]);
          continue;
        }
        for (std::int64_t c = 0; c < n; c += most) {
          const std::int64_t count = n - c < most ? n - c : most;
          values.fold_rows(to, first + c, 1, count, begins[inner] + c);
        }
      }
    }
  }
}

/// A small reduction of values that lie next to each other, of rows or of columns alone: nothing is cut, and nothing is
/// staged. It calls the same functions with the same values as the general way. *Returns* whether it is one.
inline bool fold_small(const reduction& r, const kernel_call& call) {
  const extents& space = call.space;
  const dimension_set folds = folded_axes(*call.op, space.rank);
  std::int64_t inner = 1, outer = 1;
  int kinds = 0;  // neighbouring dimensions of one kind are one; those of 1 are none
  bool kept = false;
  for (int k = space.rank - 1; k >= 0; --k) {
    const std::int64_t n = space.dims[k];
    if (n == 1) continue;
    if (n < 1 || n > small_reduction) return false;
    const bool keeps = (folds >> k & 1u) == 0;
    if (kinds == 0 || (kinds == 1) == (keeps != kept)) ++kinds;
    if (kinds == 1) kept = keeps;
    (kinds == 1 ? inner : outer) *= n;
    if (kinds > 2 || inner * outer > small_reduction) return false;
  }
  constexpr int size_most = 16;  // of an accumulator
  if (r.fold.accumulator_size > size_most || !all_in_place(call)) return false;
  const std::int64_t results = kept ? inner : outer, folded = kept ? outer : inner;
  alignas(64) char accumulators[small_reduction * size_most], made[small_reduction * 8];
  small_array<const void*, 16> in(call.inputs);
  for (int i = 0; i < call.inputs; ++i) in[i] = call.in[i].data;
  r.fold.start(accumulators, results);
  const void* values = r.bare ? in[0] : made;
  if (!kept && r.folded) {
    r.folded({in.data(), results, folded, call.scalars, 0, accumulators});
  } else {
    if (r.span)
      r.span({in.data(), made, 0, inner * outer, call.scalars, nullptr});
    else if (!r.bare)
      r.folded({in.data(), 1, inner * outer, call.scalars, 0, nullptr, made});
    if (kept)
      r.fold.columns(accumulators, values, outer, inner, inner, 0);
    else
      r.fold.rows(accumulators, values, outer, inner, 0);
  }
  r.fold.finish(accumulators, results, folded, call.out.data);
  return true;
}

/// How a reduction is shared out: over blocks of results where there are enough of them, else over parts of the longest
/// folded dimension, each with accumulators of its own that are joined in order, so that the result does not depend on
/// which thread was faster.
struct reduce_partition {
  std::int64_t grain, total;
  int across;                   // the dimension whose results blocks share out, or -1
  std::int64_t extent, others;  // its extent, and how many results there are of each
  std::int64_t width, blocks;   // of results along it in a block: few enough for its accumulators to stay in L1
  int along;                    // the dimension that parts share out, or -1
  std::int64_t parts;           // 0: blocks instead

  reduce_partition(const reduce_shape& shape, const reduction& r, int threads)
      : grain(map_grain(r.cost)),
        total(shape.results * shape.folded),
        across(shape.longest(true)),
        extent(across < 0 ? 1 : shape.dims[across]),
        others(shape.results / extent),
        width(4096 / others),
        along(shape.longest(false)),
        parts(0) {
    const std::int64_t shares = total / grain < 1 ? 1 : total / grain;
    const std::int64_t wanted = shares < 4 * threads ? shares : 4 * threads;
    const std::int64_t least = across == shape.rank - 1 ? 512 : 1;  // columns are read along memory
    if (threads > 1 && width > (extent + wanted - 1) / wanted) width = (extent + wanted - 1) / wanted;
    if (width < least) width = least;
    if (width > extent) width = extent;
    blocks = (extent + width - 1) / width;
    if (threads > 1 && along >= 0 && blocks < wanted && blocks < 2 * threads &&
        shape.results * wanted * r.fold.accumulator_size <= 4 << 20)
      parts = wanted < shape.dims[along] ? wanted : shape.dims[along];
  }
};

ONTO_BEGIN_RUNS_ONCE
inline void reduce_in_parts(thread_pool& pool, const reduction& r, const kernel_call& call, const reduce_shape& shape,
                            const reduce_partition& cut) {
  const map_plan plan(call, r.copy);
  const std::int64_t size = r.fold.accumulator_size, length = shape.dims[cut.along];
  small_array<char, 1024> accumulators(cut.parts * shape.results * size);
  r.fold.start(accumulators.data(), cut.parts * shape.results);
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    value_reader values(plan, r, shape.kept[shape.rank - 1]);
    for (std::int64_t p = lo; p < hi; ++p)
      fold_box(r, values, {shape, cut.along, length * p / cut.parts, length * (p + 1) / cut.parts},
               accumulators.data() + p * shape.results * size);
  };
  split(pool, cut.parts, 1, body, is_brief(cut.total, r.cost));
  for (std::int64_t p = 1; p < cut.parts; ++p)
    r.fold.merge(accumulators.data(), accumulators.data() + p * shape.results * size, shape.results);
  finish_results(r, call, accumulators.data(), shape.folded, 0, shape.results);
}
ONTO_END_RUNS_ONCE

inline void reduce_in_blocks(thread_pool& pool, const reduction& r, const kernel_call& call, const reduce_shape& shape,
                             const reduce_partition& cut) {
  const map_plan plan(call, r.copy);
  const std::int64_t size = r.fold.accumulator_size;
  std::int64_t before = 1;  // results that differ only in kept dimensions outside `across`
  for (int k = 0; k < cut.across; ++k)
    if (shape.kept[k]) before *= shape.dims[k];
  const std::int64_t after = cut.others / before;
  // Each result is that of one short row, which needs no accumulator.
  const bool whole = r.folded && shape.results > 1 && shape.folded < short_row_of(fold_of(*call.op)) &&
                     !shape.kept[shape.rank - 1] && shape.folded == shape.dims[shape.rank - 1] &&
                     !is_half_precision(call.out.type);
  // Each is the sum of one value, as where a gradient is summed to the shape that it has: the value.
  const bool same = shape.folded == 1 && fold_of(*call.op) == fold::sum && call.out.type == r.type;
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    value_reader values(plan, r, shape.kept[shape.rank - 1]);
    values.whole = whole;
    small_array<char, 32768> accumulators(whole || same ? 0 : cut.width * cut.others * size);
    for (std::int64_t b = lo; b < hi; ++b) {
      const std::int64_t first = b * cut.width;
      const std::int64_t last = first + cut.width < cut.extent ? first + cut.width : cut.extent;
      if (same) {
        values.write(first, last - first, static_cast<char*>(call.out.data) + first * size_of(r.type));
        continue;
      }
      if (whole) {
        fold_box(r, values, {shape, cut.across, first, last},
                 static_cast<char*>(call.out.data) + first * r.fold.result_size);
        continue;
      }
      const std::int64_t run = (last - first) * after;
      r.fold.start(accumulators.data(), before * run);
      fold_box(r, values, {shape, cut.across, first, last}, accumulators.data());
      for (std::int64_t k = 0; k < before; ++k)
        finish_results(r, call, accumulators.data() + k * run * size, shape.folded, (k * cut.extent + first) * after,
                       run);
    }
  };
  split(pool, cut.blocks, cut.grain / (cut.total / cut.blocks) + 1, body, is_brief(cut.total, r.cost));
}

ONTO_RUNTIME void run_reduce(thread_pool& pool, const reduction& r, const kernel_call& call) {
  if (fold_small(r, call)) return;
  const reduce_shape shape(call);
  if (shape.results == 0) return;
  if (shape.folded == 0) {
    small_array<char, 64> accumulator(r.fold.accumulator_size);
    r.fold.start(accumulator.data(), 1);
    for (std::int64_t k = 0; k < shape.results; ++k) finish_results(r, call, accumulator.data(), 0, k, 1);
    return;
  }
  const reduce_partition cut(shape, r, pool.size());
  if (cut.parts > 0)
    reduce_in_parts(pool, r, call, shape, cut);
  else
    reduce_in_blocks(pool, r, call, shape, cut);
}
#endif

inline namespace ONTO_VECTOR_ABI {

/// The kernel of a reduction by `F` of a fused program. `Chooses`: as that of cpu_map; `All`: over all axes.
template <class Program, fold F, class Copies = copies<all_sizes, true>,
          bool Packs = (has_packs && Program::packs.possible()), bool Chooses = true, bool All = false>
void cpu_reduce(thread_pool& pool, const kernel_call& call) {
  using T = element_t<Program::result>;
  constexpr bool bare = is_bare_load(Program{});
  constexpr bool in_registers = Packs && Program::packs.plain && folds_in_registers<F, T>;
  constexpr fold_loops loops = All ? (in_registers ? fold_loops::none : fold_loops::rows)
                                   : (in_registers ? fold_loops::columns : fold_loops::all);
  using tables = fold_tables<F, T, loops>;
  const fold_table* table = &tables::template of<vector_bytes>();
  if constexpr (Chooses) table = &chosen_table<tables>();
  reduction r{*table, nullptr, nullptr, bare, Program::result, program_cost(Program{}) + 1, &Copies::run};
  if constexpr (in_registers)
    r.folded = fold_body<Program, F, !All>::variants::chosen();
  else if constexpr (!bare && Chooses)
    r.span = chosen_span<Program, Packs>();
  else if constexpr (!bare)
    r.span = span_alone<Program, Packs>();
  if constexpr (All)
    run_reduce_all(pool, r, call);
  else
    run_reduce(pool, r, call);
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
