// SPDX-License-Identifier: BSL-1.0
// Fused kernels as flat programs: a pack of instructions over numbered registers. No name, place or tree reaches a
// kernel, so equal programs share one kernel, a leaf is loaded once, and 128 operations compile about as fast as 8.
#pragma once

#include <onto/core/element.hpp>
#include <onto/expr/operation.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto::detail {

/// Loads an element of input `Slot`.
struct load_input {};
/// Takes scalar `Slot`, the same for every element.
struct load_scalar {};
/// Stores register `Register` as a further result: `instruction<store_result, Type, Slot, Register>`. Everything is
/// loaded before anything is stored, so a result may lie where an operand does.
struct store_result {};

/// One instruction: instruction number `k` of a program writes register `k`. For loads `Arguments` is the slot, else
/// the registers of the operands. A register of type half or bfloat16 holds a float: nothing is rounded between
/// operations. The CPU's programs have no such types, the others load and store them.
template <class Op, element Type, int... Arguments>
struct instruction {
  using operation = Op;
  static constexpr element type = Type;
};

/// What an instruction asks of packs, as a value.
struct pack_line {
  element_set type;
  bool moves = false;  // loads or stores
  bool packs = false;
  bool integers = false;   // on those of integers too
  bool by_lanes = false;   // on those of integers lane by lane
  bool dear = false;       // much dearer without packs
  bool uniform = false;    // one number for all elements
  bool generates = false;  // from the element's index
  int arguments = 0;       // registers
  int argument[4]{};
};
/// Whether an operation, exp and its like, takes several times as long on one element alone.
template <class Op>
constexpr bool is_dear() {
  if constexpr (pack_operation<Op> && requires { Op::cost; })
    return Op::cost >= 10;
  else
    return false;
}
template <element Type, int Slot, int Register>
constexpr pack_line pack_line_of(instruction<store_result, Type, Slot, Register>) {
  return {.type = element_bit(Type),
          .moves = true,
          .packs = true,
          .integers = true,
          .arguments = 1,
          .argument = {Register}};
}
template <class Op, element Type, int... Arguments>
constexpr pack_line pack_line_of(instruction<Op, Type, Arguments...>) {
  if constexpr (std::is_same_v<Op, load_input> || std::is_same_v<Op, load_scalar>)
    return {.type = element_bit(Type), .moves = true, .packs = true, .integers = true};
  else
    return {.type = element_bit(Type),
            .packs = pack_operation<Op>,
            .integers = __is_base_of(integer_packs, Op),
            .by_lanes = __is_base_of(integer_lanes, Op),
            .dear = is_dear<Op>(),
            .uniform = uniform_operation<Op>,
            .generates = Op::kind == op_kind::generator,
            .arguments = static_cast<int>(sizeof...(Arguments)),
            .argument = {Arguments...}};
}

/// How a program is evaluated on packs of `lane`s, with truth values as masks, if it is at all. `plain`: all that is
/// loaded and stored is of that type. `mixed`: truth values and integers, which take 32 bits beside floats, are as
/// well; or elements are made from their indices.
struct pack_form {
  bool plain = false;
  bool mixed = false;
  bool results_are_lanes = false;
  element lane = element::float32;

  constexpr bool possible() const { return plain || mixed; }
};

/// Of a program whose last instruction is the result. What makes one number, and what goes by lanes, are on packs where
/// something dear is. An int64 is nothing but the seed of a generator, or what that is computed from, which is one for
/// all elements.
constexpr pack_form find_pack_form(const pack_line* lines, int count) {
  constexpr element_set float32 = element_bit(element::float32), float64 = element_bit(element::float64);
  constexpr element_set boolean = element_bit(element::boolean), seed = element_bit(element::int64);
  const element_set result = lines[count - 1].type;
  element_set floats = result & (float32 | float64);
  for (int k = 0; k < count && floats == 0; ++k) floats = lines[k].type & (float32 | float64);
  pack_form f;
  f.results_are_lanes = floats == result;
  f.lane = floats == float32 ? element::float32 : element::float64;
  bool mixed = !f.results_are_lanes;
  const element_set integers = floats == float32 ? integers_beside_floats : element_set{0};
  if (floats == 0 || result == seed) return f;
  bool gains = false;
  for (int k = 0; k < count; ++k) gains = gains || (lines[k].dear && lines[k].type == floats);
  for (int k = 0; k < count; ++k) {
    const pack_line& x = lines[k];
    const bool of_seeds = x.type == seed && !x.generates && !x.moves;
    if (!x.packs || (x.uniform && !gains) ||
        (x.type & (floats | boolean | integers | (x.moves || of_seeds ? seed : element_set{0}))) == 0)
      return f;
    element_set types = x.type;
    for (int j = 0; j < x.arguments; ++j) {
      const element_set operand = lines[x.argument[j]].type;
      const bool takes_seed = of_seeds || (x.generates && !x.integers);
      if (operand == seed ? !takes_seed : of_seeds && (operand & integers) == 0) return f;
      types |= operand;
    }
    if ((types & integers) != 0 && !x.integers && !(x.by_lanes && gains)) return f;
    mixed = mixed || (types & integers) != 0 || x.generates || (x.moves && x.type != floats);
  }
  f.mixed = mixed;
  f.plain = !mixed;
  return f;
}

