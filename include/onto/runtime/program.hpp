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

/// One instruction: instruction number `k` of a program writes register `k`. For loads `Arguments` is the slot, else
/// the registers of the operands. A register of type half or bfloat16 holds a float: nothing is rounded between
/// operations. The CPU's programs have no such types, the others load and store them.
template <class Op, element Type, int... Arguments>
struct instruction {
  using operation = Op;
  static constexpr element type = Type;
};

template <class Op>
concept pack_operation = requires {
  requires Op::packs;
};

/// Whether an instruction can be evaluated on packs of `Lane`s, with booleans as masks.
template <element Lane, class Op, element Type, int... Arguments>
constexpr bool runs_on_packs(instruction<Op, Type, Arguments...>) {
  if constexpr (std::is_same_v<Op, load_input> || std::is_same_v<Op, load_scalar>)
    return Type == Lane;
  else
    return (Type == Lane || Type == element::boolean) && pack_operation<Op>;
}

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

/// Sources may say through `calls` how operations are called.
template <class Source>
concept has_calls = requires {
  typename Source::calls;
};

ONTO_HOST_DEVICE_EITHER
template <int K, class Registers, class Source, class Op, element Type, int... A>
ONTO_HD ONTO_INLINE void execute(Registers& r, const Source& source, instruction<Op, Type, A...>) {
  if constexpr (std::is_same_v<Op, load_input>)
    at<K>(r) = source.template load<Type, A...>();
  else if constexpr (std::is_same_v<Op, load_scalar>)
    at<K>(r) = source.template scalar<Type, A...>();
  else if constexpr (Op::kind == op_kind::generator)
    at<K>(r) = Op::template at<computed_t<Type>>(source.index(), at<A>(r)...);
  else if constexpr (has_calls<Source>)
    at<K>(r) = Source::calls::template apply<Op>(at<A>(r)...);
  else
    at<K>(r) = Op::apply(at<A>(r)...);
}

/// A fused elementwise computation: the last instruction's register is the result.
template <class... I>
struct program {
  static constexpr int size = sizeof...(I);

  static constexpr element result_type() {
    const element types[] = {I::type...};
    return types[size - 1];
  }
  static constexpr element result = result_type();

  // Arrays where a fold expression would do: clang refuses one of more than 256 arguments, and 128 operations over 129
  // leaves are 257 instructions.
  static constexpr bool all_run_on_packs() {
    for (bool runs : {runs_on_packs<result>(I{})...})
      if (!runs) return false;
    return true;
  }
  static constexpr bool packable = is_floating(result) && all_run_on_packs();

  /// The value of the program, its inputs taken from `source`.
  ONTO_HOST_DEVICE_EITHER
  template <class Source>
  ONTO_HD ONTO_INLINE static auto evaluate(const Source& source) {
    return run(source, std::make_integer_sequence<int, size>{});
  }

 private:
  ONTO_HOST_DEVICE_EITHER
  template <class Source, int... K>
  ONTO_HD ONTO_INLINE static auto run(const Source& source, std::integer_sequence<int, K...>) {
    program_registers<typename Source::template value<I::type>...> r;
    [[maybe_unused]] const int in_order[] = {(execute<K>(r, source, I{}), 0)...};
    return at<size - 1>(r);
  }
};

}  // namespace onto::detail
