// SPDX-License-Identifier: BSL-1.0
// The loops of scans: a block of a line, of one column or of many beside each other, as it lies in memory.
#pragma once

#include <onto/backend/cpu/scan_columns.hpp>
#include <onto/backend/cpu/scan_lanes.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

/// What one pass over a tile does: store results, those after what is kept `before` the tile, and sum up the tile from
/// no elements on, for what comes after it. A tile comes to the same whether its results are stored or not.
template <bool Stores, bool Totals>
struct scan_pass {
  static constexpr bool stores = Stores, totals = Totals;
};

/// The next elements of a column, `K` being 1, 2, ...: sums of them from the first on, which do not wait for those
/// before, join what is kept.
// Not loops, so that the sums stay in registers: -O2 does not unroll.
template <class Rule, class Pass, class In, class Out, class Term, int... K>
ONTO_INLINE void scan_group(const scan_tile<In, Out>& t, const In* in, Out* out, const kept_terms<Term>& kept,
                            const kept_terms<Term>& all, std::integer_sequence<int, K...>) {
  constexpr int last = static_cast<int>(sizeof...(K));
  Term group[last + 1] = {static_cast<Term>(in[0])}, lost[last + 1] = {};
  [[maybe_unused]] const auto add = [&](int k) {
    group[k] = group[k - 1];
    lost[k] = lost[k - 1];
    Rule::add(group[k], lost[k], static_cast<Term>(in[k * t.in_row]));
  };
  (add(K), ...);
  if constexpr (Pass::totals) Rule::merge(*all.kept, *all.lost, group[last], lost[last]);
  if constexpr (!Pass::stores) return;
  const Term kept_before = *kept.kept, lost_before = *kept.lost;
  const auto store = [&](int k) {
    *kept.kept = kept_before;
    *kept.lost = lost_before;
    Rule::merge(*kept.kept, *kept.lost, group[k], lost[k]);
    out[k * t.out_row] = Rule::finish(*kept.kept, *kept.lost);
  };
  store(0);
  (store(K), ...);
}

/// `Rule` of running maxima or minima where no element is NaN.
template <class Rule>
struct ordered_extreme : Rule {
  using term = typename Rule::term;

  ONTO_INLINE static void add(term& kept, term&, term x) { Rule::add_ordered(kept, x); }
  ONTO_INLINE static void merge(term& kept, term&, term next, term) { Rule::add_ordered(kept, next); }
};

/// A tile of one column, four elements at a time: of the additions one in four waits for the one before it.
template <class Rule, class Pass, class In, class Out>
void scan_column(const scan_tile<In, Out>& t, const kept_terms<typename Rule::term>& before,
                 const kept_terms<typename Rule::term>& total) {
  using term = typename Rule::term;
  term kept = before.kept[0], lost = before.lost[0], all = Rule::empty(), lost_of_all = 0;
  const In* in = t.in;
  Out* out = t.out;
  std::int64_t left = t.rows;
  if constexpr (Rule::compensated) {
    const std::int64_t done = scan_by_lanes<Rule, Pass>(t, kept, lost, all, lost_of_all);
    left -= done;
    in += done * t.in_row;
    out += done * t.out_row;
  }
  const kept_terms<term> kept_here{&kept, &lost}, all_here{&all, &lost_of_all};
  const auto scan = [&]<int... K>(std::integer_sequence<int, K...> more) {
    if constexpr (Rule::extreme && std::is_floating_point_v<In>)
      if (((in[0] == in[0]) & ... & (in[K * t.in_row] == in[K * t.in_row])))
        return scan_group<ordered_extreme<Rule>, Pass>(t, in, out, kept_here, all_here, more);
    scan_group<Rule, Pass>(t, in, out, kept_here, all_here, more);
  };
  for (; left >= 4; left -= 4, in += 4 * t.in_row, out += 4 * t.out_row) scan(std::integer_sequence<int, 1, 2, 3>{});
  if (left == 3) scan(std::integer_sequence<int, 1, 2>{});
  if (left == 2) scan(std::integer_sequence<int, 1>{});
  if (left == 1) scan(std::integer_sequence<int>{});
  if constexpr (Pass::totals) {
    total.kept[0] = all;
    total.lost[0] = lost_of_all;
  }
}

/// `Width` columns of a tile, side by side.
template <class Rule, int Width, class Pass, class In, class Out>
ONTO_INLINE void add_row(const In* in, Out* out, const kept_terms<typename Rule::term>& kept,
                         const kept_terms<typename Rule::term>& total) {
  using term = typename Rule::term;
  term x[Width];
  for (int j = 0; j < Width; ++j) x[j] = static_cast<term>(in[j]);
  if constexpr (Pass::totals) {
    term sum[Width], lost[Width];
    for (int j = 0; j < Width; ++j) {
      sum[j] = total.kept[j];
      lost[j] = total.lost[j];
    }
    for (int j = 0; j < Width; ++j) Rule::add(sum[j], lost[j], x[j]);
    for (int j = 0; j < Width; ++j) {
      total.kept[j] = sum[j];
      if constexpr (Rule::compensated) total.lost[j] = lost[j];
    }
  }
  if constexpr (Pass::stores) {
    term sum[Width], lost[Width];
    Out results[Width];
    for (int j = 0; j < Width; ++j) {
      sum[j] = kept.kept[j];
      lost[j] = kept.lost[j];
    }
    for (int j = 0; j < Width; ++j) Rule::add(sum[j], lost[j], x[j]);
    for (int j = 0; j < Width; ++j) results[j] = Rule::finish(sum[j], lost[j]);
    for (int j = 0; j < Width; ++j) {
      kept.kept[j] = sum[j];
      if constexpr (Rule::compensated) kept.lost[j] = lost[j];
      out[j] = results[j];
    }
  }
}

/// A tile of several columns, row by row along memory. *Effects* changes what is at `kept`.
template <class Rule, class Pass, class In, class Out>
void scan_columns(const scan_tile<In, Out>& t, const kept_terms<typename Rule::term>& kept,
                  const kept_terms<typename Rule::term>& total) {
  for (std::int64_t j = 0; Pass::totals && j < t.columns; ++j) {
    total.kept[j] = Rule::empty();
    total.lost[j] = 0;
  }
  if constexpr (scans_by_vectors<Rule, In>) {
    column_scan<Rule, Pass, In>::variants::chosen()(t, kept, total);
  } else {
    for (std::int64_t r = 0; r < t.rows; ++r) {
      const In* const in = t.in + r * t.in_row;
      Out* const out = t.out + r * t.out_row;
      std::int64_t j = 0;
      for (; j + 16 <= t.columns; j += 16) add_row<Rule, 16, Pass>(in + j, out + j, kept + j, total + j);
      for (; j + 4 <= t.columns; j += 4) add_row<Rule, 4, Pass>(in + j, out + j, kept + j, total + j);
      for (; j < t.columns; ++j) add_row<Rule, 1, Pass>(in + j, out + j, kept + j, total + j);
    }
  }
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail
