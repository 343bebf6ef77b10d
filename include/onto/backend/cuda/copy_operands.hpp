// SPDX-License-Identifier: BSL-1.0
// How a copy between strided tensors is cut into words, and the program that brings a matrix product's addend in place.
// Plain arithmetic, the same on host and device.
#pragma once

#include <onto/backend/cuda/map_plan.hpp>

#include <cstdint>

namespace onto::detail {

/// Bytes of what copies move, for one operand read and one written.
inline constexpr std::int8_t copy_bytes[4][2] = {{1, 1}, {2, 2}, {4, 4}, {8, 8}};

/// The layout of a copy from the call's input to its output, each with its own strides.
ONTO_COLD inline void set_copy(map_layout& r, const kernel_call& call) {
  set_layout(r, call.space, 1, call.in, call.out.data, call.out.stride);
  r.bytes = copy_bytes[logarithm_from(size_of(call.in[0].type), 3)];
}

/// Whether a copy moves one run of bytes.
inline bool is_one_run(const map_layout& copy) {
  return copy.rank == 0 || (copy.rank == 1 && copy.stride[0][0] == 1 && copy.stride[1][0] == 1);
}

/// Makes elements of what lies side by side: as many as addresses, rows and strides allow, of 8 bytes at most.
/// *Preconditions* the copy is not one run.
ONTO_COLD inline void widen_words(map_layout& copy) {
  const int inner = copy.rank - 1;
  if (copy.stride[0][inner] != 1 || copy.stride[1][inner] != 1) return;
  std::uint64_t unit = 8;
  for (int k = 0; k < 2; ++k) {
    unit |= reinterpret_cast<std::uintptr_t>(copy.data[k]);
    for (int d = 0; d < inner; ++d) unit |= static_cast<std::uint64_t>(copy.stride[k][d] * copy.bytes[0]);
  }
  unit |= static_cast<std::uint64_t>(copy.extent[inner] * copy.bytes[0]);
  const std::int64_t bytes = static_cast<std::int64_t>(unit & (~unit + 1));  // the lowest bit
  const std::int64_t many = bytes / copy.bytes[0];
  for (int k = 0; k < 2; ++k)
    for (int d = 0; d < inner; ++d) copy.stride[k][d] /= many;
  copy.extent[inner] /= many;
  copy.size /= many;
  copy.bytes = copy_bytes[logarithm_from(bytes, 3)];
  drop_ones(copy);
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

/// `max(alpha * x + beta * y, least)`; NaN stays.
struct scaled_sum_from {
  static constexpr op_kind kind = op_kind::map;
  template <class T>
  ONTO_HD static T apply(T x, T y, T alpha, T beta, T least) {
    const T value = alpha * x + beta * y;
    return value < least ? least : value;
  }
};

template <element E>
using scaled_sum_program = program<instruction<load_input, E, 0>, instruction<load_input, E, 1>,
                                   instruction<load_scalar, E, 0>, instruction<load_scalar, E, 1>,
                                   instruction<load_scalar, E, 2>, instruction<scaled_sum_from, E, 0, 1, 2, 3, 4>>;

template <element E>
using addend_program = program<instruction<load_input, E, 0>, instruction<load_scalar, E, 0>,
                               instruction<load_scalar, E, 1>, instruction<scaled_from, E, 0, 1, 2>>;

}  // namespace onto::detail
