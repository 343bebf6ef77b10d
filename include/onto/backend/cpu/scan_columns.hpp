// SPDX-License-Identifier: BSL-1.0
// Scans of columns beside each other: a column is a lane of a vector.
#pragma once

#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/backend/cpu/pack_fold.hpp>
#include <onto/backend/cpu/packs.hpp>
#include <onto/core/config.hpp>
#include <onto/core/element.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto::detail {

/// A block of a line as it is scanned: rows of neighbouring columns, the first of the scan first. `In` is what
/// operands are computed in.
template <class In, class Out>
struct scan_tile {
  const In* in;
  std::int64_t in_row;  // from a row to the next, in elements
  Out* out;
  std::int64_t out_row;
  std::int64_t rows, columns;
};

/// What is kept of the elements up to somewhere, a term for each column.
template <class Term>
struct kept_terms {
  Term* kept;
  Term* lost;

  kept_terms operator+(std::int64_t columns) const { return {kept + columns, lost + columns}; }
};

inline namespace ONTO_VECTOR_ABI {

#if ONTO_PACKS
/// What columns have kept, a lane for each, and `Rule::add` and `Rule::finish` of a row of them: of floats, in doubles.
template <class Rule, class T, int Bytes>
struct kept_columns {
  using lanes = pack<T, Bytes>;
  using join = lane_number<Rule::by == fold::sum>;
  wide_lanes<T, Bytes> kept;

  ONTO_INLINE void load(const kept_terms<double>& from) {
    kept.low = wide_pack<T, Bytes>::load_unaligned(from.kept);
    kept.high = wide_pack<T, Bytes>::load_unaligned(from.kept + kept.low.size);
  }
  ONTO_INLINE void store(const kept_terms<double>& to) const {
    kept.low.store_unaligned(to.kept);
    kept.high.store_unaligned(to.kept + kept.low.size);
  }
  ONTO_INLINE void add(const lanes& x) {
    const wide_lanes<T, Bytes> wide = widen_pack(x);
    kept.low = join::join(kept.low, wide.low);
    kept.high = join::join(kept.high, wide.high);
  }
  ONTO_INLINE lanes finish() const {
    lanes r;
    simd::narrow(r.data, kept.low.data, kept.high.data);
    return r;
  }
};

/// Of doubles: what rounding has taken from a sum, too.
template <class Rule, int Bytes>
  requires(!Rule::extreme)
struct kept_columns<Rule, double, Bytes> {
  using lanes = pack<double, Bytes>;
  using join = lane_number<Rule::by == fold::sum>;
  lanes kept, lost;

  ONTO_INLINE void load(const kept_terms<double>& from) {
    kept = lanes::load_unaligned(from.kept);
    if constexpr (Rule::compensated) lost = lanes::load_unaligned(from.lost);
  }
  ONTO_INLINE void store(const kept_terms<double>& to) const {
    kept.store_unaligned(to.kept);
    if constexpr (Rule::compensated) lost.store_unaligned(to.lost);
  }
  ONTO_INLINE void add(const lanes& x) {
    if constexpr (Rule::compensated) {
      const lanes sum = in_order(kept + x), part = in_order(sum - kept);
      lost += (kept - in_order(sum - part)) + (x - part);
      kept = sum;
    } else {
      kept = join::join(kept, x);
    }
  }
  ONTO_INLINE lanes finish() const {
    if constexpr (Rule::compensated)
      return select(isnan(lost), kept, kept + lost);
    else
      return kept;
  }
};

/// The greatest or the least up to a row; NaN from the first NaN on.
template <class Rule, class T, int Bytes>
  requires(Rule::extreme)
struct kept_columns<Rule, T, Bytes> {
  using lanes = pack<T, Bytes>;
  using extreme = pack_extreme<T, Bytes, Rule::by == fold::min>;
  lanes kept;

  ONTO_INLINE void load(const kept_terms<T>& from) { kept = lanes::load_unaligned(from.kept); }
  ONTO_INLINE void store(const kept_terms<T>& to) const { kept.store_unaligned(to.kept); }
  ONTO_INLINE void add(const lanes& x) { kept = select(either_nan(x, kept), x + kept, extreme::better(x, kept)); }
  ONTO_INLINE lanes finish() const { return kept; }
};
#endif

/// Whether columns of `T` go by vectors.
template <class Rule, class T>
inline constexpr bool scans_by_vectors = has_packs && (std::is_same_v<T, float> || std::is_same_v<T, double>);

/// A tile of columns beside each other, as `scan_columns` in scan_tiles.hpp says. The same bits for every instruction
/// set.
template <class Rule, class Pass, class T>
struct column_scan {
  using tile = scan_tile<T, T>;
  using term = typename Rule::term;
  using terms = kept_terms<term>;
  using variants = vector_variants<column_scan, void(const tile&, const terms&, const terms&)>;
  /// Rows that are gone over while what a vector of columns has kept stays in registers: so many streams of memory.
  static constexpr std::int64_t rows_at_once = 8;

  template <int Bytes>
  static ONTO_INLINE void run(const tile& t, const terms& kept, const terms& total) {
#if ONTO_PACKS
    constexpr std::int64_t width = pack<T, Bytes>::size;
    const std::int64_t most = t.columns <= width ? t.rows : rows_at_once;
    for (std::int64_t r = 0; r < t.rows; r += most) {
      tile some = t;
      some.in += r * t.in_row;
      some.out += r * t.out_row;
      some.rows = t.rows - r < most ? t.rows - r : most;
      std::int64_t j = 0;
      for (; j + width <= t.columns; j += width, some.in += width, some.out += width)
        scan<Bytes, false>(some, width, kept + j, total + j);
      scan_rest<Bytes>(some, t.columns - j, kept + j, total + j);
    }
#endif
  }

 private:
#if ONTO_PACKS
  /// `n` columns of a tile, a vector or less of them. What is kept of them has room for a vector.
  template <int Bytes, bool First>
  static ONTO_INLINE void scan(const tile& t, std::int64_t n, const terms& kept, const terms& total) {
    using lanes = pack<T, Bytes>;
    kept_columns<Rule, T, Bytes> before, all;
    if constexpr (Pass::stores) before.load(kept);
    if constexpr (Pass::totals) all.load(total);
    const T* in = t.in;
    T* out = t.out;
    for (std::int64_t r = 0; r < t.rows; ++r, in += t.in_row, out += t.out_row) {
      const lanes x = First ? lanes::load_first(in, n) : lanes::load_unaligned(in);
      if constexpr (Pass::totals) all.add(x);
      if constexpr (Pass::stores) {
        before.add(x);
        const lanes result = before.finish();
        First ? result.store_first(out, n) : result.store_unaligned(out);
      }
    }
    if constexpr (Pass::stores) before.store(kept);
    if constexpr (Pass::totals) all.store(total);
  }

  /// Fewer columns than a vector has. A masked load across two cache lines takes as long as three numbers do.
  template <int Bytes>
  static ONTO_INLINE void scan_rest(const tile& t, std::int64_t n, const terms& kept, const terms& total) {
    constexpr bool floats = sizeof(T) == sizeof(float);
    if (n == 1) scan_few(t, kept, total, std::integer_sequence<int, 0>{});
    if (floats && n == 2) scan_few(t, kept, total, std::integer_sequence<int, 0, 1>{});
    if (floats && n == 3) scan_few(t, kept, total, std::integer_sequence<int, 0, 1, 2>{});
    if constexpr (Bytes > 16)
      if (n > (floats ? 3 : 1)) scan_first<Bytes>(t, n, kept, total);
  }

  /// Columns `J`, number by number. What is kept of them stays in registers: no loops, which -O2 does not unroll.
  template <int... J>
  static ONTO_INLINE void scan_few(const tile& t, const terms& kept, const terms& total,
                                   std::integer_sequence<int, J...>) {
    term before[] = {kept.kept[J]...}, lost[] = {kept.lost[J]...};
    term all[] = {total.kept[J]...}, lost_of_all[] = {total.lost[J]...};
    const T* in = t.in;
    T* out = t.out;
    const auto add = [&](int j) {
      const term x = in[j];
      if constexpr (Pass::totals) Rule::add(all[j], lost_of_all[j], x);
      if constexpr (!Pass::stores) return;
      Rule::add(before[j], lost[j], x);
      out[j] = Rule::finish(before[j], lost[j]);
    };
    for (std::int64_t r = 0; r < t.rows; ++r, in += t.in_row, out += t.out_row) (add(J), ...);
    const auto keep = [&](int j) {
      if constexpr (Pass::stores) {
        kept.kept[j] = before[j];
        kept.lost[j] = lost[j];
      }
      if constexpr (Pass::totals) {
        total.kept[j] = all[j];
        total.lost[j] = lost_of_all[j];
      }
    };
    (keep(J), ...);
  }

  /// Columns `0` to `n` as the first lanes of vectors.
  template <int Bytes>
  static ONTO_INLINE void scan_first(const tile& t, std::int64_t n, const terms& kept, const terms& total) {
    term memory[4][pack<T, Bytes>::size] = {};
    const terms here{memory[0], memory[1]}, all{memory[2], memory[3]};
    for (std::int64_t j = 0; j < n; ++j) {
      here.kept[j] = kept.kept[j];
      here.lost[j] = kept.lost[j];
      all.kept[j] = total.kept[j];
      all.lost[j] = total.lost[j];
    }
    scan<Bytes, true>(t, n, here, all);
    for (std::int64_t j = 0; j < n; ++j) {
      if constexpr (Pass::stores) {
        kept.kept[j] = here.kept[j];
        kept.lost[j] = here.lost[j];
      }
      if constexpr (Pass::totals) {
        total.kept[j] = all.kept[j];
        total.lost[j] = all.lost[j];
      }
    }
  }
#endif
};

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail
