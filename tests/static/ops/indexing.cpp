// SPDX-License-Identifier: BSL-1.0
// Shapes and element types of operations by number, and in how many kernels they run.
#include <onto/indexing.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 5, 3, 2>;
constexpr auto d = placeholder<"d", std::int8_t, dyn, 3>;
constexpr auto i = placeholder<"i", int, 4, dyn>;
constexpr auto j = placeholder<"j", std::uint8_t, 6>;

template <class E>
constexpr extents shape_of = E::facts.shape;

// The extents of the numbers take the place of the axis.
static_assert(shape_of<decltype(take<1>(x, i))> == extents(shape<5, 4, dyn, 2>{}));
static_assert(shape_of<decltype(take<-1>(x, j))> == extents(shape<5, 3, 6>{}));
static_assert(shape_of<decltype(take(x, i))> == extents(shape<4, dyn>{}));
static_assert(decltype(take<0>(d, j))::facts.type == element::int8);

// Sums by number have the type of sums; what is updated keeps its own.
static_assert(decltype(segment_sum<7>(d, placeholder<"k", int, dyn>))::facts.type == element::int64);
static_assert(shape_of<decltype(segment_sum<7>(d, placeholder<"k", int, dyn>))> == extents(shape<7, 3>{}));
static_assert(decltype(scatter_add(d, j, d))::facts.type == element::int8);
static_assert(shape_of<decltype(bincount<9>(i))> == extents(shape<9>{}));
static_assert(shape_of<decltype(dynamic_slice<2, 3, 1>(x, placeholder<"at", int, 3>))> == extents(shape<2, 3, 1>{}));

// To take nothing of nothing is fine; to take something is not.
constexpr inferred taken(extents numbers, extents of) {
  const extents operands[] = {numbers, of};
  return op::take<0>::infer(operands, 2);
}
static_assert(taken(shape<0>{}, shape<0, 3>{}).shape == extents(shape<0, 3>{}));
static_assert(taken(shape<1>{}, shape<0, 3>{}).fault == shape_fault::few);
static_assert(taken(shape<dyn>{}, shape<dyn, 3>{}).fault == shape_fault::none);

// A kernel of its own reads views; maps around it are others.
static_assert(plan_of(take<0>(flip(x), j)).kernels == 1);
static_assert(plan_of(take<0>(x, j) * 2_c + 1_c).kernels == 2);

}  // namespace
