// SPDX-License-Identifier: BSL-1.0
// `minimize(sgd{...}, loss)`: one step of training, as an expression. Fetched, it is the loss, and the variables have
// their next values.
#pragma once

#include <onto/core/hana.hpp>
#include <onto/ops/train_step.hpp>

#include <initializer_list>

namespace onto {

namespace detail {

/// Whether a loss changes with its variables: in graph/trainable.hpp.
template <class Loss>
struct trainable_of;

// One struct a mistake, as in shape_check.hpp.
template <class... X>
struct variables_are_no_names : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.optimizer] what is trained are the variables themselves, not their names: minimize(sgd{}, loss, "
                "w, b), or all of them: minimize(sgd{}, loss)");
};
/// What is in braces, of whatever types.
struct in_braces {
  template <class X>
  constexpr in_braces(const X&) {}
};
template <class Loss>
struct variables_without_braces : mistake {
  static constexpr bool ok = sizeof(Loss) == 0;
  static_assert(ok == true, "[onto.optimizer] what is trained stands without braces: minimize(sgd{}, loss, w, b)");
};
template <class... X>
struct settings_are_before_the_loss : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.optimizer] behind the loss are variables alone, settings are before it: minimize(adam{}, "
                "learning_rate(0.1), loss, w)");
};
template <class Optimizer>
struct optimizer_is_a_value : mistake {
  static constexpr bool ok = sizeof(Optimizer) == 0;
  static_assert(ok == true,
                "[onto.optimizer] the optimizer is a value, not its type: minimize(adam{}, loss), "
                "minimize<adam{}>(loss)");
};
template <class Optimizer>
struct not_an_optimizer : mistake {
  static constexpr bool ok = sizeof(Optimizer) == 0;
  static_assert(ok == true, "[onto.optimizer] the first argument is an optimizer: minimize(sgd{.rate = 0.1}, loss)");
};
template <class Loss>
struct nothing_to_train : mistake {
  static constexpr bool ok = sizeof(Loss) == 0;
  static_assert(ok == true,
                "[onto.optimizer] there is no variable that the loss changes with; write variable<\"w\", float, "
                "2>(initial) for what is learned");
};
template <class Loss>
struct no_loss_to_minimize : mistake {
  static constexpr bool ok = sizeof(Loss) == 0;
  static_assert(ok == true, "[onto.optimizer] there is no loss; write minimize(sgd{.rate = 0.1}, loss)");
};
template <class W>
struct variable_named_twice : mistake {
  static constexpr bool ok = sizeof(W) == 0;
  static_assert(ok == true, "[onto.optimizer] a variable is given twice; give each once");
};
template <class W>
struct only_variables_are_trained : mistake {
  static constexpr bool ok = sizeof(W) == 0;
  static_assert(ok == true,
                "[onto.optimizer] only variables of floating point are trained; make one with variable<\"w\", T, ...>");
};

template <class... W>
constexpr bool is_any_twice() {
  const std::uint64_t ids[] = {variable_in<W>::type::facts.id..., 0};
  const int count = static_cast<int>(sizeof...(W));
  for (int k = 0; k < count; ++k)
    for (int j = 0; j < k; ++j)
      if (ids[j] == ids[k]) return true;
  return false;
}

/// The variables among the operations of a loss that it changes with: each once.
template <class Loss, class... Found>
constexpr auto pick_trainable(op_list<>, const Found&... found) {
  return plain(found...);
}
template <class Loss, class First, class... More, class... Found>
constexpr auto pick_trainable(op_list<First, More...>, const Found&... found) {
  if constexpr (!is_variable<First>) {
    return pick_trainable<Loss>(op_list<More...>{}, found...);
  } else if constexpr (((Found::facts.id == First::facts.id) || ...) || !trainable_of<Loss>::reaches(First::facts.id)) {
    return pick_trainable<Loss>(op_list<More...>{}, found...);
  } else {
    return pick_trainable<Loss>(op_list<More...>{}, found..., First{});
  }
}

