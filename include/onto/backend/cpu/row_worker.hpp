// SPDX-License-Identifier: BSL-1.0
// Rows on the CPU: where the elements of a row are, who works on which, and the memory for what phases keep. Rows are
// spread over threads; of few long rows, parts.
#pragma once

#include <onto/backend/cpu/map.hpp>
#include <onto/backend/cpu/row_span.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace onto::detail {

/// One phase, without its types.
struct row_step {
  phase_kind kind;
  element type;            // of its values
  span_function span;      // where it does not fold
  row_fold_function take;  // where it does
  const fold_table* table;
};

/// One row, for all phases.
struct row_call {
  void* const* at;         // the row in the inputs, and what is kept of it
  std::uint64_t* scalars;  // and after them what phases give
  void* out;               // the row of the result, or its one element
  std::int64_t number;
  std::int64_t count;
  double share;  // of one element in a mean
};

/// A row kernel, without its types.
struct row_kernel {
  void (*run)(const row_call* rows, int count);  // all phases
  const row_step* steps;
  int count;
  int inputs;
  int scalars;
  int keeps;
  int folded;
  int cost;             // of all phases, per element
  const bool* columns;  // per input: whether it is read once for each row
};

/// Runs a row kernel.
ONTO_RUNTIME void run_row_kernel(thread_pool& pool, const row_kernel& kernel, const kernel_call& call);

#if ONTO_DEFINITIONS
/// How a call's operands are read.
struct row_plan {
  const row_kernel& kernel;
  const kernel_call& call;
  std::int64_t n;  // elements of a row
  std::int64_t rows;
  std::int64_t bytes = 0;  // for a row of what is kept, of operands that are not used where they are, of the result
  bool gathers = false;    // whether elements are gathered before they become floats
  bool keeps_in_result = false;  // the last of the kept values: the memory is then at hand when the result is stored
  coalesced_space outside;       // the dimensions outside the row, as few as the operands allow

  row_plan(const row_kernel& k, const kernel_call& c)
      : kernel(k), call(c), n(c.space.dims[c.space.rank - 1]), rows(c.space.size() / n) {
    for (int i = 0; i < k.inputs; ++i) {
      if (is_direct(i)) continue;
      bytes += room(i);
      gathers = gathers || (is_half_precision(c.in[i].type) && !is_contiguous_row(i));
    }
    for (int s = 0; s < k.count; ++s)
      if (is_kept(k.steps[s])) bytes += round_up(n) * size_of(k.steps[s].type);
    if (is_half_precision(c.out.type)) bytes += round_up(stores_row() ? n : 1) * size_of(element::float32);
    for (int s = 0; s < k.count; ++s)
      if (is_kept(k.steps[s]))
        keeps_in_result = stores_row() && k.steps[s].type == c.out.type && !is_half_precision(c.out.type);
    for (int i = 0; i < k.inputs; ++i) keeps_in_result = keeps_in_result && c.in[i].data != c.out.data;
    const dimension_set among = all_dimensions(c.space.rank - 1);
    dimension_set joined = among;
    for (int i = 0; i < k.inputs; ++i) joined &= joined_dimensions(c.space, c.in[i].stride, among);
    outside = coalesce(c.space, joined, among);
  }

  bool stores_row() const { return kernel.steps[kernel.count - 1].kind == phase_kind::store; }

  static constexpr bool is_kept(const row_step& s) {
    return s.kind == phase_kind::kept_fold || s.kind == phase_kind::keep;
  }
  static std::int64_t round_up(std::int64_t elements) { return (elements + 63) / 64 * 64; }

  bool is_contiguous_row(int i) const {
    return kernel.columns[i] || n == 1 || call.in[i].stride[call.space.rank - 1] == 1;
  }
  /// Whether the elements of an operand are used where they are.
  bool is_direct(int i) const { return !is_half_precision(call.in[i].type) && is_contiguous_row(i); }
  std::int64_t room(int i) const {
    return kernel.columns[i] ? 64 : round_up(n) * size_of(computed_as(call.in[i].type));
  }
};

/// What one thread needs to work on rows: on one, or on several short ones side by side.
class row_worker {
 public:
  /// The most rows that are side by side.
  static constexpr int most_rows = 8;

  row_worker(const row_plan& plan, int rows)
      : p_(plan),
        pointer_count_(plan.kernel.inputs + plan.kernel.keeps),
        scalar_count_(plan.kernel.scalars + plan.kernel.folded),
        pointers_(rows * pointer_count_),
        scalars_(rows * scalar_count_),
        staged_(rows * plan.kernel.inputs),
        buffer_(rows * plan.bytes),
        gathered_(plan.gathers ? 2 * plan.n : 0),
        at_(pointers_.data()),
        given_(scalars_.data()) {
    char* at = buffer_.data();
    for (int r = 0; r < rows; ++r) {
      void** const pointers = pointers_.data() + r * pointer_count_;
      std::uint64_t* const scalars = scalars_.data() + r * scalar_count_;
      // Not by a loop of zeros, which a function that is compiled for size leaves to an instruction of 100 cycles.
      for (int k = 0; k < scalar_count_; ++k) scalars[k] = k < plan.kernel.scalars ? plan.call.scalars[k] : 0;
      for (int i = 0; i < plan.kernel.inputs; ++i) {
        staged_[r * plan.kernel.inputs + i] = plan.is_direct(i) ? direct : nothing;
        if (plan.is_direct(i)) continue;
        pointers[i] = at;
        at += plan.room(i);
      }
      int kept = plan.kernel.inputs;
      for (int s = 0; s < plan.kernel.count; ++s) {
        if (!row_plan::is_kept(plan.kernel.steps[s])) continue;
        last_kept_ = kept;
        pointers[kept++] = at;
        at += row_plan::round_up(plan.n) * size_of(plan.kernel.steps[s].type);
      }
      results_[r] = at;
      if (is_half_precision(plan.call.out.type))
        at += row_plan::round_up(plan.stores_row() ? plan.n : 1) * size_of(element::float32);
    }
    share_ = 1 / static_cast<double>(plan.n);
    if (!plan.keeps_in_result) last_kept_ = -1;
  }

  /// Finds the operands of row `row`, the one at `place` among those side by side; what has to be gathered is.
  void start(std::int64_t row, int place) {
    at_ = pointers_.data() + place * pointer_count_;
    given_ = scalars_.data() + place * scalar_count_;
    std::int64_t* const staged = staged_.data() + place * p_.kernel.inputs;
    row_ = row;
    std::int64_t index[max_rank];
    p_.outside.locate(row, index);
    for (int i = 0; i < p_.kernel.inputs; ++i) {
      const operand_view& v = p_.call.in[i];
      const std::int64_t offset = p_.outside.offset_of(index, v.stride);
      if (staged[i] == direct) {
        at_[i] = const_cast<void*>(advance(static_cast<const void*>(v.data), offset, v.type));
      } else if (staged[i] != offset) {  // else it is there from the row before
        staged[i] = offset;
        gather_operand(i, offset);
      }
    }
    folded_ = p_.kernel.scalars;
    kept_ = p_.kernel.inputs;
    if (last_kept_ >= 0) at_[last_kept_] = advance(p_.call.out.data, row_ * p_.n, p_.call.out.type);
  }

  /// Runs all phases over `count` rows from `first` on, as many as are side by side.
  void run(std::int64_t first, int count) {
    const operand_view& out = p_.call.out;
    const std::int64_t size = p_.stores_row() ? p_.n : 1;
    const bool narrow = is_half_precision(out.type);
    for (int r = 0; r < count; ++r) {
      start(first + r, r);
      // Not `at_, given_`: read as one vector just after they were written as two words, they would wait for every
      // store before them, of which those of a large result go to memory.
      calls_[r] = {pointers_.data() + r * pointer_count_,
                   scalars_.data() + r * scalar_count_,
                   narrow ? results_[r] : advance(out.data, row_ * size, out.type),
                   row_,
                   p_.n,
                   share_};
    }
    p_.kernel.run(calls_, count);
    for (int r = 0; narrow && r < count; ++r)
      p_.call.half_precision->narrow(out.type, static_cast<const float*>(calls_[r].out), size,
                                     advance(out.data, calls_[r].number * size, out.type));
  }

