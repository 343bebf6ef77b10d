// SPDX-License-Identifier: BSL-1.0
// The initial values of variables: which variables are set, and the mistakes in saying so.
#pragma once

#include <onto/core/hana.hpp>
#include <onto/plan/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace onto {

/// Sets variables to their initial values: `sess.run(initialize(w, b))`.
template <expression... E>
struct initializer {
  boost::hana::tuple<E...> expressions;
};

/// Every variable under these expressions, to be set to its initial value.
template <expression First, expression... More>
[[nodiscard("variables are set when it is run: sess.run(initialize(w))")]] constexpr initializer<First, More...>
initialize(const First& first, const More&... more) {
  return {boost::hana::tuple<First, More...>(first, more...)};
}

namespace detail {
// One struct a mistake: its name and arguments are what the compiler prints.
template <class E>
struct no_variable_is_in_it {
  using reported = void;
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok == true,
                "[onto.variable] a placeholder or constant has no initial value to be set; initialize(w) takes "
                "variables, or what is computed of them, and a placeholder is fed: sess.run(e, x = data)");
};
template <class... X>
struct initialize_takes_variables {
  using reported = void;
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.variable] initialize takes variables, or what is computed of them: sess.run(initialize(w, b)), "
                "sess.run(initialize(loss))");
};
template <class Name>
struct variable_has_two_first_values {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok == true,
                "[onto.name] two variables of one name have different initial values; rename one of them, or give the "
                "value once");
};

template <class Name>
struct initial_value_is_fed {
  using reported = void;
  static constexpr bool ok = Name::value.size() > 1000000;
  static_assert(ok == true,
                "[onto.variable] the initial value of a variable is made of a placeholder, and initialize feeds none; "
                "write sess.run(assign(w, e), x = data)");
};

/// The initial value of a variable, by the number its type has; one without, and any other operation, has none.
struct first_value {
  std::uint64_t variable = 0, spelling = 0;
  std::string_view name{};
};
template <class Op>
constexpr first_value first_value_of() {
  if constexpr (requires { typename Op::initial; })
    if constexpr (!std::is_void_v<typename Op::initial>)
      return {Op::facts.id, Op::facts.spelling, std::string_view(Op::name::value)};
  return {};
}

/// The initial values among operations.
template <class Ops>
struct first_values;
template <class... Ops>
struct first_values<op_list<Ops...>> {
  using reported = void;

  /// The name of two variables that begin with different values, or none.
  static constexpr std::string_view find_clash() {
    const first_value all[] = {first_value_of<Ops>()..., {}};
    for (const first_value& a : all)
      for (const first_value& b : all)
        if (a.variable == b.variable && a.spelling != b.spelling) return a.name;
    return {};
  }
  static constexpr std::string_view clash = find_clash();
  using name = decltype(spell_name<clash>(std::make_index_sequence<clash.size()>{}));
  using mistake = std::conditional_t<clash.empty(), first_values, variable_has_two_first_values<name>>;
};

/// The variables among operations that have an initial value, by the numbers their types have; 0 for all others.
template <class Ops>
inline constexpr std::uint64_t first_value_ids[1] = {};
template <class... Ops>
inline constexpr std::uint64_t first_value_ids<op_list<Ops...>>[sizeof...(Ops) + 1] = {
    first_value_of<Ops>().variable..., 0};

/// Whether several of these expressions have a variable with an initial value.
template <class... E>
constexpr bool share_variables() {
  const std::uint64_t* const lists[] = {first_value_ids<typename E::ops>..., nullptr};
  constexpr int sizes[] = {static_cast<int>(E::ops::size)..., 0};
  for (std::size_t a = 0; a < sizeof...(E); ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (int i = 0; i < sizes[a]; ++i)
        for (int j = 0; j < sizes[b]; ++j)
          if (lists[a][i] != 0 && lists[a][i] == lists[b][j]) return true;
  return false;
}

/// Names nothing, unless two variables under these expressions have one name and different initial values.
template <class... E>
using one_first_value = typename first_values<typename merge_ops<typename E::ops...>::type>::mistake::reported;
}  // namespace detail

/// Those under a list: `initialize(fetches(w, b))`.
template <expression... E>
constexpr initializer<E...> initialize(const fetch_list<E...>& several) {
  return {several.expressions};
}

template <class... X>
  requires(sizeof...(X) == 0 || !(expression<X> && ...))
constexpr initializer<> initialize(const X&...) {
  static_cast<void>(static_cast<typename detail::initialize_takes_variables<X...>::reported*>(nullptr));
  return {};
}

}  // namespace onto
