// SPDX-License-Identifier: BSL-1.0
// `call<Op>(x...)`: your own elementwise operation in an expression. It fuses like the built-in ones.
#pragma once

#include <onto/ops/data_word.hpp>
#include <onto/ops/operation_base.hpp>

namespace onto {

namespace detail {

template <class Op>
struct not_an_elementwise_operation : mistake {
  static constexpr bool ok = sizeof(Op) == 0;
  static_assert(ok == true, "[onto.operation] an operation of your own is a struct that derives from elementwise<>");
};
template <class Op>
struct operation_has_no_name : mistake {
  static constexpr bool ok = sizeof(Op) == 0;
  static_assert(ok == true,
                "[onto.operation] the operation has no name; add static constexpr std::string_view name = \"Mine\";");
};
template <class Op, int Count>
struct operation_takes_too_many : mistake {
  static constexpr bool ok = Count < 5;
  static_assert(ok == true, "[onto.operands] an operation of your own takes at most 4 operands; split it into two");
};
template <class Op, class... Elements>
struct apply_does_not_take : mistake {
  static constexpr bool ok = sizeof...(Elements) > 99;
  static_assert(ok == true, "[onto.operation] the operation's apply cannot be called with one element of each operand");
};
template <class Op, class Returned, class Wanted>
struct apply_returns_another_type : mistake {
  static constexpr bool ok = sizeof(Returned) > 9999;
  static_assert(ok == true, "[onto.operation] the operation's apply must return the element type of its result");
};

template <class Op>
concept map_operation = requires {
  { Op::infer(static_cast<const extents*>(nullptr), 0) } -> std::same_as<inferred>;
  requires Op::kind == op_kind::map;
  Op::kernels;
  Op::cost;
};

template <class Op>
concept has_name = requires {
  std::string_view(Op::name);
};

template <class Op, class... T>
concept applies_to = requires(T... x) {
  Op::apply(x...);
};

/// The mistake in `Op::apply` over operands `E...`, or void. What `make` finds out by itself is not looked for.
template <class Op, class... E>
constexpr auto find_mistake() {
  if constexpr (any_ill_formed<E...> || Op::check(E::facts.type...) != element_check::fine) {
    return std::type_identity<void>{};
  } else if constexpr (!applies_to<Op, computed_of<typename E::element_type>...>) {
    return std::type_identity<apply_does_not_take<Op, typename E::element_type...>>{};
  } else {
    using returned = decltype(Op::apply(computed_of<typename E::element_type>{}...));
    using wanted = computed_t<Op::result(E::facts.type...)>;
    using returns = apply_returns_another_type<Op, returned, wanted>;
    return std::type_identity<std::conditional_t<std::is_same_v<returned, wanted>, void, returns>>{};
  }
}

}  // namespace detail

/// Your own operation over operands; scalars take the element type of the first expression among them.
///
/// The operation is a struct: it derives from `elementwise<>` (or `elementwise<floating_elements, cost>`), has a
/// `name`, and `template <class T> static T apply(T x, T y)`, marked `__host__ __device__` where it is to run on a GPU.
/// *Mandates* such a struct, an `apply` that takes one element of each operand and returns one of the result, operands
/// of one element type that it accepts (at most four), and shapes that broadcast.
template <class Op, detail::operand... X>
  requires(expression<X> || ...)
constexpr auto call(const X&... x) {
  if constexpr (!detail::map_operation<Op>) {
    return typename detail::not_an_elementwise_operation<Op>::result{};
  } else if constexpr (!detail::has_name<Op>) {
    return typename detail::operation_has_no_name<Op>::result{};
  } else if constexpr (sizeof...(X) > 4) {
    return typename detail::operation_takes_too_many<Op, static_cast<int>(sizeof...(X))>::result{};
  } else if constexpr ((detail::is_derived<X> || ...)) {
    return make<Op>(x...);
  } else {
    using beside = typename detail::first_expression<X...>::type;
    using found =
        typename decltype(detail::find_mistake<Op, std::remove_cvref_t<decltype(detail::lift<beside>(x))>...>())::type;
    if constexpr (std::is_void_v<found>) {
      return make<Op>(detail::lift<beside>(x)...);
    } else {
      return typename found::result{};
    }
  }
}

ONTO_TAKES_DATA(class, call)

}  // namespace onto
