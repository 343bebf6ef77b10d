// SPDX-License-Identifier: BSL-1.0
// Row kernels on the CPU where rows do not lie along the last axis: rows are then columns of memory. A block of
// neighbouring columns goes through all phases before the next one begins, and what there is once a row is a vector.
#pragma once

#include <onto/backend/cpu/column_plan.hpp>
#include <onto/backend/cpu/map.hpp>
#include <onto/backend/cpu/row_worker.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// Runs a row kernel over columns.
ONTO_RUNTIME void run_column_kernel(thread_pool& pool, const column_kernel& kernel, const kernel_call& call);

#if ONTO_DEFINITIONS
/// What a thread needs for lines that are brought, and for values that wait.
class line_memory {
 public:
  explicit line_memory(const column_plan& plan) : lines(plan.kernel.inputs), buffer_(plan.line_memory) {
    char* at = buffer_.data();
    const std::int64_t held = plan.rows_held * plan.width;
    for (int i = 0; i < plan.kernel.inputs; ++i) {
      lines[i] = at;
      if (plan.how[i] == column_plan::reading::always)
        at += column_plan::rounded(held * size_of(computed_as(plan.call.in[i].type)));
    }
    halves = at;
    values = plan.gathers ? at + column_plan::rounded(held * 2) : at;
  }
  small_array<void*, 32> lines;
  void* halves;
  void* values;

 private:
  small_array<char, 32768> buffer_;
};

/// A block of columns on its way through the phases.
class column_block {
 public:
  using reading = column_plan::reading;

  ONTO_COLD explicit column_block(const column_plan& plan)
      : p_(plan),
        slots_(plan.kernel.inputs + plan.kernel.keeps + plan.kernel.given),
        from_(plan.kernel.inputs),
        at_(slots_),
        down_(slots_),
        size_(slots_),
        buffer_(plan.block_memory) {
    char* at = buffer_.data();
    const auto take = [&](int slot, std::int64_t elements) {
      at_[slot] = at;
      at += column_plan::rounded(elements * size_[slot]);
    };
    for (int i = 0; i < plan.kernel.inputs; ++i) {
      size_[i] = size_of(computed_as(plan.call.in[i].type));
      if (plan.how[i] == reading::once) take(i, plan.line_length());
      if (plan.how[i] == reading::whole) take(i, plan.n * plan.width);
    }
    int kept = plan.kernel.inputs, given = kept + plan.kernel.keeps;
    for (int s = 0; s < plan.kernel.count; ++s) {
      const column_step& step = plan.kernel.steps[s];
      if (step.keeps()) {
        size_[kept] = size_of(step.type);
        if (plan.keeps_in_memory(kept)) take(kept, plan.n * plan.width);
        ++kept;
      }
      if (step.gives()) {
        size_[given] = size_of(step.type);
        take(given++, plan.line_length());
      }
    }
  }

  /// Begins with block `number`. What there is once for each column is brought.
  void start(std::int64_t number, line_memory& memory) {
    const std::int64_t column = number % p_.blocks_across() * p_.width;
    width_ = least(p_.columns - column, p_.width);
    std::int64_t index[max_rank] = {};
    p_.outside.locate(number / p_.blocks_across() * p_.columns + column, index);
    for (int i = 0; i < p_.kernel.inputs; ++i) {
      const operand_view& v = p_.call.in[i];
      from_[i] = advance(static_cast<const void*>(v.data), p_.outside.offset_of(index, v.stride), v.type);
      down_[i] = 0;
      if (p_.how[i] == reading::once)
        bring(i, 0, p_.together, at_[i], memory);
      else if (p_.how[i] == reading::whole)
        bring_whole(i, memory);
      else if (p_.how[i] == reading::in_place)
        at_[i] = const_cast<void*>(from_[i]), down_[i] = p_.is_column(i) ? 0 : v.stride[p_.axis] * size_[i];
    }
    first_ = p_.outside.offset_of(index, p_.out_stride);
    out_ = advance(p_.call.out.data, first_, p_.call.out.type);
    kept_ = p_.kernel.inputs;
    given_ = kept_ + p_.kernel.keeps;
    for (int k = kept_; k < slots_; ++k) down_[k] = k < given_ ? width_ * size_[k] : 0;
    if (!p_.keeps_in_result) return;
    at_[given_ - 1] = out_;
    down_[given_ - 1] = p_.out_stride[p_.axis] * size_[given_ - 1];
  }

  /// What a phase does with elements `[lo, hi)` of each column. Folds into `states`, one for each element of a line.
  void run(const column_step& step, std::int64_t lo, std::int64_t hi, void* states, line_memory& memory) {
    const std::int64_t together = p_.together_in(step), rows = p_.rows_at_once(together);
    if (step.folds()) step.table->start(states, width_ * together);
    for (; lo < hi; lo += rows) run_lines(step, together, lo, least(hi - lo, rows), states, memory);
  }

