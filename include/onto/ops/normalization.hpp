// SPDX-License-Identifier: BSL-1.0
// Normalization between layers, and dropout: `layer_norm`, `batch_norm` with its running statistics,
// `local_response_norm`, `dropout`. They are made of other operations.
#pragma once

#include <onto/expr/group.hpp>
#include <onto/ops/assign.hpp>
#include <onto/ops/initializers.hpp>
#include <onto/ops/learning_rate.hpp>
#include <onto/ops/like.hpp>
#include <onto/ops/matmul.hpp>
#include <onto/ops/statistics.hpp>

namespace onto {

namespace detail {

template <class Shape>
struct channels_not_known : mistake {
  static constexpr bool ok = sizeof(Shape) > 99;
  static_assert(
      ok == true,
      "[onto.shape] the extent of the last axis, the channels, is in the type, and an axis before it counts what has "
      "them; write both in the operand's, or expand_dims<0>(x)");
};

template <char... Suffix, char... Letters, class First, class T, int C>
constexpr auto statistic(letters<Suffix...>, letters<Letters...>, shape<C>, type_box<T>, const First& first) {
  return variable_node<letters<Letters..., '/', Suffix...>, void, T, C>{}(first);
}

template <class E>
inline constexpr int channels = E::facts.shape.dims[E::facts.shape.rank > 0 ? E::facts.shape.rank - 1 : 0];

/// The mean over all axes but the last.
template <class E>
constexpr auto mean_of_channels(const E& x) {
  return [&]<int... K>(std::integer_sequence<int, K...>) { return mean<K...>(x); }
  (std::make_integer_sequence<int, E::facts.shape.rank - 1>{});
}

}  // namespace detail

/// Each row along the last axis with mean 0 and variance 1, then `* gain + shift`, which have the rows' extent.
/// *Source* Ba, Kiros, Hinton, "Layer normalization".
template <class E, class Gain, class Shift,
          class Epsilon = detail::static_number<detail::literal_bits(1e-5), detail::number_kind::floating>,
          detail::only_if<(expression<E> && expression<Gain> && expression<Shift>)> = 0>
constexpr auto layer_norm(const E& x, const Gain& gain, const Shift& shift, const Epsilon& epsilon = {}) {
  const auto d = x - mean<-1>(x, keep_extents);
  return d * rsqrt(mean<-1>(square(d), keep_extents) + epsilon) * gain + shift;
}

/// Each channel, the last axis, with mean 0 and variance 1 over this batch, then `* gain + shift`. For training:
/// whoever computes it moves the running statistics, the variables "name/mean" and "name/variance", by `momentum`
/// towards the batch's (variance: of n - 1, as PyTorch). *Mandates* channels in the type. *Source* Ioffe, Szegedy,
/// "Batch normalization"; torch.nn.BatchNorm2d.
template <fixed_string Name, expression E, expression Gain, expression Shift,
          class Momentum = detail::static_number<detail::literal_bits(0.1), detail::number_kind::floating>,
          class Epsilon = detail::static_number<detail::literal_bits(1e-5), detail::number_kind::floating>>
constexpr auto batch_norm(const E& x, const Gain& gain, const Shift& shift, const Momentum& momentum = {},
                          const Epsilon& epsilon = {}) {
  if constexpr (detail::any_ill_formed<E, Gain, Shift>) {
    return ill_formed{};
  } else if constexpr ((E::facts.shape.rank) < 2 || detail::channels<E> == dyn) {
    return typename detail::channels_not_known<detail::shape_of_t<E>>::result{};
  } else {
    using T = typename E::element_type;
    constexpr shape<detail::channels<E>> each{};
    const auto mean = detail::mean_of_channels(x);
    const auto d = x - mean;
    const auto variance = detail::mean_of_channels(square(d));
    const auto m = detail::statistic(detail::spelled<"mean">(), detail::spelled<Name>(), each, detail::type_box<T>{},
                                     zeros<T, detail::channels<E>>());
    const auto v = detail::statistic(detail::spelled<"variance">(), detail::spelled<Name>(), each,
                                     detail::type_box<T>{}, ones<T, detail::channels<E>>());
    const auto count = sum(ones_like(slice<range<>, range<0, 1>>(reshape<dyn, detail::channels<E>>(x))));
    return group(d * rsqrt(variance + epsilon) * gain + shift, assign_add(m, momentum * (mean - m)),
                 assign_add(v, momentum * (variance * (count / (count - 1_c)) - v)));
  }
}

/// The same by the running statistics, which stay: for use after training.
template <fixed_string Name, expression E, expression Gain, expression Shift,
          class Epsilon = detail::static_number<detail::literal_bits(1e-5), detail::number_kind::floating>>
constexpr auto batch_norm_inference(const E& x, const Gain& gain, const Shift& shift, const Epsilon& epsilon = {}) {
  if constexpr (detail::any_ill_formed<E, Gain, Shift>) {
    return ill_formed{};
  } else if constexpr ((E::facts.shape.rank) < 2 || detail::channels<E> == dyn) {
    return typename detail::channels_not_known<detail::shape_of_t<E>>::result{};
  } else {
    using T = typename E::element_type;
    constexpr shape<detail::channels<E>> each{};
    const auto m = detail::statistic(detail::spelled<"mean">(), detail::spelled<Name>(), each, detail::type_box<T>{},
                                     zeros<T, detail::channels<E>>());
    const auto v = detail::statistic(detail::spelled<"variance">(), detail::spelled<Name>(), each,
                                     detail::type_box<T>{}, ones<T, detail::channels<E>>());
    return (x - m) * (rsqrt(v + epsilon) * gain) + shift;
  }
}

/// `x / (bias + alpha * s) ^ beta`, where `s` is the sum of the squares of the channels, the last axis, at most
/// `Radius` away. The window is `2 * Radius + 1` channels; alpha is not divided by it. *Mandates* channels in the type.
/// *Source* tf.nn.local_response_normalization.
template <int Radius, expression E, detail::operand Bias, detail::operand Alpha, detail::operand Beta>
constexpr auto local_response_norm(const E& x, const Bias& bias, const Alpha& alpha, const Beta& beta) {
  if constexpr (detail::any_ill_formed<E>) {
    return ill_formed{};
  } else if constexpr ((E::facts.shape.rank) < 2 || detail::channels<E> == dyn) {
    return typename detail::channels_not_known<detail::shape_of_t<E>>::result{};
  } else {
    using T = typename E::element_type;
    constexpr int n = detail::channels<E>;
    const auto place = reshape<n, 1>(iota<std::int32_t, n>());
    const auto near = cast<T>(abs(place - reshape<1, n>(iota<std::int32_t, n>())) <= c<Radius>);
    return x / pow(bias + alpha * matmul(square(x), near), beta);
  }
}

namespace detail {

template <class Rate>
struct rate_is_no_share : mistake {
  static constexpr bool ok = sizeof(Rate) > 99;
  static_assert(ok == true, "[onto.number] dropout: the rate is a share of the elements, 0 to 1");
};

template <class... X>
struct dropout_has_a_key : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] dropout takes a rate and a key, which tells it from other dropouts of the program: "
                "dropout(x, 0.5, 1)");
};