/// Which mistake there is in what is to be minimized, or void.
template <class Loss, class... W>
constexpr auto step_mistake() {
  if constexpr (Loss::facts.shape.rank != 0) {
    return std::type_identity<loss_is_not_one_number<shape_of_t<Loss>>>{};
  } else if constexpr (!is_floating(Loss::facts.type)) {
    return std::type_identity<nothing_to_derive<typename Loss::element_type>>{};
  } else if constexpr (!(is_variable<W> && ...) || !(is_floating(W::facts.type) && ...)) {
    return std::type_identity<only_variables_are_trained<op_list<W...>>>{};
  } else if constexpr (is_any_twice<W...>()) {
    return std::type_identity<variable_named_twice<op_list<W...>>>{};
  } else {
    return std::type_identity<void>{};
  }
}

template <class Rule, class Settings, expression Loss, expression... W>
constexpr auto minimize_by(const Rule& rule, const Settings& settings, const Loss& loss, const W&... w) {
  if constexpr (any_ill_formed<Loss, W...>) {
    return ill_formed{};
  } else {
    using wrong = typename decltype(step_mistake<Loss, W...>())::type;
    if constexpr (!std::is_void_v<wrong>) {
      return typename wrong::result{};
    } else if constexpr (sizeof...(W) > 0) {
      return make_step(rule, settings, loss, w...);
    } else {
      const auto found = pick_trainable<Loss>(typename Loss::ops{});
      if constexpr (decltype(found)::size == 0)
        return typename nothing_to_train<Loss>::result{};
      else
        return found.unpack([&](const auto&... v) { return make_step(rule, settings, loss, v...); });
    }
  }
}
/// Of towers: in ops/replicas.hpp.
template <class Rule, class Settings, class First, class... More>
constexpr auto minimize_by(const Rule& rule, const Settings& settings,
                           const boost::hana::tuple<First, More...>& towers);
template <class Rule, class R, class M, class A, class S, class Given, class... X>
constexpr auto minimize_by(const Rule& rule, const step_settings<R, M, A, S>& s, const given_rate<Given>& given,
                           const X&... x) {
  return minimize_by(rule, step_settings<Given, M, A, S>{given.rate, s.most, s.average, s.scaling}, x...);
}
template <class Rule, class R, class M, class A, class S, class Most, class... X>
constexpr auto minimize_by(const Rule& rule, const step_settings<R, M, A, S>& s, const most_norm<Most>& given,
                           const X&... x) {
  return minimize_by(rule, step_settings<R, Most, A, S>{s.rate, given.norm, s.average, s.scaling}, x...);
}
template <class Rule, class R, class M, class A, class S, class Decay, class... X>
constexpr auto minimize_by(const Rule& rule, const step_settings<R, M, A, S>& s, const averaging<Decay>& given,
                           const X&... x) {
  return minimize_by(rule, step_settings<R, M, Decay, S>{s.rate, s.most, given.decay, s.scaling}, x...);
}
template <class Rule, class R, class M, class A, class S, class... X>
constexpr auto minimize_by(const Rule& rule, const step_settings<R, M, A, S>& s, const loss_scaling& given,
                           const X&... x) {
  return minimize_by(rule, step_settings<R, M, A, loss_scaling>{s.rate, s.most, s.average, given}, x...);
}
template <class Rule, class Settings, expression Loss, class... W>
  requires(std::is_convertible_v<W, const char*> || ...)
constexpr auto minimize_by(const Rule&, const Settings&, const Loss&, const W&...) {
  return typename variables_are_no_names<Loss>::result{};
}
template <class Rule, class Settings, expression Loss, class... X>
  requires(!(expression<X> && ...) && !(std::is_convertible_v<X, const char*> || ...))
constexpr auto minimize_by(const Rule&, const Settings&, const Loss&, const X&...) {
  return typename settings_are_before_the_loss<Loss, X...>::result{};
}
template <class Rule, class Settings>
constexpr auto minimize_by(const Rule&, const Settings&) {
  return typename no_loss_to_minimize<Rule>::result{};
}

}  // namespace detail

/// Among what `minimize` is told: the gradients of all variables, as one long vector, are at most so long: a number, or
/// an expression of one.
template <detail::operand Most>
constexpr auto clip_by_global_norm(const Most& most) {
  const auto number = learning_rate(most).rate;  // one, as a rate is
  return detail::most_norm<std::remove_const_t<decltype(number)>>{number};
}

