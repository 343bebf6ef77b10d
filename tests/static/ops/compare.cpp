// SPDX-License-Identifier: BSL-1.0
// What comparisons give, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/compare.hpp>

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto b = placeholder<"b", float, 3>;
constexpr auto p = placeholder<"p", bool, 3>;

// The result is bool, in the broadcast shape.
static_assert(decltype(a == b)::facts.type == element::boolean);
static_assert(decltype(a < b)::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(a >= 0)::facts.type == element::boolean);
static_assert(decltype(0 != a)::facts.shape == extents(shape<2, 3>{}));

// Each comparison is its own operation: nothing is rewritten from another.
static_assert(std::is_same_v<decltype(a != b)::operation, op::not_equal>);
static_assert(std::is_same_v<decltype(a > b)::operation, op::greater>);
static_assert(std::is_same_v<decltype(a <= b)::operation, op::less_equal>);
static_assert(std::is_same_v<decltype(2 > a)::operation, op::greater>);
static_assert(std::is_same_v<decltype(1 == a)::operation, op::equal>);

// Bool can be equal or not, but is not less or greater.
static_assert(decltype(p == p)::facts.type == element::boolean);
static_assert(op::less::check(element::boolean, element::boolean) == detail::element_check::unsupported);
static_assert(op::equal::check(element::float32, element::int32) == detail::element_check::differ);

// Equal comparisons are one node.
static_assert(detail::graph_of<decltype((a < b) == (a < b))>::view.count == 4);

}  // namespace
