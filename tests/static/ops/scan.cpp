// SPDX-License-Identifier: BSL-1.0
// What scans give, as assertions the compiler checks.
#include <onto/scan.hpp>

using namespace onto;

namespace {

template <class Op>
constexpr shape_fault fault(extents x) {
  return Op::infer(&x, 1).fault;
}
template <fold F>
constexpr element result(element x) {
  return op::scan<F, 0, false>::result(x);
}

constexpr auto a = placeholder<"a", float, dyn, 3>;
constexpr auto b = placeholder<"b", std::int8_t, 4, 3>;

// The shape stays; sums and products have the type of `sum`, extremes that of their elements.
static_assert(decltype(cumsum(a))::facts.shape == extents(shape<dyn, 3>{}));
static_assert(decltype(cumsum<0>(b))::facts.type == element::int64 && decltype(cummax(b))::facts.type == element::int8);
static_assert(result<fold::sum>(element::int8) == element::int64);
static_assert(result<fold::prod>(element::uint16) == element::uint64);
static_assert(result<fold::sum>(element::int32) == element::int32);
static_assert(result<fold::prod>(element::float16) == element::float16);
static_assert(result<fold::min>(element::uint8) == element::uint8);

// The last axis is meant where none is named; an axis has one identity, a direction another.
static_assert(detail::graph_of<decltype(cumsum(a)), decltype(cumsum<1>(a)), decltype(cumsum<-1>(a))>::view.count == 2);
static_assert(detail::graph_of<decltype(cumsum(a)), decltype(cumsum<0>(a)), decltype(cumsum(a, reverse)),
                               decltype(cumprod(a)), decltype(cummin(a)), decltype(cummax(a))>::view.count == 7);

// Numbers only, along an axis that is there; nothing may be scanned, extremes of nothing too.
static_assert(op::scan<fold::sum, 0, false>::check(element::boolean) == detail::element_check::unsupported);
static_assert(op::scan<fold::max, 0, false>::check(element::boolean) == detail::element_check::unsupported);
static_assert(op::scan<fold::sum, 0, false>::check(element::uint64) == detail::element_check::fine);
static_assert(fault<op::scan<fold::sum, 1, false>>(shape<4>{}) == shape_fault::axis);
static_assert(fault<op::scan<fold::sum, -1, false>>(extents{}) == shape_fault::axis);
static_assert(fault<op::scan<fold::max, -1, true>>(shape<0>{}) == shape_fault::none);

// What a kernel reads: the fold, the axis, the direction.
static_assert(detail::scan_axis(op_info_of<op::scan<fold::sum, -1, false>>, 3) == 2);
static_assert(detail::scans_backwards(op_info_of<op::scan<fold::sum, 0, true>>));
static_assert(op::scan<fold::prod, 0, true>::name == "Cumprod" && op::scan<fold::min, 0, true>::name == "Cummin");

// A scan is a kernel of its own: what is before and after it fuses, but not with it. A view is read where it is.
static_assert(plan_of(cumsum(a)).kernels == 1);
static_assert(plan_of(exp(cumsum(exp(a) + 1_c)) * 2_c).kernels == 3);
static_assert(plan_of(sum(cumsum(a * 2_c))).kernels == 3);
static_assert(plan_of(cumsum<0>(transpose(slice<1, 3>(b)))).kernels == 1);
static_assert(plan_of(cumsum(b) + cumsum<1>(b)).kernels == 2);
static_assert(plan_of(softmax(cumsum(a))).kernels == 2);

// An operation an element.
static_assert(plan_of(cumsum(b)).flops == 12);
static_assert(plan_of<world<cpu<0>, gpu<0>>>(on<gpu<0>>(cumsum(b))).transfers == 2);
static_assert(placeable<world<cpu<0>, gpu<0>>>(on<gpu<0>>(cumprod(b))));

}  // namespace
