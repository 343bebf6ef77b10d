// SPDX-License-Identifier: BSL-1.0
// Several values of different types, kept while an expression is put together: a std::tuple that takes a tenth of the
// time to compile, for it has no constructors to choose from.
#pragma once

#include <onto/core/config.hpp>

#include <cstddef>
#include <utility>

namespace onto::detail {

template <std::size_t N, class X>
struct tuple_place {
  X value;
};
template <class Numbers, class... X>
struct tuple_places;
template <std::size_t... N, class... X>
struct tuple_places<std::index_sequence<N...>, X...> : tuple_place<N, X>... {
  static constexpr std::size_t size = sizeof...(X);

  /// Calls `f` with all of them.
  template <class F>
  constexpr auto unpack(const F& f) const {
    return f(tuple_place<N, X>::value...);
  }
  /// These, and then those of `more`.
  template <std::size_t... M, class... Y>
  constexpr auto operator+(const tuple_places<std::index_sequence<M...>, Y...>& more) const {
    return tuple_places<std::index_sequence_for<X..., Y...>, X..., Y...>{{tuple_place<N, X>::value}...,
                                                                         {more.tuple_place<M, Y>::value}...};
  }
};
template <class... X>
using plain_tuple = tuple_places<std::index_sequence_for<X...>, X...>;

template <class... X>
constexpr plain_tuple<X...> plain(const X&... x) {
  return {{x}...};
}

/// Number `N` of a tuple.
template <std::size_t N, class X>
ONTO_INLINE constexpr const X& item(const tuple_place<N, X>& t) {
  return t.value;
}
template <std::size_t N, class X>
ONTO_INLINE constexpr X& item(tuple_place<N, X>& t) {
  return t.value;
}

}  // namespace onto::detail
