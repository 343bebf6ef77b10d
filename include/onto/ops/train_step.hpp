// SPDX-License-Identifier: BSL-1.0
// A step of training, put together: gradients, what scales and clips them, an optimizer's rule for each variable, the
// count of steps, averages of parameters.
#pragma once

#include <onto/core/plain_tuple.hpp>
#include <onto/ops/gradient.hpp>
#include <onto/ops/optimizer.hpp>
#include <onto/ops/update_node.hpp>

#include <limits>
#include <type_traits>
#include <utility>

namespace onto {

/// For losses of half precision: the loss is multiplied by the variable "loss_scale", so that small gradients do not
/// become 0. A step whose gradients are not finite is skipped, and counts for nothing, and the scale is lowered; after
/// `interval` good ones it is raised. *Source* Micikevicius et al., "Mixed precision training"; torch.amp.GradScaler.
struct loss_scaling {
  detail::number_value initial = 65536.0;
  detail::number_value growth = 2.0;
  detail::number_value backoff = 0.5;
  detail::number_value interval = 2000.0;
};

namespace detail {

template <class Most>
struct most_norm {
  Most norm;
};
template <class Decay>
struct averaging {
  Decay decay;
};
template <class E>
struct variable_in : std::type_identity<E> {};
template <class Device, class E>
struct variable_in<placed_node<Device, E>> : variable_in<E> {};

/// The same variable without its initial value: its type is short.
template <class W>
constexpr auto symbol_of(const W&) {
  return typename variable_in<W>::type::symbol{};
}

/// What stands in an update for what a step has computed before: a number stays one.
template <class X>
constexpr auto computed_before(const X& x) {
  if constexpr (expression<X>)
    return earlier(x);
  else
    return x;
}
template <class X>
constexpr auto only_expression(const X& x) {
  if constexpr (expression<X>)
    return plain(x);
  else
    return plain_tuple<>{};
}

/// What one variable adds to a step: the effects before any update, and the updates.
template <class First, class Updates>
struct step_part {
  First first;
  Updates updates;
};

/// The updates of one variable from its gradient `g`: the rule's, the last of which is the variable's own, and what
/// follows from that.
template <class Raw, class Rule, class Writer, class More, class W, class G, class... Shared>
constexpr auto updates_of(const Rule& rule, const Writer& to, const More& more, const W& w, const G& g,
                          const Shared&... shared) {
  const auto symbol = symbol_of(w);
  const auto own = rule(to, symbol, g, shared...);
  const auto next = item<decltype(own)::size - 1>(own);
  return (own + more(to, symbol, next)).unpack([](const auto&... e) {
    return plain(update<typename variable_in<W>::type, Raw>(e)...);
  });
}

template <class Rule, class Rate, class Step, class Writer, class Factor, class More, class G, class W>
constexpr auto step_of(const Rule& rule, const Rate& rate, const Step& step, const Writer& to, const Factor& factor,
                       const More& more, const G& raw, const W& w) {
  using T = typename W::element_type;
  const auto common = rule.template common<T>(rate, step);
  const auto updates = common.unpack([&](const auto&... shared) {
    return updates_of<G>(rule, to, more, w, factor.template times<T>(earlier(raw)), computed_before(shared)...);
  });
  const auto first = common.unpack([](const auto&... shared) { return (only_expression(shared) + ...); });
  return step_part<std::remove_const_t<decltype(first)>, std::remove_const_t<decltype(updates)>>{first, updates};
}

/// What all gradients are multiplied by; nothing.
struct no_factor {
  template <class T, class G>
  constexpr auto times(const G& g) const {
    return g;
  }
};
template <class Factor>
struct common_factor {
  Factor factor;

  template <class T, class G>
  constexpr auto times(const G& g) const {
    return g * rate_in<T>(factor);
  }
};

/// The modifiers of a step, or what stands for one that is not there.
struct no_modifier {};
template <class Rate, class Most = no_modifier, class Average = no_modifier, class Scaling = no_modifier>
struct step_settings {
  Rate rate;
  Most most{};  // of the gradients' norm
  Average average{};
  Scaling scaling{};
};

/// The factor that takes the norm of all gradients to `most` where it is above. *Source*
/// torch.nn.utils.clip_grad_norm_.
template <class Most, class Factor, class... G>
constexpr auto clipping_factor(const Most& most, const Factor& factor, const G&... g) {
  const auto squares = (... + cast<double>(sum(square(factor.template times<typename G::element_type>(g)))));
  return minimum(rate_in<double>(most) / (sqrt(squares) + c<1e-6>), c<1.0>);
}

/// No average is kept,
struct keeps_no_average {
  template <class Writer, class W, class Next>
  constexpr auto operator()(const Writer&, const W&, const Next&) const {
    return plain_tuple<>{};
  }
};
/// or that of a variable's values, which moves by `share` towards its next one.
template <class Share>
struct keeps_average {
  Share share;