  /// Runs all phases over the row that was started, each in `parts` parts that threads do. `accumulators`: room for as
  /// many.
  void run_in_parts(thread_pool& pool, std::int64_t parts, compensated_sum* accumulators) {
    for (int s = 0; s < p_.kernel.count; ++s) {
      const row_step& step = p_.kernel.steps[s];
      if (step.kind == phase_kind::value) {
        run_part(step, at_, 0, 1, nullptr);
      } else {
        auto body = [&](std::int64_t lo, std::int64_t hi) {
          small_array<void*, 24> at(p_.kernel.inputs + p_.kernel.keeps);
          for (; lo < hi; ++lo) {
            const std::int64_t first = p_.n * lo / parts, last = p_.n * (lo + 1) / parts;
            move(at.data(), at_, first);
            if (step.table) step.table->start(&accumulators[lo], 1);
            run_part(step, at.data(), first, last - first, &accumulators[lo]);
          }
        };
        split(pool, parts, 1, body);
        for (std::int64_t k = 1; step.table && k < parts; ++k) step.table->merge(&accumulators[0], &accumulators[k], 1);
      }
      finish(step, &accumulators[0]);
    }
  }

 private:
  /// Gathers a row of operand `i`, or its one element for the row, and widens it.
  ONTO_NOINLINE void gather_operand(int i, std::int64_t offset) {
    const operand_view& v = p_.call.in[i];
    const std::int64_t count = p_.kernel.columns[i] ? 1 : p_.n;
    const void* from = advance(static_cast<const void*>(v.data), offset, v.type);
    if (!p_.is_contiguous_row(i)) {
      void* const to = is_half_precision(v.type) ? gathered_.data() : at_[i];
      copy_elements(size_of(v.type), to, count, 1, from, 0, v.stride[p_.call.space.rank - 1], 1, count);
      from = to;
    }
    if (is_half_precision(v.type)) p_.call.half_precision->widen(v.type, from, count, static_cast<float*>(at_[i]));
  }

  /// Moves pointers to element `first` of the row.
  void move(void** to, void* const* from, std::int64_t first) const {
    for (int i = 0; i < p_.kernel.inputs; ++i)
      to[i] = p_.kernel.columns[i] ? from[i] : advance(from[i], first, computed_as(p_.call.in[i].type));
    int kept = p_.kernel.inputs;
    for (int s = 0; s < p_.kernel.count; ++s)
      if (row_plan::is_kept(p_.kernel.steps[s])) {
        to[kept] = advance(from[kept], first, p_.kernel.steps[s].type);
        ++kept;
      }
  }

  /// A phase over `count` elements of the row from `first` on, to which `at` points.
  void run_part(const row_step& step, void* const* at, std::int64_t first, std::int64_t count,
                void* accumulator) const {
    span_call c{at, nullptr, row_ * p_.n + first, count, given_};
    switch (step.kind) {
      case phase_kind::fold:
      case phase_kind::store_fold: step.take(c, accumulator); break;
      case phase_kind::kept_fold:
        c.out = at[kept_];
        step.take(c, accumulator);
        break;
      case phase_kind::keep:
        c.out = at[kept_];
        step.span(c);
        break;
      case phase_kind::value:
        c.out = given_ + folded_;
        c.count = 1;
        step.span(c);
        break;
      case phase_kind::store: {
        const operand_view& out = p_.call.out;
        void* const to = advance(out.data, c.first, out.type);
        float* const narrow = is_half_precision(out.type) ? static_cast<float*>(results_[0]) + first : nullptr;
        c.out = narrow ? narrow : to;
        step.span(c);
        if (narrow) p_.call.half_precision->narrow(out.type, narrow, count, to);
        break;
      }
    }
  }

  /// What is left to do when a phase has seen the whole row.
  void finish(const row_step& step, const void* accumulator) {
    if (step.kind == phase_kind::store_fold) {
      const operand_view& out = p_.call.out;
      void* const to = advance(out.data, row_, out.type);
      if (!is_half_precision(out.type)) return step.table->finish(accumulator, 1, p_.n, to);
      float result;
      step.table->finish(accumulator, 1, p_.n, &result);
      return p_.call.half_precision->narrow(out.type, &result, 1, to);
    }
    if (row_plan::is_kept(step)) ++kept_;
    if (step.kind == phase_kind::keep || step.kind == phase_kind::store) return;
    if (step.table) step.table->finish(accumulator, 1, p_.n, given_ + folded_);
    ++folded_;
  }

  // Offsets that no row has.
  static constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min(), direct = nothing + 1;

  const row_plan& p_;
  int pointer_count_;
  int scalar_count_;
  small_array<void*, 64> pointers_;
  small_array<std::uint64_t, 64> scalars_;
  small_array<std::int64_t, 64> staged_;  // per input: the offset of the row that is there
  small_array<char, 32768> buffer_;
  small_array<char, 4096> gathered_;
  void** at_;             // of the row that was started last
  std::uint64_t* given_;  // and its scalars
  void* results_[most_rows];
  row_call calls_[most_rows];
  double share_;
  std::int64_t row_ = 0;
  int folded_ = 0;
  int kept_ = 0;
  int last_kept_ = -1;  // of the values that are kept where the result will be
};

/// The folds of rows without elements.
ONTO_COLD inline void fold_nothing(const fold_table& last, const kernel_call& call, std::int64_t results) {
  compensated_sum accumulator;
  last.start(&accumulator, 1);
  for (std::int64_t k = 0; k < results; ++k) {
    void* const to = advance(call.out.data, k, call.out.type);
    float result;
    last.finish(&accumulator, 1, 0, is_half_precision(call.out.type) ? &result : to);
    if (is_half_precision(call.out.type)) call.half_precision->narrow(call.out.type, &result, 1, to);
  }
}

/// Rows `[lo, hi)`, on this thread.
inline void run_rows(const row_plan& plan, std::int64_t lo, std::int64_t hi) {
  // A row waits for its folds. Of short ones several are side by side, so that the processor has something to do. Two
  // rows of 1024 gain 4 % where something dear is kept, and lose 5 % where memory is all.
  const std::int64_t fit = (plan.kernel.keeps > 0 ? 2048 : 1024) / plan.n, given = hi - lo < fit ? hi - lo : fit;
  const int together = given < 1 ? 1 : given < row_worker::most_rows ? static_cast<int>(given) : row_worker::most_rows;
  row_worker worker(plan, together);
  for (; lo < hi; lo += together) worker.run(lo, hi - lo < together ? static_cast<int>(hi - lo) : together);
}

ONTO_RUNTIME void run_row_kernel(thread_pool& pool, const row_kernel& kernel, const kernel_call& call) {
  std::int64_t results = 1;
  for (int d = 0; d + 1 < call.space.rank; ++d) results *= call.space.dims[d];
  if (results == 0) return;
  const std::int64_t n = call.space.dims[call.space.rank - 1];
  const row_step& last = kernel.steps[kernel.count - 1];
  if (n == 0) {
    if (last.kind == phase_kind::store_fold) fold_nothing(*last.table, call, results);
    return;
  }
  const row_plan plan(kernel, call);
  const std::int64_t grain = map_grain(kernel.cost);
  if (pool.size() > 1 && results < 4 * pool.size() && n >= 4 * grain) {
    const std::int64_t most = 4 * pool.size(), parts = n / grain < most ? n / grain : most;
    small_array<compensated_sum, 256> accumulators(parts);
    row_worker worker(plan, 1);
    for (std::int64_t row = 0; row < results; ++row) {
      worker.start(row, 0);
      worker.run_in_parts(pool, parts, accumulators.data());
    }
    return;
  }
  auto body = [&](std::int64_t lo, std::int64_t hi) { run_rows(plan, lo, hi); };
  split(pool, results, grain / n + 1, body, is_brief(results * n, kernel.cost));
}
#endif

}  // namespace onto::detail