constexpr bool is_share(double rate) { return rate >= 0 && rate <= 1; }
[[noreturn]] ONTO_COLD inline void throw_rate_is_no_share() {
  fail<invalid_argument_error>(message("[onto.number] dropout: the rate is a share of the elements, 0 to 1"));
}

/// Refuses a rate that is known, here or to the compiler, and no share. *Returns* what stands for the result then.
template <class Rate>
constexpr auto expect_share(const Rate& rate) {
  if constexpr (number_in_type<Rate>) {
    if constexpr (!is_share(static_cast<double>(Rate{}))) return typename rate_is_no_share<Rate>::result{};
  } else if constexpr (number_argument<Rate>) {
    if (!is_share(static_cast<double>(rate))) throw_rate_is_no_share();
  }
}

}  // namespace detail

/// A share `rate` of the elements is 0, the others are `x / (1 - rate)`. `key` tells one dropout of a program from
/// another: an integer, beside which the count of steps decides, or an expression of one int64 that decides alone. The
/// gradient has the same elements, and a run that is repeated from the same step has them too.
/// *Mandates* a rate of 0 to 1 where it is a number in the type. *Throws* `invalid_argument_error` for other numbers.
/// *Source* Srivastava et al., "Dropout".
template <expression E, class Rate, class Key>
constexpr auto dropout(const E& x, const Rate& rate, const Key& key) {
  if constexpr (detail::any_ill_formed<E>) {
    return ill_formed{};
  } else if constexpr (!std::is_void_v<decltype(detail::expect_share(rate))>) {
    return detail::expect_share(rate);
  } else {
    detail::expect_share(rate);
    const auto seed = [&] {
      if constexpr (expression<Key>)
        return key;
      else if constexpr (detail::number_in_type<Key>)
        return detail::steps_made<E>() + c<Key::value * 4294967296>;
      else
        return detail::steps_made<E>() + static_cast<std::int64_t>(key) * 4294967296;
    }();
    const auto numbers = detail::random_as<op::random_uniform>(x, seed);
    return where(numbers >= rate, x / detail::one_less(rate), 0_c);
  }
}

/// Without a rate, or without a key.
template <auto... Written, expression E, class... X>
  requires(sizeof...(X) < 2)
constexpr auto dropout(const E&, const X&...) { return typename detail::dropout_has_a_key<E, X...>::result{}; }

}  // namespace onto
