// SPDX-License-Identifier: BSL-1.0
// Maps on the CPU: the space is flat, cut into runs that stay in L1; operands that are not contiguous
// are gathered next to each other run by run, half and bfloat16 become floats there, and one loop per program does the
// rest.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/span.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/kernel.hpp>
#if ONTO_DEFINITIONS
#include <onto/backend/cpu/map_in_place.hpp>
#include <onto/backend/cpu/map_stage.hpp>
#include <onto/backend/cpu/row_iterator.hpp>
#endif

#include <cstddef>
#include <cstdint>

namespace onto::detail {

inline constexpr std::int64_t least_map_grain = 1024;  // however much an element costs
/// The elements below which a piece of a map is not worth a thread: 1.5 to 3 us of work, at 0.06 ns an element for
/// memory and 0.02 ns for an operation. Another thread begins 0.3 us after it is asked, unless it sleeps.
ONTO_INLINE constexpr std::int64_t map_grain(int cost) {
  const std::int64_t n = (std::int64_t{64} << 10) / (3 + cost);
  return n < least_map_grain ? least_map_grain : n;
}

#if ONTO_DEFINITIONS
/// Whether a map is done before a thread that sleeps would be awake, which takes some 50 us.
ONTO_INLINE constexpr bool is_brief(std::int64_t elements, int cost) { return elements < 24 * map_grain(cost); }

ONTO_BEGIN_RUNS_ONCE
/// Whether a map can be walked by rows: its operands are not converted, and it has one result.
inline bool is_iterated_by_rows(const kernel_call& call) {
  if (call.more_outputs > 0 || call.rolls) return false;
  for (int i = 0; i < call.inputs; ++i)
    if (is_half_precision(call.in[i].type)) return false;
  return !is_half_precision(call.out.type);
}

/// How a large map writes its results, which cost `cost` operations each.
inline result_store store_of_large(const kernel_call& call, int cost, bool packs) {
  std::int64_t bytes = size_of(call.out.type);
  for (int i = 0; i < call.inputs; ++i) {
    if (call.in[i].data == call.out.data) return result_store::cached;
    bytes += size_of(call.in[i].type);
  }
  if (!is_streamed(call.space.size() * bytes) || is_half_precision(call.out.type) || call.more_outputs > 0)
    return result_store::cached;
  if (packs) return result_store::streamed;
  // A copy between costs a program that has much to compute more than it saves.
  return cost <= 4 ? result_store::copied : result_store::cached;
}

template <class Copies>
void run_map_of_views(thread_pool& pool, span_function span, const kernel_call& call, int cost, result_store how) {
  const std::int64_t total = call.space.size();
  const row_space rows(call);
  // A call for each row is worth what it costs where rows are long.
  if (is_iterated_by_rows(call) && (rows.outside.rank == 0 || rows.length >= (rows.transposed ? 48 : 112))) {
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      row_iterator walk(call, rows, span, how, &Copies::run);
      if constexpr (Copies::of_views) {
        if (rows.transposed)
          walk.run_tiles(lo, hi);
        else
          walk.run(lo, hi);
      } else {
        walk.run(lo, hi);
      }
      if (how != result_store::cached) end_streaming();
    };
    if (!rows.transposed) return split(pool, total, map_grain(cost), body, is_brief(total, cost));
    const std::int64_t tile = rows.tile_rows * rows.tile_columns;
    const std::int64_t tiles =
        total / rows.length / rows.count * row_iterator::tiles_across(rows) * row_iterator::tiles_down(rows);
    return split(pool, tiles, map_grain(cost) / tile + 1, body, is_brief(total, cost));
  }
  const map_plan plan(call, &Copies::run);
  const std::int64_t per_unit = plan.runs_per_unit();
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    map_stage stage(plan, plan.step);
    for (; lo < hi; ++lo) {
      const std::int64_t start = lo % per_unit * plan.step, first = lo / per_unit * plan.unit + start;
      const std::int64_t count = plan.unit - start < plan.step ? plan.unit - start : plan.step;
      stage.store(span, first, count);
    }
  };
  const std::int64_t grain = map_grain(cost) / plan.step;
  split(pool, plan.runs(), grain > 0 ? grain : 1, body, is_brief(total, cost));
}
ONTO_END_RUNS_ONCE
#endif

enum class result_store;

/// The maps that have to gather elements of their operands, or to convert them. Out of every program's way: its
/// set-up is long, and its loops are the row's and the stage's.
template <class Copies>
void run_map_of_views(thread_pool& pool, span_function span, const kernel_call& call, int cost, result_store how);

/// How a program reads operands that do not lie next to each other.
struct map_of_views {
  void (*run)(thread_pool& pool, span_function span, const kernel_call& call, int cost, result_store how);
  copy_function copy;
};
template <class Copies>
inline constexpr map_of_views views_by{&run_map_of_views<Copies>, &Copies::run};

/// Runs a map whose program `span` evaluates, on packs or not, and costs `cost` operations per element; by `views`
/// where its operands do not all lie next to each other.
ONTO_RUNTIME void run_map(thread_pool& pool, span_function span, const map_of_views& views, const kernel_call& call,
                          int cost, bool packs);

/// Runs a batch of maps of one program, as one loop over the elements of all. What `run_map` does for each.
ONTO_RUNTIME void run_map_batch(thread_pool& pool, span_function span, const map_of_views& views,
                                const kernel_call& batch, int cost, bool packs);