  template <class Writer, class W, class Next>
  constexpr auto operator()(const Writer& to, const W& w, const Next& next) const {
    const auto average = name_state(spelled<"average">(), type_box<W>{}, w);
    return plain(to.subtract(average, rate_in<typename W::element_type>(share) * (average - next)));
  }
};

/// The parts of a step, one for each variable. No lambda: nvcc 13.0 expands its pack beside that of the function around
/// it wrongly (tests/static/ops/minimize.cpp).
template <std::size_t... K, class Rule, class Rate, class Step, class Writer, class Factor, class More, class G,
          class... W>
constexpr auto parts_of(std::index_sequence<K...>, const Rule& rule, const Rate& rate, const Step& step,
                        const Writer& to, const Factor& factor, const More& more, const G& gradients, const W&... w) {
  return plain(step_of(rule, rate, step, to, factor, more, item<K>(gradients), w)...);
}

template <class Loss, class Effects, class Count, class... Part>
constexpr auto join_parts(const Loss& loss, const Effects& effects, const Count& count, const Part&... part) {
  return (effects + (part.first + ...) + plain(count) + (part.updates + ...)).unpack([&](const auto&... effect) {
    return group(loss, effect...);
  });
}

/// Whether a rule goes by a count of its own, beside `W`.
template <class Rule, class W>
concept counts_steps = requires(const W& w) {
  Rule::template count<std::int64_t>(w);
};

/// How many steps a writer's variables have made.
template <class Loss, class Writer>
constexpr auto steps_by(const Writer&) {
  if constexpr (requires { Writer::template steps_made<Loss>(); })
    return Writer::template steps_made<Loss>();
  else
    return steps_made<Loss>();
}

/// The step, from the gradients on. `effects` are those before.
template <class Rule, class Settings, class Writer, class Factor, class Loss, class Effects, class G, class First,
          class... W>
constexpr auto finish_step(const Rule& rule, const Settings& settings, const Writer& to, const Factor& factor,
                           const Loss& loss, const Effects& effects, const G& gradients, const First& first,
                           const W&... w) {
  const auto made = steps_by<Loss>(to);
  const auto step = made + c<1>;  // of this step, from 1 on
  const auto count = to.set(made, step);
  const auto with = [&](const auto& before, const auto& parts) {
    return parts.unpack([&](const auto&... part) { return join_parts(loss, before, count, part...); });
  };
  constexpr std::index_sequence_for<First, W...> numbers{};
  const auto finish = [&](const auto& before, const auto& own) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(settings.average)>, no_modifier>) {
      return with(before,
                  parts_of(numbers, rule, settings.rate, own, to, factor, keeps_no_average{}, gradients, first, w...));
    } else {
      // *Source* tf.train.ExponentialMovingAverage with num_updates.
      const auto n = cast<double>(step);
      const auto share = c<1.0> - minimum((c<1.0> + n) / (c<10.0> + n), settings.average);
      using known = std::remove_const_t<decltype(earlier(share))>;
      return with(before + plain(share), parts_of(numbers, rule, settings.rate, own, to, factor,
                                                  keeps_average<known>{earlier(share)}, gradients, first, w...));
    }
  };
  using symbol = decltype(symbol_of(first));
  if constexpr (counts_steps<Rule, symbol>) {
    const auto own = Rule::template count<typename step_count<Loss>::type>(symbol{});
    const auto next = own + c<1>;
    return finish(effects + plain(to.set(own, next)), next);
  } else {
    return finish(effects, step);
  }
}

template <class Rule, class Settings, class Writer, class Factor, class Loss, class Effects, class G, class... W>
constexpr auto clip_and_finish(const Rule& rule, const Settings& settings, const Writer& to, const Factor& factor,
                               const Loss& loss, const Effects& effects, const G& gradients, const W&... w) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(settings.most)>, no_modifier>) {
    return finish_step(rule, settings, to, factor, loss, effects, gradients, w...);
  } else {
    const auto clipping =
        gradients.unpack([&](const auto&... g) { return clipping_factor(settings.most, factor, earlier(g)...); });
    const auto all = [&] {
      if constexpr (std::is_same_v<Factor, no_factor>)
        return clipping;
      else
        return clipping * cast<double>(factor.factor);
    }();
    using known = common_factor<std::remove_const_t<decltype(earlier(all))>>;
    return finish_step(rule, settings, to, known{earlier(all)}, loss, effects + plain(all), gradients, w...);
  }
}

/// Whether no element is infinite or no number.
template <class G>
constexpr auto is_finite(const G& g) {
  return cast<double>(max(abs(g))) < c<std::numeric_limits<double>::infinity()>;
}

template <class Rule, class Settings, class Loss, class... W>
constexpr auto make_step(const Rule& rule, const Settings& settings, const Loss& loss, const W&... w) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(settings.scaling)>, no_modifier>) {
    const auto gradients = plain(gradient(loss, w)...);
    return clip_and_finish(rule, settings, writes_always{}, no_factor{}, loss, gradients, gradients, w...);
  } else {
    // *Source* torch.amp.GradScaler.
    const auto& o = settings.scaling;
    using count = typename step_count<Loss>::type;
    using scaled = std::conditional_t<std::is_void_v<Loss>, void, float>;
    const auto scale = variable<"loss_scale", scaled>(fill<scaled>(real(o.initial)));
    const auto good = variable<"loss_scale/good_steps", count>(zeros<count>());
    const auto gradients = plain(gradient(loss * rate_in<typename Loss::element_type>(scale), w)...);
    const auto finite = gradients.unpack([](const auto&... g) { return (... && is_finite(earlier(g))); });
    const auto factor = c<1.0> / cast<double>(scale);
    const auto enough = cast<double>(good) + c<1.0> >= real(o.interval);
    const auto next_scale =
        assign(scale, where(finite, where(enough, scale * real(o.growth), scale), scale * real(o.backoff)));
    const auto next_good = assign(good, where(finite && !enough, good + c<1>, c<0>));
    using writer = writes_where<std::remove_const_t<decltype(earlier(finite))>>;
    using known = common_factor<std::remove_const_t<decltype(earlier(factor))>>;
    return clip_and_finish(rule, settings, writer{earlier(finite)}, known{earlier(factor)}, loss,
                           gradients + plain(finite, factor, next_scale, next_good), gradients, w...);
  }
}

}  // namespace detail

}  // namespace onto
