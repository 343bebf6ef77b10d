// SPDX-License-Identifier: BSL-1.0
// Words that other libraries have as members, x.sum(0), x.transpose(), x.cast<int>(), and that are functions here: of
// expressions and tensors each is one sentence.
#pragma once

#include <type_traits>

namespace onto {
struct ill_formed;
}

namespace onto::detail {

/// What a call that is a mistake gives, once that is said. No `auto`: others may ask whether there is one.
template <class... Argument>
using instead_of_call = std::conditional_t<(sizeof...(Argument) > 99), void, ill_formed>;

template <class... Argument>
struct words_are_functions {
  using result = instead_of_call<Argument...>;
  static constexpr bool ok = sizeof...(Argument) > 99;
  static_assert(ok == true,
                "[onto.operands] the words for expressions are functions, and axes, extents and types are in angle "
                "brackets: sum(x), mean<0>(x), transpose(x), matmul(x, y), reshape<2, 3>(x), cast<int>(x); their "
                "values are those of evaluate(sum(x)) or sess.run(sum(x))");
};

/// A base: members that are never called in a program that compiles.
struct member_words {
  template <class... Argument>
  constexpr instead_of_call<Argument...> sum(const Argument&...) const {
    return typename words_are_functions<Argument...>::result{};
  }
  template <class... Argument>
  constexpr instead_of_call<Argument...> mean(const Argument&...) const {
    return typename words_are_functions<Argument...>::result{};
  }
  template <class... Argument>
  constexpr instead_of_call<Argument...> max(const Argument&...) const {
    return typename words_are_functions<Argument...>::result{};
  }
  template <class... Argument>
  constexpr instead_of_call<Argument...> min(const Argument&...) const {
    return typename words_are_functions<Argument...>::result{};
  }
  template <class... Argument>
  constexpr instead_of_call<Argument...> dot(const Argument&...) const {
    return typename words_are_functions<Argument...>::result{};
  }
  template <class... Argument>
  constexpr instead_of_call<Argument...> transpose(const Argument&...) const {
    return typename words_are_functions<Argument...>::result{};
  }
  template <class... Argument>
  constexpr instead_of_call<Argument...> reshape(const Argument&...) const {
    return typename words_are_functions<Argument...>::result{};
  }
  template <class To, class... Argument>
  constexpr instead_of_call<Argument...> cast(const Argument&...) const {
    return typename words_are_functions<To, Argument...>::result{};
  }
};

}  // namespace onto::detail
