// SPDX-License-Identifier: BSL-1.0
// What the threads of a copy between strided tensors know and do, and of the copy that brings a matrix product's addend
// in place. Plain arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/index.hpp>

#include <cstdint>

namespace onto::detail {

/// A copy; operand 0 is read and operand 1 written.
struct copy_parameters {
  const void* from;
  void* to;
  strided_space<2> space;
  int bytes;  // of an element: 1, 2, 4 or 8
};

inline copy_parameters copy_parameters_of(const kernel_call& call) {
  const operand_view operands[] = {call.in[0], call.out};
  return {call.in[0].data, call.out.data, collapse<2>(call.space, all_dimensions(call.space.rank), operands),
          size_of(call.in[0].type)};
}

/// Whether a copy moves one run of bytes.
constexpr bool is_one_run(const strided_space<2>& space) {
  return space.rank == 0 || (space.rank == 1 && space.stride[0][0] == 1 && space.stride[1][0] == 1);
}

/// Elements are moved as words of their size: one kernel for all types.
template <class Word>
ONTO_HD ONTO_INLINE void copy_word(const copy_parameters& copy, const coordinates& where) {
  device_store(static_cast<Word*>(copy.to) + offset(copy.space, where, 1),
               device_load(static_cast<const Word*>(copy.from) + offset(copy.space, where, 0)));
}
ONTO_HD ONTO_INLINE void copy_element(const copy_parameters& copy, std::int64_t index) {
  const coordinates where = locate(copy.space, index);
  if (copy.bytes == 8)
    copy_word<std::uint64_t>(copy, where);
  else if (copy.bytes == 4)
    copy_word<std::uint32_t>(copy, where);
  else if (copy.bytes == 2)
    copy_word<std::uint16_t>(copy, where);
  else
    copy_word<std::uint8_t>(copy, where);
}

/// `out = relu(scale * in)`, broadcast; operand 0 is read and operand 1 written.
template <class T>
struct addend_parameters {
  copy_parameters copy;
  computed_of<T> scale;
  bool relu;
};

/// NaN stays, as in the `relu` of elementwise programs.
template <class T>
ONTO_HD ONTO_INLINE void place_addend(const addend_parameters<T>& p, std::int64_t index) {
  const coordinates where = locate(p.copy.space, index);
  using number = computed_of<T>;
  const number value = p.scale * device_load(static_cast<const T*>(p.copy.from) + offset(p.copy.space, where, 0));
  device_store(static_cast<T*>(p.copy.to) + offset(p.copy.space, where, 1),
               static_cast<T>(p.relu && value < number(0) ? number(0) : value));
}

}  // namespace onto::detail
