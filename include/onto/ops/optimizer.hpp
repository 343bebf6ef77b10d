// SPDX-License-Identifier: BSL-1.0
// Optimizers: stochastic gradient descent, Adam and their like. Each is a rule, PyTorch's: from a variable, its
// gradient and what is kept beside the variable, the new values of them.
#pragma once

#include <onto/core/plain_tuple.hpp>
#include <onto/expr/group.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/assign.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/learning_rate.hpp>
#include <onto/ops/unary.hpp>

#include <cstdint>
#include <type_traits>

namespace onto {

/// Stochastic gradient descent: `w -= rate * g`; with momentum, `m = momentum * m + g` and `w -= rate * m`.
/// *Source* torch.optim.SGD.
struct sgd {
  detail::number_value rate = 0.001;
  detail::number_value momentum = 0.0;
  bool nesterov = false;                    ///< `w -= rate * (g + momentum * m)`
  detail::number_value weight_decay = 0.0;  ///< `g += weight_decay * w` before all else
};

/// Adam: the gradient's mean over its root mean square, both averaged over steps, and corrected for having begun at 0.
/// *Source* Kingma, Ba, "Adam: a method for stochastic optimization"; torch.optim.Adam.
struct adam {
  detail::number_value rate = 0.001;
  detail::number_value beta1 = 0.9;
  detail::number_value beta2 = 0.999;
  detail::number_value epsilon = 1e-8;
  detail::number_value weight_decay = 0.0;  ///< `g += weight_decay * w` before all else
};

/// Adam with weight decay that the averages do not see: `w -= rate * weight_decay * w` first.
/// *Source* Loshchilov, Hutter, "Decoupled weight decay regularization"; torch.optim.AdamW.
struct adamw {
  detail::number_value rate = 0.001;
  detail::number_value beta1 = 0.9;
  detail::number_value beta2 = 0.999;
  detail::number_value epsilon = 1e-8;
  detail::number_value weight_decay = 0.01;
};

/// The gradient over its root mean square, averaged over steps. *Source* torch.optim.RMSprop.
struct rmsprop {
  detail::number_value rate = 0.01;
  detail::number_value alpha = 0.99;  ///< how much of the average stays in a step
  detail::number_value epsilon = 1e-8;
  detail::number_value momentum = 0.0;
  bool centered = false;                    ///< the variance is taken, not the mean square
  detail::number_value weight_decay = 0.0;  ///< `g += weight_decay * w` before all else
};

/// The gradient over the root of the sum of all squares so far. *Source* torch.optim.Adagrad.
struct adagrad {
  detail::number_value rate = 0.01;
  detail::number_value rate_decay = 0.0;  ///< the rate of step t is `rate / (1 + (t - 1) * rate_decay)`
  detail::number_value initial_accumulator = 0.0;
  detail::number_value epsilon = 1e-10;
  detail::number_value weight_decay = 0.0;  ///< `g += weight_decay * w` before all else
};

namespace detail {

/// An option's number as the program gives it: known when it runs.
constexpr double real(number_value v) {
  switch (v.kind) {
    case number_kind::floating: return std::bit_cast<double>(v.bits);
    case number_kind::integer: return static_cast<double>(static_cast<std::int64_t>(v.bits));
    default: return static_cast<double>(v.bits);
  }
}
/// The same as a number in the type.
template <std::uint64_t Bits>
using real_in_type = static_number<Bits, number_kind::floating>;
constexpr std::uint64_t real_bits(number_value v) { return std::bit_cast<std::uint64_t>(real(v)); }

/// Whether an option is 0 for certain, so that its part of a rule is left out.
template <class X>
inline constexpr bool is_absent = false;
template <>
inline constexpr bool is_absent<real_in_type<0>> = true;
template <>
inline constexpr bool is_absent<std::false_type> = true;
template <class X>
inline constexpr bool is_sure = !std::is_same_v<X, bool>;

/// A flag as a factor.
template <class Flag>
constexpr auto factor(const Flag& flag) {
  if constexpr (is_sure<Flag>)
    return real_in_type<real_bits(Flag::value ? 1.0 : 0.0)>{};
  else
    return flag ? 1.0 : 0.0;
}

/// What an optimizer keeps beside a variable: a variable of its shape, "w/adam_m".
template <char... Suffix, char... Letters, class Initial, class T, int... Dims, class First>
constexpr auto name_state(letters<Suffix...>, type_box<variable_node<letters<Letters...>, Initial, T, Dims...>>,
                          const First& first) {
  return variable_node<letters<Letters..., '/', Suffix...>, void, T, Dims...>{}(first);
}
template <fixed_string Suffix, class W>
constexpr auto state_beside(const W& w) {
  return name_state(spelled<Suffix>(), type_box<W>{}, zeros_like(w));
}
template <fixed_string Suffix, class W, class X>
constexpr auto state_beside(const W& w, const X& first) {
  return name_state(spelled<Suffix>(), type_box<W>{}, full_like(w, first));
}

/// How many updates there have been of what a rule corrects by that: a variable of one number beside the first of those
/// that are trained together, "w/adam_steps". Another optimizer in the session has another.
template <class Count, char... Suffix, char... Letters, class Initial, class T, int... Dims>
constexpr auto name_count(letters<Suffix...>, type_box<variable_node<letters<Letters...>, Initial, T, Dims...>>) {
  return variable_node<letters<Letters..., '/', Suffix...>, void, Count>{}(zeros<Count>());
}
template <fixed_string Suffix, class Count, class W>
constexpr auto count_beside(const W&) {
  return name_count<Count>(spelled<Suffix>(), type_box<W>{});
}

template <class W, class G, class Decay>
constexpr auto decayed(const W& w, const G& g, const Decay& decay) {
  if constexpr (is_absent<Decay>)
    return g;
  else
    return g + decay * w;
}

/// How a rule writes a variable's next value: always,
struct writes_always {
  template <class W, class E>
  constexpr auto set(const W& w, const E& next) const {
    return assign(w, next);
  }
  template <class W, class E>
  constexpr auto subtract(const W& w, const E& change) const {
    return assign_sub(w, change);
  }
};
/// or only where a condition holds: else the variable stays.
template <class Condition>
struct writes_where {
  Condition condition;