  /// Computes what there is once for each column.
  void run_value(const column_step& step) {
    step.span({at_.data(), down_.data(), at_[given_], 0, first_, 0, 1, width_ * p_.together, p_.call.scalars});
    ++given_;
  }

  /// Joins what two parts of the columns folded.
  void merge(const column_step& step, void* states, const void* others) const {
    step.table->merge(states, others, width_ * p_.together_in(step));
  }

  /// What is left to do when a phase has seen the whole block.
  void finish(const column_step& step, void* states, line_memory& memory) {
    if (step.keeps()) ++kept_;
    if (!step.folds()) return;
    const fold_table& table = *step.table;
    const std::int64_t apart = width_ * table.accumulator_size, together = p_.together_in(step);
    for (std::int64_t k = 1; k < together; ++k)
      table.merge(states, static_cast<const char*>(states) + k * apart, width_);
    if (step.gives()) {
      char* const to = static_cast<char*>(at_[given_]);
      const std::int64_t bytes = width_ * size_[given_];
      table.finish(states, width_, p_.n, to);
      copy_rows(to + bytes, bytes, to, 0, p_.together - 1, bytes);
      ++given_;
    } else if (is_half_precision(p_.call.out.type)) {
      table.finish(states, width_, p_.n, memory.values);
      p_.call.half_precision->narrow(p_.call.out.type, static_cast<const float*>(memory.values), width_, out_);
    } else {
      table.finish(states, width_, p_.n, out_);
    }
  }

 private:
  /// Brings elements `[row, row + rows)` of an input's columns.
  ONTO_NOINLINE void bring(int i, std::int64_t row, std::int64_t rows, void* to, line_memory& memory) const {
    const operand_view& v = p_.call.in[i];
    const std::int64_t down = p_.is_column(i) ? 0 : v.stride[p_.axis];
    const bool half = is_half_precision(v.type);
    copy_elements(size_of(v.type), half ? memory.halves : to, width_, 1, advance(from_[i], row * down, v.type), down,
                  p_.inner_stride(v.stride), rows, width_);
    if (half) p_.call.half_precision->widen(v.type, memory.halves, rows * width_, static_cast<float*>(to));
  }

  /// Brings all of an input's columns, some rows at a time: so many halves have room.
  void bring_whole(int i, line_memory& memory) {
    down_[i] = width_ * size_[i];
    for (std::int64_t row = 0, rows = 0; row < p_.n; row += rows) {
      rows = least(p_.n - row, p_.rows_held);
      bring(i, row, rows, static_cast<char*>(at_[i]) + row * down_[i], memory);
    }
  }

  void run_lines(const column_step& step, std::int64_t together, std::int64_t row, std::int64_t rows, void* states,
                 line_memory& memory) {
    small_array<const void*, 32> in(slots_);
    small_array<std::int64_t, 32> down(slots_);
    for (int k = 0; k < step.slot_count; ++k) {
      if (!step.loads[k]) continue;
      if (k < p_.kernel.inputs && p_.how[k] == reading::always) {
        bring(k, row, rows, memory.lines[k], memory);
        in[k] = memory.lines[k];
        down[k] = width_ * together * size_[k];
      } else {
        in[k] = static_cast<const char*>(at_[k]) + row * down_[k];
        down[k] = down_[k] * together;
      }
    }
    const std::int64_t out_row = p_.out_stride[p_.axis];
    const bool stores = step.kind == phase_kind::store, narrows = stores && is_half_precision(p_.call.out.type);
    line_call c{in.data(),       down.data(),       nullptr,        0, first_ + row * out_row, out_row * together,
                rows / together, width_ * together, p_.call.scalars};
    const std::int64_t size = size_of(step.type);
    if (step.keeps()) {
      c.out = static_cast<char*>(at_[kept_]) + row * down_[kept_];
      c.out_down = down_[kept_] * together;
    } else if (stores && !narrows && !p_.scatters()) {
      c.out = static_cast<char*>(out_) + row * out_row * size;
      c.out_down = out_row * together * size;
      c.streamed = p_.streams && reinterpret_cast<std::uintptr_t>(c.out) % 64 == 0 && c.out_down % 64 == 0;
    } else {
      c.out = memory.values;
      c.out_down = c.count * size;
    }
    if (c.lines > 0) take(step, c, states);
    const std::int64_t rest = rows % together;
    if (rest != 0) {
      for (int k = 0; k < step.slot_count; ++k)
        if (step.loads[k]) in[k] = static_cast<const char*>(in[k]) + c.lines * down[k];
      line_call last = c;
      last.out = static_cast<char*>(c.out) + c.lines * c.out_down;
      last.first += c.lines * c.first_down;
      last.lines = 1;
      last.count = rest * width_;
      take(step, last, states);
    }
    if (stores && p_.scatters()) return scatter_lines(row, rows, memory);
    if (!narrows) return;
    const std::int64_t joined = out_row == width_ ? rows : 1;
    for (std::int64_t r = 0; r < rows; r += joined)
      p_.call.half_precision->narrow(p_.call.out.type, static_cast<const float*>(memory.values) + r * width_,
                                     joined * width_, advance(out_, (row + r) * out_row, p_.call.out.type));
  }

