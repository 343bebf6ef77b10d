// SPDX-License-Identifier: BSL-1.0
// The inner loop of every fused kernel: a program over elements that lie next to each other, on packs or on scalars.
#pragma once

#include <onto/backend/cpu/sources.hpp>
#include <onto/backend/cpu/stream.hpp>
#include <onto/core/element.hpp>
#include <onto/kernel/program.hpp>

#include <cstdint>
#include <cstring>
#include <utility>

namespace onto::detail {

/// `count` elements of a map. Each input and result is a run of `count` elements; a result may be one of the inputs.
struct span_call {
  const void* const* in;
  void* out;
  std::int64_t first;  // the index of the first element in the space
  std::int64_t count;
  const std::uint64_t* scalars;
  void* const* more = nullptr;  // further results, as `out`
  bool streamed = false;        // whether packs are written past the caches; `out` is then aligned to a cache line
};

/// A function that evaluates a program over a run of elements.
using span_function = void (*)(const span_call&);

inline constexpr int least_row_in_place = 16;  // elements; a call for each row is worth it from there on

template <class Op>
concept costed = requires {
  Op::cost;
};

template <class Op>
constexpr int cost_of() {
  if constexpr (costed<Op>)
    return Op::cost;
  else
    return 0;
}

/// Operations per element of a program, at least 1.
template <class... Line>
constexpr int program_cost(program<Line...>) {
  int cost = 0;
  for (int each : {cost_of<typename Line::operation>()...}) cost += each;
  return cost > 0 ? cost : 1;
}

/// Whether a program is nothing but an input.
template <class... Line>
constexpr bool is_bare_load(program<Line...> p) {
  return sizeof...(Line) == 1 && slots_of(p).inputs == 1;
}

/// Evaluates `Program` over a run of elements, on packs or on scalars.
template <class Program, bool Packs>
struct span_body;
template <class Program>
struct span_body<Program, true> {
  template <int Bytes>
  static ONTO_INLINE void run(const span_call& c) {
    using T = element_t<Program::result>;
    using lanes = pack<T, Bytes>;
    constexpr program_slots used = slots_of(Program{});
    constexpr int inputs = used.inputs, scalars = used.scalars, results = used.results;
    constexpr std::int64_t width = lanes::size;
    pack_source<T, Bytes, inputs, scalars, results> source;
    source.spread(c.scalars, std::make_integer_sequence<int, scalars>{});
    for (int i = 0; i < inputs; ++i) source.in[i] = static_cast<const T*>(pointer_of(c.in, i));
    for (int i = 0; i < results; ++i) source.more[i] = static_cast<T*>(c.more[i]);
    T* out = static_cast<T*>(c.out);

    // What is left after the last whole pack goes through the same loop, so that the program is compiled once: as the
    // last pack of the run, read before anything is written, for `out` may be an input. A run shorter than a pack is
    // copied into one, and so is the rest of one that is streamed: a store to a line that is on its way to memory waits
    // for it. Spare lanes repeat an element: no lane computes what the program was not asked for.
    alignas(64) T rest[inputs + 1][width];
    alignas(64) T rest_out[results + 1][width];
    const std::int64_t left = c.count % width, last = c.count - width;
    const std::int64_t whole_packs = c.count - left;
    const bool overlaps = last >= 0 && !c.streamed;
    if (left != 0 && overlaps)
      for (int i = 0; i < inputs; ++i) lanes::load_unaligned(source.in[i] + last).store_aligned(rest[i]);
    else if (left != 0)
      for (int i = 0; i < inputs; ++i) lanes::load_first(source.in[i] + whole_packs, left).store_aligned(rest[i]);
    T* target = out;
    std::int64_t n = whole_packs;
    bool streamed = c.streamed;
    for (bool whole = true;; whole = false) {
      for (source.k = 0; source.k < n; source.k += width) {
        const auto value = Program::evaluate(source);
        if (streamed)
          value.stream(target + source.k);
        else
          value.store_unaligned(target + source.k);
      }
      if (!whole || left == 0) break;
      for (int i = 0; i < inputs; ++i) source.in[i] = rest[i];
      for (int i = 0; i < results; ++i) source.more[i] = overlaps ? static_cast<T*>(c.more[i]) + last : rest_out[i + 1];
      target = overlaps ? out + last : rest_out[0];
      n = width;
      streamed = false;
    }
    if (overlaps || left == 0) return;
    lanes::load_unaligned(rest_out[0]).store_first(out + whole_packs, left);
    if constexpr (results > 0)  // a loop that runs never would read past `rest_out`, says g++ where it checks bounds
      for (int i = 0; i < results; ++i)
        lanes::load_unaligned(rest_out[i + 1]).store_first(static_cast<T*>(c.more[i]) + whole_packs, left);
  }
};

#if ONTO_PACKS
/// Of programs of several element types: what is left after the last whole pack is copied, its spare lanes too.
template <class Program>
  requires(Program::packs.mixed)
struct span_body<Program, true> {
  template <int Bytes>
  static ONTO_INLINE void run(const span_call& c) {
    using operands = program_operands<Program>;
    using result = typename operands::result;
    using T = element_t<Program::packs.lane>;
    constexpr int inputs = operands::inputs, scalars = operands::scalars, results = operands::results;
    constexpr std::int64_t width = Bytes / static_cast<int>(sizeof(T));
    mixed_source<T, Bytes, inputs, scalars, results> source;
    source.spread(c.scalars, std::make_integer_sequence<int, scalars>{});
    for (int i = 0; i < inputs; ++i) source.in[i] = pointer_of(c.in, i);
    for (int i = 0; i < results; ++i) source.more[i] = c.more[i];
    source.first = c.first;
    result* out = static_cast<result*>(c.out);

    alignas(64) char rest[inputs + results + 1][width * 8];
    const std::int64_t left = c.count % width, whole_packs = c.count - left;
    std::int64_t n = whole_packs;
    bool streamed = c.streamed;
    for (bool whole = true;; whole = false) {
      for (source.k = 0; source.k < n; source.k += width) {
        const auto value = Program::evaluate(source);
        if constexpr (Program::packs.results_are_lanes)
          if (streamed) {
            value.stream(out + source.k);
            continue;
          }
        value.store_unaligned(out + source.k);
      }
      if (!whole || left == 0) break;
      for (int i = 0; i < inputs; ++i) {
        if (operands::found.loads[i])
          copy_rest(rest[i], c.in[i], size_of(operands::found.type[i]), whole_packs, left, width);
        source.in[i] = rest[i];
      }
      for (int i = 0; i < results; ++i) source.more[i] = rest[inputs + i];
      out = reinterpret_cast<result*>(rest[inputs + results]);
      source.first += whole_packs;
      n = width;
      streamed = false;
    }
    if (left == 0) return;
    std::memcpy(static_cast<result*>(c.out) + whole_packs, out, static_cast<std::size_t>(left) * sizeof(result));
    if constexpr (results > 0)  // g++ warns of what a loop over none would read
      for (int i = 0; i < results; ++i) {
        const std::int64_t size = size_of(operands::found.result_type[i]);
        std::memcpy(static_cast<char*>(c.more[i]) + whole_packs * size, rest[inputs + i],
                    static_cast<std::size_t>(left * size));
      }
  }
};
#endif

template <class Program>
struct span_body<Program, false> {
  template <int>
  static ONTO_INLINE void run(const span_call& c) {
    using T = element_t<Program::result>;
    constexpr program_slots used = slots_of(Program{});
    constexpr int inputs = used.inputs, scalars = used.scalars, results = used.results;
    // Blocks of a fixed length: what g++ vectorizes at -O2 too, where it leaves loops alone that need a scalar rest.
    constexpr int block = 64;
    block_source<block, inputs, scalars, results> source;
    for (int i = 0; i < inputs; ++i) source.in[i] = pointer_of(c.in, i);
    for (int i = 0; i < scalars; ++i) source.scalars[i] = c.scalars[i];
    for (int i = 0; i < results; ++i) source.more[i] = c.more[i];
    source.first = c.first;
    T* const out = static_cast<T*>(c.out);
    std::int64_t lo = 0;
    for (; lo + block <= c.count; lo += block) {
      source.begin = lo;
#if !defined(__clang__)  // which would warn of every program it cannot vectorize
#pragma GCC ivdep
#endif
      for (std::int64_t k = 0; k < block; ++k) {
        auto here = source;
        here.k = lo + k;
        out[lo + k] = static_cast<T>(Program::evaluate(here));
      }
    }
    source.begin = lo;
    for (; lo < c.count; ++lo) {
      source.k = lo;
      out[lo] = static_cast<T>(Program::evaluate(source));
    }
  }
};

/// Whether each operation is one instruction, which gives the same on vectors of any size.
template <class... Line>
constexpr bool is_basic(program<Line...>) {
  for (int each : {cost_of<typename Line::operation>()...})
    if (each > 1) return false;
  return true;
}

/// The same over a run whose length the compiler knows, on vectors that it fills.
template <class Program, bool Packs, std::int64_t Count>
struct short_span_body {
  using variants = vector_variants<short_span_body, void(const void* const*, void*, const std::uint64_t*)>;
  template <int Bytes>
  static ONTO_INLINE void run(const void* const* in, void* out, const std::uint64_t* scalars) {
    constexpr std::int64_t bytes = Count * size_of(Packs ? Program::packs.lane : Program::result);
    constexpr int whole = static_cast<int>(bytes & -bytes);
    constexpr int filled = whole < 16 || !is_basic(Program{}) ? Bytes : whole < Bytes ? whole : Bytes;
    span_body<Program, Packs>::template run<filled>({in, out, 0, Count, scalars});
  }
};

inline namespace ONTO_VECTOR_ABI {

/// Evaluates `Program` over a run of elements, on the vectors of the program's flags, for a kernel that has no other.
template <class Program, bool Packs>
constexpr span_function span_alone() {
  return vector_variants<span_body<Program, Packs>, void(const span_call&)>::alone();
}
/// The same on the vectors that were chosen.
template <class Program, bool Packs = (has_packs && Program::packs.possible())>
ONTO_INLINE span_function chosen_span() {
  return vector_variants<span_body<Program, Packs>, void(const span_call&)>::chosen();
}

}  // namespace ONTO_VECTOR_ABI

}  // namespace onto::detail
