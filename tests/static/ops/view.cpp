// SPDX-License-Identifier: BSL-1.0
// What views show, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/view.hpp>

using namespace onto;

namespace {

template <class... E>
constexpr int nodes = detail::graph_of<E...>::view.count;

template <class Op>
constexpr inferred infer(extents x) {
  return Op::infer(&x, 1);
}

constexpr auto a = placeholder<"a", float, 2, 3, 4>;
constexpr auto m = placeholder<"m", float, dyn, 3>;
constexpr auto v = placeholder<"v", float, 10>;

// transpose reverses all axes, permute orders them at will.
static_assert(decltype(transpose(a))::facts.shape == extents(shape<4, 3, 2>{}));
static_assert(decltype(transpose(m))::facts.shape == extents(shape<3, dyn>{}));
static_assert(decltype(permute<0, 2, 1>(a))::facts.shape == extents(shape<2, 4, 3>{}));
static_assert(decltype(permute<0, -1, 1>(a))::facts.shape == extents(shape<2, 4, 3>{}));

// A transposed matrix is one node however it is written.
static_assert(nodes<decltype(transpose(m)), decltype(permute<1, 0>(m)), decltype(permute<-1, -2>(m))> == 2);

// A permutation names each axis once.
static_assert(infer<op::permute<0, 1>>(shape<2, 3, 4>{}).fault == shape_fault::axis);
static_assert(infer<op::permute<0, 1, -2>>(shape<2, 3, 4>{}).fault == shape_fault::axis);
static_assert(infer<op::permute<0, 3>>(shape<2, 3>{}).fault == shape_fault::axis);

// reshape keeps the number of elements; one extent may be computed.
static_assert(decltype(reshape<6, 4>(a))::facts.shape == extents(shape<6, 4>{}));
static_assert(decltype(reshape<dyn>(a))::facts.shape == extents(shape<24>{}));
static_assert(decltype(reshape<2, dyn, 2>(a))::facts.shape == extents(shape<2, 6, 2>{}));
static_assert(decltype(reshape<>(placeholder<"one", float, 1, 1>))::facts.shape == extents{});
static_assert(infer<op::reshape<5, dyn>>(shape<2, 3>{}).fault == shape_fault::size);
static_assert(infer<op::reshape<7>>(shape<2, 3>{}).fault == shape_fault::size);
static_assert(infer<op::reshape<0, dyn>>(shape<0>{}).fault == shape_fault::size);
static_assert(infer<op::reshape<0, 4>>(shape<0>{}).fault == shape_fault::none);

// Where the operand's size is not known, what is known must divide the new one.
static_assert(decltype(reshape<dyn>(m))::facts.shape == extents(shape<dyn>{}));
static_assert(decltype(reshape<6>(m))::facts.shape == extents(shape<6>{}));
static_assert(infer<op::reshape<7>>(shape<dyn, 3>{}).fault == shape_fault::size);
static_assert(infer<op::reshape<7>>(shape<dyn, 0>{}).fault == shape_fault::size);
static_assert(infer<op::reshape<2, dyn>>(shape<4, 3>{}).shape == extents(shape<2, 6>{}));

// Axes of extent 1 are put in and left out, whatever the other extents turn out to be.
static_assert(decltype(expand_dims<0>(m))::facts.shape == extents(shape<1, dyn, 3>{}));
static_assert(decltype(expand_dims<1>(m))::facts.shape == extents(shape<dyn, 1, 3>{}));
static_assert(decltype(expand_dims<-1>(m))::facts.shape == extents(shape<dyn, 3, 1>{}));
static_assert(decltype(squeeze<1>(expand_dims<1>(m)))::facts.shape == extents(shape<dyn, 3>{}));
static_assert(decltype(squeeze<0>(placeholder<"one", float, 1>))::facts.shape == extents{});
static_assert(infer<op::reshape<detail::same_as_axis(1)>>(shape<dyn, 3>{}).fault == shape_fault::none);
static_assert(infer<op::reshape<detail::same_as_axis(1)>>(shape<2, 3>{}).fault == shape_fault::size);

// An axis that stays says nothing of the extent that is computed, also where the run finds that it is 0.
static_assert(infer<op::reshape<dyn, detail::same_as_axis(2)>>(shape<4, 3, 0>{}).shape == extents(shape<12, 0>{}));
static_assert(infer<op::reshape<dyn, detail::same_as_axis(2)>>(shape<4, 3, dyn>{}).shape == extents(shape<12, dyn>{}));
static_assert(infer<op::reshape<detail::same_as_axis(0), 2, dyn>>(shape<0, 6>{}).shape == extents(shape<0, 2, 3>{}));
static_assert(infer<op::reshape<detail::same_as_axis(0)>>(shape<0, 3>{}).fault == shape_fault::size);

// A slice is NumPy's: negative numbers count from the end, and what lies outside is cut off.
static_assert(decltype(slice<2, 5>(v))::facts.shape == extents(shape<3>{}));
static_assert(decltype(slice<-3>(v))::facts.shape == extents(shape<3>{}));
static_assert(decltype(slice<0, -1>(v))::facts.shape == extents(shape<9>{}));
static_assert(decltype(slice<8, 99>(v))::facts.shape == extents(shape<2>{}));
static_assert(decltype(slice<-99, 2>(v))::facts.shape == extents(shape<2>{}));
static_assert(decltype(slice<5, 2>(v))::facts.shape == extents(shape<0>{}));
static_assert(decltype(slice<0, to_end, 3>(v))::facts.shape == extents(shape<4>{}));
static_assert(decltype(slice<1, 10, 3>(v))::facts.shape == extents(shape<3>{}));

// Backwards too.
static_assert(decltype(slice<7, 2, -1>(v))::facts.shape == extents(shape<5>{}));
static_assert(decltype(slice<7, 2, -2>(v))::facts.shape == extents(shape<3>{}));
static_assert(decltype(slice<to_end, to_begin, -1>(v))::facts.shape == extents(shape<10>{}));
static_assert(decltype(slice<to_end, to_begin, -3>(v))::facts.shape == extents(shape<4>{}));
static_assert(decltype(slice<99, -3, -1>(v))::facts.shape == extents(shape<2>{}));
static_assert(decltype(slice<-99, to_begin, -1>(v))::facts.shape == extents(shape<0>{}));
static_assert(decltype(slice<2, 7, -1>(v))::facts.shape == extents(shape<0>{}));
static_assert(detail::select_range(to_end, to_begin, -3, 10).first == 9);
static_assert(detail::select_range(-2, to_begin, -1, 10).first == 8);
static_assert(detail::select_range(3, 8, 1, 0).first == 0);

// A range an axis; the axes after them are whole; an extent that is not known leaves the result's unknown.
static_assert(decltype(slice<range<1>, range<>, range<0, 2>>(a))::facts.shape == extents(shape<1, 3, 2>{}));
static_assert(decltype(slice<range<0, 1>>(a))::facts.shape == extents(shape<1, 3, 4>{}));
static_assert(decltype(slice<range<0, 2>, range<1>>(m))::facts.shape == extents(shape<dyn, 2>{}));
static_assert(infer<op::slice<range<0, 2>>>(shape<1>{}).shape == extents(shape<1>{}));

// A step of 0 leads nowhere, nor does one away from the end of the axis that is named; and there are no more ranges
// than axes.
static_assert(infer<op::slice<range<0, 2, 0>>>(shape<4>{}).fault == shape_fault::range);
static_assert(infer<op::slice<range<4, 0, 0>>>(shape<dyn>{}).fault == shape_fault::range);
static_assert(infer<op::slice<range<3, to_end, -1>>>(shape<4>{}).fault == shape_fault::range);
static_assert(infer<op::slice<range<3, to_begin, 1>>>(shape<dyn>{}).fault == shape_fault::range);
static_assert(infer<op::slice<range<>, range<>>>(shape<4>{}).fault == shape_fault::rank);

// What a range selects is found by one function, for the compiler and at run time.
static_assert(detail::select_range(-4, to_end, 2, 9).first == 5 && detail::select_range(-4, to_end, 2, 9).count == 2);
static_assert(detail::select_range(3, 1, 1, 9).count == 0);

// What a kernel reads: the kind of view, then its numbers.
static_assert(op_info_of<op::slice<range<1, 5, 2>>>.attributes == 5);
static_assert(op_info_of<op::slice<range<1, 5, 2>>>.attribute[0] == static_cast<int>(view_kind::slice));
static_assert(op_info_of<op::slice<range<1, 5, 2>>>.attribute[4] == 2);
static_assert(op_info_of<op::permute<1, 0>>.attribute[1] == 2 && op_info_of<op::permute<1, 0>>.attribute[2] == 1);

// Two slices of one operand are two nodes, the same slice twice is one.
static_assert(nodes<decltype(slice<0, 5>(v)), decltype(slice<5, 10>(v))> == 3);
static_assert(nodes<decltype(slice<0, 5>(v)), decltype(slice<range<0, 5>>(v))> == 2);

}  // namespace
