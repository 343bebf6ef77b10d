// SPDX-License-Identifier: BSL-1.0
// Counting and random numbers in the shape of another tensor, whose extents only the run may know.
#pragma once

#include <onto/ops/data_word.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/random.hpp>
#include <onto/ops/rearrange.hpp>

#include <type_traits>
#include <utility>

namespace onto {

namespace op {

/// The base of generators in the shape of their first operand, of type `T`. They read it for nothing but its shape.
template <class T>
struct generator_like {
  static constexpr op_kind kind = op_kind::generator;
  static constexpr int cost = 1;
  static constexpr kernel_set kernels{all_elements, all_elements};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) { return {operands[0], shape_fault::none}; }
  ONTO_END_RUNS_ONCE
  template <class... E>
  static constexpr detail::element_check check(E...) {
    return detail::element_check::fine;
  }
  template <class... E>
  static constexpr element result(E...) {
    return element_of<T>;
  }
  static constexpr bool flat = true;
};

/// Each element's number in row-major order.
template <class To>
struct iota_like : generator_like<To>, detail::integer_packs {
  static constexpr std::string_view name = "RangeLike";
  static constexpr bool packs = true;
  template <class T, class Index, class X>
  ONTO_HD ONTO_INLINE static T at(Index index, const X&) {
    return detail::number_of_element<T>(index);
  }
};

/// The second operand is the seed.
template <template <class, int...> class Random, class Element>
struct random_like : generator_like<Element> {
  static constexpr std::string_view name = Random<Element>::name;
  static constexpr int cost = Random<Element>::cost;
  static constexpr bool packs = Random<Element>::packs;
  template <class T, class Index, class X>
  ONTO_HD ONTO_INLINE static T at(Index index, const X&, std::int64_t seed) {
    return Random<Element>::template at<T>(index, seed);
  }
};

/// The second operand, stretched to the shape of the first.
struct stretch_like : detail::packed_elementwise<all_elements>, detail::integer_packs {
  static constexpr std::string_view name = "BroadcastLike";
  static constexpr detail::element_check check(element, element) { return detail::element_check::fine; }
  static constexpr element result(element, element value) { return value; }
  template <class X, class T>
  ONTO_HD ONTO_INLINE static T apply(const X&, const T& value) {
    return value;
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto, auto) {
    if constexpr (K == 0)
      return no_derivative{};
    else
      return g;
  }
};

}  // namespace op

namespace detail {

/// The first element along each axis but one.
template <int Axis, class E, int... K>
constexpr auto along_axis(const E& x, std::integer_sequence<int, K...>) {
  return make<op::slice<std::conditional_t<K == Axis, range<>, range<0, 1>>...>>(x);
}
template <int Axis, class V, int... K>
constexpr auto lay_along(const V& numbers, std::integer_sequence<int, K...>) {
  return make<op::reshape<(K == Axis ? same_as_axis(0) : 1)...>>(numbers);
}

template <template <class, int...> class Random, class E, class Seed>
constexpr auto random_as(const E& x, const Seed& seed) {
  using T = typename E::element_type;
  if constexpr (any_ill_formed<E>) {
    return ill_formed{};
  } else if constexpr (!is_floating(E::facts.type)) {
    return typename element_type_not_supported<op::random_like<Random, float>, T>::result{};
  } else if constexpr (E::facts.shape.is_static()) {
    return [&]<int... D>(shape<D...>) { return make<Random<T, D...>>(seed_node(seed)); }
    (shape_of_t<E>{});
  } else {
    return make<op::random_like<Random, T>>(x, seed_node(seed));
  }
}

}  // namespace detail

/// In the shape of `x`, each element's number along an axis, the last unless another is named: `iota_like<0>(x)` counts
/// rows. Of the element type of `x`, or of the named one: `iota_like<0, int>(x)`. Where the extents are in the type,
/// `x` need not run. *Mandates* numbers, and an axis the operand has.
template <int Axis = -1, class T = void, class E, detail::only_if<expression<E>> = 0>
constexpr auto iota_like(const E& x) {
  using number = std::conditional_t<std::is_void_v<T>, typename E::element_type, T>;
  constexpr extents e = E::facts.shape;
  if constexpr (!detail::has_axis<Axis, E>) {
    return typename detail::no_axis_of<op::concat<Axis>, E>::result{};
  } else if constexpr (std::is_same_v<number, bool>) {
    return typename detail::element_type_not_supported<op::iota_like<number>, number>::result{};
  } else {
    constexpr int axis = normalize_axis(Axis, e.rank);
    constexpr auto axes = std::make_integer_sequence<int, e.rank>{};
    if constexpr (e.is_static()) {
      return [&]<int... D>(shape<D...>) {
        return broadcast_to<D...>(detail::lay_along<axis>(iota<number, e[axis]>(), axes));
      }
      (detail::shape_of_t<E>{});
    } else if constexpr (e.rank == 1) {
      return make<op::iota_like<number>>(x);
    } else {
      return make<op::stretch_like>(x, make<op::iota_like<number>>(detail::along_axis<axis>(x, axes)));
    }
  }
}

/// The same along the last axis, of the named element type: `iota_like<int>(x)`.
template <class T, class E, detail::only_if<expression<E>> = 0>
constexpr auto iota_like(const E& x) {
  return iota_like<-1, T>(x);
}

/// `random_uniform` in the shape and of the type of `x`, which is floating point: the same bits as where the extents
/// are in the type.
template <class E, class Seed, detail::only_if<(expression<E> && detail::seed_value<Seed>)> = 0>
constexpr auto random_uniform_like(const E& x, const Seed& seed) {
  return detail::random_as<op::random_uniform>(x, seed);
}

/// `random_normal` in the shape and of the type of `x`, as `random_uniform_like`.
template <class E, class Seed, detail::only_if<(expression<E> && detail::seed_value<Seed>)> = 0>
constexpr auto random_normal_like(const E& x, const Seed& seed) {
  return detail::random_as<op::random_normal>(x, seed);
}

template <expression E, class Seed>
  requires(!detail::seed_value<Seed>)
constexpr auto random_uniform_like(const E&, const Seed&) {
  return typename detail::seed_is_an_integer<Seed>::result{};
}
template <expression E, class Seed>
  requires(!detail::seed_value<Seed>)
constexpr auto random_normal_like(const E&, const Seed&) { return typename detail::seed_is_an_integer<Seed>::result{}; }

ONTO_TAKES_DATA_ALONE(auto, random_uniform_like)
ONTO_TAKES_DATA_ALONE(auto, random_normal_like)
template <int Axis = -1, class T = void, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto iota_like(X&& x) { return iota_like<Axis, T>(detail::leaf_of(static_cast<X&&>(x))); }
template <class T, class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto iota_like(X&& x) { return iota_like<-1, T>(detail::leaf_of(static_cast<X&&>(x))); }

}  // namespace onto
