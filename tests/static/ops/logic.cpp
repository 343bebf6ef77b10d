// SPDX-License-Identifier: BSL-1.0
// What logic, choice and conversion give, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/logic.hpp>

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto b = placeholder<"b", float, 3>;
constexpr auto p = placeholder<"p", bool, 2, 1>;
constexpr auto q = placeholder<"q", bool, 3>;

// Logic is for bool, and broadcasts.
static_assert(decltype(p && !q)::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(p || true)::facts.type == element::boolean);
static_assert(op::logical_and::check(element::int32, element::int32) == detail::element_check::unsupported);
static_assert(op::logical_not::check(element::float32) == detail::element_check::unsupported);

// where takes the element type of its branches and broadcasts all three.
static_assert(decltype(where(p, a, b))::facts.type == element::float32);
static_assert(decltype(where(p, b, b))::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(where(a > 0, a, 0))::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(where(q, 0, b))::facts.type == element::float32);
static_assert(decltype(where(q, 1.0, 0.0))::facts.type == element::float64);
static_assert(std::is_same_v<decltype(where(q, 1.5f, 0))::element_type, float>);
static_assert(std::is_same_v<decltype(where(q, 0, 2.5))::element_type, double>);
static_assert(decltype(where(q, q, !q))::facts.type == element::boolean);
static_assert(op::where::check(element::float32, element::float32, element::float32) ==
              detail::element_check::unsupported);
static_assert(op::where::check(element::boolean, element::float32, element::int32) == detail::element_check::differ);

// cast changes the element type and nothing else; to the same type it is nothing.
static_assert(decltype(cast<double>(a))::facts.type == element::float64);
static_assert(decltype(cast<bool>(a))::facts.shape == extents(shape<2, 3>{}));
static_assert(detail::graph_of<decltype(cast<float>(a))>::view.count == 1);

// Casts to two types are two nodes, to one type one.
static_assert(detail::graph_of<decltype(cast<int>(a)), decltype(cast<std::int64_t>(a))>::view.count == 3);
static_assert(detail::graph_of<decltype(cast<int>(a)), decltype(cast<int>(a))>::view.count == 2);
static_assert(decltype(cast<int>(a))::facts.id != decltype(cast<double>(a))::facts.id);

}  // namespace
