// SPDX-License-Identifier: BSL-1.0
// Scatters on the CPU: rows of updates that go to the rows of a result that their numbers say, how threads share them,
// and sums of those that come to one row.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/kernel/indexing.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/kernel/workspace.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace onto::detail {

inline constexpr std::int64_t block_of_numbers = 256;

/// Numbers of any type of integers, `step` apart.
inline void read_numbers(const void* numbers, element type, std::int64_t offset, std::int64_t step, std::int64_t count,
                         std::int64_t* out) {
  with_integer(type, [&](auto zero) {
    const auto* const from = static_cast<const decltype(zero)*>(numbers) + offset;
    for (std::int64_t k = 0; k < count; ++k) out[k] = count_of(from[k * step]);
  });
}

/// What a number outside is: that of no row, after those below 0 were counted from the end or not; or of the nearest.
enum class numbers_outside { left_out, left_out_from_end, nearest };

/// Updates (outer, numbers, inner) for a result of (outer, rows, inner).
struct numbered_rows {
  const void* numbers;
  const void* updates;
  element type;              // of the numbers
  strided_layout<2> number;  // of the numbers, and the updates' rows
  strided_layout<1> outer;   // of the updates
  std::int64_t rows, inner;
  std::vector<std::int64_t> columns;  // how far from a row's first update each lies; empty where they are neighbours

  /// `axis`: that of the updates from which on they have as many as there are numbers; `numbers_axis`: the numbers'
  /// own.
  ONTO_COLD numbered_rows(const kernel_call& call, const extents& counts, int updates_at, int axis, std::int64_t n,
                          int numbers_axis = 0)
      : numbers(call.in[0].data),
        updates(call.in[updates_at].data),
        type(call.in[0].type),
        number(coalesce<2>(counts, {call.in[0].stride + numbers_axis, call.in[updates_at].stride + axis})),
        rows(n) {
    const extents& all = call.shapes[updates_at];
    const std::int64_t* const stride = call.in[updates_at].stride;
    extents before, behind;
    for (int d = 0; d < axis; ++d) before.push_back(all[d]);
    for (int d = axis + counts.rank; d < all.rank; ++d) behind.push_back(all[d]);
    outer = coalesce<1>(before, {stride});
    inner = behind.size();
    columns = columns_of(behind, stride + axis + counts.rank);
  }

  /// How far from a row's first element each of `shape` lies; empty where they are neighbours.
  static std::vector<std::int64_t> columns_of(const extents& shape, const std::int64_t* stride) {
    if (is_contiguous(shape, stride)) return {};
    const strided_layout<1> l = coalesce<1>(shape, {stride});
    std::vector<std::int64_t> at(static_cast<std::size_t>(l.size()));
    for (std::size_t k = 0; k < at.size(); ++k)
      at[k] = offset_of(l.rank, l.extent, l.stride[0], static_cast<std::int64_t>(k));
    return at;
  }

  std::int64_t count() const { return number.size(); }
};

/// A part of a result: rows and columns.
struct block_of_rows {
  std::int64_t first, last, first_column, last_column;
};

/// Rows that updates come to, where they are few: a place for each, in the order in which they come.
struct few_rows {
  std::vector<std::uint32_t> place_of;  // of a row, from 1 on; 0 of others. Empty where each row is its own place
  std::vector<std::int64_t> row_of;     // of a place

  std::int64_t row(std::int64_t place) const {
    return place_of.empty() ? place : row_of[static_cast<std::size_t>(place)];
  }
};

/// The row of a number: from -1 to as many as there are, both of which are none.
template <numbers_outside Outside>
ONTO_INLINE std::int64_t row_of_number(std::int64_t number, std::int64_t rows) {
  if constexpr (Outside == numbers_outside::nearest)
    return nearest(number, rows);
  else
    return Outside == numbers_outside::left_out_from_end ? from_end(number, rows) : number;
}

/// Numbers of one type at even distances, and their updates.
template <numbers_outside Outside, class Number>
struct numbered_line {
  const Number* number;
  std::int64_t step, from, update_step, rows;

  ONTO_INLINE std::int64_t row(std::int64_t k) const {
    return row_of_number<Outside>(count_of(number[k * step]), rows);
  }
  ONTO_INLINE std::int64_t update(std::int64_t k) const { return from + k * update_step; }
};

/// Calls `f(line, count)` for numbers `[first, last)` in their order, for as many at a time as lie evenly.
template <numbers_outside Outside, class F>
ONTO_INLINE void for_each_line(const numbered_rows& u, std::int64_t first, std::int64_t last, const F& f) {
  const int inner = u.number.rank - 1;
  for_each_row(u.number, first, last, [&](const std::int64_t* offset, std::int64_t count) {
    with_integer(u.type, [&](auto zero) {
      using number = decltype(zero);
      f(numbered_line<Outside, number>{static_cast<const number*>(u.numbers) + offset[0], u.number.stride[0][inner],
                                       offset[1], u.number.stride[1][inner], u.rows},
        count);
    });
  });
}

/// Updates in blocks: the places of those for the rows of a part, and where they are.
struct block_of_updates {
  std::int64_t place[block_of_numbers], from[block_of_numbers];

  /// Reads `[first, first + count)`. *Returns* how many are for places `[lo, hi)`.
  template <numbers_outside Outside>
  ONTO_NOINLINE std::int64_t read(const numbered_rows& u, std::int64_t first, std::int64_t count, std::int64_t lo,
                                  std::int64_t hi, const std::uint32_t* place_of = nullptr) {
    std::int64_t kept = 0;
    const std::int64_t first_row = place_of == nullptr ? lo : 0, last_row = place_of == nullptr ? hi : u.rows;
    for_each_line<Outside>(u, first, first + count, [&](const auto& line, std::int64_t some) {
      for (std::int64_t k = 0; k < some; ++k) {  // without branches, which random numbers make processors guess wrong
        const std::int64_t row = line.row(k);
        place[kept] = row;
        from[kept] = line.update(k);
        kept += static_cast<int>(row >= first_row) & static_cast<int>(row < last_row);
      }
    });
    if (place_of == nullptr) return kept;
    const std::int64_t n = kept;
    kept = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t at = std::int64_t{place_of[place[k]]} - 1;
      place[kept] = at;
      from[kept] = from[k];
      kept += static_cast<int>(at >= lo) & static_cast<int>(at < hi);
    }
    return kept;
  }
};

/// Calls `f(from, count)` for blocks of numbers in their order.
template <class F>
ONTO_INLINE void for_each_block(std::int64_t count, const F& f) {
  for (std::int64_t first = 0; first < count; first += block_of_numbers)
    f(first, least(count - first, block_of_numbers));
}

/// The rows that updates come to, where these are so few that most are as they were.
template <numbers_outside Outside>
few_rows find_few_rows(const numbered_rows& u) {
  few_rows found;
  const std::int64_t count = u.count();
  const std::int64_t rows_of_one = u.inner < 4 ? 32 : 2;  // from which on it is worth to look for them
  if (u.outer.size() != 1 || rows_of_one * count > u.rows || count >= std::int64_t{1} << 32) return found;
  found.place_of.resize(static_cast<std::size_t>(u.rows));
  block_of_updates b;
  for_each_block(count, [&](std::int64_t first, std::int64_t n) {
    const std::int64_t kept = b.template read<Outside>(u, first, n, 0, u.rows);
    for (std::int64_t k = 0; k < kept; ++k) {
      std::uint32_t& place = found.place_of[static_cast<std::size_t>(b.place[k])];
      if (place != 0) continue;
      found.row_of.push_back(b.place[k]);
      place = static_cast<std::uint32_t>(found.row_of.size());
    }
  });
  return found;
}

/// Cuts a result for all threads such that the updates of an element are one thread's, which keeps their order: by
/// rows, since whole rows are read fastest, or by columns where rows are few. Each part goes through all numbers, which
/// pays from `worth` columns on. `work`: the elements to go through.
template <class Body>
void share_rows(thread_pool& pool, std::int64_t work, std::int64_t rows, std::int64_t columns, std::int64_t worth,
                const Body& body) {
  const std::int64_t threads = pool.size();
  auto by_rows = [&](std::int64_t lo, std::int64_t hi) { body(block_of_rows{lo, hi, 0, columns}); };
  auto by_columns = [&](std::int64_t lo, std::int64_t hi) { body(block_of_rows{0, rows, lo, hi}); };
  if (threads == 1 || work < 32768 || columns < worth) return by_rows(0, rows);
  if (rows >= 8 * threads || columns < 64)
    return split(pool, rows, divide_up(rows, (columns < 64 ? 1 : 2) * threads), by_rows);
  split(pool, columns, greatest(64, divide_up(columns, threads)), by_columns);
}

/// Sums, or extremes, of the updates that come to a row, in their order. `Based`: beginning with a result or a base.
template <class Rule, class T, numbers_outside Outside, bool Based>
class row_sums {
 public:
  using state = typename Rule::state;
  using result = typename Rule::result;

  row_sums(const numbered_rows& u, result* out)
      : u_(u),
        out_(out),
        base_(out),
        few_(in_place ? few_rows{} : find_few_rows<Outside>(u)),
        places_(few_.place_of.empty() ? u.rows : static_cast<std::int64_t>(few_.row_of.size())),
        states_(in_place ? 0 : u.outer.size() * places_ * u.inner) {}

  /// Adds to what is here, unless the result must have it. *Returns* whether it does.
  bool begins_at(const result* base) {
    if (in_place || !few_.place_of.empty()) return false;
    base_ = base;
    return true;
  }

  void run(thread_pool& pool) {
    if (const std::int64_t parts = parts_of_elements(); parts > 0) return sum_parts(pool, parts);
    const std::int64_t outer = u_.outer.size(), work = (u_.count() + places_) * u_.inner;
    if (!Based && !few_.place_of.empty()) clear(pool);
    auto each = [&](std::int64_t lo, std::int64_t hi) {
      for (; lo < hi; ++lo) sum(lo, {0, places_, 0, u_.inner});
    };
    if (outer >= pool.size()) return split(pool, outer, 32768 / (work + 1) + 1, each);
    for (std::int64_t o = 0; o < outer; ++o)
      share_rows(pool, work, places_, u_.inner, 8, [&](const block_of_rows& part) { sum(o, part); });
  }

 private:
  void clear(thread_pool& pool) {
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      for (; lo < hi; ++lo) out_[lo] = Rule::finish(Rule::none());
    };
    split(pool, u_.rows * u_.inner, 65536, body);
  }

  /// Parts in which elements are summed up that are few sums of many; 0 if they are others. The shape alone decides.
  std::int64_t parts_of_elements() const {
    const std::int64_t count = u_.count();
    if (u_.inner != 1 || u_.outer.size() != 1 || u_.rows > 1024 || 64 * u_.rows > count || count < 4096) return 0;
    return least(greatest(count / 65536, 1), 16);
  }

  /// Each part has four sums for each row in turn, so that an addition seldom waits for the one before it.
  void sum_parts(thread_pool& pool, std::int64_t parts) {
    const std::int64_t step = divide_up(u_.count(), parts), sums = lanes * u_.rows;
    small_array<state, 64> kept(parts * sums);
    auto body = [&](std::int64_t lo, std::int64_t hi) {
      for (; lo < hi; ++lo) {
        state* const to = kept.data() + lo * sums;
        for (std::int64_t k = 0; k < sums; ++k) to[k] = Rule::none();
        add_elements<lanes>(to, static_cast<const T*>(u_.updates), lo * step, least((lo + 1) * step, u_.count()));
      }
    };
    split(pool, parts, 1, body);
    for (std::int64_t row = 0; row < u_.rows; ++row) {
      state sum = first_of(base_[row]);
      for (std::int64_t k = 0; k < parts; ++k)
        for (std::int64_t j = 0; j < lanes; ++j) Rule::merge(sum, kept[k * sums + row * lanes + j]);
      out_[row] = Rule::finish(sum);
    }
  }

  /// `Lanes` sums for each row, for one number after the other.
  template <int Lanes>
  void add_elements(state* states, const T* updates, std::int64_t first, std::int64_t last) const {
    for_each_line<Outside>(u_, first, last, [&](const auto& line, std::int64_t count) {
      // What no sum that is written can change.
      const auto here = line;
      state* const to = states;
      const T* const from = updates;
      const auto add = [&](std::int64_t k, int lane) {
        const std::int64_t row = here.row(k);
        if (static_cast<std::uint64_t>(row) < static_cast<std::uint64_t>(here.rows))
          Rule::add(to[row * Lanes + lane], from[here.update(k)]);
      };
      std::int64_t k = 0;
      for (; Lanes == 4 && k + 4 <= count; k += 4) {
        add(k, 0);
        add(k + 1, 1);
        add(k + 2, 2);
        add(k + 3, 3);
      }
      for (; k < count; ++k) add(k, 0);
    });
  }

  static state first_of([[maybe_unused]] const result& x) {
    if constexpr (Based)
      return Rule::first(x);
    else
      return Rule::none();
  }

  void sum(std::int64_t outer, const block_of_rows& part) {
    const std::int64_t inner = u_.inner;
    result* const out = out_ + outer * u_.rows * inner;
    const result* const base = base_ + outer * u_.rows * inner;
    state* const states = states_of(out, outer * places_ * inner);
    for_each_run(part, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
      for (std::int64_t j = 0; j < count && !(in_place && Based); ++j) states[from + j] = first_of(base[to + j]);
    });
    const T* const updates =
        static_cast<const T*>(u_.updates) + offset_of(u_.outer.rank, u_.outer.extent, u_.outer.stride[0], outer);
    add(states, updates, part);
    for_each_run(part, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
      for (std::int64_t j = 0; j < count && !in_place; ++j) out[to + j] = Rule::finish(states[from + j]);
    });
  }

  ONTO_INLINE state* states_of([[maybe_unused]] result* out, [[maybe_unused]] std::int64_t first) {
    if constexpr (in_place)
      return reinterpret_cast<state*>(out);
    else
      return states_.data() + first;
  }

  /// Calls `f(first sum, first element, count)` for the elements of a part that are neighbours: all, or a row's.
  template <class F>
  ONTO_INLINE void for_each_run(const block_of_rows& part, const F& f) const {
    const std::int64_t inner = u_.inner, columns = part.last_column - part.first_column;
    if (few_.place_of.empty() && columns == inner)
      return f(part.first * inner, part.first * inner, (part.last - part.first) * inner);
    for (std::int64_t place = part.first; place < part.last; ++place)
      f(place * inner + part.first_column, few_.row(place) * inner + part.first_column, columns);
  }

  void add(state* states, const T* updates, const block_of_rows& part) const {
    if (u_.inner == 1 && few_.place_of.empty() && part.first == 0 && part.last == u_.rows)
      return add_elements<1>(states, updates, 0, u_.count());
    block_of_updates b;
    const std::int64_t* const columns = u_.columns.empty() ? nullptr : u_.columns.data();
    const std::uint32_t* const places = few_.place_of.empty() ? nullptr : few_.place_of.data();
    for_each_block(u_.count(), [&](std::int64_t first, std::int64_t n) {
      const std::int64_t kept = b.template read<Outside>(u_, first, n, part.first, part.last, places);
      if (columns == nullptr && u_.inner == 2) return add_short_rows<2>(states, updates, b, kept);
      if (columns == nullptr && u_.inner == 3) return add_short_rows<3>(states, updates, b, kept);
      for (std::int64_t k = 0; k < kept; ++k)
        add_row(states + b.place[k] * u_.inner, updates + b.from[k], columns, part.first_column, part.last_column);
    });
  }

  template <int Inner>
  ONTO_INLINE static void add_short_rows(state* states, const T* updates, const block_of_updates& b,
                                         std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      state* const to = states + b.place[k] * Inner;
      const T* const from = updates + b.from[k];
      for (int j = 0; j < Inner; ++j) Rule::add(to[j], from[j]);
    }
  }

  ONTO_INLINE static void add_row(state* to, const T* from, const std::int64_t* columns, std::int64_t j,
                                  std::int64_t last) {
    if (columns != nullptr) {
      for (; j < last; ++j) Rule::add(to[j], from[columns[j]]);
      return;
    }
    for (; j + 4 <= last; j += 4) {  // all of them read before they are written: compilers make vectors of them
      state a = to[j], b = to[j + 1], c = to[j + 2], d = to[j + 3];
      Rule::add(a, from[j]);
      Rule::add(b, from[j + 1]);
      Rule::add(c, from[j + 2]);
      Rule::add(d, from[j + 3]);
      to[j] = a;
      to[j + 1] = b;
      to[j + 2] = c;
      to[j + 3] = d;
    }
    for (; j < last; ++j) Rule::add(to[j], from[j]);
  }

  static constexpr int lanes = 4;
  /// What is kept of some elements is their sum; its type may be without a sign.
  static constexpr bool in_place =
      std::is_same_v<state, result> || (std::is_integral_v<result> && sizeof(state) == sizeof(result));

  const numbered_rows& u_;
  result* const out_;
  const result* base_;
  few_rows few_;
  std::int64_t places_;
  small_array<state, 16> states_;
};

}  // namespace onto::detail