// Enumerators: unlike functions and variables, they give the compiler no symbols to keep.
/// One more than the slot that an instruction loads or stores, where it does; else 0.
template <class Instruction>
struct slots_used {
  enum : int { inputs = 0, scalars = 0, results = 0 };
};
template <element Type, int Slot>
struct slots_used<instruction<load_input, Type, Slot>> {
  enum : int { inputs = Slot + 1, scalars = 0, results = 0 };
};
template <element Type, int Slot>
struct slots_used<instruction<load_scalar, Type, Slot>> {
  enum : int { inputs = 0, scalars = Slot + 1, results = 0 };
};
template <element Type, int Slot, int Register>
struct slots_used<instruction<store_result, Type, Slot, Register>> {
  enum : int { inputs = 0, scalars = 0, results = Slot + 1 };
};

/// How many inputs and scalars a program loads, and how many results it stores beside its last register.
struct program_slots {
  int inputs = 0;
  int scalars = 0;
  int results = 0;
};

template <int K, class T>
struct program_register {
  T value;
};

template <int K, class T>
ONTO_HD ONTO_INLINE T& at(program_register<K, T>& r) {
  return r.value;
}

template <class Indices, class... T>
struct numbered_registers;
template <int... K, class... T>
struct numbered_registers<std::integer_sequence<int, K...>, T...> : program_register<K, T>... {};

// Named by the registers' types alone: every instruction is a function whose mangled name spells this out.
template <class... T>
struct program_registers : numbered_registers<std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>, T...> {};

template <class Registers, class Source, element Type, int Slot, int Register>
ONTO_HD ONTO_INLINE void store(Registers& r, const Source& source, instruction<store_result, Type, Slot, Register>) {
  source.template store<Type, Slot>(at<Register>(r));
}

/// Sources may say through `calls` how operations are called.
template <class Source>
concept has_calls = requires {
  typename Source::calls;
};

/// A generator that asks for an element's place in its row, of a source that has it.
template <class Op, class Source>
concept column_operation = requires(const Source& source) {
  source.template column<Op::columns>();
};

ONTO_HOST_DEVICE_EITHER
template <int K, class Registers, class Source, class Op, element Type, int... A>
ONTO_HD ONTO_INLINE void execute(Registers& r, const Source& source, instruction<Op, Type, A...>) {
  if constexpr (std::is_same_v<Op, load_input>)
    at<K>(r) = source.template load<Type, A...>();
  else if constexpr (std::is_same_v<Op, load_scalar>)
    at<K>(r) = source.template scalar<Type, A...>();
  else if constexpr (std::is_same_v<Op, store_result>)
    store(r, source, instruction<Op, Type, A...>{});
  else if constexpr (Op::kind == op_kind::scalar)
    at<K>(r) = Op::template make<typename Source::template value<Type>>();
  else if constexpr (Op::kind == op_kind::generator && uniform_operation<Op>)
    at<K>(r) = Op::template at<typename Source::template value<Type>>(0, at<A>(r)...);
  else if constexpr (column_operation<Op, Source>)
    at<K>(r) = Op::template at_column<typename Source::template value<Type>>(source.template column<Op::columns>(),
                                                                             at<A>(r)...);
  else if constexpr (Op::kind == op_kind::generator)
    at<K>(r) = Op::template at<typename Source::template value<Type>>(source.index(), at<A>(r)...);
  else if constexpr (has_calls<Source>)
    at<K>(r) = Source::calls::template apply<Op>(at<A>(r)...);
  else
    at<K>(r) = Op::apply(at<A>(r)...);
}

