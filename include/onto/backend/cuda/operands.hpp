// SPDX-License-Identifier: BSL-1.0
// What the threads of a kernel know of a program's operands, and how a program loads them: element by element at
// strided positions, or several neighbours at a time where everything is contiguous. Plain arithmetic, the same on host
// and device. Half and bfloat16 become floats where they are loaded and are rounded where they are stored.
#pragma once

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/kernel/program.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace onto::detail {

/// Kernels' parameters end at 32764 bytes; the strides of this many inputs, kept and folded, fit.
inline constexpr int max_kernel_inputs = 192;
inline constexpr std::size_t max_parameter_bytes = 32764;

/// The value of a scalar from its bits.
template <class T>
ONTO_HD T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

/// And back, with zeros behind it.
template <class T>
ONTO_HD ONTO_INLINE std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// The first elements of a program's inputs, and its scalars.
template <int Inputs, int Scalars>
struct operand_values {
  static constexpr bool few_inputs = Inputs <= max_kernel_inputs;
  static_assert(
      few_inputs,
      "[onto.cuda] a kernel takes at most 192 tensors; give a part of the expression a name with named<\"h\">(e)");

  const void* data[Inputs > 0 ? Inputs : 1];
  std::uint64_t scalars[Scalars > 0 ? Scalars : 1];
};

template <int Inputs, int Scalars>
constexpr operand_values<Inputs, Scalars> operand_values_of(const kernel_call& call) {
  operand_values<Inputs, Scalars> v{};
  for (int k = 0; k < Inputs; ++k) v.data[k] = call.in[k].data;
  for (int k = 0; k < Scalars; ++k) v.scalars[k] = call.scalars[k];
  return v;
}

#if defined(__CUDACC__)
// Errors, where nvcc has warnings: it leaves a call of a host function out of device code, and the result is wrong.
#pragma nv_diagnostic push
#pragma nv_diag_error 20011
#pragma nv_diag_error 20013
#pragma nv_diag_error 20014
#pragma nv_diag_error 20015
#endif
/// How a program calls its operations where device code is made of it. The name is what nvcc's error shows beside the
/// operation's.
struct operation_must_be_host_device {
  template <class Op, class... T>
  ONTO_HD ONTO_INLINE static auto apply(T... x) {
    return Op::apply(x...);
  }
};
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

/// Where the further results of a map go.
template <int Results>
struct result_pointers {
  void* data[Results];
};
template <>
struct result_pointers<0> {};

/// Neighbouring elements, loaded and stored at once where they are aligned so.
template <class T, int Lanes>
struct alignas(sizeof(T) * Lanes > 16 ? 16 : sizeof(T) * Lanes) lane_pack {
  T at[Lanes];
};

template <int Slot, class T, int Lanes>
struct lane_slot {
  lane_pack<T, Lanes> pack;
};

template <int Lanes, class Slots, class... T>
struct lane_slots;
template <int Lanes, int... Slot, class... T>
struct lane_slots<Lanes, std::integer_sequence<int, Slot...>, T...> : lane_slot<Slot, T, Lanes>... {};

template <int Slot, class T, int Lanes>
ONTO_HD ONTO_INLINE lane_pack<T, Lanes>& pack_of(lane_slot<Slot, T, Lanes>& s) {
  return s.pack;
}
template <int Slot, class T, int Lanes>
ONTO_HD ONTO_INLINE const lane_pack<T, Lanes>& pack_of(const lane_slot<Slot, T, Lanes>& s) {
  return s.pack;
}

/// The elements of a program's inputs, a pack for each; and of its further results.
template <class Program, int Lanes, class Slots = std::make_integer_sequence<int, program_operands<Program>::inputs>>
struct input_packs;
template <class Program, int Lanes, int... Slot>
struct input_packs<Program, Lanes, std::integer_sequence<int, Slot...>> {
  using type = lane_slots<Lanes, std::integer_sequence<int, Slot...>,
                          typename program_operands<Program>::template input<Slot>...>;
};
template <class Program, int Lanes, class Slots = std::make_integer_sequence<int, program_operands<Program>::results>>
struct result_packs;
template <class Program, int Lanes, int... Slot>
struct result_packs<Program, Lanes, std::integer_sequence<int, Slot...>> {
  using type = lane_slots<Lanes, std::integer_sequence<int, Slot...>,
                          typename program_operands<Program>::template further<Slot>...>;
};

// What a program is evaluated over names no program: every instruction is a function whose mangled name spells it out.

/// What a program takes its operands from, whichever way they are loaded.
template <class Inputs>
struct program_source {
  using calls = operation_must_be_host_device;
  template <element Type>
  using value = computed_t<Type>;

  const Inputs& inputs;

  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> scalar() const {
    return from_bits<computed_t<Type>>(inputs.values.scalars[Slot]);
  }
};

/// Takes one lane of what was loaded.
template <class Inputs, class Slots>
struct lane_source : program_source<Inputs> {
  const Slots& packs;
  int lane;

  template <element Type, int Slot>
  ONTO_HD ONTO_INLINE computed_t<Type> load() const {
    return pack_of<Slot>(packs).at[lane];
  }
};

/// Fills `pack` with the elements from `first` on, as many as there are.
template <class T, int Lanes>
ONTO_HD ONTO_INLINE void load_pack(lane_pack<T, Lanes>& pack, const void* data, bool advances, std::int64_t first,
                                   std::int64_t left) {
  const T* p = static_cast<const T*>(data);
  if (!advances) {
    const T same = device_load(p);
    for (int k = 0; k < Lanes; ++k) pack.at[k] = same;
  } else if (left >= Lanes) {
    pack = device_load(reinterpret_cast<const lane_pack<T, Lanes>*>(p + first));
  } else {
    for (int k = 0; k < Lanes; ++k) pack.at[k] = k < left ? device_load(p + first + k) : T{};
  }
}

/// Stores the elements from `first` on, as many as there are.
template <class T, int Lanes>
ONTO_HD ONTO_INLINE void store_pack(const lane_pack<T, Lanes>& pack, void* data, std::int64_t first,
                                    std::int64_t left) {
  T* to = static_cast<T*>(data) + first;
  if (left >= Lanes) {
    device_store(reinterpret_cast<lane_pack<T, Lanes>*>(to), pack);
  } else {
    for (int k = 0; k < Lanes; ++k)
      if (k < left) device_store(to + k, pack.at[k]);
  }
}

/// Whether packs of `lanes` elements of this size may be read or written at `data`.
inline bool is_aligned(const void* data, int bytes, int lanes) {
  const auto unit = static_cast<std::uintptr_t>(bytes * lanes > 16 ? 16 : bytes * lanes);
  return reinterpret_cast<std::uintptr_t>(data) % unit == 0;
}

/// Whether packs lie at every multiple of `lanes` along a dimension of stride `step`, wherever the others lead.
inline bool lies_in_packs(const void* data, int bytes, int lanes, std::int64_t step, const std::int64_t* stride,
                          int rank) {
  if (step != 1 || !is_aligned(data, bytes, lanes)) return false;
  for (int d = 0; d < rank; ++d)
    if (stride[d] % lanes != 0) return false;
  return true;
}

}  // namespace onto::detail
