// SPDX-License-Identifier: BSL-1.0
// Reductions whose values never leave the registers: a program is evaluated on packs and folded pack by pack.
#pragma once

#include <onto/backend/cpu/fold.hpp>
#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/pack_extremes.hpp>
#include <onto/backend/cpu/pack_fold.hpp>
#include <onto/backend/cpu/span.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {

/// Rows of values of a program, each to be folded into an accumulator of its own.
struct fold_call {
  const void* const* in;  // each input a run of `rows * count` elements
  std::int64_t rows;
  std::int64_t count;  // of a row: at least 1, at most fold_run_most
  const std::uint64_t* scalars;
  std::int64_t index;   // of each row's first value in the folded axis
  void* accumulators;   // of the rows, as the fold's table has them
  void* out = nullptr;  // where it is not null, the values of the one row go there and nothing is folded
  bool whole = false;   // the rows are whole and short, and there are their results instead
};

/// A function that evaluates a program and folds its values.
using fold_function = void (*)(const fold_call&);

/// Packs count four of themselves in their own type, floats up to 2^24; the smallest pack has four.
inline constexpr std::int64_t fold_run_most = std::int64_t{1} << 28;

/// One of a program's values, and where it is.
template <fold F, class T, int Bytes>
struct pack_position : pack_extreme<T, Bytes, F == fold::argmin> {
  using base = pack_extreme<T, Bytes, F == fold::argmin>;
  using typename base::lanes;
  // In each lane the extreme so far, and the number of the four packs where it was first met.
  lanes where = lanes{}, now = where;

  ONTO_INLINE void add(const lanes& a, const lanes& b, const lanes& c, const lanes& d) {
    const lanes most = base::better(base::better(a, b), base::better(c, d));
    where = select(F == fold::argmin ? most < this->first : most > this->first, now, where);
    this->first = base::better(most, this->first);
    this->nan = this->nan | (either_nan(a, b) | either_nan(c, d));
    now += lanes(T{1});
  }
  /// The number of the first four packs that have `best`, which is the total.
  ONTO_INLINE std::int64_t four_of(T best) const {
    T value[lanes::size], place[lanes::size];
    this->first.store_unaligned(value);
    where.store_unaligned(place);
    T least = place[0];
    bool found = false;
    for (int j = 0; j < lanes::size; ++j)
      if (value[j] == best && (!found || place[j] < least)) {
        least = place[j];
        found = true;
      }
    return static_cast<std::int64_t>(least);
  }
};

/// What folds packs by `F`, the folds to a place among them.
template <fold F, class T, int Bytes>
using register_fold = std::conditional_t<is_argument(F), pack_position<F, T, Bytes>, pack_fold<F, T, Bytes>>;
template <fold F, class T>
inline constexpr bool folds_in_registers = folds_packs<F, T> || (is_argument(F) && folds_packs<fold::max, T>);

/// Where the extreme of a row is. The fours of packs told where to look; NaN, which they pass over, is looked for.
template <fold F, class T>
ONTO_NOINLINE void take_position(fold_function evaluate, const fold_call& rows, int inputs, std::int64_t r,
                                 std::int64_t width, bool bare, bool nan, T best, std::int64_t four) {
  constexpr std::int64_t block = 1024;
  alignas(64) T values[block];
  small_array<const void*, 16> in(inputs);
  auto* const a = static_cast<indexed_value<T>*>(rows.accumulators) + r;
  if (!nan && a->index >= 0 && !is_more_extreme<F>(best, a->value)) return;
  const std::int64_t begin = nan ? 0 : four * 4 * width, step = nan ? block : 4 * width;
  for (std::int64_t k = begin; k < rows.count; k += step) {
    fold_call part = rows;
    for (int i = 0; i < inputs; ++i) in[i] = static_cast<const T*>(rows.in[i]) + r * rows.count + k;
    part.in = in.data();
    part.rows = 1;
    part.count = rows.count - k < step ? rows.count - k : step;
    part.out = values;
    if (!bare) evaluate(part);
    const T* const row = bare ? static_cast<const T*>(in[0]) : values;
    if (!nan) {
      std::int64_t place = 0;
      while (place + 1 < part.count && row[place] != best) ++place;
      a->value = best;
      a->index = rows.index + k + place;
      return;
    }
    folding<F, T>::rows(a, row, 1, part.count, rows.index + k);
  }
}

/// A loop that finds the places of the extremes of rows: short_extremes.hpp and pack_extremes.hpp have them.
using places_function = void (*)(void* to, const void* values, std::int64_t rows, std::int64_t n);

/// Rows so short that a pack would be mostly spare lanes: the values of many are made together, and folded one by one.
/// `places`: of extremes, the loop over rows that are whole. *Preconditions* rows of fewer than fold_lanes elements,
/// but for places of extremes.
template <fold F, class T>
ONTO_NOINLINE void fold_short_rows(fold_function evaluate, const fold_call& c, int inputs, bool bare,
                                   places_function places) {
  constexpr std::int64_t block = 1024;
  alignas(64) T values[block];
  small_array<const void*, 16> in(inputs);
  auto* accumulators = static_cast<typename accumulator<F, T>::state*>(c.accumulators);
  const std::int64_t count = c.count, together = block / count;
  if (!is_argument(F) && count >= fold_lanes) __builtin_unreachable();  // what longer rows need is not compiled
  for (std::int64_t r = 0; r < c.rows; r += together) {
    const std::int64_t rows = c.rows - r < together ? c.rows - r : together;
    for (int i = 0; i < inputs; ++i) in[i] = static_cast<const T*>(c.in[i]) + r * count;
    if (!bare) evaluate({in.data(), 1, rows * count, c.scalars, c.index, nullptr, values});
    const void* const made = bare ? in[0] : values;
    auto* const results = static_cast<typename accumulator<F, T>::result*>(c.accumulators) + r;
    if (!c.whole) {
      folding<F == fold::mean ? fold::sum : F, T>::rows(accumulators + r, made, rows, count, c.index);
    } else if constexpr (is_argument(F)) {
      places(results, made, rows, count);
    } else {
      folding<F, T>::short_rows(results, made, rows, count, true);
    }
  }
}

