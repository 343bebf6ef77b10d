// SPDX-License-Identifier: BSL-1.0
// The inner loops of row kernels that maps do not have: a program's values folded as they are made, and a program
// evaluated once.
#pragma once

#include <onto/backend/cpu/fold.hpp>
#include <onto/backend/cpu/pack_fold.hpp>
#include <onto/backend/cpu/span.hpp>
#include <onto/kernel/row_phases.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {

inline namespace ONTO_VECTOR_ABI {

#if ONTO_PACKS
/// exp(x) for x of at most 0, NaN for NaN.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> exp_downwards(const pack<T, Bytes>& x) {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<T, float> && Bytes == 64) {
    // Half of what exp takes: only one end of the range, and the processor's own scaling by a power of two, which is
    // left out where the result is 0, as in exp.
    using lanes = pack<T, Bytes>;
    const lanes rounder(12582912.0f);
    const lanes k = in_order(fma(x, lanes(1.44269504088896341f), rounder)) - rounder;
    const lanes r = fnma(k, lanes(-2.12194440e-4f), in_order(fnma(k, lanes(0.693359375f), x)));
    // Cephes' polynomial (expf.c).
    const lanes p = simd::polynomial(r, 1.0f, 1.0f, 5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f,
                                     8.3334519073e-3f, 1.3981999507e-3f, 1.9875691500e-4f);
    lanes result;
    simd::instructions<float, 64>::scale(result.data, simd::at_least(x, -104.0f).data, p.data, k.data);
    return result;
  }
#endif
  return exp(x);
}
#endif

/// How operations are called in a row kernel's folds.
struct row_calls {
  template <class Op, class T, class... More>
  static ONTO_INLINE auto apply(const T& x, const More&... more) {
    if constexpr (std::is_same_v<Op, row_exp>)
      return exp_downwards((x - ... - more));
    else
      return Op::apply(x, more...);
  }
};

template <class T, int Bytes, int Inputs, int Scalars, bool Mixed>
struct row_pack_source : pack_source<T, Bytes, Inputs, Scalars, 0> {
  using calls = row_calls;
};
#if ONTO_PACKS
template <class T, int Bytes, int Inputs, int Scalars>
struct row_pack_source<T, Bytes, Inputs, Scalars, true> : mixed_source<T, Bytes, Inputs, Scalars, 0> {
  using calls = row_calls;
};
#endif

}  // namespace ONTO_VECTOR_ABI

/// A function that evaluates a program over a run of elements and folds its values into an accumulator.
using row_fold_function = void (*)(const span_call&, void* accumulator);

inline namespace ONTO_VECTOR_ABI {

/// The greatest number of a row, for softmax: see row_maximum.
template <class T, int Bytes>
struct pack_greatest : pack_fold_base<T, Bytes> {
  using typename pack_fold_base<T, Bytes>::lanes;
  lanes first = lanes(least_extreme<fold::max, T>), second = first, third = first, fourth = first;

  // In this order x86 passes over a NaN in `p`.
  static ONTO_INLINE lanes greater(const lanes& p, const lanes& best) { return max(p, best); }
  ONTO_INLINE void add(const lanes& p) { first = greater(p, first); }
  ONTO_INLINE void add(const lanes& a, const lanes& b, const lanes& c, const lanes& d) {
    first = greater(a, first);
    second = greater(b, second);
    third = greater(c, third);
    fourth = greater(d, fourth);
  }
  ONTO_INLINE void add_first(const lanes& p, std::int64_t n) {
    add(this->first_lanes(p, n, least_extreme<fold::max, T>));
  }
  ONTO_INLINE T total() const {
    return join_lanes<lane_extreme<false>>(greater(greater(first, second), greater(third, fourth)));
  }
};

template <fold F, class T, int Bytes>
using row_fold = std::conditional_t<F == row_maximum, pack_greatest<T, Bytes>, pack_fold<F, T, Bytes>>;

}  // namespace ONTO_VECTOR_ABI

