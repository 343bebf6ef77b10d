// SPDX-License-Identifier: BSL-1.0
// How a copy between strided tensors is cut into words, and the program that brings a matrix product's addend in place.
// Plain arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/map_operands.hpp>

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

/// The same copy with elements of 8 bytes, or of as many as rows, strides and addresses allow.
inline copy_parameters in_wide_words(const copy_parameters& copy) {
  const int inner = copy.space.rank - 1;
  if (inner < 0 || copy.space.stride[0][inner] != 1 || copy.space.stride[1][inner] != 1) return copy;
  std::uintptr_t unit = reinterpret_cast<std::uintptr_t>(copy.from) | reinterpret_cast<std::uintptr_t>(copy.to) | 8u;
  const auto divides = [&](std::int64_t elements) { unit |= static_cast<std::uintptr_t>(elements * copy.bytes); };
  divides(copy.space.extent[inner].divisor);
  for (int d = 0; d < inner; ++d) divides(copy.space.stride[0][d]), divides(copy.space.stride[1][d]);
  const int bytes = static_cast<int>(unit & (~unit + 1));  // the lowest bit
  const int many = bytes / copy.bytes;
  copy_parameters wide{copy.from, copy.to, with_extent(copy.space, inner, copy.space.extent[inner].divisor / many),
                       bytes};
  for (int k = 0; k < 2; ++k)
    for (int d = 0; d < (wide.space.rank < inner ? wide.space.rank : inner); ++d) wide.space.stride[k][d] /= many;
  return wide;
}

/// A copy as a map, which may have results with other strides.
template <class Word>
whole_map<copied_words<Word>> map_of(const copy_parameters& copy) {
  return {{{{{copy.from}, {}}, {}, 0}, copy.to}, {copy.space}};
}

/// `max(scale * x, least)`; NaN stays, as in the `relu` of elementwise programs.
struct scaled_from {
  static constexpr op_kind kind = op_kind::map;
  template <class T>
  ONTO_HD static T apply(T x, T scale, T least) {
    const T value = x * scale;
    return value < least ? least : value;
  }
};

template <element E>
using addend_program = program<instruction<load_input, E, 0>, instruction<load_scalar, E, 0>,
                               instruction<load_scalar, E, 1>, instruction<scaled_from, E, 0, 1, 2>>;

}  // namespace onto::detail
