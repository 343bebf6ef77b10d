// SPDX-License-Identifier: BSL-1.0
// Where an operation is written: its operands' shapes and element types are checked, and a mistake is one short error.
#pragma once

#include <onto/expr/boxed.hpp>
#include <onto/expr/derived_value.hpp>

#include <initializer_list>
#include <string_view>
#include <utility>

namespace onto {

namespace detail {

template <class E, std::size_t... K>
auto spell_shape(std::index_sequence<K...>) -> shape<E::facts.shape.dims[K]...>;

template <class E>
using shape_of_t = decltype(spell_shape<E>(std::make_index_sequence<static_cast<std::size_t>(E::facts.shape.rank)>{}));

/// What the structs below have in common: the expression that takes the place of the mistaken one. Naming it reports
/// the mistake; a call or a `sizeof` would make clang complain a second time, where the result is a constant. What is
/// asserted is compared, `ok == true`: of a name alone g++ says in a line with all its types that it is false.
struct mistake {
  using result = ill_formed;
};
/// The same where an operand takes the place of a mistaken one, which was told of: nothing is said of it again.
template <class Mistake, class... Operands>
using unless_told = std::conditional_t<any_ill_formed<Operands...>, mistake, Mistake>;

/// What arguments become that are expected nowhere, in braces or not.
struct stray_argument {
  template <class... X>
  constexpr stray_argument(const X&...) {}
  constexpr stray_argument(std::initializer_list<stray_argument>) {}
};

// The sentences of shapes that do not fit, said by the compiler where it knows the extents, and else by a run.
#define ONTO_SAYS_BROADCAST                                                                                          \
  "the operands' extents differ and neither is 1; reshape, slice or transpose one of them, or keep a reduced axis: " \
  "sum<1>(x, keep_extents)"
#define ONTO_SAYS_INNER                                                                                      \
  "columns of the left and rows of the right differ; transpose one with transpose(x), or make columns of a " \
  "batch's vectors with expand_dims<-1>(x)"
#define ONTO_SAYS_RANK "an operand has too few dimensions, or too many; reshape it, or give a number for each axis"
#define ONTO_SAYS_AXIS "an axis is out of range, named twice or left out; axes are -rank to rank - 1"
#define ONTO_SAYS_SIZE "the numbers of elements differ; one extent may be dyn to be computed"
#define ONTO_SAYS_RANGE "a step above 0 leads to to_end, one below 0 to to_begin, 0 nowhere"
#define ONTO_SAYS_CONCAT "the operands differ in rank or in an extent other than the joined axis"
#define ONTO_SAYS_EMPTY "a minimum or maximum over no elements has no value; give the axis an extent above 0"
#define ONTO_SAYS_BYTES "the result has more than 2^63 - 1 bytes, fetched or not; use smaller extents"
#define ONTO_SAYS_FEW \
  "the axis has fewer elements than are asked for, or than go into it; ask for fewer, or put fewer in"
#define ONTO_SAYS_CHANNELS                                                                                            \
  "the filter is not for the image's channels; conv2d takes images (batch, height, width, in) and a filter (height, " \
  "width, in / groups, out), with nchw (batch, in, height, width) and (out, in / groups, height, width)"
#define ONTO_SAYS_GROUPS "the groups do not share the filter's results equally; take a divisor of their number"
#define ONTO_SAYS_WINDOW \
  "no window fits into the image; pad the image (same, or padding<1>), or take a window that is smaller"
#define ONTO_SAYS_VALUE \
  "the value does not broadcast to the variable, which keeps its extents; assign one of that shape"
#define ONTO_SAYS_ADDENDS "add_n adds operands of one shape; x + y + z broadcasts them"
#define ONTO_SAYS_UPDATES                                                                                             \
  "updates have the extents of the numbers, and then those of a row of x: scatter(x, numbers, updates); so have the " \
  "rows of segment_sum<3>(rows, numbers), and the weights of bincount"
#define ONTO_SAYS_ALONG "the numbers have the extents of x, but along the axis; rows are taken with take<0>(x, numbers)"
#define ONTO_SAYS_EXTENT "an axis would have more than 2147483647 elements; leave it as several axes"
#define ONTO_SAYS_EXAMPLES                                                                                            \
  "a loss compares each score with a target of its own, and there are more of the one than of the other; give every " \
  "example its target, or label"
constexpr std::string_view shape_sentences[] = {
    "the shapes fit",  ONTO_SAYS_BROADCAST, ONTO_SAYS_INNER,  ONTO_SAYS_RANK,   ONTO_SAYS_AXIS,
    ONTO_SAYS_SIZE,    ONTO_SAYS_RANGE,     ONTO_SAYS_CONCAT, ONTO_SAYS_EMPTY,  ONTO_SAYS_BYTES,
    ONTO_SAYS_FEW,     ONTO_SAYS_CHANNELS,  ONTO_SAYS_GROUPS, ONTO_SAYS_WINDOW, ONTO_SAYS_VALUE,
    ONTO_SAYS_ADDENDS, ONTO_SAYS_UPDATES,   ONTO_SAYS_ALONG,  ONTO_SAYS_EXTENT, ONTO_SAYS_EXAMPLES,
};

// One struct a mistake: its name and arguments are what the compiler prints.
template <shape_fault Fault, class Op, class... Shapes>
struct shape_mistake;
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::broadcast, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_BROADCAST);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::inner, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] matmul: " ONTO_SAYS_INNER);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::rank, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_RANK);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::axis, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.axis] " ONTO_SAYS_AXIS);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::size, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] reshape: " ONTO_SAYS_SIZE);
};
template <class Op, class... Shapes>
struct squeezed_extent_is_not_one : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true,
                "[onto.shape] squeeze leaves an axis of extent 1 out, and this one has another; one element of it is "
                "squeeze<0>(slice<0, 1>(x))");
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::range, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] slice: " ONTO_SAYS_RANGE);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::concat, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] concat, stack: " ONTO_SAYS_CONCAT);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::empty, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_EMPTY);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::bytes, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_BYTES);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::few, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_FEW);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::channels, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_CHANNELS);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::groups, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_GROUPS);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::window, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_WINDOW);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::value, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_VALUE);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::addends, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_ADDENDS);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::updates, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_UPDATES);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::along, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] take_along_axis: " ONTO_SAYS_ALONG);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::extent, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_EXTENT);
};
template <class Op, class... Shapes>
struct shape_mistake<shape_fault::examples, Op, Shapes...> : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] " ONTO_SAYS_EXAMPLES);
};
#undef ONTO_SAYS_BROADCAST
#undef ONTO_SAYS_INNER
#undef ONTO_SAYS_RANK
#undef ONTO_SAYS_AXIS
#undef ONTO_SAYS_SIZE
#undef ONTO_SAYS_RANGE
#undef ONTO_SAYS_CONCAT
#undef ONTO_SAYS_EMPTY
#undef ONTO_SAYS_BYTES
#undef ONTO_SAYS_FEW
#undef ONTO_SAYS_CHANNELS
#undef ONTO_SAYS_GROUPS
#undef ONTO_SAYS_WINDOW
#undef ONTO_SAYS_VALUE
#undef ONTO_SAYS_ADDENDS
#undef ONTO_SAYS_UPDATES
#undef ONTO_SAYS_ALONG
#undef ONTO_SAYS_EXTENT
#undef ONTO_SAYS_EXAMPLES
template <class Op, class... Elements>
struct element_types_differ : mistake {
  static constexpr bool ok = sizeof...(Elements) > 99;
  static_assert(ok == true, "[onto.element] the operands' element types differ; convert one with cast<T>(x)");
};
template <class Op, class... Elements>
struct element_type_not_supported : mistake {
  static constexpr bool ok = sizeof...(Elements) > 99;
  static_assert(ok == true,
                "[onto.element] the operation has no kernel for this element type; convert with cast<T>(x): integers "
                "and conditions for means, roots and logarithms with cast<float>(x), conditions for counts and places "
                "with cast<int>(x > 0), integers for logic with x != 0");
};
template <class Op, class... Elements>
struct numbers_are_integers : mistake {
  static constexpr bool ok = sizeof...(Elements) > 99;
  static_assert(ok == true,
                "[onto.element] numbers of elements, and where slices begin, are integers: take<0>(x, numbers), "
                "segment_sum<10>(rows, numbers), dynamic_slice<2>(x, starts); convert with cast<int>(numbers)");
};
template <class Op, class... Elements>
struct text_is_no_number : mistake {
  static constexpr bool ok = sizeof...(Elements) > 99;
  static_assert(ok == true,
                "[onto.text] text is no number: it is compared with == and !=, chosen with where, and put in other "
                "places; count and compute with tensors of numbers, which are written by std::cout << t or "
                "std::to_string(float(t))");
};

