// SPDX-License-Identifier: BSL-1.0
// What concat gives, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/concat.hpp>

using namespace onto;

namespace {

template <int Axis, class... Shapes>
constexpr inferred join(Shapes... s) {
  const extents operands[] = {extents(s)...};
  return op::concat<Axis>::infer(operands, static_cast<int>(sizeof...(s)));
}

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto b = placeholder<"b", float, 2, 4>;

// Extents along the axis add up; the others are equal.
static_assert(decltype(concat<1>(a, b))::facts.shape == extents(shape<2, 7>{}));
static_assert(decltype(concat<-1>(a, b, a))::facts.shape == extents(shape<2, 10>{}));
static_assert(decltype(concat<0>(a))::facts.shape == extents(shape<2, 3>{}));
static_assert(join<0>(shape<0, 3>{}, shape<2, 3>{}).shape == extents(shape<2, 3>{}));

// What is not known is learned from the other operands, but not along the axis.
static_assert(join<0>(shape<dyn, 3>{}, shape<2, dyn>{}).shape == extents(shape<dyn, 3>{}));

// Other extents that differ, other ranks, and an axis that is not there are faults.
static_assert(join<0>(shape<2, 3>{}, shape<2, 4>{}).fault == shape_fault::concat);
static_assert(join<0>(shape<2, 3>{}, shape<2>{}).fault == shape_fault::concat);
static_assert(join<2>(shape<2, 3>{}, shape<2, 3>{}).fault == shape_fault::axis);
static_assert(join<0>(extents{}).fault == shape_fault::axis);
static_assert(join<0>(shape<2147483647>{}, shape<1>{}).fault == shape_fault::extent);

// Any one element type.
static_assert(op::concat<0>::check(element::boolean, element::boolean) == detail::element_check::fine);
static_assert(op::concat<0>::check(element::float32, element::int32) == detail::element_check::differ);

// An axis has one identity.
static_assert(detail::graph_of<decltype(concat<1>(a, b)), decltype(concat<-1>(a, b))>::view.count == 3);

}  // namespace
