// SPDX-License-Identifier: BSL-1.0
// What is given to a run and is none of what it takes: no program, more expressions, or data without the placeholder's
// name. Each is one sentence.
#pragma once

#include <onto/expr/data.hpp>
#include <onto/expr/shape_check.hpp>
#include <onto/expr/symbol.hpp>

#include <initializer_list>
#include <tuple>
#include <type_traits>

namespace onto {
template <expression... E>
struct fetch_list;
template <expression... E>
struct initializer;
namespace op {
struct equal;
}
}  // namespace onto

namespace onto::detail {

// One struct a mistake: its name and arguments are what the compiler prints.
template <class... X>
struct several_are_fetched {
  using reported = void;
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.run] several results are one list: sess.run(fetches(x, y), name = data)");
};
template <class... X>
struct data_has_no_name {
  using reported = void;
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok == true,
      "[onto.feed] data is fed to a placeholder, without braces: sess.run(e, x = data), evaluate(e, x = data)");
};
template <class... X>
struct output_is_first {
  using reported = void;
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.run] what the result goes into is first: sess.run_to(out, e, x = data), and evaluate_to(out, e, "
                "x = data)");
};
template <class... X>
struct prepared_is_called {
  using reported = void;
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.run] a prepared program is called: step(x = data), step.to(out)(x = data), of two results "
                "step.to(std::tie(u, v))(x = data); step.async(x = data)");
};
/// What is called where that was said, so that nothing else is.
struct called_in_vain {
  template <class... X>
  void operator()(const X&...) const {}
};

template <class R>
struct pending_is_no_result {
  using reported = void;
  static constexpr bool ok = sizeof(R) == 0;
  static_assert(ok == true,
                "[onto.run] a run that was started has its result by get(): auto r = step.async(x = data); r.get()");
};
template <class... X>
struct session_is_const {
  using reported = void;
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.run] a session that runs is not const: it is passed on as session&, and is a mutable member of "
                "a class whose const functions run it");
};

template <class X>
struct what_runs_is_an_expression {
  using reported = void;
  static constexpr bool ok = std::is_same_v<X, void*>;  // what a mistake below it gives, which was told of
  static_assert(ok == true, "[onto.run] what runs is an expression, or fetches(x, y) of several");
};

/// `w = value` of a variable, which is refused where it is written.
template <class X>
inline constexpr bool feeds_variable = false;
template <class Name, class Initial, class T, int... Dims>
inline constexpr bool feeds_variable<feed<variable_node<Name, Initial, T, Dims...>>> = true;

template <class X>
struct number_is_run {
  using reported = void;
  static constexpr bool ok = sizeof(X) > 99;
  static_assert(
      ok == true,
      "[onto.run] what runs is an expression, and this is a number; write exp(x), not std::exp(x), cast<T>(x), not "
      "T(x), where(c, x, y), not c ? x : y");
};

template <class X>
struct function_is_run {
  using reported = void;
  static constexpr bool ok = sizeof(X*) == 0;
  static_assert(ok == true, "[onto.run] what runs is an expression, and this is a function; call it: sess.run(loss())");
};

template <class X>
struct data_is_run {
  using reported = void;
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(
      ok == true,
      "[onto.run] what runs is an expression, and this is data, whose values are there; among what is fetched "
      "it is constant(t)");
};

template <class X>
struct feed_is_run {
  using reported = void;
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(ok == true, "[onto.run] what runs comes first, and what is fed after it: sess.run(e, x = data)");
};

template <class X>
struct initialize_is_not_fed {
  using reported = void;
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(ok == true,
                "[onto.variable] initialize is a run of its own and takes no feeds: sess.run(initialize(w)); data is "
                "the initial value itself, variable<\"w\", float, 2>(t), and of what is fed it is sess.run(assign(w, "
                "e), x = data)");
};
template <class X>
inline constexpr bool is_initializer = false;
template <class... E>
inline constexpr bool is_initializer<initializer<E...>> = true;