/// A row's input in slot `slot`. One that the program does not load may be no row at all, but one element for each row,
/// or of another type: loops that look at every slot up to the last are given one that is loaded.
template <class Program>
ONTO_INLINE const void* row_input(const span_call& c, int slot) {
  using operands = program_operands<Program>;
  return c.in[operands::found.loads[slot] ? slot : operands::inputs - 1];
}

template <class Program, fold F>
inline constexpr bool folds_row_packs = (Program::packs.possible() && Program::packs.results_are_lanes &&
                                         folds_packs<fold_or_max(F), element_t<Program::result>>);

/// Folds a program's values, on packs or on scalars. `Keeps`: they are stored to `out` as well.
template <class Program, fold F, bool Keeps, bool Packs>
struct row_fold_body;
template <class Program, fold F, bool Keeps>
  requires(folds_row_packs<Program, F>)
struct row_fold_body<Program, F, Keeps, true> {
  using variants = vector_variants<row_fold_body, void(const span_call&, void*)>;
  template <int Bytes>
  static ONTO_INLINE void run(const span_call& c, void* accumulator) {
    using T = element_t<Program::result>;
    using lanes = pack<T, Bytes>;
    constexpr program_slots used = slots_of(Program{});
    constexpr int inputs = used.inputs, scalars = used.scalars;
    constexpr std::int64_t width = lanes::size;
    using operands = program_operands<Program>;
    constexpr bool mixed = Program::packs.mixed;
    using input = std::conditional_t<mixed, const void*, const T*>;
    row_pack_source<T, Bytes, inputs, scalars, mixed> source;
    source.spread(c.scalars, std::make_integer_sequence<int, scalars>{});
    for (int i = 0; i < inputs; ++i) source.in[i] = static_cast<input>(row_input<Program>(c, i));
    if constexpr (mixed) source.first = c.first;
    T* const out = static_cast<T*>(c.out);
    row_fold<F, T, Bytes> total;
    // Sixteen packs are added before they go into a sum of doubles: the elements of one result have fewer roundings so
    // than in pairwise summation. Where there is much to compute, values wait in memory, so that the program is
    // compiled once for them.
    constexpr bool sums = F == fold::sum || F == fold::mean;
    constexpr std::int64_t group = 16 * width;
    constexpr bool waits = Keeps || program_cost(Program{}) >= 8;
    [[maybe_unused]] alignas(64) T wait[waits && !Keeps ? group : 1];
    std::int64_t k = 0;
    while (k + 4 * width <= c.count) {
      const std::int64_t some = k + group <= c.count ? group : 4 * width;
      const T* from = wait;
      if constexpr (waits) {
        T* const to = Keeps ? out + k : wait;
        for (std::int64_t j = 0; j < some; j += width) {
          source.k = k + j;
          Program::evaluate(source).store_unaligned(to + j);
        }
        from = to;
      }
      [[maybe_unused]] lanes sum_a{}, sum_b{}, sum_c{}, sum_d{};
      for (std::int64_t j = 0; j < some; j += 4 * width) {
        lanes p_a, p_b, p_c, p_d;
        if constexpr (waits) {
          p_a = lanes::load_unaligned(from + j);
          p_b = lanes::load_unaligned(from + j + width);
          p_c = lanes::load_unaligned(from + j + 2 * width);
          p_d = lanes::load_unaligned(from + j + 3 * width);
        } else {
          source.k = k + j;
          p_a = Program::evaluate(source);
          source.k += width;
          p_b = Program::evaluate(source);
          source.k += width;
          p_c = Program::evaluate(source);
          source.k += width;
          p_d = Program::evaluate(source);
        }
        if constexpr (sums) {
          sum_a += p_a;
          sum_b += p_b;
          sum_c += p_c;
          sum_d += p_d;
        } else {
          total.add(p_a, p_b, p_c, p_d);
        }
      }
      if constexpr (sums) total.add(sum_a, sum_b, sum_c, sum_d);
      k += some;
    }
    // Single packs, the last one of copies: its spare lanes repeat an element, as in maps.
    alignas(64) T rest[inputs + 1][mixed ? 8 * width / sizeof(T) : width];  // one more: there may be none
    for (; k < c.count; k += width) {
      const std::int64_t left = c.count - k;
      source.k = k;
      if (left >= width) {
        const lanes v = Program::evaluate(source);
        total.add(v);
        if constexpr (Keeps) v.store_unaligned(out + k);
        continue;
      }
      for (int i = 0; i < inputs; ++i) {
        if constexpr (!mixed)
          lanes::load_first(source.in[i] + k, left).store_aligned(rest[i]);
        else if (operands::found.loads[i])
          copy_rest(rest[i], source.in[i], size_of(operands::found.type[i]), k, left, width);
        source.in[i] = rest[i];
      }
      if constexpr (mixed) source.first += k;
      source.k = 0;
      const lanes v = Program::evaluate(source);
      total.add_first(v, left);
      if constexpr (Keeps) v.store_first(out + k, left);
    }
    add_total<fold_or_max(F), T>(accumulator, total.total());
  }
};