  template <class W, class E>
  constexpr auto set(const W& w, const E& next) const {
    return assign(w, where(condition, next, w));
  }
  template <class W, class E>
  constexpr auto subtract(const W& w, const E& change) const {
    return assign(w, where(condition, w - change, w));
  }
};

// The rules. `common` makes what does not depend on the variable but on its element type: numbers that are computed
// once a step. The call returns a tuple of assignments. `count` names the count of steps that a rule goes by, where it
// does.

template <class Momentum, class Nesterov, class Decay>
struct sgd_rule {
  Momentum momentum;
  Nesterov nesterov;
  Decay weight_decay;

  template <class T, class Rate, class Step>
  constexpr auto common(const Rate& rate, const Step&) const {
    return plain(rate_in<T>(rate));
  }
  template <class Writer, class W, class G, class Rate>
  constexpr auto operator()(const Writer& to, const W& w, const G& gradient, const Rate& rate) const {
    const auto g = decayed(w, gradient, weight_decay);
    if constexpr (is_absent<Momentum>) {
      return plain(to.subtract(w, rate * g));
    } else {
      const auto m = state_beside<"momentum">(w);
      const auto next = to.set(m, momentum * m + g);
      if constexpr (!is_sure<Nesterov>)
        return plain(next, to.subtract(w, rate * (factor(nesterov) * g + (nesterov ? momentum : 1.0) * next)));
      else if constexpr (Nesterov::value)
        return plain(next, to.subtract(w, rate * (g + momentum * next)));
      else
        return plain(next, to.subtract(w, rate * next));
    }
  }
};

template <bool Decoupled, class Beta1, class Beta2, class Epsilon, class Decay>
struct adam_rule {
  Beta1 beta1;
  Beta2 beta2;
  Epsilon epsilon;
  Decay weight_decay;