/// The same of gradients that are at hand: a tuple of them, each times `min(1, most / norm)`.
template <class Most, expression First, expression... More>
constexpr auto clip_by_global_norm(const Most& most, const First& first, const More&... more) {
  const auto factor = detail::clipping_factor(most, detail::no_factor{}, first, more...);
  const auto clip = [&](const auto& g) {
    return g * detail::rate_in<typename std::remove_cvref_t<decltype(g)>::element_type>(factor);
  };
  return std::tuple{clip(first), clip(more)...};
}

/// Among what `minimize` is told: a moving average of each variable is kept, of which the variable "w/average" is the
/// value: step n of the session moves it by `1 - min(decay, (1 + n) / (10 + n))` of the way to the new one.
template <class Decay>
  requires(detail::scalar_value<Decay> || detail::number_in_type<Decay>)
constexpr auto moving_average(const Decay& decay) {
  detail::expect_no_constant(decay);
  return detail::averaging<Decay>{decay};
}

/// The average of a variable that `moving_average` keeps.
template <expression W>
constexpr auto average_of(const W& w) {
  const auto symbol = detail::symbol_of(w);
  return detail::name_state(detail::spelled<"average">(), detail::type_box<std::remove_const_t<decltype(symbol)>>{},
                            symbol);
}

/// One step of training: the loss, and where that is computed, its variables (or those that are named) get their next
/// values. All of them are read before any is written. What the optimizer keeps are variables beside the parameters,
/// "w/adam_m", on their devices; the variable "step" counts, and where a rule goes by the number of its step, another
/// beside the first parameter, "w/adam_steps". `sess.initialize(step)` sets all of them.
/// Between optimizer and loss there may be `learning_rate(e)`, `clip_by_global_norm(most)`, `moving_average(decay)` and
/// `loss_scaling{}`.
/// *Mandates* a floating-point loss of rank 0 that changes with each of the variables.
template <class Optimizer, class... X>
  requires(!expression<Optimizer>)
[[nodiscard("a step is an expression: it trains when it is run")]] constexpr auto minimize(const Optimizer& optimizer,
                                                                                           const X&... x) {
  if constexpr (!detail::is_optimizer<Optimizer>) {
    return typename detail::not_an_optimizer<Optimizer>::result{};
  } else {
    if (__builtin_is_constant_evaluated())
      detail::must_not_be_constexpr("[onto.number] a constexpr step: minimize<adam{.rate = 0.1}>(loss); or const auto");
    return detail::minimize_by(detail::rule_of(optimizer), detail::step_settings<double>{detail::real(optimizer.rate)},
                               x...);
  }
}

/// The same with options that are part of the type: the step stays a constant, and what an option leaves out (a
/// momentum of 0) is neither computed nor kept. `constexpr auto step = minimize<sgd{.rate = 0.1}>(loss);`
template <auto Optimizer, class... X>
[[nodiscard("a step is an expression: it trains when it is run")]] constexpr auto minimize(const X&... x) {
  using optimizer = std::remove_cvref_t<decltype(Optimizer)>;
  if constexpr (!detail::is_optimizer<optimizer>) {
    return typename detail::not_an_optimizer<optimizer>::result{};
  } else {
    using options = detail::optimizer_options<optimizer>;
    return detail::minimize_by(
        detail::rule_in_type(static_cast<const optimizer*>(nullptr), typename options::template numbers<Optimizer>{},
                             typename options::template switches<Optimizer>{}),
        detail::step_settings<detail::real_in_type<detail::real_bits(Optimizer.rate)>>{}, x...);
  }
}

template <class Optimizer, expression Loss, class... X>
  requires(!expression<Optimizer>)
constexpr auto minimize(const Loss&, const X&...) { return typename detail::optimizer_is_a_value<Optimizer>::result{}; }
template <class Optimizer, expression Loss>
  requires(!expression<Optimizer>)
constexpr auto minimize(const Optimizer&, const Loss&, std::initializer_list<detail::in_braces>) {
  return typename detail::variables_without_braces<Loss>::result{};
}

}  // namespace onto
