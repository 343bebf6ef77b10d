// SPDX-License-Identifier: BSL-1.0
// What softmax gives, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/softmax.hpp>

using namespace onto;

namespace {

template <class Op>
constexpr shape_fault fault(extents x) {
  return Op::infer(&x, 1).fault;
}

constexpr auto a = placeholder<"a", float, dyn, 3>;

// Shape and element type stay.
static_assert(decltype(softmax(a))::facts.shape == extents(shape<dyn, 3>{}));
static_assert(decltype(log_softmax<0>(a))::facts.type == element::float32);

// The last axis is meant where none is named; an axis has one identity.
static_assert(detail::graph_of<decltype(softmax(a)), decltype(softmax<1>(a)), decltype(softmax<-1>(a))>::view.count ==
              2);
static_assert(detail::graph_of<decltype(softmax(a)), decltype(softmax<0>(a)), decltype(log_softmax(a))>::view.count ==
              4);

// Floating point only, along an axis that is there.
static_assert(op::softmax<false, -1>::check(element::int32) == detail::element_check::unsupported);
static_assert(fault<op::softmax<false, 1>>(shape<4>{}) == shape_fault::axis);
static_assert(fault<op::softmax<true, -1>>(extents{}) == shape_fault::axis);
static_assert(fault<op::softmax<true, -1>>(shape<0>{}) == shape_fault::none);

// What a kernel reads: whether the logarithm is meant, the axis.
static_assert(op_info_of<op::softmax<true, 1>>.attribute[0] == 1 && op_info_of<op::softmax<true, 1>>.attribute[1] == 1);
static_assert(op::softmax<true, 1>::name == "LogSoftmax");

}  // namespace
