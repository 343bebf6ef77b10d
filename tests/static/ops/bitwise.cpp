// SPDX-License-Identifier: BSL-1.0
// What the operators on bits give, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/bitwise.hpp>

using namespace onto;

namespace {

constexpr auto i = placeholder<"i", int, 2, 3>;
constexpr auto j = placeholder<"j", int, 3>;
constexpr auto p = placeholder<"p", bool, 2, 1>;
constexpr auto q = placeholder<"q", bool, 3>;

// They broadcast and keep the element type.
static_assert(decltype(i & j)::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(i << j)::facts.type == element::int32);
static_assert(decltype(i % 3_c)::facts.type == element::int32);

// On bools they are the operations of logic: the same nodes.
static_assert(detail::graph_of<decltype(p & q), decltype(p && q)>::view.count == 3);
static_assert(detail::graph_of<decltype(p | q), decltype(p || q)>::view.count == 3);
static_assert(detail::graph_of<decltype(p ^ q), decltype(p != q)>::view.count == 3);
static_assert(detail::graph_of<decltype(~p), decltype(!p)>::view.count == 2);

// Bits are of integers; the remainder is of all numbers.
static_assert(op::bitwise_and::check(element::float32, element::float32) == detail::element_check::unsupported);
static_assert(op::invert::check(element::boolean) == detail::element_check::unsupported);
static_assert(op::left_shift::check(element::int8, element::int8) == detail::element_check::fine);

// An expression's own plus is no node.
static_assert(detail::graph_of<decltype(+i)>::view.count == 1);

}  // namespace