/// What is wrong with a result of a known element type.
constexpr shape_fault fault_of(const inferred& r, element type) {
  return r.fault == shape_fault::none && !r.shape.fits(size_of(type)) ? shape_fault::bytes : r.fault;
}

/// How an operation takes its operands' element types.
enum class element_check : unsigned char { fine, differ, unsupported, numbers };

template <class First, class... More>
struct first_expression {
  using type = typename first_expression<More...>::type;
};
template <expression First, class... More>
struct first_expression<First, More...> {
  using type = First;
};

/// Whether an operation that checks its operands so takes a text for a number, or makes texts of what is none.
template <class Op, class... X>
constexpr bool takes_for_number(element_check found) {
  const bool any = (is_text(X::facts.type) || ...);
  return found != element_check::fine ? any : !any && is_text(Op::result(X::facts.type...));
}

// In ops/operation_base.hpp.
template <class Beside, class X>
constexpr decltype(auto) lift(const X& x, std::string_view op = {});

}  // namespace detail

/// Writes the operation `Op` over operands; beside an expression, one of two may be a scalar.
/// *Mandates* the operands' element types are what `Op` takes, and their extents fit as far as they are known. Of an
/// ill-formed one, or with an ill-formed operand, nothing is made.
template <class Op, class... X>
constexpr auto make(const X&... x) {
  if constexpr (detail::any_ill_formed<Op, X...>) {
    return ill_formed{};
  } else if constexpr ((detail::is_derived<X> || ...)) {
    return detail::derive_with<Op>(x...);
  } else if constexpr (!(expression<X> && ...)) {
    return make<Op>(detail::lift<typename detail::first_expression<X...>::type>(x, Op::name)...);
  } else {
    constexpr detail::element_check elements = Op::check(X::facts.type...);
    if constexpr (elements == detail::element_check::differ && !(is_text(X::facts.type) || ...)) {
      return typename detail::element_types_differ<Op, typename X::element_type...>::result{};
    } else if constexpr (detail::takes_for_number<Op, X...>(elements)) {
      return typename detail::text_is_no_number<Op, typename X::element_type...>::result{};
    } else if constexpr (elements == detail::element_check::numbers) {
      return typename detail::numbers_are_integers<Op, typename X::element_type...>::result{};
    } else if constexpr (elements == detail::element_check::unsupported) {
      return typename detail::element_type_not_supported<Op, typename X::element_type...>::result{};
    } else {
      constexpr extents shapes[] = {X::facts.shape..., extents{}};
      constexpr shape_fault fault =
          detail::fault_of(Op::infer(shapes, static_cast<int>(sizeof...(X))), Op::result(X::facts.type...));
      if constexpr (fault != shape_fault::none) {
        return typename detail::shape_mistake<fault, Op, detail::shape_of_t<X>...>::result{};
      } else {
        using node = typename decltype(detail::applied_to<Op>(detail::spelled_as<X>()...))::type;
        return node{detail::join_states(x.state.get()...)};
      }
    }
  }
}

}  // namespace onto
