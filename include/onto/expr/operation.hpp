// SPDX-License-Identifier: BSL-1.0
// What an operation is: a struct of static facts (kind, name, shape rule, element rule, kernels), and the same facts as
// a value.
#pragma once

#include <onto/core/element.hpp>
#include <onto/core/text.hpp>
#include <onto/device/place.hpp>
#include <onto/shape/extents.hpp>

#include <cstdint>
#include <string_view>

namespace onto {

/// How an operation is run, and so how it fuses.
enum class op_kind : std::uint8_t {
  placeholder,  ///< fed at `run`
  variable,     ///< state of the session
  constant,     ///< values in the program
  scalar,       ///< one value, passed to kernels directly
  map,          ///< one scalar function per element, broadcasting
  generator,    ///< a map without operands: a function of the element's index
  view,         ///< another look at the operand's elements; nothing runs
  reduce,       ///< folds axes away
  row,          ///< softmax and its like: one pass over an axis
  matmul,       ///< matrix product, batched in leading dimensions
  concat,       ///< operands side by side
  assign,       ///< a map whose result becomes the value of a variable
  own_kernel,   ///< what has a kernel of its own (`operation_kernels`), with which nothing fuses but epilogues: scans,
                ///< sorts
};

/// Why shapes do not fit.
enum class shape_fault : std::uint8_t {
  none,
  broadcast,  ///< extents differ and neither is 1
  inner,      ///< matmul: columns of the left and rows of the right differ
  rank,       ///< too few dimensions, or too many
  axis,       ///< an axis that the operand does not have, or names twice
  size,       ///< reshape: another number of elements
  range,      ///< slice: outside the operand
  concat,     ///< concat: another extent than the axis differs
  empty,      ///< a minimum or maximum of nothing
  bytes,      ///< a result of more than 2^63 - 1 bytes
  few,        ///< top_k, take, dynamic_slice: fewer elements along the axis than are asked for
  channels,   ///< convolutions: the filter is for another number of channels than the image has
  groups,     ///< convolutions: channels that the groups do not share equally
  window,     ///< convolutions and pooling: no window fits into the image
  value,      ///< assign: the value does not broadcast to the variable
  addends,    ///< add_n: operands of more than one shape
  updates,    ///< scatter, segment_sum: other extents than the numbers and a row have
  along,      ///< take_along_axis: other extents than the operand's beside the axis
  extent,     ///< reshape, concat: an axis of more than 2^31 - 1 elements
  examples,   ///< losses: other extents than the scores have
};

/// The shape of a result, or why there is none.
struct inferred {
  extents shape{};
  shape_fault fault = shape_fault::none;
};

/// A set of element types, a bit each.
using element_set = std::uint16_t;

ONTO_INLINE constexpr element_set element_bit(element e) {
  return static_cast<element_set>(1u << static_cast<unsigned>(e));
}

namespace detail {
constexpr element_set elements_of(element_kind kind) {
  element_set s = 0;
  for (const element_row& r : element_table::rows)
    if (r.kind == kind) s |= element_bit(r.type);
  return s;
}
}  // namespace detail

inline constexpr element_set floating_elements = detail::elements_of(element_kind::floating);
inline constexpr element_set integer_elements =
    detail::elements_of(element_kind::signed_integer) | detail::elements_of(element_kind::unsigned_integer);
/// Integers that packs have beside floats: those of at most 32 bits.
inline constexpr element_set integers_beside_floats =
    integer_elements & ~(element_bit(element::int64) | element_bit(element::uint64));
inline constexpr element_set numeric_elements = floating_elements | integer_elements;
inline constexpr element_set boolean_elements = detail::elements_of(element_kind::truth);
inline constexpr element_set all_elements = numeric_elements | boolean_elements;  // that GPUs have, too
inline constexpr element_set text_elements = detail::elements_of(element_kind::characters);
inline constexpr element_set elements_and_text = all_elements | text_elements;

/// For which element types an operation has kernels, by kind of device.
struct kernel_set {
  element_set cpu = 0;
  element_set gpu = 0;

  /// For all devices; of text, which GPUs have not, for CPUs.
  static constexpr kernel_set of(element_set accepted) {
    return {accepted, static_cast<element_set>(accepted & ~text_elements)};
  }

