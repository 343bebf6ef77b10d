// SPDX-License-Identifier: BSL-1.0
// A tensor with a value around it.
#pragma once

#include <onto/ops/generate.hpp>
#include <onto/ops/gradient.hpp>
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

/// Whether a number is 0 in its type.
template <class S>
inline constexpr bool is_zero = false;
template <number_in_type S>
inline constexpr bool is_zero<S> = S::get() == 0;

/// The paddings of axes, 0 and on.
template <class... Paddings>
struct paddings {};

template <bool Zero, class... Done, class First, class... More, class E, class P, class V>
constexpr auto pad_axes(paddings<Done...>, paddings<First, More...>, const E& x, const P& padded, const V& value);
template <bool Zero, class... Done, class E, class P, class V>
constexpr auto pad_axes(paddings<Done...>, paddings<>, const E&, const P& padded, const V&) {
  return padded;
}

/// The value of a padding, `Width` elements of it along the axis of `x` behind those of `Done`, which are padded.
/// `Zero`: where the value is 0.
template <int Width, bool Zero, class... Done, class E, class V, int... K>
constexpr auto fill_beside(paddings<Done...> done, const E& x, const V& value, std::integer_sequence<int, K...> axes) {
  constexpr extents e = E::facts.shape;
  constexpr int axis = sizeof...(Done), more[] = {(Done::before + Done::after)..., 0};
  using T = typename E::element_type;
  if constexpr (((K == axis || e[K] != dyn) && ...)) {
    const auto one = generate<op::fill<T>>(shape<>{}, value);  // which is read again for each element
    return make<op::broadcast_to<(K == axis ? Width : e[K] + more[K < axis ? K : axis])...>>(one);
  } else {  // as what none of the elements along the axis come to, which are there whatever its extent
    constexpr fold f = std::is_same_v<T, bool> ? fold::any : fold::sum;
    const auto none = cast<T>(make<op::reduce<f, true, axis>>(slice_axis<axis, range<0, 0>>(x)));
    const auto line = [&] {
      if constexpr (Zero)
        return stop_gradient(none);
      else
        return make<op::fill_like>(none, value);
    }();
    // Not of what is padded already: only the last of the concatenations is then made in memory.
    return stretch_axis<axis, Width>(pad_axes<Zero>(paddings<>{}, done, line, line, value), axes);
  }
}

template <bool Zero, class... Done, class First, class... More, class E, class P, class V>
constexpr auto pad_axes(paddings<Done...> done, paddings<First, More...>, const E& x, const P& padded, const V& value) {
  if constexpr (any_ill_formed<E>) {
    return ill_formed{};
  } else {
    constexpr auto axes = std::make_integer_sequence<int, E::facts.shape.rank>{};
    constexpr int axis = sizeof...(Done);
    const auto more = [&] {
      if constexpr (First::before > 0 && First::after > 0)
        return concat<axis>(fill_beside<First::before, Zero>(done, x, value, axes), padded,
                            fill_beside<First::after, Zero>(done, x, value, axes));
      else if constexpr (First::before > 0)
        return concat<axis>(fill_beside<First::before, Zero>(done, x, value, axes), padded);
      else if constexpr (First::after > 0)
        return concat<axis>(padded, fill_beside<First::after, Zero>(done, x, value, axes));
      else
        return padded;
    }();
    return pad_axes<Zero>(paddings<Done..., First>{}, paddings<More...>{}, x, more, value);
  }
}

template <bool Zero, class... Paddings, class E, class V>
constexpr auto pad_with(const E& x, const V& value) {
  if constexpr (sizeof...(Paddings) > static_cast<std::size_t>(E::facts.shape.rank)) {
    using too_few = shape_mistake<shape_fault::rank, op::concat<0>, shape_of_t<E>>;
    return typename unless_told<too_few, E>::result{};
  } else {
    return pad_axes<Zero>(paddings<>{}, paddings<Paddings...>{}, x, x, value);
  }
}

}  // namespace detail

/// The operand with a value around it: `pad<padding<1, 2>, padding<0>>(x, value)`, a padding an axis; those after them
/// are left as they are. 0 where no value is given. *Mandates* no more paddings than axes.
template <class... Paddings, expression E, detail::number_argument S>
  requires(sizeof...(Paddings) > 0)
constexpr auto pad(const E& x, const S& value) {
  return detail::pad_with<detail::is_zero<S>, Paddings...>(x, detail::lift<E>(value));
}
template <class... Paddings, expression E>
  requires(sizeof...(Paddings) > 0)
constexpr auto pad(const E& x) {
  if constexpr (std::is_same_v<typename E::element_type, bool>)
    return detail::pad_with<true, Paddings...>(x, zeros<bool>());
  else
    return pad<Paddings...>(x, detail::static_number<0, detail::number_kind::integer>{});
}

}  // namespace onto