/// The value of a program, in one function: the compiler optimizes each function that is inlined once alone, and again
/// where it is inlined.
template <class Indices, class... Line>
struct program_value;
template <int... K, class... Line>
struct program_value<std::integer_sequence<int, K...>, Line...> {
  /// Its inputs are taken from `source`.
  ONTO_HOST_DEVICE_EITHER
  template <class Source>
  ONTO_HD ONTO_INLINE static auto evaluate(const Source& source) {
    program_registers<typename Source::template value<Line::type>...> r;
    [[maybe_unused]] const int in_order[] = {(execute<K>(r, source, Line{}), 0)...};
    return at<static_cast<int>(sizeof...(Line)) - 1>(r);
  }
};

/// A fused elementwise computation: the last instruction's register is the result; others are stored on the way.
template <class... Line>
struct program : program_value<std::make_integer_sequence<int, static_cast<int>(sizeof...(Line))>, Line...> {
  static constexpr int size = sizeof...(Line);

  static constexpr element result_type() {
    const element types[] = {Line::type...};
    return types[size - 1];
  }
  static constexpr element result = result_type();

  // Arrays where a fold expression would do: clang refuses one of more than 256 arguments, and 128 operations over 129
  // leaves are 257 instructions.
  static constexpr pack_form find_packs() {
    const pack_line lines[] = {pack_line_of(Line{})...};
    return find_pack_form(lines, size);
  }
  static constexpr pack_form packs = find_packs();
};

/// Whether a program makes elements from their indices.
template <class... Line>
constexpr bool uses_index(program<Line...>) {
  for (const pack_line& x : {pack_line_of(Line{})...})
    if (x.generates) return true;
  return false;
}

template <class... Line>
constexpr program_slots slots_of(program<Line...>) {
  program_slots s;
  // Not fold expressions: clang refuses one of more than 256 arguments, and 128 operations are 257 instructions.
  const int used[][3] = {{slots_used<Line>::inputs, slots_used<Line>::scalars, slots_used<Line>::results}...};
  for (int k = 0; k < static_cast<int>(sizeof...(Line)); ++k) {
    s.inputs = used[k][0] > s.inputs ? used[k][0] : s.inputs;
    s.scalars = used[k][1] > s.scalars ? used[k][1] : s.scalars;
    s.results = used[k][2] > s.results ? used[k][2] : s.results;
  }
  return s;
}

/// Which inputs a program loads and which further results it stores, each in its slot, and of which types they are.
template <class Program>
struct program_operands;
template <class... Line>
struct program_operands<program<Line...>> {
  static constexpr program_slots used = slots_of(program<Line...>{});
  static constexpr int inputs = used.inputs, scalars = used.scalars, results = used.results;
  static constexpr int size = sizeof...(Line);

  struct table {
    bool loads[used.inputs + 1]{};  // a phase of a row kernel may load a few of many inputs
    element type[used.inputs + 1]{};
    element result_type[used.results + 1]{};
  };
  static constexpr table find() {
    constexpr int input[] = {slots_used<Line>::inputs...}, result[] = {slots_used<Line>::results...};
    constexpr element type[] = {Line::type...};
    table t;
    for (int k = 0; k < static_cast<int>(sizeof...(Line)); ++k) {
      if (input[k] > 0) t.loads[input[k] - 1] = true, t.type[input[k] - 1] = type[k];
      if (result[k] > 0) t.result_type[result[k] - 1] = type[k];
    }
    return t;
  }
  static constexpr table found = find();

  template <int Slot>
  using input = element_t<found.type[Slot]>;
  template <int Slot>
  using further = element_t<found.result_type[Slot]>;
  using result = element_t<program<Line...>::result>;

  static constexpr int find_widest() {
    int bytes = size_of(program<Line...>::result);
    for (int k = 0; k < inputs; ++k)
      if (size_of(found.type[k]) > bytes) bytes = size_of(found.type[k]);
    for (int k = 0; k < results; ++k)
      if (size_of(found.result_type[k]) > bytes) bytes = size_of(found.result_type[k]);
    return bytes;
  }
  /// The size of the widest element that is loaded or stored.
  static constexpr int widest = find_widest();
};

}  // namespace onto::detail