template <class Program, fold F, bool Keeps, bool Packs>
  requires(!(Packs && folds_row_packs<Program, F>))
struct row_fold_body<Program, F, Keeps, Packs> {
  using variants = vector_variants<row_fold_body, void(const span_call&, void*)>;
  template <int>
  static ONTO_INLINE void run(const span_call& c, void* accumulator) {
    using T = element_t<Program::result>;
    constexpr program_slots used = slots_of(Program{});
    constexpr int inputs = used.inputs, scalars = used.scalars;
    constexpr int block = 512;
    block_source<block, inputs, scalars, 0> source;
    for (int i = 0; i < inputs; ++i) source.in[i] = c.in[i];
    for (int i = 0; i < scalars; ++i) source.scalars[i] = c.scalars[i];
    source.first = c.first;
    T values[block];
    for (std::int64_t lo = 0; lo < c.count; lo += block) {
      const std::int64_t some = c.count - lo < block ? c.count - lo : block;
      source.begin = lo;
      for (std::int64_t k = 0; k < some; ++k) {
        auto here = source;
        here.k = lo + k;
        values[k] = static_cast<T>(Program::evaluate(here));
      }
      if constexpr (Keeps) std::memcpy(static_cast<T*>(c.out) + lo, values, static_cast<std::size_t>(some) * sizeof(T));
      folding<fold_or_max(F), T>::rows(accumulator, values, 1, some, 0);
    }
  }
};

/// Evaluates a program over a run of elements of a row.
template <class Program, bool Packs>
struct row_span_body {
  using variants = vector_variants<row_span_body, void(const span_call&)>;
  template <int Bytes>
  static ONTO_INLINE void run(const span_call& c) {
    const void* in[program_operands<Program>::inputs + 1];
    for (int i = 0; i < program_operands<Program>::inputs; ++i) in[i] = row_input<Program>(c, i);
    span_body<Program, Packs && Program::packs.possible()>::template run<Bytes>(
        {in, c.out, c.first, c.count, c.scalars});
  }
};

/// A value in eight bytes, which are written at once: what reads eight need not wait for them.
template <class T>
ONTO_INLINE std::uint64_t bits_of_value(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// Evaluates a program once, into eight bytes.
template <class Program>
void value_span(const span_call& c) {
  using T = element_t<Program::result>;
  constexpr program_slots used = slots_of(Program{});
  constexpr int inputs = used.inputs, scalars = used.scalars;
  element_source<inputs, scalars, 0> source;
  for (int i = 0; i < inputs; ++i) source.in[i] = c.in[i];
  for (int i = 0; i < scalars; ++i) source.scalars[i] = c.scalars[i];
  source.first = c.first;
  source.k = 0;
  *static_cast<std::uint64_t*>(c.out) = bits_of_value(static_cast<T>(Program::evaluate(source)));
}

}  // namespace onto::detail
