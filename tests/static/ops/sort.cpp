// SPDX-License-Identifier: BSL-1.0
// What sorts give, as assertions the compiler checks.
#include <onto/sort.hpp>

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", float, dyn, 3>;
constexpr auto b = placeholder<"b", std::int8_t, 4, 3>;

template <class Op>
constexpr shape_fault fault(extents x) {
  return Op::infer(&x, 1).fault;
}
template <class E>
constexpr extents shape_of = E::facts.shape;

// The shape and the type stay; numbers of elements are int64.
static_assert(shape_of<decltype(sort(a))> == extents(shape<dyn, 3>{}) &&
              decltype(sort(b))::facts.type == element::int8);
static_assert(decltype(argsort<0>(b, descending))::facts.type == element::int64);
static_assert(op::sort<0, false>::check(element::boolean) == detail::element_check::fine);

// The greatest k: their values, and their numbers.
static_assert(shape_of<decltype(top_k<2>(b).values)> == extents(shape<4, 2>{}));
static_assert(decltype(top_k<2>(b).values)::facts.type == element::int8);
static_assert(shape_of<decltype(top_k<2, 0>(b).indices)> == extents(shape<2, 3>{}));
static_assert(decltype(top_k<2, 0>(b).indices)::facts.type == element::int64);

// There are as many elements as are asked for, as far as the compiler knows.
static_assert(fault<op::argsort<-1, true, 4>>(shape<7, 3>{}) == shape_fault::few);
static_assert(fault<op::argsort<-1, true, 3>>(shape<7, 3>{}) == shape_fault::none);
static_assert(fault<op::argsort<0, true, 9>>(shape<dyn, 3>{}) == shape_fault::none);
static_assert(fault<op::sort<2, false>>(shape<7, 3>{}) == shape_fault::axis);
static_assert(fault<op::sort<-1, false>>(extents{}) == shape_fault::axis);

// Distinct values have the capacity, whatever there is.
static_assert(shape_of<decltype(unique<5>(a).values)> == extents(shape<5>{}));
static_assert(shape_of<decltype(unique<5>(a).counts)> == extents(shape<5>{}));
static_assert(decltype(unique<5>(b).values)::facts.type == element::int8);
static_assert(shape_of<decltype(unique<5>(a).found)> == extents{});

// A quantile is along one axis, or of all; a vector of parts is the first axis. Of known extents it is one map.
static_assert(shape_of<decltype(median(a))> == extents{} && shape_of<decltype(median<0>(a))> == extents(shape<3>{}));
static_assert(shape_of<decltype(median<-1>(a, keep_extents))> == extents(shape<dyn, 1>{}));
static_assert(shape_of<decltype(median(a, keep_extents))> == extents(shape<1, 1>{}));
constexpr auto parts = placeholder<"parts", double, 5>;
static_assert(shape_of<decltype(quantile<1>(a, parts))> == extents(shape<5, dyn>{}));
static_assert(shape_of<decltype(quantile<0>(a, parts, keep_extents))> == extents(shape<5, 1, 3>{}));
constexpr auto d = placeholder<"d", double, 4, 3>;
static_assert(plan_of(median<0>(d)).kernels == 2 && plan_of(quantile<1>(d, 0.9_c) * 2_c).kernels == 2);

// The last axis is meant where none is named; an axis has one identity, a direction another.
static_assert(detail::graph_of<decltype(sort(a)), decltype(sort<1>(a)), decltype(sort<-1>(a))>::view.count == 2);
static_assert(detail::graph_of<decltype(sort(a)), decltype(sort(a, descending)), decltype(argsort(a)),
                               decltype(sort<0>(a))>::view.count == 5);

// A sort is a kernel of its own; views are read where they are. The greatest k are found once and taken.
static_assert(plan_of(exp(sort(flip(a) + 1_c)) * 2_c).kernels == 3);
static_assert(plan_of(sort<0>(transpose(slice<1, 3>(b)))).kernels == 1);
static_assert(plan_of(fetches(top_k<2>(b).values, top_k<2>(b).indices)).kernels == 2);

// What a kernel reads: the axis.
static_assert(detail::sort_axis(op_info_of<op::sort<-1, true>>, 3) == 2);

// Keys are in the order of the elements: -0 is 0 or before it, NaN is the greatest.
template <class T>
constexpr auto key(T x, bool zeros_are_equal = true) {
  return detail::sort_key<T>::of(x, zeros_are_equal);
}
constexpr float infinity = __builtin_huge_valf(), none = __builtin_nanf("");
static_assert(key(-infinity) < key(-1.5f) && key(-1.5f) < key(-0.0f) && key(-0.0f) == key(0.0f));
static_assert(key(0.0f) < key(1e-40f) && key(1.0f) < key(infinity) && key(infinity) < key(none));
static_assert(key(-none) == key(none) && key(-0.0f, false) < key(0.0f, false));
static_assert(key(std::int8_t(-128)) < key(std::int8_t(-1)) && key(std::int8_t(-1)) < key(std::int8_t(0)));
static_assert(key(std::uint64_t(1)) < key(~std::uint64_t(0)) && key(false) < key(true));

// And say what they are of.
template <class T>
constexpr bool comes_back(T x) {
  return detail::sort_key<T>::value(key(x, false)) == x;
}
static_assert(comes_back(-1.5f) && comes_back(infinity) && comes_back(-2.5) && comes_back(std::int16_t(-300)));
static_assert(comes_back(true) && comes_back(~std::uint32_t(0)));
static_assert(detail::sort_key<float>::value(key(none)) != detail::sort_key<float>::value(key(none)));

}  // namespace
