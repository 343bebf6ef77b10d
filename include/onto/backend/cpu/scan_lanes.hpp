// SPDX-License-Identifier: BSL-1.0
// Prefix sums of doubles along memory by vectors: sixteen parts of a column are turned into columns beside each other,
// each a lane of a vector.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/backend/cpu/scan_columns.hpp>
#include <onto/core/config.hpp>

#include <cstdint>

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

/// Lanes, and rows of them that stay in the first-level cache.
inline constexpr std::int64_t scan_lanes = 16, most_lane_rows = 128, fewest_lane_rows = 16;

/// Adds rows to what each lane has kept, and to what rounding has taken from it; `Stores` puts what it then comes to in
/// each row's place. The same bits for every instruction set.
template <class Rule, bool Stores>
struct lane_sums {
  using variants = vector_variants<lane_sums, void(double*, std::int64_t, double*, double*)>;

  template <int Bytes>
  static ONTO_INLINE void run(double* rows, std::int64_t count, double* kept, double* lost) {
#if ONTO_PACKS
    using columns = kept_columns<Rule, double, Bytes>;
    constexpr std::int64_t width = columns::lanes::size;
    for (std::int64_t j = 0; j < scan_lanes; j += 2 * width) {
      columns a, b;
      a.load(kept_terms<double>{kept + j, lost + j});
      b.load(kept_terms<double>{kept + j + width, lost + j + width});
      double* row = rows + j;
      for (std::int64_t k = 0; k < count; ++k, row += scan_lanes) {
        add(a, row);
        add(b, row + width);
      }
      a.store(kept_terms<double>{kept + j, lost + j});
      b.store(kept_terms<double>{kept + j + width, lost + j + width});
    }
#else
    for (std::int64_t k = 0; k < count; ++k, rows += scan_lanes)
      for (std::int64_t j = 0; j < scan_lanes; ++j) {
        Rule::add(kept[j], lost[j], rows[j]);
        if (Stores) rows[j] = Rule::finish(kept[j], lost[j]);
      }
#endif
  }

 private:
#if ONTO_PACKS
  template <class Columns>
  static ONTO_INLINE void add(Columns& kept, double* row) {
    kept.add(Columns::lanes::load_unaligned(row));
    if constexpr (Stores) kept.finish().store_unaligned(row);
  }
#endif
};

/// Scans as many elements of a tile of one column as whole lanes hold, as `scan_column` does. *Effects* adds them to
/// what is kept before the tile, where results are stored, and to what it comes to. *Returns* how many.
template <class Rule, class Pass, class Tile>
std::int64_t scan_by_lanes(const Tile& t, double& before, double& lost_before, double& total, double& lost_of_total) {
  std::int64_t done = 0;
  double rows[scan_lanes * most_lane_rows];
  while (t.rows - done >= scan_lanes * fewest_lane_rows) {
    const std::int64_t left = (t.rows - done) / scan_lanes, count = left < most_lane_rows ? left : most_lane_rows;
    const double* const in = t.in + done * t.in_row;
    copy_elements(sizeof(double), rows, scan_lanes, 1, in, t.in_row, count * t.in_row, count, scan_lanes);
    double kept[scan_lanes]{}, lost[scan_lanes]{};
    lane_sums<Rule, false>::variants::chosen()(rows, count, kept, lost);
    for (std::int64_t j = 0; j < scan_lanes; ++j) {
      const double sum = kept[j], lost_of_sum = lost[j];
      kept[j] = before;
      lost[j] = lost_before;
      if constexpr (Pass::stores) Rule::merge(before, lost_before, sum, lost_of_sum);
      if constexpr (Pass::totals) Rule::merge(total, lost_of_total, sum, lost_of_sum);
    }
    if constexpr (Pass::stores) {
      lane_sums<Rule, true>::variants::chosen()(rows, count, kept, lost);
      copy_elements(sizeof(double), t.out + done * t.out_row, count * t.out_row, t.out_row, rows, 1, scan_lanes,
                    scan_lanes, count);
    }
    done += count * scan_lanes;
  }
  return done;
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail
