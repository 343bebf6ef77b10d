// SPDX-License-Identifier: BSL-1.0
// What all reductions on the CPU share: how values are made, run by run in L1, and folded there.
#pragma once

#include <onto/backend/cpu/fold.hpp>
#include <onto/backend/cpu/fold_span.hpp>
#include <onto/backend/cpu/map.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace onto::detail {

/// What distinguishes one reduction's code from another's: how its values are made and how they are folded.
struct reduction {
  const fold_table& fold;
  span_function span;    // null where the values are those of the only operand, and where there is:
  fold_function folded;  // evaluates on packs and folds in registers
  bool bare;             // whether the values are those of the only operand
  element type;          // of the values
  int cost;
  copy_function copy;  // gathers operands where they are apart
};

/// Reductions of at most so many values are small: their values and accumulators have room on the stack, and no thread
/// is worth a part of them.
inline constexpr std::int64_t small_reduction = 512;

#if ONTO_DEFINITIONS
/// The values of a reduction's program, read in runs.
class value_reader {
 public:
  /// `kept`: whether the innermost dimension is, so that values are folded by columns.
  value_reader(const map_plan& plan, const reduction& r, bool kept)
      : direct(r.bare && in_place(plan.in[0], plan.call.in[0].type)),
        most(direct || plan.bytes ? plan.step
             : kept || !r.folded  ? plan.total < 4096 ? plan.total : 4096
                                  : fold_run_most),
        plan_(plan),
        reduction_(r),
        folded_(kept ? nullptr : r.folded),
        stage_(plan, most),
        buffer_(folded_ || r.bare ? 0 : (kept && most < several_rows ? several_rows : most) * size_of(r.type)) {
    if (folded_ && most > fold_run_most) most = fold_run_most;
  }

  bool direct;         // values are read where they are
  bool whole = false;  // rows are whole, each of fewer than fold_lanes values: they are folded into results
  std::int64_t most;   // values that one read gives

  /// Rows that are folded into columns together, and how many values of each: sums of few rows at a time are more work,
  /// of doubles several times as much.
  static constexpr std::int64_t rows_together = 16, row_most = 256, several_rows = rows_together * row_most;

  /// `count` values. *Returns* where they are; where they had to be made the beginning of a buffer, in which they are
  /// from number `at` on.
  const void* read(std::int64_t first, std::int64_t count, std::int64_t at = 0) {
    if (reduction_.bare) return stage_.read(0, first, count);
    write(first, count, buffer_.data() + at * size_of(reduction_.type));
    return buffer_.data();
  }

  /// Any number of values, next to each other, at `to`.
  void write(std::int64_t first, std::int64_t count, char* to) {
    const int size = size_of(reduction_.type);
    for (std::int64_t n; count > 0; first += n, count -= n, to += n * size) {
      n = count < most ? count : most;
      if (reduction_.bare)
        std::memcpy(to, stage_.read(0, first, n), static_cast<std::size_t>(n * size));
      else if (reduction_.span)
        stage_.run(reduction_.span, first, n, to);
      else
        reduction_.folded({stage_.locate(first, n), 1, n, plan_.call.scalars, 0, nullptr, to});
    }
  }

  /// Folds `rows` rows of `n` values, from value `first` on, into an accumulator each.
  void fold_rows(void* accumulators, std::int64_t first, std::int64_t rows, std::int64_t n, std::int64_t index) {
    if (folded_)
      folded_({stage_.locate(first, rows * n), rows, n, plan_.call.scalars, index, accumulators, nullptr, whole});
    else
      reduction_.fold.rows(accumulators, read(first, rows * n), rows, n, index);
  }

 private:
  const map_plan& plan_;
  const reduction& reduction_;
  fold_function folded_;
  map_stage stage_;
  small_array<char, 32768> buffer_;
};

/// Writes `count` results, from number `first` on.
inline void finish_results(const reduction& r, const kernel_call& call, const char* accumulators, std::int64_t folded,
                           std::int64_t first, std::int64_t count) {
  void* const out = advance(call.out.data, first, call.out.type);
  if (!is_half_precision(call.out.type)) return r.fold.finish(accumulators, count, folded, out);
  constexpr std::int64_t some = 256;
  float results[some];
  for (std::int64_t k = 0; k < count; k += some) {
    const std::int64_t n = count - k < some ? count - k : some;
    r.fold.finish(accumulators + k * r.fold.accumulator_size, n, folded, results);
    call.half_precision->narrow(call.out.type, results, n, advance(out, k, call.out.type));
  }
}
#endif

}  // namespace onto::detail
