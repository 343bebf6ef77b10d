// SPDX-License-Identifier: BSL-1.0
// Reductions over all axes, into one result: a loss, a norm, a mean. Most programs have no others, and need no more
// than this.
#pragma once

#include <onto/backend/cpu/reduction.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

ONTO_RUNTIME void run_reduce_all(thread_pool& pool, const reduction& r, const kernel_call& call);

#if ONTO_DEFINITIONS
/// Folds part `p` of `parts` of values that lie next to each other: evaluated and folded in registers.
inline void fold_part_in_place(const reduction& r, const kernel_call& call, std::int64_t total, std::int64_t p,
                               std::int64_t parts, void* accumulator) {
  const std::int64_t first = total * p / parts / 64 * 64;
  const std::int64_t n = (p + 1 < parts ? total * (p + 1) / parts / 64 * 64 : total) - first;
  small_array<const void*, 16> in(call.inputs);
  for (int i = 0; i < call.inputs; ++i) in[i] = advance(call.in[i].data, first, call.in[i].type);
  r.folded({in.data(), 1, n, call.scalars, first, accumulator});
}

/// Folds a few values that lie next to each other, which are made on the stack.
inline void fold_few(const reduction& r, const kernel_call& call, std::int64_t total, void* accumulator) {
  alignas(64) char made[small_reduction * 8];
  small_array<const void*, 16> in(call.inputs);
  for (int i = 0; i < call.inputs; ++i) in[i] = call.in[i].data;
  if (r.span) r.span({in.data(), made, 0, total, call.scalars, nullptr});
  r.fold.rows(accumulator, r.bare ? in[0] : made, 1, total, 0);
}

ONTO_BEGIN_RUNS_ONCE
/// Folds values that are gathered, converted or made in runs before they are folded, part by part.
inline void fold_parts_in_runs(thread_pool& pool, const reduction& r, const kernel_call& call, std::int64_t total,
                               std::int64_t parts, char* accumulators) {
  const map_plan plan(call, r.copy);
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    value_reader values(plan, r, false);
    for (; lo < hi; ++lo) {
      const std::int64_t end = total * (lo + 1) / parts, most = values.most;
      for (std::int64_t k = total * lo / parts; k < end; k += most)
        values.fold_rows(accumulators + lo * r.fold.accumulator_size, k, 1, end - k < most ? end - k : most, k);
    }
  };
  split(pool, parts, 1, body, is_brief(total, r.cost));
}
ONTO_END_RUNS_ONCE

/// Folds everything in parts, each with an accumulator of its own; they are joined in order, so that the result does
/// not depend on which thread was faster.
ONTO_RUNTIME void run_reduce_all(thread_pool& pool, const reduction& r, const kernel_call& call) {
  const std::int64_t total = call.space.size(), size = r.fold.accumulator_size, grain = map_grain(r.cost);
  const bool lies_together = total > 0 && all_in_place(call);
  const bool in_registers = lies_together && r.folded && total <= fold_run_most;
  const bool few = lies_together && !r.folded && total <= small_reduction;
  std::int64_t parts = 1;
  if (in_registers) {
    if (pool.size() > 1) parts = pool.pieces_of(total / (2 * grain));
  } else if (!few) {
    parts = total / grain < 4 * pool.size() ? total / grain : 4 * pool.size();
  }
  if (parts < 1) parts = 1;
  small_array<char, 512> accumulators(parts * size);
  r.fold.start(accumulators.data(), parts);
  if (few) {
    fold_few(r, call, total, accumulators.data());
  } else if (in_registers && parts == 1) {
    fold_part_in_place(r, call, total, 0, 1, accumulators.data());
  } else if (in_registers) {
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      for (; lo < hi; ++lo) fold_part_in_place(r, call, total, lo, parts, accumulators.data() + lo * size);
    };
    split(pool, parts, 1, body, is_brief(total, r.cost));
  } else if (total > 0) {
    fold_parts_in_runs(pool, r, call, total, parts, accumulators.data());
  }
  for (std::int64_t p = 1; p < parts; ++p) r.fold.merge(accumulators.data(), accumulators.data() + p * size, 1);
  finish_results(r, call, accumulators.data(), total, 0, 1);
}
#endif

}  // namespace onto::detail
