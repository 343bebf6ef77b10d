// SPDX-License-Identifier: BSL-1.0
// What arithmetic between tensors gives, as assertions the compiler checks: shapes, element types, faults, identity.
#include <onto/graph/lowering.hpp>
#include <onto/ops/arithmetic.hpp>

#include <type_traits>

using namespace onto;

namespace {

template <class E>
constexpr extents shape_of = E::facts.shape;
template <class E>
constexpr element type_of = E::facts.type;
template <class... E>
constexpr int nodes = detail::graph_of<E...>::view.count;

template <class Op, class... Shapes>
constexpr inferred infer(Shapes... s) {
  const extents operands[] = {extents(s)...};
  return Op::infer(operands, static_cast<int>(sizeof...(s)));
}

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto b = placeholder<"b", float, 3>;
constexpr auto column = placeholder<"column", float, 2, 1>;
constexpr auto open = placeholder<"open", float, dyn, 3>;
constexpr auto i = placeholder<"i", std::int32_t, 2, 3>;

// Operands broadcast as in NumPy: aligned at the last axis, an extent of 1 stretches.
static_assert(shape_of<decltype(a + b)> == extents(shape<2, 3>{}));
static_assert(shape_of<decltype(b * column)> == extents(shape<2, 3>{}));
static_assert(shape_of<decltype(b - placeholder<"s", float>)> == extents(shape<3>{}));
static_assert(shape_of<decltype(placeholder<"none", float, 0> + placeholder<"one", float, 1>)> == extents(shape<0>{}));

// An extent that is not known is what the other operand says, unless that is 1.
static_assert(shape_of<decltype(open / a)> == extents(shape<2, 3>{}));
static_assert(shape_of<decltype(open + b)> == extents(shape<dyn, 3>{}));

// The result has the operands' element type.
static_assert(type_of<decltype(a + b)> == element::float32);
static_assert(type_of<decltype(i / i)> == element::int32);
static_assert(type_of<decltype(-i)> == element::int32);

// A scalar beside a tensor takes its element type, whichever side it stands on.
static_assert(type_of<decltype(2 * a)> == element::float32);
static_assert(type_of<decltype(i - 1L)> == element::int32);
static_assert(shape_of<decltype(1.0 / a)> == extents(shape<2, 3>{}));
static_assert(shape_of<decltype(pow(a, 2))> == extents(shape<2, 3>{}));

// Expressions without scalars are constants of the compiler, whatever they are made of.
constexpr auto e = maximum(a * b, minimum(a, b)) + mod(a, b) - atan2(a, b) / pow(a, b);
static_assert(nodes<decltype(e)> == 11);

// Equal expressions are one node.
static_assert(nodes<decltype(a * b + a * b)> == 4);
static_assert(nodes<decltype(a * b), decltype(a * b)> == 3);
static_assert(nodes<decltype(a * b + b * a)> == 5);

// So are those that hold scalars, until their values are known.
static_assert(nodes<decltype(2 * a + 2 * a)> == 4);

// Extents that differ are a fault; extents that may turn out equal are not yet.
static_assert(infer<op::add>(shape<2>{}, shape<3>{}).fault == shape_fault::broadcast);
static_assert(infer<op::mul>(shape<2, 3>{}, shape<2>{}).fault == shape_fault::broadcast);
static_assert(infer<op::sub>(shape<dyn>{}, shape<3>{}).fault == shape_fault::none);

// add_n takes any number of operands of one shape, and broadcasts nothing.
static_assert(shape_of<decltype(add_n(a))> == extents(shape<2, 3>{}));
static_assert(shape_of<decltype(add_n(open, a, open))> == extents(shape<2, 3>{}));
static_assert(shape_of<decltype(add_n(std::tuple{a, a, a}))> == extents(shape<2, 3>{}));
static_assert(infer<op::add_n>(shape<2>{}, shape<1>{}).fault == shape_fault::addends);
static_assert(infer<op::add_n>(shape<2>{}, shape<2, 2>{}).fault == shape_fault::addends);
static_assert(infer<op::add_n>(shape<dyn, 3>{}, shape<2, dyn>{}).shape == extents(shape<2, 3>{}));
static_assert(nodes<decltype(add_n(a, a, a))> == 2);

// Numbers only, of one element type.
static_assert(op::add::check(element::float32, element::float64) == detail::element_check::differ);
static_assert(op::add::check(element::boolean, element::boolean) == detail::element_check::unsupported);
static_assert(op::mod::check(element::int64, element::int64) == detail::element_check::fine);
static_assert(op::atan2::check(element::int32, element::int32) == detail::element_check::unsupported);

// Operators take expressions and numbers, nothing else.
template <class L, class R>
concept can_add = requires(L l, R r) {
  l + r;
};
struct stranger {};
static_assert(can_add<decltype(a), int>);
static_assert(!can_add<decltype(a), stranger>);
static_assert(!can_add<stranger, stranger>);

}  // namespace
