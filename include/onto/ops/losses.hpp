// SPDX-License-Identifier: BSL-1.0
// Losses: cross entropies of classes, the mean squared error, Huber's. They are made of other operations.
#pragma once

#include <onto/ops/activation.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/like.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/matrix.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/softmax.hpp>

#include <type_traits>

namespace onto {

/// What becomes of the losses of single examples: their mean, their sum, or they stay as they are.
enum class reduction : unsigned char { mean, sum, none };

namespace op {

/// `Op` of operands of which none is stretched but numbers: a loss compares each score with a target of its own.
template <class Op>
struct each_with_its_own : Op {
  using of_any_shape = Op;  // kernels are those of `Op`

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int count) {
    for (int n = 1; n < count; ++n)
      for (int k = 0; k < operands[n].rank; ++k)
        if (operands[n][k] != dyn && operands[0][k] != dyn && operands[n][k] != operands[0][k])
          return {operands[0], shape_fault::examples};
    return Op::infer(operands, count);
  }
  ONTO_END_RUNS_ONCE
};

}  // namespace op

namespace detail {

/// Whether two operands have the same axes, and none that the types say to be stretched.
template <class X, class Y>
constexpr bool are_of_equal_extents() {
  if constexpr (expression<X> && expression<Y> && !any_ill_formed<X, Y>) {
    constexpr extents x = X::facts.shape, y = Y::facts.shape;
    bool same = x.rank == y.rank;
    for (int k = 0; same && k < x.rank; ++k) same = (x[k] == 1) == (y[k] == 1);
    return same;
  }
  return false;
}
/// `Op` of what a loss compares, the scores and what they should be, and of more, which are numbers.
template <class Op, class X, class Y, class... More>
constexpr auto compare_each(const X& x, const Y& y, const More&... more) {
  if constexpr (are_of_equal_extents<X, Y>())
    return make<op::each_with_its_own<Op>>(x, y, more...);
  else
    return make<Op>(x, y, more...);
}

template <onto::reduction R, class E>
constexpr auto reduce_losses(const E& each) {
  if constexpr (any_ill_formed<E>)
    return ill_formed{};
  else if constexpr (R == onto::reduction::mean)
    return mean(each);
  else if constexpr (R == onto::reduction::sum)
    return sum(each);
  else
    return each;
}

template <class Scores, class Labels>
struct labels_do_not_fit : mistake {
  static constexpr bool ok = sizeof(Scores) == 0;
  static_assert(
      ok == true,
      "[onto.shape] softmax_cross_entropy: labels are numbers of classes, of the scores' shape without the last "
      "axis, or shares of the scores' shape and element type");
};

/// Whether the labels' extents may be those of the first axes of the scores.
template <class Scores, class Labels>
constexpr bool labels_fit() {
  const extents s = Scores::facts.shape, l = Labels::facts.shape;
  bool fit = true;
  for (int k = 0; k < l.rank; ++k) fit = fit && (s[k] == l[k] || s[k] == dyn || l[k] == dyn || l[k] == 1);
  return fit;
}

/// Where the last axis has the class that its label names.
template <class Scores, class Labels>
constexpr auto is_class(const Scores& scores, const Labels& labels) {
  constexpr extents e = Scores::facts.shape;
  constexpr int classes = e[e.rank - 1];
  if constexpr (classes != dyn)
    return one_hot<classes, bool>(labels);
  else
    return iota_like<-1, typename Labels::element_type>(scores) == expand_dims<-1>(labels);
}

template <class X, class Y>
struct losses_of_all_pairs : mistake {
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(
      ok == true,
      "[onto.shape] one operand of the loss is (n, 1), the other (n): it would be that of all n x n pairs; write "
      "squeeze<-1>(x) of the one, or expand_dims<-1>(y) of the other");
};
/// Whether `X` has an axis of 1 behind those of `Y`, as scores of one column beside a vector of targets.
template <class X, class Y>
constexpr bool is_column_beside() {
  if constexpr (expression<X> && expression<Y> && !any_ill_formed<X, Y>) {
    constexpr extents x = X::facts.shape, y = Y::facts.shape;
    return y.rank > 0 && x.rank == y.rank + 1 && x[x.rank - 1] == 1 && y[y.rank - 1] != 1;
  }
  return false;
}
/// The losses of single examples, made by `f` of scores and targets.
template <onto::reduction R, class X, class Y, class F>
constexpr auto losses_of(const X& x, const Y& y, const F& f) {
  if constexpr (is_column_beside<X, Y>() || is_column_beside<Y, X>())
    return typename losses_of_all_pairs<X, Y>::result{};
  else
    return reduce_losses<R>(f(x, y));
}

}  // namespace detail

