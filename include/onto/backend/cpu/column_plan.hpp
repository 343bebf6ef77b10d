// SPDX-License-Identifier: BSL-1.0
// Row kernels over columns of memory on the CPU: what one is without its types, and how columns are cut into blocks.
#pragma once

#include <onto/backend/cpu/fold.hpp>
#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/stream.hpp>
#include <onto/graph/phase_kind.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/kernel/workspace.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// Lines of a block, one below the other: `count` elements of each.
struct line_call {
  const void* const* in;     // per slot: the first line
  const std::int64_t* down;  // and the bytes from a line to the next
  void* out;
  std::int64_t out_down;
  std::int64_t first;       // the index of the first element in the space
  std::int64_t first_down;  // and from a line to the next
  std::int64_t lines;
  std::int64_t count;
  const std::uint64_t* scalars;
  bool streamed = false;  // as of a span
};
using line_function = void (*)(const line_call&);

/// One phase, without its types. Slots: inputs, what phases keep, what phases give.
struct column_step {
  phase_kind kind;
  element type;        // of its values
  line_function span;  // null: the values are those of a slot
  const fold_table* table;
  const bool* loads;  // per slot below `slot_count`: whether it is read
  int slot_count;

  constexpr bool folds() const { return table != nullptr; }
  constexpr bool keeps() const { return kind == phase_kind::kept_fold || kind == phase_kind::keep; }
  constexpr bool gives() const {
    return kind == phase_kind::fold || kind == phase_kind::kept_fold || kind == phase_kind::value;
  }
};

/// A row kernel for columns, without its types.
struct column_kernel {
  const column_step* steps;
  int count;
  int inputs;
  int keeps;
  int given;
  int cost;  // of all phases, per element
};

#if ONTO_DEFINITIONS
/// How columns are cut into blocks, and how a block's operands are read.
struct column_plan {
  // Measured: docs/adr/0062-row-kernels-over-any-axis.md.
  static constexpr std::int64_t most_columns = 1024;  // that are one block
  static constexpr std::int64_t usual_columns = 256;  // of a block, where there are more
  static constexpr std::int64_t least_line = 256;     // elements
  static constexpr std::int64_t longest_line = 2048;
  static constexpr std::int64_t lines_at_once = 4096;  // elements whose values wait in L1
  static constexpr std::int64_t most_kept = 4 << 20;   // bytes of what waits in other caches
  static constexpr std::int64_t state_bytes = sizeof(compensated_sum);

  enum class reading : unsigned char {
    in_place,
    once,   // brought for a block: one element for each column
    whole,  // brought for a block: all of it
    always  // brought whenever it is read
  };

  const column_kernel& kernel;
  const kernel_call& call;
  int axis;
  std::int64_t n;              // elements of a column
  std::int64_t columns = 1;    // that lie next to each other in the result
  std::int64_t outer;          // such groups
  std::int64_t width;          // of a block
  std::int64_t together = 1;   // elements of each column that may be in one line, which then repeats the columns
  std::int64_t rows_held = 0;  // of what is brought or waits
  coalesced_space outside;
  std::int64_t out_stride[max_rank];
  small_array<reading, 32> how;
  std::int64_t block_memory = 0, line_memory = 0;
  bool gathers = false;          // whether elements are gathered before they become floats
  bool keeps_in_result = false;  // the last of the kept values: it has the result's memory until that is written
  bool streams = false;          // whether lines of the result are written past the caches

  ONTO_COLD column_plan(const column_kernel& k, const kernel_call& c)
      : kernel(k), call(c), axis(c.space.rank - 1 - c.row_axis), n(c.space.dims[axis]), how(k.inputs) {
    extents result = c.space;
    if (!stores()) result.dims[axis] = 1;
    contiguous_strides(result, out_stride);
    const dimension_set among = all_dimensions(c.space.rank) & ~(1u << axis);
    dimension_set joined = joined_dimensions(c.space, out_stride, among);
    for (int i = 0; i < k.inputs; ++i) joined &= joined_dimensions(c.space, c.in[i].stride, among);
    outside = coalesce(c.space, joined, among);
    if (outside.rank > 0 && (outside.dimension[outside.rank - 1] > axis || has_short_rows()))
      columns = outside.extent[outside.rank - 1];
    outer = c.space.size() / n / columns;
    find_width();
    // Lines of whole packs and cache lines, where they can be.
    std::int64_t unit = 1;
    while (width * unit % 16 != 0) unit *= 2;
    if (!has_short_rows() && n >= 8 * unit && width * unit <= longest_line)
      together = greatest(least(greatest(least_line / width, 1), n / 8) / unit, 1) * unit;
    for (int i = 0; i < k.inputs; ++i) {
      how[i] = find_reading(i);
      gathers = gathers || is_half_precision(call.in[i].type);
    }
    gathers = gathers || (scatters() && is_half_precision(c.out.type));
    std::int64_t bytes = size_of(c.out.type);
    for (int i = 0; i < k.inputs; ++i) bytes += size_of(c.in[i].type);
    streams = is_apart() && !keeps_in_result && is_streamed(c.space.size() * bytes);
    plan_memory();
  }

