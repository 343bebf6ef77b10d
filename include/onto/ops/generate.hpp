// SPDX-License-Identifier: BSL-1.0
// Tensors made of nothing: zeros, ones, one value, the unit matrix, counting numbers.
#pragma once

#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>

namespace onto {

namespace detail {
/// The number of an element, or those of a pack's.
template <class T, class Index>
ONTO_HD ONTO_INLINE T number_of_element(Index index) {
  if constexpr (math::is_pack<T>)
    return index.template numbers<T>();
  else
    return static_cast<T>(index);
}
/// The number of an element, or of the first of a pack.
template <class Index>
ONTO_HD ONTO_INLINE std::int64_t first_element(Index index) {
  if constexpr (std::is_integral_v<Index>)
    return index;
  else
    return index.first;
}
}  // namespace detail

namespace op {

/// The base of operations that make an element from its index, in a shape the type knows. An operand is one value.
/// Where that does not hang on the shape, `of_any_shape` is the operation that kernels are made with. `uniform`: nor
/// does it on the index, so that it is made wherever it is read.
template <class T, int... Dims>
struct generator {
  static constexpr op_kind kind = op_kind::generator;
  static constexpr int cost = 1;
  static constexpr kernel_set kernels{element_bit(element_of<T>), element_bit(element_of<T>)};
  static constexpr int attribute_count = 1 + static_cast<int>(sizeof...(Dims));
  static constexpr std::int64_t attribute[attribute_count] = {sizeof...(Dims), Dims...};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents*, int) { return {extents(shape<Dims...>{}), shape_fault::none}; }
  ONTO_END_RUNS_ONCE

  template <class... E>
  static constexpr detail::element_check check(E...) {
    return detail::element_check::fine;
  }
  template <class... E>
  static constexpr element result(E...) {
    return element_of<T>;
  }
};

template <class Element, int... Dims>
struct zeros : generator<Element, Dims...>, detail::integer_packs {
  using of_any_shape = zeros<Element>;
  static constexpr bool uniform = true, packs = true;
  static constexpr std::string_view name = "Zeros";
  template <class T>
  ONTO_HD static T at(std::int64_t) {
    return T(0);
  }
};

template <class Element, int... Dims>
struct ones : generator<Element, Dims...>, detail::integer_packs {
  using of_any_shape = ones<Element>;
  static constexpr bool uniform = true, packs = true;
  static constexpr std::string_view name = "Ones";
  template <class T>
  ONTO_HD static T at(std::int64_t) {
    return T(1);
  }
};

/// Its operand is the value.
template <class Element, int... Dims>
struct fill : generator<Element, Dims...>, detail::integer_packs {
  using of_any_shape = fill<Element>;
  static constexpr bool uniform = true, packs = true;
  static constexpr std::string_view name = "Fill";
  template <class T>
  ONTO_HD static T at(std::int64_t, T value) {
    return value;
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto) {
    return g;
  }
};

template <class Element, int N, int M, int K>
struct eye : generator<Element, N, M> {
  static constexpr std::string_view name = "Eye";
  template <class T>
  ONTO_HD static T at(std::int64_t index) {
    constexpr std::int64_t columns = M > 0 ? M : 1;
    return T(index / columns + K == index % columns ? 1 : 0);
  }
};

template <class Element, int N>
struct iota : generator<Element, N>, detail::integer_packs {
  using of_any_shape = iota<Element, 1>;
  static constexpr std::string_view name = "Range";
  static constexpr bool packs = true;
  template <class T, class Index>
  ONTO_HD ONTO_INLINE static T at(Index index) {
    return detail::number_of_element<T>(index);
  }
};

/// Its operands are the first and the last value.
template <class Element, int N>
struct linspace : generator<Element, N> {
  static constexpr std::string_view name = "LinSpace";
  static constexpr int cost = 4;
  template <class T>
  ONTO_HD static T at(std::int64_t index, T first, T last) {
    return at(index, first, last, step(first, last));
  }
  template <class T>
  ONTO_HD static T at(std::int64_t index, T first, T last, double step) {
    if (N > 1 && index == N - 1) return last;
    return static_cast<T>(static_cast<double>(first) + static_cast<double>(index) * step);
  }
  template <class T>
  ONTO_HD static double step(T first, T last) {
    return (static_cast<double>(last) - static_cast<double>(first)) / (N > 1 ? N - 1 : 1);
  }
};

/// Zeros in the shape of the operand, for extents that are not known to the compiler.
struct zeros_like : detail::packed_elementwise<all_elements> {
  static constexpr std::string_view name = "ZerosLike";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T) {
    return math::splat<T>(0);
  }
  static constexpr bool flat = true;
};

/// Ones in the shape of the operand.
struct ones_like : detail::packed_elementwise<all_elements> {
  static constexpr std::string_view name = "OnesLike";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T) {
    return math::splat<T>(1);
  }
  static constexpr bool flat = true;
};

/// The second operand, which is one value, in the shape of the first.
struct fill_like : detail::packed_elementwise<all_elements> {
  static constexpr std::string_view name = "FillLike";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T, T value) {
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

template <class Op, class Shape>
struct extents_not_known : mistake {
  static constexpr bool ok = sizeof(Op) > 99;
  static_assert(ok == true,
                "[onto.shape] a tensor made of nothing needs its extents in the type; beside x write zeros_like(x), "
                "iota_like(x), random_normal_like(x, seed)");
};

/// Writes a generator, unless an extent is `dyn`.
template <class Op, int... Dims, class... X>
constexpr auto generate(shape<Dims...>, const X&... x) {
  if constexpr (((Dims == dyn) || ...)) {
    return typename extents_not_known<Op, shape<Dims...>>::result{};
  } else {
    return make<Op>(x...);
  }
}

template <template <class, int...> class Op, class T, int... Dims>
constexpr auto generate_as(shape<Dims...>) {
  return make<Op<T, Dims...>>();
}

}  // namespace detail

/// Zeros: `zeros<float, 2, 3>()`. *Mandates*, here and below, extents other than `dyn`.
template <tensor_element T, int... Dims>
constexpr auto zeros() {  // [onto.shape] constants; those that the run knows: zeros_like(x)
  return detail::generate<op::zeros<T, Dims...>>(shape<Dims...>{});
}

/// Ones: `ones<float, 2, 3>()`.
template <tensor_element T, int... Dims>
constexpr auto ones() {  // [onto.shape] constants; those that the run knows: ones_like(x)
  return detail::generate<op::ones<T, Dims...>>(shape<Dims...>{});
}

/// One value everywhere: `fill<float, 2, 3>(0.5f)`.
/// *Throws* `invalid_argument_error` where an integer does not fit.
template <tensor_element T, int... Dims, detail::number_argument S>
constexpr auto fill(const S& value) {  // [onto.shape] constants; those that the run knows: full_like(x, value)
  return detail::generate<op::fill<T, Dims...>>(shape<Dims...>{}, detail::lift<scalar_node<T>>(value));
}

/// The unit matrix: `eye<float, 3>()`; with more columns or rows than the other, `eye<float, 2, 3>()`. The ones are `K`
/// columns right of the diagonal.
template <tensor_element T, int N, int M = N, int K = 0>
constexpr auto eye() {
  return detail::generate<op::eye<T, N, M, K>>(shape<N, M>{});
}

/// 0, 1, 2 to `N - 1`: `iota<float, 4>()`.
template <tensor_element T, int N>
  requires(!std::same_as<T, bool>)
constexpr auto iota() {  // [onto.shape] constants; those that the run knows: iota_like(x)
  return detail::generate<op::iota<T, N>>(shape<N>{});
}

/// `N` values evenly apart from `first` to `last`, both among them: `linspace<float, 5>(0, 1)`; `first` alone where
/// there is one. The ends are rounded to `T`, what lies between is computed in double. *Mandates* a floating-point
/// type.
template <tensor_element T, int N, detail::number_argument L, detail::number_argument R>
constexpr auto linspace(const L& first, const R& last) {
  if constexpr (is_floating(element_of<T>)) {
    return detail::generate<op::linspace<T, N>>(shape<N>{}, detail::lift<scalar_node<T>>(first),
                                                detail::lift<scalar_node<T>>(last));
  } else {
    return typename detail::element_type_not_supported<op::linspace<T, N>, T>::result{};
  }
}

/// Zeros of the element type and shape of `x`. Where the compiler knows the shape, `x` itself is not needed to run.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto zeros_like(const E& x) {
  if constexpr (detail::is_derived<E>) {
    return make<op::zeros_like>(x);
  } else if constexpr (E::facts.shape.is_static() && !std::same_as<E, ill_formed>) {
    return detail::generate_as<op::zeros, typename E::element_type>(detail::shape_of_t<E>{});
  } else {
    return make<op::zeros_like>(x);
  }
}

/// Ones of the element type and shape of `x`, as `zeros_like`.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto ones_like(const E& x) {
  if constexpr (detail::is_derived<E>) {
    return make<op::ones_like>(x);
  } else if constexpr (E::facts.shape.is_static() && !std::same_as<E, ill_formed>) {
    return detail::generate_as<op::ones, typename E::element_type>(detail::shape_of_t<E>{});
  } else {
    return make<op::ones_like>(x);
  }
}

/// One value of the element type of `x` in its shape, as `zeros_like`.
/// *Throws* `invalid_argument_error` where an integer does not fit.
template <class E, class S, detail::only_if<(expression<E> && detail::number_argument<S>)> = 0>
constexpr auto full_like(const E& x, const S& value) {
  if constexpr (detail::is_derived<E>) {
    return make<op::fill_like>(x, value);
  } else if constexpr (E::facts.shape.is_static() && !std::same_as<E, ill_formed>) {
    return [&]<int... D>(shape<D...>) {
      return detail::generate<op::fill<typename E::element_type, D...>>(shape<D...>{}, detail::lift<E>(value));
    }
    (detail::shape_of_t<E>{});
  } else {
    return make<op::fill_like>(x, value);
  }
}

}  // namespace onto