  template <class T, class Rate, class Step>
  constexpr auto common(const Rate& rate, const Step& step) const {
    const auto t = cast<double>(step);
    const auto steady = cast<T>(sqrt(1.0_c - pow(beta2, t)));
    const auto pace = cast<T>(rate_in<double>(rate) / (1.0_c - pow(beta1, t)));
    if constexpr (Decoupled && !is_absent<Decay>)
      return plain(pace, steady, rate_in<T>(rate));
    else
      return plain(pace, steady);
  }
  template <class Count, class W>
  static constexpr auto count(const W& w) {
    return count_beside<"adam_steps", Count>(w);
  }
  template <class Writer, class W, class G, class Pace, class Steady, class... Rate>
  constexpr auto operator()(const Writer& to, const W& w, const G& gradient, const Pace& pace, const Steady& steady,
                            const Rate&... rate) const {
    const auto g = [&] {
      if constexpr (Decoupled)
        return gradient;
      else
        return decayed(w, gradient, weight_decay);
    }();
    const auto m = state_beside<"adam_m">(w);
    const auto v = state_beside<"adam_v">(w);
    const auto next_m = to.set(m, m + one_less(beta1) * (g - m));
    const auto next_v = to.set(v, beta2 * v + one_less(beta2) * (g * g));
    const auto change = pace * next_m / (sqrt(next_v) / steady + epsilon);
    if constexpr (sizeof...(Rate) > 0)
      return plain(next_m, next_v, to.subtract(w, ((rate * weight_decay * w) + ... + change)));
    else
      return plain(next_m, next_v, to.subtract(w, change));
  }
};

template <class Alpha, class Epsilon, class Momentum, class Centered, class Decay>
struct rmsprop_rule {
  Alpha alpha;
  Epsilon epsilon;
  Momentum momentum;
  Centered centered;
  Decay weight_decay;

  template <class T, class Rate, class Step>
  constexpr auto common(const Rate& rate, const Step&) const {
    return plain(rate_in<T>(rate));
  }
  template <class Writer, class W, class G, class Rate>
  constexpr auto operator()(const Writer& to, const W& w, const G& gradient, const Rate& rate) const {
    const auto g = decayed(w, gradient, weight_decay);
    const auto v = state_beside<"rmsprop_v">(w);
    const auto next_v = to.set(v, alpha * v + one_less(alpha) * (g * g));
    if constexpr (is_absent<Centered>) {
      return with_momentum(to, w, rate, g / (sqrt(next_v) + epsilon), next_v);
    } else {
      const auto mean = state_beside<"rmsprop_mean">(w);
      const auto next_mean = to.set(mean, mean + one_less(alpha) * (g - mean));
      const auto square_of_mean = [&] {
        if constexpr (is_sure<Centered>)
          return next_mean * next_mean;
        else
          return factor(centered) * (next_mean * next_mean);
      }();
      return with_momentum(to, w, rate, g / (sqrt(next_v - square_of_mean) + epsilon), next_v, next_mean);
    }
  }

 private:
  template <class Writer, class W, class Rate, class Change, class... Kept>
  constexpr auto with_momentum(const Writer& to, const W& w, const Rate& rate, const Change& change,
                               const Kept&... kept) const {
    if constexpr (is_absent<Momentum>) {
      return plain(kept..., to.subtract(w, rate * change));
    } else {
      const auto m = state_beside<"momentum">(w);
      const auto next = to.set(m, momentum * m + change);
      return plain(kept..., next, to.subtract(w, rate * next));
    }
  }
};

template <class RateDecay, class Accumulator, class Epsilon, class Decay>
struct adagrad_rule {
  RateDecay rate_decay;
  Accumulator initial_accumulator;
  Epsilon epsilon;
  Decay weight_decay;