/// Evaluates `Program` over rows and folds each by `F`. There is one evaluation, four packs of it, in the function:
/// what is left of a row at its end is evaluated as its last four packs, the lanes that were there before left out.
/// Without `Rows` there is but one row.
template <class Program, fold F, bool Rows = true>
struct fold_body {
  using variants = vector_variants<fold_body, void(const fold_call&)>;
  template <int Bytes>
  static ONTO_INLINE void run(const fold_call& c) {
    constexpr fold_function evaluate = variants::template get<Bytes>();
    using T = element_t<Program::result>;
    using lanes = pack<T, Bytes>;
    constexpr program_slots used = slots_of(Program{});
    constexpr int inputs = used.inputs, scalars = used.scalars;
    constexpr std::int64_t width = lanes::size;
    if (Rows && c.count < short_row_of(F) && (c.rows > 1 || c.whole)) {
      places_function places = nullptr;
      if constexpr (Rows && is_argument(F))
        places = c.count < width ? short_extremes<F, T>::template of<Bytes>()
                                 : pack_extremes<F, T>::variants::template get<Bytes>();
      return fold_short_rows<F, T>(evaluate, c, inputs, is_bare_load(Program{}), places);
    }
    pack_source<T, Bytes, inputs, scalars, 0> source;
    source.spread(c.scalars, std::make_integer_sequence<int, scalars>{});
    constexpr std::int64_t fours = 4 * width;
    alignas(64) T rest[inputs + 1][fours];
    T number[width];
    for (std::int64_t j = 0; j < width; ++j) number[j] = static_cast<T>(j);
    const lanes numbers = lanes::load_unaligned(number);

    for (std::int64_t r = 0; r < c.rows; ++r) {
      std::int64_t begin = 0, end = c.count;
      for (int i = 0; i < inputs; ++i) source.in[i] = static_cast<const T*>(pointer_of(c.in, i)) + r * c.count;
      T* out = static_cast<T*>(c.out);
      if (end < fours) {  // copied to where four packs end with the row; spare lanes repeat an element
        begin = fours - end;
        for (int i = 0; i < inputs; ++i) {
          for (std::int64_t j = 0; j < begin; j += width) lanes(source.in[i][0]).store_aligned(rest[i] + j);
          std::memcpy(rest[i] + begin, source.in[i], static_cast<std::size_t>(end) * sizeof(T));
          source.in[i] = rest[i];
        }
        end = fours;
        if (out) out = rest[inputs];
      }
      register_fold<F, T, Bytes> folded;
      for (std::int64_t k = begin; k < end; k += fours) {
        const std::int64_t at = k + fours <= end ? k : end - fours;
        lanes p[4];
        // A long program stands in the code once, and one that computes much twice; others four times, by constants, so
        // that the packs stay in registers without a loop to unroll, as -O2 does not.
        constexpr int times = Program::size > 24 ? 1 : program_cost(Program{}) > 32 ? 2 : 4;
        source.k = at;
        for (int j = 0; j < 4; j += times) {
          p[j] = Program::evaluate(source);
          source.k += width;
          if constexpr (times == 1) continue;
          p[j + 1] = Program::evaluate(source);
          source.k += width;
          if constexpr (times == 2) continue;
          p[2] = Program::evaluate(source);
          source.k += width;
          p[3] = Program::evaluate(source);
        }
        if (out) {
          p[0].store_unaligned(out + at);
          p[1].store_unaligned(out + at + width);
          p[2].store_unaligned(out + at + 2 * width);
          p[3].store_unaligned(out + at + 3 * width);
          continue;
        }
        if (at != k) {
          const lanes none(static_cast<T>(number_state<F, T>::identity)), first(static_cast<T>(k - at)),
              step(static_cast<T>(width));
          lanes lane = numbers;
          p[0] = select(lane >= first, p[0], none);
          p[1] = select((lane += step) >= first, p[1], none);
          p[2] = select((lane += step) >= first, p[2], none);
          p[3] = select((lane += step) >= first, p[3], none);
        }
        folded.add(p[0], p[1], p[2], p[3]);
      }
      if (out) {
        if (out != c.out) std::memcpy(c.out, out + begin, static_cast<std::size_t>(end - begin) * sizeof(T));
        return;
      }
      if constexpr (is_argument(F)) {
        const T best = folded.total();
        take_position<F, T>(evaluate, c, inputs, r, width, is_bare_load(Program{}), any(folded.nan), best,
                            folded.four_of(best));
      } else {
        add_total<F, T>(static_cast<typename accumulator<F, T>::state*>(c.accumulators) + r, folded.total());
      }
    }
  }
};

}  // namespace onto::detail
