// SPDX-License-Identifier: BSL-1.0
// What reductions give, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/reduce.hpp>

using namespace onto;

namespace {

template <class... E>
constexpr int nodes = detail::graph_of<E...>::view.count;

template <class Op>
constexpr inferred infer(extents x) {
  return Op::infer(&x, 1);
}

constexpr auto a = placeholder<"a", float, 2, 3, 4>;
constexpr auto open = placeholder<"open", std::int32_t, dyn, 3>;
constexpr auto p = placeholder<"p", bool, 2, 3>;
template <class T>
constexpr auto narrow = placeholder<"narrow", T, 2, 3>;

// Without axes, all are folded away.
static_assert(decltype(sum(a))::facts.shape == extents{});
static_assert(decltype(max(open))::facts.shape == extents{});

// Named axes are folded away; negative ones count from the end; extents not known stay so.
static_assert(decltype(sum<0>(a))::facts.shape == extents(shape<3, 4>{}));
static_assert(decltype(prod<0, 2>(a))::facts.shape == extents(shape<3>{}));
static_assert(decltype(mean<-1>(a))::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(min<1>(open))::facts.shape == extents(shape<dyn>{}));

// With keep_extents they stay, as 1.
static_assert(decltype(sum<1>(a, keep_extents))::facts.shape == extents(shape<2, 1, 4>{}));
static_assert(decltype(max(a, keep_extents))::facts.shape == extents(shape<1, 1, 1>{}));
static_assert(decltype(any<0>(p, keep_extents))::facts.shape == extents(shape<1, 3>{}));

// The element type stays; an index is int64.
static_assert(decltype(sum(open))::facts.type == element::int32);
static_assert(decltype(prod(open))::facts.type == element::int32);
static_assert(decltype(sum(a))::facts.type == element::float32);
static_assert(decltype(max(narrow<std::int8_t>))::facts.type == element::int8);
static_assert(decltype(min(narrow<std::uint16_t>))::facts.type == element::uint16);

// Sums and products of other integers have 64 bits and the same kind, as NumPy's.
static_assert(decltype(sum(narrow<std::int8_t>))::facts.type == element::int64);
static_assert(decltype(prod<0>(narrow<std::int16_t>))::facts.type == element::int64);
static_assert(decltype(sum<1>(narrow<std::uint8_t>, keep_extents))::facts.type == element::uint64);
static_assert(decltype(prod(narrow<std::uint16_t>))::facts.type == element::uint64);
static_assert(decltype(sum(narrow<std::uint32_t>))::facts.type == element::uint64);
static_assert(decltype(sum(narrow<std::int64_t>))::facts.type == element::int64);
static_assert(decltype(sum(narrow<std::uint64_t>))::facts.type == element::uint64);
static_assert(decltype(sum(narrow<half>))::facts.type == element::float16);
static_assert(decltype(all(p))::facts.type == element::boolean);
static_assert(decltype(argmax(a))::facts.type == element::int64);
static_assert(decltype(argmax(p))::facts.type == element::int64);
static_assert(decltype(argmin<1>(open))::facts.type == element::int64);
static_assert(decltype(argmin<1>(open))::facts.shape == extents(shape<dyn>{}));
static_assert(decltype(argmax<-1>(a, keep_extents))::facts.shape == extents(shape<2, 3, 1>{}));

// any and all are for bool, mean for floating point, the others for numbers.
static_assert(op::reduce<fold::any, false>::check(element::float32) == detail::element_check::unsupported);
static_assert(op::reduce<fold::all, false>::check(element::boolean) == detail::element_check::fine);
static_assert(op::reduce<fold::mean, false>::check(element::int32) == detail::element_check::unsupported);
static_assert(op::reduce<fold::mean, false>::check(element::uint8) == detail::element_check::unsupported);
static_assert(op::reduce<fold::sum, false>::check(element::boolean) == detail::element_check::unsupported);
static_assert(op::reduce<fold::argmin, false>::check(element::int64) == detail::element_check::fine);

// An axis counted from the front and from the end is one axis: equal reductions are one node.
static_assert(nodes<decltype(sum<-1>(a)), decltype(sum<2>(a))> == 2);
static_assert(nodes<decltype(sum<0>(a)), decltype(sum<1>(a)), decltype(max<0>(a))> == 4);
static_assert(decltype(sum<0>(a))::facts.id != decltype(sum<0>(a, keep_extents))::facts.id);

// An axis that is not there, or named twice, is a fault.
static_assert(infer<op::reduce<fold::sum, false, 3>>(shape<2, 3, 4>{}).fault == shape_fault::axis);
static_assert(infer<op::reduce<fold::sum, false, -4>>(shape<2, 3, 4>{}).fault == shape_fault::axis);
static_assert(infer<op::reduce<fold::sum, true, 1, -2>>(shape<2, 3, 4>{}).fault == shape_fault::axis);
static_assert(infer<op::reduce<fold::sum, false, 0>>(extents{}).fault == shape_fault::axis);

// Nothing has a sum, a product and a mean, but no greatest element.
static_assert(infer<op::reduce<fold::sum, false>>(shape<0, 3>{}).fault == shape_fault::none);
static_assert(infer<op::reduce<fold::mean, false, 0>>(shape<0, 3>{}).shape == extents(shape<3>{}));
static_assert(infer<op::reduce<fold::max, false>>(shape<0, 3>{}).fault == shape_fault::empty);
static_assert(infer<op::reduce<fold::argmin, false, 0>>(shape<0, 3>{}).fault == shape_fault::empty);
static_assert(infer<op::reduce<fold::max, false, 1>>(shape<0, 3>{}).fault == shape_fault::none);
static_assert(infer<op::reduce<fold::max, false, 0>>(shape<dyn, 3>{}).fault == shape_fault::none);

// What a kernel reads: the fold, whether extents stay, how many axes, the axes.
static_assert(op_info_of<op::reduce<fold::max, true, 0, 2>>.attributes == 5);
static_assert(op_info_of<op::reduce<fold::max, true, 0, 2>>.attribute[0] == static_cast<int>(fold::max));
static_assert(op_info_of<op::reduce<fold::max, true, 0, 2>>.attribute[1] == 1);
static_assert(op_info_of<op::reduce<fold::max, true, 0, 2>>.attribute[2] == 2);
static_assert(op_info_of<op::reduce<fold::max, true, 0, 2>>.attribute[4] == 2);

}  // namespace
