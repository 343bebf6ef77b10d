// SPDX-License-Identifier: BSL-1.0
// Several axes of extent 1 put in, or left out, at once.
#pragma once

#include <onto/ops/view.hpp>

#include <cstddef>
#include <utility>

namespace onto {

namespace detail {
/// Axes of a tensor of rank `Rank` from the first to the last: what is not there, or named twice, is -1.
template <int Rank, int... Axis>
struct axes_in_order {
  int at[sizeof...(Axis)] = {normalize_axis(Axis, Rank)...};
  constexpr axes_in_order() {
    constexpr int count = static_cast<int>(sizeof...(Axis));
    for (int i = 1; i < count; ++i)
      for (int j = i; j > 0 && at[j - 1] > at[j]; --j) {
        const int later = at[j - 1];
        at[j - 1] = at[j];
        at[j] = later;
      }
    for (int i = 1; i < count; ++i)
      if (at[i] == at[i - 1]) at[0] = -1;
  }
};
template <int Axis, int... More, class E>
constexpr auto expand_each(const E& x) {
  if constexpr (sizeof...(More) == 0)
    return expand_dims<Axis>(x);
  else
    return expand_each<More...>(expand_dims<Axis>(x));
}
template <int Axis, int... More, class E>
constexpr auto squeeze_each(const E& x) {  // the last first: it moves no other
  if constexpr (sizeof...(More) == 0)
    return squeeze<Axis>(x);
  else
    return squeeze<Axis>(squeeze_each<More...>(x));
}
}  // namespace detail

/// With several axes of extent 1, which are where they are named in the result: `expand_dims<0, 2>(v)` is (1, n, 1).
template <int Axis, int Next, int... More, class E, detail::only_if<expression<E>> = 0>
constexpr auto expand_dims(const E& x) {
  constexpr int rank = E::facts.shape.rank + 2 + static_cast<int>(sizeof...(More));
  constexpr detail::axes_in_order<rank, Axis, Next, More...> axes;
  if constexpr (axes.at[0] >= 0 && rank <= max_rank) return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return detail::expand_each<axes.at[K]...>(x);
    }
  (std::make_index_sequence<2 + sizeof...(More)>{});
  else return typename detail::no_axis_of<op::reshape<>, E>::result{};
}

/// Without several axes, of extent 1 each: `squeeze<0, 1>(x)`.
template <int Axis, int Next, int... More, class E, detail::only_if<expression<E>> = 0>
constexpr auto squeeze(const E& x) {
  constexpr detail::axes_in_order<E::facts.shape.rank, Axis, Next, More...> axes;
  if constexpr (axes.at[0] >= 0) return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return detail::squeeze_each<axes.at[K]...>(x);
    }
  (std::make_index_sequence<2 + sizeof...(More)>{});
  else return typename detail::no_axis_of<op::reshape<>, E>::result{};
}

}  // namespace onto
