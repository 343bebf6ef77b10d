// SPDX-License-Identifier: BSL-1.0
// Shapes of words that put elements in other places, and what they cost: views that kernels read through.
#include <onto/onto.hpp>

#include <type_traits>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto d = placeholder<"d", float, dyn, 3>;

template <class E>
constexpr extents shape_of = E::facts.shape;

// What is flipped, stretched or repeated is read by the kernel that uses it.
static_assert(plan_of(flip(x) + x).kernels == 1);
static_assert(plan_of(sum<0>(flip<0>(d) * d)).kernels == 1);
static_assert(plan_of(broadcast_to<4, dyn, dyn>(x) * 2_c).kernels == 1);
static_assert(plan_of(tile<2, 3>(x) + 1_c).kernels == 1);
static_assert(plan_of(repeat<2, 1>(x) + 1_c).kernels == 1);
static_assert(plan_of(roll<1, 0>(x)).kernels == 1);

// Maps read through rolls, of which the extents may be the run's: a stencil is one kernel. What else reads a roll, and
// a view of one, reads it from memory.
static_assert(plan_of(roll<2, 0>(d) + roll<-1, 1>(roll<1, 0>(d)) - d * 4_c).kernels == 1);
static_assert(plan_of(roll<1, 0>(exp(d)) + d).kernels == 1);
static_assert(plan_of(roll<1, 0>(roll<1, 1>(x))).kernels == 2);
static_assert(plan_of(sum(roll<2, 0>(d) * d)).kernels == 2);
static_assert(plan_of(transpose(roll<1, 0>(d)) + 1_c).kernels == 2);
static_assert(plan_of(softmax(roll<1, 0>(d))).kernels == 2);
// Nor does a kernel in the smaller extents of a reshape.
static_assert(plan_of(reshape<3, 2>(slice<range<>, range<to_end, to_begin, -1>>(x) * 2_c) +
                      roll<1, 0>(placeholder<"y", float, 3, 2>))
                  .kernels == 2);

// What is dear is computed before it is repeated, not each time.
static_assert(plan_of(tile<8, 1>(exp(x)) + 1_c).kernels == 2);

// To do nothing costs nothing.
static_assert(std::is_same_v<decltype(tile<1>(x)), std::remove_cv_t<decltype(x)>>);
static_assert(std::is_same_v<decltype(roll<3, 1>(x)), std::remove_cv_t<decltype(x)>>);

// Shapes are NumPy's; an extent that is not known leaves the result's unknown.
static_assert(shape_of<decltype(broadcast_to<4, dyn, 3>(d))> == extents(shape<4, dyn, 3>{}));
static_assert(shape_of<decltype(repeat<2, 0>(d))> == extents(shape<dyn, 3>{}));
static_assert(shape_of<decltype(repeat<0, 1>(x))> == extents(shape<2, 0>{}));
static_assert(shape_of<decltype(repeat<2>(x))> == extents(shape<12>{}));
static_assert(shape_of<decltype(tile<2, 1, 3>(x))> == extents(shape<2, 2, 9>{}));
static_assert(shape_of<decltype(tile<2, 2>(d))> == extents(shape<dyn, 6>{}));
static_assert(shape_of<decltype(stack<1>(x, x, x))> == extents(shape<2, 3, 3>{}));
static_assert(shape_of<std::tuple_element_t<1, decltype(split<3, -1>(x))>> == extents(shape<2, 1>{}));
static_assert(shape_of<std::tuple_element_t<1, decltype(split<2>(d))>> == extents(shape<dyn, 3>{}));
static_assert(shape_of<decltype(pad<padding<1, 2>>(x))> == extents(shape<5, 3>{}));
static_assert(shape_of<decltype(pad<padding<>, padding<1>>(x))> == extents(shape<2, 5>{}));

// A stretched extent is the operand's, or takes the place of 1.
constexpr inferred stretched(extents e) { return op::broadcast_to<2, dyn, 4>::infer(&e, 1); }
static_assert(stretched(shape<5, 4>{}).shape == extents(shape<2, 5, 4>{}));
static_assert(stretched(shape<1, 5, 1>{}).shape == extents(shape<2, 5, 4>{}));
static_assert(stretched(shape<dyn, dyn>{}).shape == extents(shape<2, dyn, 4>{}));
static_assert(stretched(shape<5, 3>{}).fault == shape_fault::broadcast);
static_assert(stretched(shape<1, 1, 1, 1>{}).fault == shape_fault::broadcast);

}  // namespace