/// The struct that reports what is no program.
template <class X>
constexpr auto program_mistake() {
  if constexpr (is_initializer<X>)
    return std::type_identity<initialize_is_not_fed<X>>{};
  else if constexpr (feeds_variable<X>)
    return std::type_identity<what_runs_is_an_expression<void*>>{};
  else if constexpr (std::is_base_of_v<feed_ref, X>)
    return std::type_identity<feed_is_run<X>>{};
  else if constexpr (std::is_arithmetic_v<X>)
    return std::type_identity<number_is_run<X>>{};
  else if constexpr (is_uncalled<X>)
    return std::type_identity<function_is_run<X>>{};
  else if constexpr (std::is_same_v<X, compared_whole>)
    return std::type_identity<tensors_compared_whole<X>>{};
  else if constexpr (is_tensor<X> || contiguous_elements<X>)
    return std::type_identity<data_is_run<X>>{};
  else
    return std::type_identity<what_runs_is_an_expression<X>>{};
}

/// What `{x, y}` becomes where a program is expected.
struct braced_fetches {
  template <class First, class... More>
    requires(sizeof...(More) > 0)
  constexpr braced_fetches(const First&, const More&...) {
    static_cast<void>(static_cast<typename several_are_fetched<First, More...>::reported*>(nullptr));
  }
};
/// What `{x, data}` becomes where a feed is expected, or `{{x, data}}` of one or more, or `{{1, 2}, {3, 4}}` alone.
struct braced_feed {
  template <class Symbol, class Data>
  braced_feed(const Symbol&, const Data&) {
    // One type for all pairs, so that it is said once.
    using pair = std::enable_if_t<(sizeof(Symbol) > 0 && sizeof(Data) > 0), braced_feed>;
    static_cast<void>(static_cast<typename data_has_no_name<pair>::reported*>(nullptr));
  }
  template <class Symbol>
  braced_feed(const Symbol& x, std::initializer_list<stray_argument>) : braced_feed(x, 0) {}
  template <class Symbol>
  braced_feed(const feed<Symbol>& x) : braced_feed(x, 0) {}
  braced_feed(std::initializer_list<braced_feed>) {}
  braced_feed() = delete;  // [onto.feed] where nothing is fed no braces stand: sess.run(e)
  template <class Number>
    requires(is_number<Number>)
  braced_feed(const Number& x) : braced_feed(x, 0) {}
};

template <class E>
inline constexpr bool is_no_program = !expression<E>;
template <class... E>
inline constexpr bool is_no_program<fetch_list<E...>> = false;
template <class... E>
inline constexpr bool is_no_program<std::tuple<E...>> = false;
template <makes_several E>
inline constexpr bool is_no_program<E> = false;

template <class... X>
inline constexpr bool any_is_no_feed = !(std::is_base_of_v<feed_ref, X> && ...);

/// `x == data` where `x = data` was meant.
template <class X>
inline constexpr bool compares_placeholder = false;
template <class Name, class T, int... Dims, class Data>
inline constexpr bool compares_placeholder<apply_node<op::equal, placeholder_node<Name, T, Dims...>, Data>> = true;

template <class E, int... Dims>
auto tensor_of(shape<Dims...>) -> tensor<typename E::element_type, Dims...>;
/// What a run of `E` would give; of what makes several, which nothing here can take apart, some.
template <class E>
struct instead_of_result {
  using type = std::tuple<tensor<float>, tensor<float>>;
};
template <expression E>
struct instead_of_result<E> {
  using type = decltype(tensor_of<E>(shape_of_t<E>{}));
};
template <class... E>
struct instead_of_result<fetch_list<E...>> {
  using type = std::tuple<typename instead_of_result<E>::type...>;
};
template <class... E>
struct instead_of_result<std::tuple<E...>> : instead_of_result<fetch_list<E...>> {};

/// Reports the mistake in `run(e, x...)`. *Returns* what has the type of the result of `run(e)`.
template <class E, class... X>
auto report_no_feed() {
  if constexpr (is_no_program<E>) {
    using wrong = typename decltype(program_mistake<E>())::type;
    static_cast<void>(static_cast<typename wrong::reported*>(nullptr));
    return std::tuple<tensor<float>, tensor<float>>();
  } else {
    if constexpr (any_ill_formed<E, X...>) {
      // it was told of
    } else if constexpr ((expression<X> || ...) && !(compares_placeholder<X> || ...))
      static_cast<void>(static_cast<typename several_are_fetched<E, X...>::reported*>(nullptr));
    else
      static_cast<void>(static_cast<typename data_has_no_name<X...>::reported*>(nullptr));
    return typename instead_of_result<E>::type();
  }
}

}  // namespace onto::detail

namespace onto {
/// `fetches({x, y})`. A template, as a list of expressions is defined after this.
template <class List = fetch_list<ill_formed>>
constexpr List fetches(const detail::braced_fetches&) {
  return {};
}
}  // namespace onto
