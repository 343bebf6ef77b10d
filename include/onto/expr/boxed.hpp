// SPDX-License-Identifier: BSL-1.0
// Short names for long expressions. Compilers spell a shared subtree as often as it is used: 16 levels that use their
// operand twice are 65536 copies in a name. So a long operand is spelled by the hash of its type, and the type is found
// by overload resolution.
#pragma once

#include <onto/expr/expression.hpp>

namespace onto {

namespace detail {

template <class E>
struct type_box {
  using type = E;
};

#if defined(__NVCC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1301
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif

/// Declares the function that finds the expression with this spelling, and `expression_entry` defines it.
template <std::uint64_t Spelling>
struct expression_key {
  friend constexpr auto expression_of(expression_key<Spelling>);
};

template <std::uint64_t Spelling, class E>
struct expression_entry {
  friend constexpr auto expression_of(expression_key<Spelling>) { return type_box<E>{}; }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#if defined(__NVCC__)
#pragma nv_diagnostic pop
#endif

template <std::uint64_t Spelling>
using expression_with = typename decltype(expression_of(expression_key<Spelling>{}))::type;

/// An operand that is spelled by its hash. Only ever a type: nothing is made of it.
template <std::uint64_t Spelling>
struct boxed_node : expression_base {
  using node = typename expression_with<Spelling>::node;
  using element_type = typename node::element_type;
  using ops = typename node::ops;
  static constexpr element type = node::type;

  static constexpr node_facts make_facts() {
    node_facts f = node::facts;
    f.spelled = 1;
    return f;
  }
  static constexpr node_facts facts = make_facts();
};

/// Operands of more nodes are spelled by their hash. A measurement: docs/adr/0025-identity.md.
inline constexpr int most_spelled = 16;

/// In groups and gradients, which name the same expression for each variable: a step that trains three has a name of
/// 2 kB, and would have one of 12.
inline constexpr int most_spelled_in_steps = 4;

/// How an operand is spelled in the type of what is computed from it.
template <class X, int Most = most_spelled>
constexpr auto spelled_as() {
  if constexpr (X::facts.spelled <= Most) {
    return type_box<X>{};
  } else {
    (void)sizeof(expression_entry<X::facts.spelling, X>);
    return type_box<boxed_node<X::facts.spelling>>{};
  }
}

/// The operation over operands as they are spelled, as a type alone. They are deduced: nvcc writes an alias of them
/// out.
template <class Op, class... X>
type_box<apply_node<Op, X...>> applied_to(type_box<X>...);

}  // namespace detail

}  // namespace onto