  ONTO_INLINE constexpr bool has(device_kind kind, element e) const {
    return ((kind == device_kind::gpu ? gpu : kind == device_kind::cpu ? cpu : element_set{0}) & element_bit(e)) != 0;
  }
};

/// The most operands an operation takes.
inline constexpr int max_operands = 64;

/// The most numbers an operation carries beside its operands: axes, ranges, a seed.
inline constexpr int max_attributes = 3 * max_rank + 2;

/// The facts of an operation as a value: what the graph's nodes point at.
struct op_info {
  op_kind kind;
  std::string_view name;
  std::uint64_t hash;  // of the operation's type, attributes among its arguments: its identity
  kernel_set kernels;
  int cost;  // floating-point operations per element of the result (of the operand, for a reduction)
  inferred (*infer)(const extents* operands, int count);
  int attributes;
  std::int64_t attribute[max_attributes];
  bool packs = false;          // the CPU computes several elements at a time
  bool integer_packs = false;  // and integers beside floats
  /// Of a kernel of its own: the most bytes that it works in on a GPU.
  std::int64_t (*workspace)(const extents* operands, int count) = nullptr;
  /// Of a kernel of its own: its floating-point operations, for operands of known extents.
  std::int64_t (*flops)(const extents* operands, int count) = nullptr;
  bool has_workspace = false;  // told apart without comparing functions, which -fsanitize=undefined does not compute
  bool has_flops = false;      // otherwise: `cost` an element
  bool uniform = false;        // of a generator: all elements are one value
  bool has_epilogue = false;   // it is a product, whose kernel does what follows, too: graph/matmul_epilogue.hpp
  bool only_assigned = false;  // of what may follow that is an assignment alone: it is no product
  bool never_throws = false;   // an element's computation; one of a program's own may
  bool made = false;           // by a derivation: its shape is found from its attributes, graph/made_operation.hpp
  /// Of a product with letters for axes (ops/lettered_product.hpp): compares extents of the operands below reshapes.
  void (*check_letters)(const extents* below) = nullptr;
  bool has_letters = false;
};

namespace detail {

template <class Op>
concept has_attributes = requires {
  Op::attribute_count;
};

template <class Op>
concept pack_operation = requires {
  requires Op::packs;
};

/// The base of operations whose packs may be of integers too, those that stand beside floats.
struct integer_packs {};

/// The base of operations that go by lanes on packs of integers: where others in the kernel gain much by packs.
struct integer_lanes {};

template <class Op>
concept works_in_memory = requires(const extents* operands) {
  Op::workspace(operands, 1);
};

template <class Op>
concept counts_flops = requires(const extents* operands) {
  Op::flops(operands, 1);
};

template <class Op>
concept uniform_operation = requires {
  requires Op::uniform;
};

template <class Op>
concept never_throwing_operation = requires {
  requires Op::never_throws;
};

template <class Op>
concept product_operation = requires {
  requires Op::has_epilogue;
};

template <class Op>
concept only_assigned_operation = requires {
  requires Op::only_assigned;
};

template <class Op>
concept lettered_operation = requires(const extents* operands) {
  Op::check_letters(operands);
};

/// A type's identity as a number. Not an address: comparing those is no constant expression under -fsanitize=undefined
/// (g++ 12). What compilers write before the type is left out: a program of the one may have the runtime of the other.
template <class Op>
constexpr unsigned long long type_hash() {
  const char* name = __PRETTY_FUNCTION__;  // "... [with Op = onto::op::add]", and no other name for what is returned
  while (*name != '=') ++name;
  return hash_text(name);
}

template <class Op>
constexpr op_info describe() {
  static_assert((Op::kernels.gpu & text_elements) == 0, "[onto.text] no GPU has kernels for text");
  op_info o{Op::kind, Op::name, type_hash<Op>(), Op::kernels, Op::cost, &Op::infer, 0, {}, pack_operation<Op>};
  o.integer_packs = __is_base_of(integer_packs, Op);
  o.uniform = uniform_operation<Op>;
  if constexpr (has_attributes<Op>) {
    o.attributes = Op::attribute_count;
    for (int k = 0; k < o.attributes; ++k) o.attribute[k] = Op::attribute[k];
  }
  if constexpr (works_in_memory<Op>) {
    o.workspace = &Op::workspace;
    o.has_workspace = true;
  }
  if constexpr (counts_flops<Op>) {
    o.flops = &Op::flops;
    o.has_flops = true;
  }
  o.only_assigned = only_assigned_operation<Op>;
  o.has_epilogue = o.only_assigned || product_operation<Op>;
  o.never_throws = never_throwing_operation<Op>;
  if constexpr (lettered_operation<Op>) {
    o.check_letters = &Op::check_letters;
    o.has_letters = true;
  }
  return o;
}

}  // namespace detail

/// The value that describes `Op`.
template <class Op>
inline constexpr op_info op_info_of = detail::describe<Op>();

/// Whether `o` describes `Op`.
template <class Op>
ONTO_INLINE constexpr bool is_operation(const op_info* o) {
  return o->hash == op_info_of<Op>.hash;
}

}  // namespace onto
