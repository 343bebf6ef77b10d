// SPDX-License-Identifier: BSL-1.0
// The learning rate of an optimizer: a number, anything of one element that the program computes or is fed, and the
// usual schedules, which are expressions of the count of steps.
#pragma once

#include <onto/expr/data.hpp>
#include <onto/expr/group.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/rounding.hpp>
#include <onto/ops/unary.hpp>

#include <cstdint>

namespace onto {

/// The variable "step": how many steps of training have been made. `minimize` counts it; schedules and dropout read it.
template <class Count = std::int64_t>
constexpr auto training_step() {
  return variable<"step", Count>(zeros<Count>());
}

namespace detail {

/// The type of the count of steps. It depends on `Beside`, so that a template that counts is compiled where it is used
/// and not by every program.
template <class Beside>
struct step_count {
  using type = std::int64_t;
};
template <class Beside>
constexpr auto steps_made() {
  return training_step<typename step_count<Beside>::type>();
}

/// A number in the type, in a template that depends on `Beside`: as `0.5_c` where it is used.
template <class Beside, std::uint64_t Bits>
struct number_beside {
  using type = static_number<Bits, number_kind::floating>;
};

template <class Rate>
struct given_rate {
  Rate rate;
  constexpr explicit given_rate(const Rate& r) : rate(r) {}
};

/// 1 - x.
template <class X>
constexpr auto one_less(const X& x) {
  if constexpr (number_in_type<X>)
    return c<1.0> - x;
  else
    return 1.0 - x;
}

/// A rate beside elements of a variable.
template <class T, class Rate>
constexpr auto rate_in(const Rate& rate) {
  if constexpr (!expression<Rate>)
    return rate;
  else if constexpr (std::is_same_v<typename Rate::element_type, T>)
    return rate;
  else
    return cast<T>(rate);
}

template <class Shape>
struct rate_is_not_one_number : mistake {
  static constexpr bool ok = sizeof(Shape) > 99;
  static_assert(ok == true,
                "[onto.optimizer] a learning rate, or what a norm is clipped to, is one floating-point number; give an "
                "expression of rank 0");
};

}  // namespace detail

/// Takes the place of an optimizer's rate: an expression of one number, such as a placeholder or a schedule.
/// `minimize(sgd{.momentum = 0.9}, learning_rate(lr), loss)`.
template <detail::operand X>
constexpr auto learning_rate(const X& rate) {
  detail::expect_no_constant(rate);
  if constexpr (!expression<X>) {
    return detail::given_rate<X>(rate);
  } else if constexpr (detail::any_ill_formed<X>) {
    return detail::given_rate<double>(0.0);
  } else if constexpr (X::facts.shape.rank != 0 || !is_floating(X::facts.type)) {
    static_cast<void>(static_cast<typename detail::rate_is_not_one_number<detail::shape_of_t<X>>::result*>(nullptr));
    return detail::given_rate<double>(0.0);
  } else {
    return detail::given_rate<X>(rate);
  }
}

/// The same with data of one number, which each step reads.
template <class X>
  requires detail::data<std::remove_cvref_t<X>>
constexpr auto learning_rate(X&& rate) { return learning_rate(detail::leaf_of(static_cast<X&&>(rate))); }

/// `rate * factor ^ (step / steps)`, of doubles; a staircase where the quotient is rounded down.
/// *Source* TensorFlow's ExponentialDecay.
template <bool Staircase = false, detail::operand Rate, detail::operand Steps, detail::operand Factor>
constexpr auto exponential_decay(const Rate& rate, const Steps& steps, const Factor& factor) {
  const auto periods = cast<double>(detail::steps_made<Rate>()) / steps;
  if constexpr (Staircase)
    return rate * pow(factor, floor(periods));
  else
    return rate * pow(factor, periods);
}

/// From `rate` to `rate * least` along half a wave of the cosine, in `steps` steps.
/// *Source* TensorFlow's CosineDecay.
template <detail::operand Rate, detail::operand Steps,
          class Least = detail::static_number<0, detail::number_kind::floating>>
constexpr auto cosine_decay(const Rate& rate, const Steps& steps, const Least& least = {}) {
  const auto part = minimum(cast<double>(detail::steps_made<Rate>()) / steps, c<1.0>);
  const auto wave = c<0.5> * (c<1.0> + cos(c<3.141592653589793> * part));
  return rate * (detail::one_less(least) * wave + least);
}

/// `rate`, a number or a schedule, times `(step + 1) / steps` for the first steps.
template <detail::operand Rate, detail::operand Steps>
constexpr auto warm_up(const Rate& rate, const Steps& steps) {
  return rate * minimum((cast<double>(detail::steps_made<Rate>()) + c<1.0>) / steps, c<1.0>);
}

}  // namespace onto
