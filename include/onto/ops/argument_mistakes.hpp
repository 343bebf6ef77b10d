// SPDX-License-Identifier: BSL-1.0
// What words say of arguments in the wrong place: axes and extents in (), operands in braces, one operand for two.
#pragma once

#include <onto/expr/data.hpp>
#include <onto/expr/shape_check.hpp>
#include <onto/ops/operation_base.hpp>

#include <initializer_list>
#include <type_traits>

namespace onto {

namespace detail {

// One struct a mistake, as in shape_check.hpp.
template <class... X>
struct axis_is_an_argument : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.axis] axes, extents and ranges are known to the compiler: sum<1>(x), reshape<2, 3>(x), "
                "slice<0, 2>(x), concat<1>(x, y), roll<1, 0>(x), sum<1>(x, keep_extents), permute<1, 0>(x), "
                "squeeze<0>(x), tile<2, 1>(x), one_hot<10>(x), pad<padding<1>>(x)");
};
template <class... X>
struct axis_is_a_number : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.axis] what stands in <> here is an axis: sum<0>(x), cumsum<1>(x); the element type is that of "
                "the operand: sum(cast<double>(x))");
};
template <class... X>
struct group_has_one_value : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] group is one value with its effects; among several it is one: "
                "fetches(a, group(b, assign(w, x)))");
};
template <class Op, class... X>
struct axes_or_two : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.axis] max and min are over axes: max<1>(x); of two operands, element by element: maximum(x, y), "
                "minimum(x, y); an axis is kept by max<1>(x, keep_extents)");
};
template <class... X>
struct statistics_are_of_all : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok == true,
      "[onto.axis] an axis stands in <>: var<1>(x), norm<1>(x); the variance of a sample (ddof) is var(x) * (n / "
      "(n - 1.0)), and other norms (ord) are sum(abs(x)), max(abs(x))");
};
template <class... X>
struct element_is_second : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.element] the element type is behind the number: one_hot<10, int>(i); else it is float");
};
template <class... X>
struct element_is_that_of_another : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.element] zeros_like(x) has the elements of x; of another type cast<int>(zeros_like(x))");
};
template <class... X>
struct concat_joins_operands : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok == true,
      "[onto.axis] the axis of concat stands in <>, and in () expressions or data: concat<1>(x, y); numbers in "
      "braces are concat<0>(x, constant({1.0, 2.0}))");
};
template <class... X>
struct stack_joins_operands : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.axis] the axis of stack stands in <>, and in () expressions of one shape: stack<1>(x, y); a "
                "number beside them is stack<1>(x, ones_like(x))");
};
template <class... X>
struct element_is_an_argument : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.element] the element type is known to the compiler: cast<double>(x)");
};
template <class... X>
struct numbers_are_a_constant : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] numbers without an expression among them are a constant: constant({0.0, 1.0}), "
                "stack(stack(1.0, x), constant({0.0, 1.0})); an axis stands in <>: concat<1>(x, y)");
};
template <class... X>
struct list_has_no_shape : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] numbers in braces have no element type here; make a tensor of them: "
                "matmul(x, tensor<float, 2>{1, 2}); of an array of C constant(k)");
};
template <class... X>
struct operands_are_a_list : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] operands have types of their own and make no list: concat<1>(x, y), stack(x, y); "
                "those of a tuple: std::apply([](auto... e) { return concat<1>(e...); }, several)");
};
/// What `{x, y}`, or a tuple, becomes where operands are expected.
struct list_of_operands {
  template <operand First, operand... More>
    requires(sizeof...(More) > 0 && (expression<First> || ... || expression<More>))
  constexpr list_of_operands(const First&, const More&...) {
    static_cast<void>(static_cast<typename operands_are_a_list<First, More...>::result*>(nullptr));
  }
  template <scalar_value First, scalar_value... More>
  constexpr list_of_operands(First, More...) {
    static_cast<void>(static_cast<typename numbers_are_a_constant<First, More...>::result*>(nullptr));
  }
  template <class List>
    requires(!operand<List> && !data<List>)
  constexpr list_of_operands(const List&) {
    static_cast<void>(static_cast<typename operands_are_a_list<List>::result*>(nullptr));
  }
};
#if defined(__CUDACC__)
/// The same, but of no braces in braces: nvcc finds {{1, 2}, {3, 4}} as good for that as for an array of arrays.
struct stray_constant {
  template <class... X>
  constexpr stray_constant(const X&...) {}
};
#else
using stray_constant = stray_argument;
#endif
template <class... X>
struct pad_has_a_value : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] pad puts a value around its operand: pad<padding<1>, padding<2>>(x, 0); edges and "
                "reflections are concat of slices");
};
template <class... X>
struct index_is_a_range : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.axis] of each axis a range: slice<range<0, 2>, range<1, 2>>(x) is x[0:2, 1:2], slice<range<>, "
                "range<1, 2>>(x) is x[:, 1:2]; an axis of one element goes by squeeze<1>(e)");
};
/// What is meant by `all` among ranges.
struct every {};
using every_element = every (*)(every);
template <class... X>
struct roll_is_along_an_axis : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.axis] roll<1, 0>(x) goes by 1 along axis 0; along two axes roll<1, 0>(roll<1, 1>(x))");
};
template <class... X>
struct clip_has_two_bounds : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok == true,
      "[onto.operands] clip takes the operand and two bounds: clip(x, 0, 1); of one maximum(x, 0), minimum(x, 1)");
};
template <class... X>
struct constant_is_of_one_type : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] a constant is a number, a list in braces of one type, or a tensor: constant({1.0, "
                "2.5}), constant(tensor<float, 2>{1, 2.5}); numbers among expressions are stack(1.0, x); a vector or "
                "an array is an "
                "operand itself: x + v");
};
template <class... X>
struct said_by_a_comparison : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] these are comparisons: isnan(x) is x != x, isfinite(x) is x - x == 0, isinf(x) is "
                "abs(x) == std::numeric_limits<float>::infinity()");
};
template <class... X>
struct powers_are_a_word : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] an expression or a tensor is no pointer; Python's x ** y is written pow(x, y), x ** 2 "
                "square(x)");
};
template <class... X>
struct optimizer_is_first : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.optimizer] the optimizer is first: minimize(adam{}, loss), minimize(sgd{.rate = 0.1}, loss, w)");
};
template <class... X>
struct gradient_is_by_an_expression : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.gradient] a gradient is by a placeholder, a variable or an expression, not by data; write "
                "placeholder<\"x\", float, 3> and feed it");
};
template <class... X>
struct gradients_of_several : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.gradient] gradient(loss, w) is by one; by several gradients(loss, w, b), a tuple");
};
/// What `{w, b}` becomes where it is said by what a gradient is.
struct list_to_derive_by {
  template <expression First, expression... More>
  constexpr list_to_derive_by(const First&, const More&...) {
    static_cast<void>(static_cast<typename gradients_of_several<First, More...>::result*>(nullptr));
  }
};
}  // namespace detail

}  // namespace onto