/// The cross entropy of `softmax(scores)` over the last axis. `labels`: integers, the right class of each row, or
/// shares of the scores' shape that sum to 1. Of a number that is no class the loss is 0. *Returns* the mean over rows;
/// `softmax_cross_entropy<reduction::none>(scores, labels)` one number each.
template <reduction R = reduction::mean, class Scores, class Labels,
          detail::only_if<(expression<Scores> && expression<Labels>)> = 0>
constexpr auto softmax_cross_entropy(const Scores& scores, const Labels& labels) {
  if constexpr (detail::any_ill_formed<Scores, Labels>) {
    return ill_formed{};
  } else if constexpr (is_floating(Labels::facts.type) && Labels::facts.shape.rank == Scores::facts.shape.rank &&
                       detail::labels_fit<Scores, Labels>()) {
    return detail::reduce_losses<R>(-sum<-1>(detail::compare_each<op::mul>(labels, log_softmax(scores))));
  } else if constexpr (!is_floating(Labels::facts.type) && Labels::facts.type != element::boolean &&
                       Labels::facts.shape.rank + 1 == Scores::facts.shape.rank &&
                       detail::labels_fit<Scores, Labels>()) {
    const auto logs = log_softmax(scores);
    const auto zero = detail::lift<std::remove_const_t<decltype(logs)>>(
        detail::number_of<0, detail::number_kind::integer>::value, op::where::name);
    return detail::reduce_losses<R>(
        -sum<-1>(detail::compare_each<op::where>(detail::is_class(scores, labels), logs, zero)));
  } else {
    return typename detail::labels_do_not_fit<detail::shape_of_t<Scores>, detail::shape_of_t<Labels>>::result{};
  }
}

/// The cross entropy of `sigmoid(scores)`, each a probability of its own, and `targets` from 0 to 1.
template <reduction R = reduction::mean, class Scores, class Targets,
          detail::only_if<(expression<Scores> && expression<Targets>)> = 0>
constexpr auto sigmoid_cross_entropy(const Scores& scores, const Targets& targets) {
  return detail::losses_of<R>(
      scores, targets, [](const auto& s, const auto& t) { return softplus(s) - detail::compare_each<op::mul>(s, t); });
}

/// The mean of `(x - y)^2`.
template <reduction R = reduction::mean, class X, class Y, detail::only_if<detail::operands<X, Y>> = 0>
constexpr auto mean_squared_error(const X& x, const Y& y) {
  return detail::losses_of<R>(x, y,
                              [](const auto& a, const auto& b) { return square(detail::compare_each<op::sub>(a, b)); });
}

/// Huber's loss of `d = x - y`: `d^2 / 2` where `abs(d)` is at most `delta`, `delta * (abs(d) - delta / 2)` beyond.
template <reduction R = reduction::mean, class X, class Y,
          class Delta = detail::static_number<detail::literal_bits(1.0), detail::number_kind::floating>,
          detail::only_if<detail::operands<X, Y>> = 0>
constexpr auto huber(const X& x, const Y& y, const Delta& delta = {}) {
  return detail::losses_of<R>(x, y, [&delta](const auto& a, const auto& b) {
    const auto distance = abs(detail::compare_each<op::sub>(a, b));
    const auto part = minimum(distance, delta);
    return part * (distance - 0.5_c * part);  // no choice, whose gradient would be two
  });
}

}  // namespace onto