  /// Puts the values of some rows where they belong in a result whose columns are apart.
  void scatter_lines(std::int64_t row, std::int64_t rows, line_memory& memory) const {
    const operand_view& out = p_.call.out;
    const bool half = is_half_precision(out.type);
    if (half)
      p_.call.half_precision->narrow(out.type, static_cast<const float*>(memory.values), rows * width_, memory.halves);
    const std::int64_t down = p_.out_stride[p_.axis];
    copy_elements(size_of(out.type), advance(out_, row * down, out.type), p_.inner_stride(p_.out_stride), down,
                  half ? memory.halves : memory.values, 1, width_, width_, rows);
  }

  static void take(const column_step& step, const line_call& c, void* states) {
    if (step.span) step.span(c);
    if (!step.folds()) return;
    const int slot = step.slot_count - 1;
    const void* const values = step.span ? c.out : c.in[slot];
    const std::int64_t pitch = (step.span ? c.out_down : c.down[slot]) / size_of(step.type);
    step.table->columns(states, values, c.lines, c.count, pitch, 0);
  }

  const column_plan& p_;
  int slots_;
  small_array<const void*, 32> from_;   // where the columns of each input begin
  small_array<void*, 32> at_;           // and where they are read, and what phases keep and give
  small_array<std::int64_t, 32> down_;  // the bytes from a row to the next
  small_array<std::int64_t, 32> size_;  // of an element
  small_array<char, 16384> buffer_;
  void* out_ = nullptr;
  std::int64_t first_ = 0;
  std::int64_t width_ = 0;
  int kept_ = 0;
  int given_ = 0;
};

/// Runs all phases over a block, each in `parts` parts that threads do. `states`: room for the folds of each.
inline void run_block_in_parts(thread_pool& pool, const column_plan& plan, column_block& block, line_memory& memory,
                               char* states, std::int64_t parts) {
  const std::int64_t apart = plan.line_length() * column_plan::state_bytes;
  // Parts begin with a line.
  const auto row_of = [&](std::int64_t part) {
    return part == parts ? plan.n : plan.n / plan.together * part / parts * plan.together;
  };
  for (int s = 0; s < plan.kernel.count; ++s) {
    const column_step& step = plan.kernel.steps[s];
    if (step.kind == phase_kind::value) {
      block.run_value(step);
      continue;
    }
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      line_memory lines(plan);
      for (; lo < hi; ++lo) block.run(step, row_of(lo), row_of(lo + 1), states + lo * apart, lines);
      if (plan.streams) end_streaming();
    };
    split(pool, parts, 1, body);
    for (std::int64_t k = 1; step.folds() && k < parts; ++k) block.merge(step, states, states + k * apart);
    block.finish(step, states, memory);
  }
}

ONTO_RUNTIME void run_column_kernel(thread_pool& pool, const column_kernel& kernel, const kernel_call& call) {
  const std::int64_t total = call.space.size(), n = call.space.dims[call.space.rank - 1 - call.row_axis];
  const column_step& last = kernel.steps[kernel.count - 1];
  if (n == 0 && last.folds()) {
    extents results = call.space;
    results.dims[call.space.rank - 1 - call.row_axis] = 1;
    fold_nothing(*last.table, call, results.size());
  }
  if (total == 0) return;
  const column_plan plan(kernel, call);
  const std::int64_t blocks = plan.outer * plan.blocks_across(), in_block = n * plan.width,
                     grain = map_grain(kernel.cost);
  // Few blocks are done in parts of their columns, each phase by all threads.
  const std::int64_t parts =
      pool.size() > 1 && blocks < 2 * pool.size() ? least(least(in_block / grain, n), 4 * pool.size()) : 1;
  if (parts > 1) {
    small_array<char, 16384> states(parts * plan.line_length() * column_plan::state_bytes);
    column_block block(plan);
    line_memory memory(plan);
    for (std::int64_t b = 0; b < blocks; ++b) {
      block.start(b, memory);
      run_block_in_parts(pool, plan, block, memory, states.data(), parts);
    }
    return;
  }
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    small_array<char, 16384> states(plan.line_length() * column_plan::state_bytes);
    column_block block(plan);
    line_memory memory(plan);
    for (; lo < hi; ++lo) {
      block.start(lo, memory);
      for (int s = 0; s < kernel.count; ++s) {
        const column_step& step = kernel.steps[s];
        if (step.kind == phase_kind::value) {
          block.run_value(step);
        } else {
          block.run(step, 0, n, states.data(), memory);
          block.finish(step, states.data(), memory);
        }
      }
    }
    if (plan.streams) end_streaming();
  };
  split(pool, blocks, grain / in_block + 1, body, is_brief(total, kernel.cost));
}
#endif

}  // namespace onto::detail
