// SPDX-License-Identifier: BSL-1.0
// A tensor with a value around it.
#pragma once

#include <onto/ops/generate.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/rearrange.hpp>
#include <onto/ops/reduce.hpp>

#include <type_traits>
#include <utility>

namespace onto {

/// How many elements `pad` puts before and after those of an axis: none unless they are said.
template <int Before = 0, int After = Before>
struct padding {
  static_assert(Before >= 0 && After >= 0, "[onto.shape] pad: a width is 0 or more; slice takes elements away");
  static constexpr int before = Before, after = After;
};

namespace detail {

/// The value of a padding, `Width` elements of it along an axis of `x`.
template <int Width, int Axis, class E, class V, int... K>
constexpr auto fill_beside(const E& x, const V& value, std::integer_sequence<int, K...> axes) {
  constexpr extents e = E::facts.shape;
  using T = typename E::element_type;
  if constexpr (((K == Axis || e[K] != dyn) && ...)) {
    const auto one = generate<op::fill<T>>(shape<>{}, value);  // which is read again for each element
    return make<op::broadcast_to<(K == Axis ? Width : e[K])...>>(one);
  } else {  // as what none of the elements along the axis come to, which are there whatever its extent
    constexpr fold f = std::is_same_v<T, bool> ? fold::any : fold::sum;
    const auto none = make<op::reduce<f, true, Axis>>(slice_axis<Axis, range<0, 0>>(x));
    return stretch_axis<Axis, Width>(make<op::fill_like>(cast<T>(none), value), axes);
  }
}

template <int Axis, class E, class V>
constexpr auto pad_axes(const E& x, const V&) {
  return x;
}
template <int Axis, class First, class... More, class E, class V>
constexpr auto pad_axes(const E& x, const V& value) {
  if constexpr (any_ill_formed<E>) {
    return ill_formed{};
  } else {
    constexpr auto axes = std::make_integer_sequence<int, E::facts.shape.rank>{};
    const auto padded = [&] {
      if constexpr (First::before > 0 && First::after > 0)
        return concat<Axis>(fill_beside<First::before, Axis>(x, value, axes), x,
                            fill_beside<First::after, Axis>(x, value, axes));
      else if constexpr (First::before > 0)
        return concat<Axis>(fill_beside<First::before, Axis>(x, value, axes), x);
      else if constexpr (First::after > 0)
        return concat<Axis>(x, fill_beside<First::after, Axis>(x, value, axes));
      else
        return x;
    }();
    return pad_axes<Axis + 1, More...>(padded, value);
  }
}

template <class... Paddings, class E, class V>
constexpr auto pad_with(const E& x, const V& value) {
  if constexpr (sizeof...(Paddings) > static_cast<std::size_t>(E::facts.shape.rank)) {
    using too_few = shape_mistake<shape_fault::rank, op::concat<0>, shape_of_t<E>>;
    return typename unless_told<too_few, E>::result{};
  } else {
    return pad_axes<0, Paddings...>(x, value);
  }
}

}  // namespace detail

/// The operand with a value around it: `pad<padding<1, 2>, padding<0>>(x, value)`, a padding an axis; those after them
/// are left as they are. 0 where no value is given. *Mandates* no more paddings than axes.
template <class... Paddings, expression E, detail::number_argument S>
  requires(sizeof...(Paddings) > 0)
constexpr auto pad(const E& x, const S& value) { return detail::pad_with<Paddings...>(x, detail::lift<E>(value)); }
template <class... Paddings, expression E>
  requires(sizeof...(Paddings) > 0)
constexpr auto pad(const E& x) {
  if constexpr (std::is_same_v<typename E::element_type, bool>)
    return detail::pad_with<Paddings...>(x, zeros<bool>());
  else
    return pad<Paddings...>(x, detail::static_number<0, detail::number_kind::integer>{});
}

}  // namespace onto