  template <class T, class Rate, class Step>
  constexpr auto common(const Rate& rate, const Step& step) const {
    if constexpr (is_absent<RateDecay>)
      return plain(rate_in<T>(rate));
    else
      return plain(cast<T>(rate_in<double>(rate) / (1.0_c + rate_decay * (cast<double>(step) - 1.0_c))));
  }
  template <class Count, class W>
    requires(!is_absent<RateDecay>)
  static constexpr auto count(const W& w) { return count_beside<"adagrad_steps", Count>(w); }
  template <class Writer, class W, class G, class Rate>
  constexpr auto operator()(const Writer& to, const W& w, const G& gradient, const Rate& rate) const {
    const auto g = decayed(w, gradient, weight_decay);
    const auto sum = state_beside<"adagrad_sum">(w, initial_accumulator);
    const auto next = to.set(sum, sum + g * g);
    return plain(next, to.subtract(w, rate * g / (sqrt(next) + epsilon)));
  }
};

// An optimizer whose options are known when the program runs, and one whose options are in the type.

constexpr auto rule_of(const sgd& o) {
  return sgd_rule<double, bool, double>{real(o.momentum), o.nesterov, real(o.weight_decay)};
}
constexpr auto rule_of(const adam& o) {
  return adam_rule<false, double, double, double, double>{real(o.beta1), real(o.beta2), real(o.epsilon),
                                                          real(o.weight_decay)};
}
constexpr auto rule_of(const adamw& o) {
  return adam_rule<true, double, double, double, double>{real(o.beta1), real(o.beta2), real(o.epsilon),
                                                         real(o.weight_decay)};
}
constexpr auto rule_of(const rmsprop& o) {
  return rmsprop_rule<double, double, double, bool, double>{real(o.alpha), real(o.epsilon), real(o.momentum),
                                                            o.centered, real(o.weight_decay)};
}
constexpr auto rule_of(const adagrad& o) {
  return adagrad_rule<double, double, double, double>{real(o.rate_decay), real(o.initial_accumulator), real(o.epsilon),
                                                      real(o.weight_decay)};
}

template <std::uint64_t... Bits>
struct reals {};
template <bool... B>
struct flags {};

template <std::uint64_t M, std::uint64_t D, bool N>
constexpr auto rule_in_type(const sgd*, reals<M, D>, flags<N>) {
  return sgd_rule<real_in_type<M>, std::bool_constant<N>, real_in_type<D>>{};
}
template <std::uint64_t... B>
constexpr auto rule_in_type(const adam*, reals<B...>, flags<>) {
  return adam_rule<false, real_in_type<B>...>{};
}
template <std::uint64_t... B>
constexpr auto rule_in_type(const adamw*, reals<B...>, flags<>) {
  return adam_rule<true, real_in_type<B>...>{};
}
template <std::uint64_t A, std::uint64_t E, std::uint64_t M, std::uint64_t D, bool C>
constexpr auto rule_in_type(const rmsprop*, reals<A, E, M, D>, flags<C>) {
  return rmsprop_rule<real_in_type<A>, real_in_type<E>, real_in_type<M>, std::bool_constant<C>, real_in_type<D>>{};
}
template <std::uint64_t... B>
constexpr auto rule_in_type(const adagrad*, reals<B...>, flags<>) {
  return adagrad_rule<real_in_type<B>...>{};
}

/// An optimizer's options beside the rate, as template arguments.
template <class Optimizer>
struct optimizer_options;
template <>
struct optimizer_options<sgd> {
  template <sgd O>
  using numbers = reals<real_bits(O.momentum), real_bits(O.weight_decay)>;
  template <sgd O>
  using switches = flags<O.nesterov>;
};
struct adam_options {
  template <auto O>
  using numbers = reals<real_bits(O.beta1), real_bits(O.beta2), real_bits(O.epsilon), real_bits(O.weight_decay)>;
  template <auto O>
  using switches = flags<>;
};
template <>
struct optimizer_options<adam> : adam_options {};
template <>
struct optimizer_options<adamw> : adam_options {};
template <>
struct optimizer_options<rmsprop> {
  template <rmsprop O>
  using numbers = reals<real_bits(O.alpha), real_bits(O.epsilon), real_bits(O.momentum), real_bits(O.weight_decay)>;
  template <rmsprop O>
  using switches = flags<O.centered>;
};
template <>
struct optimizer_options<adagrad> {
  template <adagrad O>
  using numbers =
      reals<real_bits(O.rate_decay), real_bits(O.initial_accumulator), real_bits(O.epsilon), real_bits(O.weight_decay)>;
  template <adagrad O>
  using switches = flags<>;
};

template <class T>
inline constexpr bool is_optimizer = requires {
  sizeof(optimizer_options<T>);
};

}  // namespace detail

}  // namespace onto
