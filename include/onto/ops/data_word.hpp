// SPDX-License-Identifier: BSL-1.0
// What makes a function of expressions take data itself too: a tensor, a vector, an array or a span.
#pragma once
#pragma GCC system_header  // so that messages leave out how its macros expand

#include <onto/expr/data.hpp>

#include <type_traits>

// Each is two functions: one of what has a name, by `const X&`, and one of temporaries, which an expression keeps. One
// of `X&&` alone would be taken before a program's own function of `const std::vector<double>&`.

/// Behind the functions `word` of expressions: one that takes data among its arguments, each of which becomes a leaf.
/// `Kind` is that of the template arguments that are written: `int`, `class`, `auto`.
#define ONTO_TAKES_DATA(Kind, word)                                                               \
  template <Kind... Written, class... X>                                                          \
    requires detail::data_among<X...>                                                             \
  constexpr auto word(const X&... x) { return word<Written...>(detail::leaf_of(x)...); }          \
  template <Kind... Written, class... X>                                                          \
    requires(detail::data_among<std::remove_cvref_t<X>...> && (detail::temporary_data<X> || ...)) \
  constexpr auto word(X&&... x) { return word<Written...>(detail::leaf_of(static_cast<X&&>(x))...); }

/// The same of functions of one operand, whatever else is said: `sum<0>(t, keep_extents)`. Two of the standard's types
/// are not ours: `min(v, w)` of vectors.
#define ONTO_TAKES_DATA_ALONE(Kind, word)                                                        \
  template <Kind... Written, class X, class... More>                                             \
    requires(detail::data_alone<X> && !(detail::data_alone<std::remove_cvref_t<More>> || ...))   \
  constexpr auto word(const X& x, More&&... more) {                                              \
    return word<Written...>(detail::leaf_of(x), static_cast<More&&>(more)...);                   \
  }                                                                                              \
  template <Kind... Written, class X, class... More>                                             \
    requires(detail::data_alone<std::remove_cvref_t<X>> && detail::temporary_data<X> &&          \
             !(detail::data_alone<std::remove_cvref_t<More>> || ...))                            \
  constexpr auto word(X&& x, More&&... more) {                                                   \
    return word<Written...>(detail::leaf_of(static_cast<X&&>(x)), static_cast<More&&>(more)...); \
  }

/// The same of functions of two operands.
#define ONTO_TAKES_DATA_OF_TWO(word)                                                                   \
  template <class L, class R>                                                                          \
    requires detail::word_operands<L, R>                                                               \
  constexpr auto word(const L& l, const R& r) { return word(detail::leaf_of(l), detail::leaf_of(r)); } \
  template <class L, class R>                                                                          \
    requires(detail::word_operands<L, R> && (detail::temporary_data<L> || detail::temporary_data<R>))  \
  constexpr auto word(L&& l, R&& r) {                                                                  \
    return word(detail::leaf_of(static_cast<L&&>(l)), detail::leaf_of(static_cast<R&&>(r)));           \
  }

/// The same where C++ has no such function of one number: of a tensor of rank 0 too.
#define ONTO_TAKES_VALUES_ALONE(word)                                                            \
  template <auto... Written, class X, class... More>                                             \
    requires((detail::data_alone<X> || (detail::data<X> && sizeof...(More) == 0)) &&             \
             !(detail::data<std::remove_cvref_t<More>> || ...))                                  \
  constexpr auto word(const X& x, More&&... more) {                                              \
    return word<Written...>(detail::leaf_of(x), static_cast<More&&>(more)...);                   \
  }                                                                                              \
  template <auto... Written, class X, class... More>                                             \
    requires((detail::data_alone<std::remove_cvref_t<X>> ||                                      \
              (detail::data<std::remove_cvref_t<X>> && sizeof...(More) == 0)) &&                 \
             detail::temporary_data<X> && !(detail::data<std::remove_cvref_t<More>> || ...))     \
  constexpr auto word(X&& x, More&&... more) {                                                   \
    return word<Written...>(detail::leaf_of(static_cast<X&&>(x)), static_cast<More&&>(more)...); \
  }