  bool stores() const { return kernel.steps[kernel.count - 1].kind == phase_kind::store; }
  /// Whether columns are short rows, which lie along memory.
  bool has_short_rows() const { return call.row_axis == 0; }
  /// Whether the elements of a line are apart in the result.
  bool scatters() const { return inner_stride(out_stride) > 1; }
  /// Whether an input has one element for each column.
  bool is_column(int i) const { return n == 1 || call.in[i].stride[axis] == 0; }
  std::int64_t inner_stride(const std::int64_t* stride) const {
    return columns > 1 ? stride[outside.dimension[outside.rank - 1]] : 1;
  }
  std::int64_t blocks_across() const { return (columns + width - 1) / width; }
  /// Elements of the longest line.
  std::int64_t line_length() const { return width * together; }
  /// Elements of each column in a line of a phase.
  std::int64_t together_in(const column_step& step) const {
    if (step.folds() && width > least_line / 2) return 1;
    const int last = kernel.inputs + kernel.keeps - 1;
    const bool in_result = step.kind == phase_kind::store ||
                           (keeps_in_result && (step.keeps() || (last < step.slot_count && step.loads[last])));
    bool joined = !in_result || out_stride[axis] == width;
    for (int i = 0; i < step.slot_count && i < kernel.inputs; ++i)
      if (step.loads[i] && how[i] == reading::in_place && !is_column(i))
        joined = joined && call.in[i].stride[axis] == width;
    return joined ? together : 1;
  }
  /// Rows that a phase goes over at once.
  std::int64_t rows_at_once(std::int64_t together_now) const {
    return greatest(lines_at_once / (width * together_now), 1) * together_now;
  }
  /// Whether a kept value, by its slot, has memory of its own.
  bool keeps_in_memory(int slot) const { return !keeps_in_result || slot + 1 < kernel.inputs + kernel.keeps; }
  static std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  reading find_reading(int i) const {
    const operand_view& v = call.in[i];
    const bool next = !is_half_precision(v.type) && (width == 1 || inner_stride(v.stride) == 1);
    if (is_column(i)) return next && together == 1 ? reading::in_place : reading::once;
    if (has_short_rows() && !next) return reading::whole;
    const bool long_lines = v.stride[axis] == width || width > least_line / 2;
    return next && long_lines ? reading::in_place : reading::always;
  }

  /// Whether the result has memory of its own, of the type that is computed in.
  bool is_apart() const {
    bool apart = stores() && !scatters() && !is_half_precision(call.out.type);
    for (int i = 0; i < kernel.inputs; ++i) apart = apart && call.in[i].data != call.out.data;
    return apart;
  }

  void find_width() {
    width = columns <= (has_short_rows() ? usual_columns : most_columns) ? columns : usual_columns;
    std::int64_t bytes = 0;  // of what is kept in memory of its own, for each row and column
    for (int s = 0; s < kernel.count; ++s) {
      if (!kernel.steps[s].keeps()) continue;
      keeps_in_result = is_apart() && kernel.steps[s].type == call.out.type;
      bytes += size_of(kernel.steps[s].type);
    }
    if (keeps_in_result) bytes -= size_of(call.out.type);
    if (n * width * bytes > most_kept) width = least(width, greatest(most_kept / (n * bytes) / 16, 1) * 16);
    // Columns that are apart in the result are kept where they are not, if a cache has room for them.
    keeps_in_result = keeps_in_result && (out_stride[axis] == width || n * width * size_of(call.out.type) > most_kept);
  }

  void plan_memory() {
    rows_held = together;
    for (int s = 0; s < kernel.count; ++s)
      if (kernel.steps[s].kind != phase_kind::value)
        rows_held = greatest(rows_held, rows_at_once(together_in(kernel.steps[s])));
    for (int i = 0; i < kernel.inputs; ++i) {
      const std::int64_t size = size_of(computed_as(call.in[i].type));
      if (how[i] == reading::once) block_memory += rounded(line_length() * size);
      if (how[i] == reading::whole) block_memory += rounded(n * width * size);
      if (how[i] == reading::always) line_memory += rounded(rows_held * width * size);
    }
    std::int64_t values = 0;
    int kept = kernel.inputs;
    for (int s = 0; s < kernel.count; ++s) {
      const column_step& step = kernel.steps[s];
      const std::int64_t size = size_of(step.type);
      if (step.gives()) block_memory += rounded(line_length() * size);
      if (step.keeps() && keeps_in_memory(kept++)) block_memory += rounded(n * width * size);
      values = greatest(values, rows_held * width * size);
    }
    line_memory += rounded(values);
    if (gathers) line_memory += rounded(rows_held * width * 2);
  }
};
#endif

}  // namespace onto::detail
