// SPDX-License-Identifier: BSL-1.0
// What the kernels of elementwise programs know of their operands, whichever way they go over them, and how a program
// takes its operands from what a thread has loaded. Plain arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/operands.hpp>
#include <onto/backend/cuda/short_space.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto::detail {

/// A copy of elements that are moved as words of their size, or of as many bytes as are neighbours everywhere.
template <class Word>
struct copied_words {
  template <class Source>
  ONTO_HD ONTO_INLINE static Word evaluate(const Source& source) {
    return source.template raw<0>();
  }
};

template <class Word>
struct program_operands<copied_words<Word>> {
  template <int Slot>
  using input = Word;
  template <int Slot>
  using further = Word;
  using result = Word;
  static constexpr int inputs = 1;
  static constexpr int scalars = 0;
  static constexpr int results = 0;
  static constexpr int widest = static_cast<int>(sizeof(Word));
  static constexpr int size = 1;
};

/// Neighbours that a thread takes at a time: 16 bytes of the widest; of bool as many as of half.
template <class Program>
inline constexpr int map_lanes = program_operands<Program>::widest > 4    ? 2
                                 : program_operands<Program>::widest == 4 ? 4
                                                                          : 8;

/// Whether kernels pay that load ahead: what they load fits into a thread's registers, and there is not so much to
/// compute that memory waits anyway.
template <class Program>
inline constexpr bool worth_lanes = (program_operands<Program>::inputs <= many_inputs &&
                                     program_operands<Program>::size <= 64);

/// What a map reads and where its results go. The last operand of its spaces is the result, and so the index.
template <int Inputs, int Scalars, int Results>
struct map_inputs {
  static constexpr int inputs = Inputs;

  operand_values<Inputs, Scalars> values;
  result_pointers<Results> more;
  std::int64_t first;  // the index at which a part of a large map begins
};

template <class Program>
using map_inputs_of = map_inputs<program_operands<Program>::inputs, program_operands<Program>::scalars,
                                 program_operands<Program>::results>;

/// The operands of a map, without the space.
template <class Program>
struct map_operands : map_inputs_of<Program> {
  using facts = program_operands<Program>;
  static constexpr int operands = facts::inputs + 1;

  void* out;
};

template <class Program>
using input_slots = std::make_integer_sequence<int, program_operands<Program>::inputs>;
template <class Program>
using result_slots = std::make_integer_sequence<int, program_operands<Program>::results>;

/// Takes one lane of what was loaded, and fills it of the further results.
template <class Inputs, class Slots, class Results>
struct map_source : lane_source<Inputs, Slots> {
  Results& results;
  std::int32_t position;

  template <int Slot>
  ONTO_HD ONTO_INLINE auto raw() const {
    return pack_of<Slot>(this->packs).at[this->lane];
  }
  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE void store(computed_t<Type> x) const {
    pack_of<Slot>(results).at[this->lane] = static_cast<element_t<Type>>(x);
  }
  ONTO_HD std::int64_t index() const { return this->inputs.first + position; }
};

/// Takes operands one by one where they lie.
template <class Inputs, int Operands>
struct strided_source : program_source<Inputs> {
  const positions<Operands>& at;

  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> load() const {
    return device_load(static_cast<const element_t<Type>*>(this->inputs.values.data[Slot]) + at.of[Slot]);
  }
  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE void store(computed_t<Type> x) const {
    device_store(static_cast<element_t<Type>*>(this->inputs.more.data[Slot]) + at.of[Operands - 1],
                 static_cast<element_t<Type>>(x));
  }
  ONTO_HD std::int64_t index() const { return this->inputs.first + at.of[Operands - 1]; }
};

/// A map that goes over its space element by element.
template <class Program>
struct strided_map : map_operands<Program> {
  std::uint32_t size;
  short_space<map_operands<Program>::operands> space;
};

/// Computes one element of a map.
template <class Program>
ONTO_HD ONTO_INLINE void map_strided(const strided_map<Program>& map, std::uint32_t index) {
  constexpr int operands = map_operands<Program>::operands;
  using result = typename program_operands<Program>::result;
  const positions<operands> at = locate(map.space, index);
  const strided_source<map_inputs_of<Program>, operands> source{{map}, at};
  device_store(static_cast<result*>(map.out) + at.of[operands - 1], static_cast<result>(Program::evaluate(source)));
}

/// The bytes of an element of each input, of the result and of each further result.
template <class Program, class Slots = input_slots<Program>, class Results = result_slots<Program>>
struct map_bytes;
template <class Program, int... Slot, int... Result>
struct map_bytes<Program, std::integer_sequence<int, Slot...>, std::integer_sequence<int, Result...>> {
  static constexpr std::int8_t value[] = {sizeof(typename program_operands<Program>::template input<Slot>)...,
                                          sizeof(typename program_operands<Program>::result),
                                          sizeof(typename program_operands<Program>::template further<Result>)...};
};

}  // namespace onto::detail
