// SPDX-License-Identifier: BSL-1.0
// The rows that a sort on the GPU goes over, and what is known of it when it is compiled.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/kernel/sort.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace onto::detail {

/// The rows along a sort's axis, in the operand (0) and in the result (1).
struct sort_space {
  index_divisor length;  // of a row
  index_divisor count;   // of a row of the result
  strided_space<2> rows;
  std::int64_t stride[2] = {};  // along a row

  ONTO_HD std::int64_t place(int operand, std::int64_t row, std::int64_t k) const {
    std::int64_t start[2] = {};
    add_offsets(rows, row, start);
    return start[operand] + k * stride[operand];
  }
  std::int64_t size() const { return rows.size * length.divisor; }
  /// Whether nothing is asked for.
  bool empty() const { return rows.size * count.divisor <= 0; }
};

ONTO_COLD inline sort_space sort_space_of(const kernel_call& call) {
  sort_space s;
  const int axis = sort_axis(*call.op, call.space.rank);
  const operand_view operands[] = {call.in[0], call.out};
  s.length = index_divisor(call.space[axis]);
  s.count = index_divisor(call.shapes[1][axis]);
  s.rows = collapse<2>(call.space, all_dimensions(call.space.rank) & ~(1u << axis), operands);
  for (int k = 0; k < 2; ++k) s.stride[k] = operands[k].stride[axis];
  return s;
}

/// What is known of a sort when it is compiled.
template <class Rule, class T>
struct cuda_sorting {
  using rule = Rule;
  using order = ordered<rule, T>;
  using key = typename order::bits;
  using result = std::conditional_t<rule::numbers, std::int64_t, T>;

  ONTO_HD static key key_at(const sort_space& s, const T* in, std::int64_t row, std::int64_t k) {
    return order::key(device_load(in + s.place(0, row, k)));
  }
  ONTO_HD static result result_of([[maybe_unused]] key x, [[maybe_unused]] std::int64_t number) {
    if constexpr (rule::numbers)
      return number;
    else
      return order::value(x);
  }
};

}  // namespace onto::detail

#endif  // ONTO_CUDA