#if ONTO_DEFINITIONS
/// Elements `[lo, hi)` of a map whose operands all lie next to each other.
ONTO_INLINE void run_in_place(span_function span, const kernel_call& call, result_store how, std::int64_t lo,
                              std::int64_t hi) {
  const std::int64_t bytes = lo * size_of(call.out.type);
  small_array<const void*, 16> in(call.inputs);
  for (int i = 0; i < call.inputs; ++i) in[i] = advance(call.in[i].data, lo, call.in[i].type);
  small_array<void*, 16> more(call.more_outputs);
  for (int i = 0; i < call.more_outputs; ++i) more[i] = advance(call.more_out[i].data, lo, call.more_out[i].type);
  if (how == result_store::cached)
    return span({in.data(), static_cast<char*>(call.out.data) + bytes, lo, hi - lo, call.scalars, more.data()});
  store_span(span, how, call, in.data(), lo, hi - lo);
  end_streaming();
}

/// Whether a map is too small to be shared out, whatever it costs.
ONTO_INLINE constexpr bool is_one_piece(std::int64_t elements) { return elements < 2 * least_map_grain; }

ONTO_INLINE result_store store_of(const kernel_call& call, int cost, bool packs) {
  return call.space.size() >= 1 << 18 ? store_of_large(call, cost, packs) : result_store::cached;
}

ONTO_RUNTIME void run_map(thread_pool& pool, span_function span, const map_of_views& views, const kernel_call& call,
                          int cost, bool packs) {
  const std::int64_t total = call.space.size();
  if (total <= 0) return;
  const bool in_place = all_in_place(call);
  if (is_one_piece(total)) {
    if (in_place) return run_in_place(span, call, result_store::cached, 0, total);
    if (run_rows_in_place(span, call) || run_gathered(span, views.copy, call)) return;
  }
  const result_store how = store_of(call, cost, packs);
  if (!in_place) return views.run(pool, span, call, cost, how);
  auto body = [&](std::int64_t lo, std::int64_t hi) { run_in_place(span, call, how, lo, hi); };
  split(pool, total, map_grain(cost), body, is_brief(total, cost));
}

/// Elements `[lo, hi)` of a map whose operands lie next to each other or are one number each.
inline void run_with_numbers(span_function span, const kernel_call& call, copy_function copy, std::int64_t lo,
                             std::int64_t hi) {
  const map_plan plan(call, copy);
  map_stage stage(plan, plan.step < hi - lo ? plan.step : hi - lo);
  for (; lo < hi; lo += plan.step) stage.store(span, lo, plan.step < hi - lo ? plan.step : hi - lo);
}

/// Whether a call's elements can be cut anywhere: an operand lies next to itself, or is one number.
inline bool is_cut_anywhere(const kernel_call& call) {
  if (call.rolls) return false;
  for (int i = 0; i < call.inputs; ++i) {
    bool one = true;
    for (int d = 0; d < call.space.rank; ++d) one = one && (call.space.dims[d] == 1 || call.in[i].stride[d] == 0);
    if (!one && !is_contiguous(call.space, call.in[i].stride)) return false;
  }
  return true;
}

ONTO_BEGIN_RUNS_ONCE
/// A batch as one loop over the elements of all, which threads share.
ONTO_NOINLINE inline void run_large_batch(thread_pool& pool, span_function span, const map_of_views& views,
                                          const kernel_call& batch, int cost, bool packs) {
  std::int64_t total = 0;
  for (const kernel_call* c = &batch; c; c = c->next) {
    if (is_cut_anywhere(*c))
      total += c->space.size();
    else
      run_map(pool, span, views, *c, cost, packs);
  }
  if (total <= 0) return;
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    std::int64_t first = 0;  // of a call's elements among those of all
    for (const kernel_call* c = &batch; c && first < hi; c = c->next) {
      if (!is_cut_anywhere(*c)) continue;
      const std::int64_t end = first + c->space.size();
      const std::int64_t from = (lo < first ? first : lo) - first, to = (hi < end ? hi : end) - first;
      first = end;
      if (from >= to) continue;
      if (all_in_place(*c))
        run_in_place(span, *c, store_of(*c, cost, packs), from, to);
      else
        run_with_numbers(span, *c, views.copy, from, to);
    }
  };
  split(pool, total, map_grain(cost), body, is_brief(total, cost));
}
ONTO_END_RUNS_ONCE

ONTO_RUNTIME void run_map_batch(thread_pool& pool, span_function span, const map_of_views& views,
                                const kernel_call& batch, int cost, bool packs) {
  std::int64_t total = 0;
  for (const kernel_call* c = &batch; c; c = c->next) total = plus(total, c->space.size());
  if (!is_one_piece(total)) return run_large_batch(pool, span, views, batch, cost, packs);
  for (const kernel_call* c = &batch; c; c = c->next) run_map(pool, span, views, *c, cost, packs);
}
#endif

inline namespace ONTO_VECTOR_ABI {

/// The kernel of a fused elementwise program. `Copies` gather its operands where they are apart; `Chooses`: for the
/// vectors that were chosen, not for those of the program's flags.
template <class Program, bool Packs = (has_packs && Program::packs.possible()), class Copies = copies<all_sizes, true>,
          bool Chooses = true>
void cpu_map(thread_pool& pool, const kernel_call& call) {
  span_function span;
  if constexpr (Chooses)
    span = chosen_span<Program, Packs>();
  else
    span = span_alone<Program, Packs>();
  run_map(pool, span, views_by<Copies>, call, program_cost(Program{}), Packs && Program::packs.results_are_lanes);
}

/// The same for a batch of calls.
template <class Program, class Copies = copies<all_sizes, true>>
void cpu_map_batch(thread_pool& pool, const kernel_call& batch) {
  constexpr bool packs = has_packs && Program::packs.possible();
  run_map_batch(pool, chosen_span<Program, packs>(), views_by<Copies>, batch, program_cost(Program{}),
                packs && Program::packs.results_are_lanes);
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
