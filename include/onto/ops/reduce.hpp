// SPDX-License-Identifier: BSL-1.0
// Reductions: axes are folded away. `sum(x)` folds all of them, `sum<0, -1>(x)` the first and the last.
#pragma once

#include <onto/expr/shape_check.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>

namespace onto {

/// What a reduction does with its elements.
enum class fold : int { sum, prod, min, max, mean, any, all, argmin, argmax };

struct keep_extents_t {
  explicit keep_extents_t() = default;
  template <class Switch>
  void operator=(Switch) const = delete;  // [onto.axis] the word alone is enough: mean<0>(x, keep_extents)
};

/// Folded axes stay, with an extent of 1: `sum<0>(x, keep_extents)`.
inline constexpr keep_extents_t keep_extents{};

namespace detail {

ONTO_INLINE constexpr bool is_argument(fold f) { return f == fold::argmin || f == fold::argmax; }

constexpr std::string_view name_of(fold f) {
  constexpr std::string_view names[] = {"Sum", "Prod", "Min", "Max", "Mean", "Any", "All", "ArgMin", "ArgMax"};
  return names[static_cast<int>(f)];
}

constexpr element_set elements_of(fold f) {
  if (f == fold::any || f == fold::all) return boolean_elements;
  return f == fold::mean ? floating_elements : numeric_elements;
}

ONTO_BEGIN_RUNS_ONCE
/// The shape after folding `axes` away (all of them where there are none).
/// *Returns* a fault for an axis that is not there or named twice, and for a minimum, maximum or index of nothing.
constexpr inferred reduced(fold f, bool keep, const int* axes, int count, const extents& x) {
  bool folded[max_rank] = {};
  for (int k = 0; k < count; ++k) {
    const int axis = normalize_axis(axes[k], x.rank);
    if (axis < 0 || folded[axis]) return {x, shape_fault::axis};
    folded[axis] = true;
  }
  const bool needs_one = f == fold::min || f == fold::max || is_argument(f);
  inferred r;
  for (int k = 0; k < x.rank; ++k) {
    if (!(folded[k] || count == 0)) {
      r.shape.push_back(x[k]);
      continue;
    }
    if (needs_one && x[k] == 0) r.fault = shape_fault::empty;
    if (keep) r.shape.push_back(1);
  }
  return r;
}
ONTO_END_RUNS_ONCE

}  // namespace detail

namespace op {

/// A reduction. Its attributes: the fold, whether folded axes stay, how many axes are named (0: all), the axes.
template <fold F, bool Keep, int... Axes>
struct reduce {
  static_assert(sizeof...(Axes) <= max_rank, "[onto.axis] more axes are named than a tensor can have");

  static constexpr op_kind kind = op_kind::reduce;
  static constexpr std::string_view name = detail::name_of(F);
  static constexpr int cost = 1;
  static constexpr kernel_set kernels{detail::elements_of(F), detail::elements_of(F)};
  static constexpr int attribute_count = 3 + static_cast<int>(sizeof...(Axes));
  static constexpr std::int64_t attribute[attribute_count] = {static_cast<std::int64_t>(F), Keep, sizeof...(Axes),
                                                              Axes...};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    constexpr int axes[sizeof...(Axes) + 1] = {Axes...};
    return detail::reduced(F, Keep, axes, static_cast<int>(sizeof...(Axes)), operands[0]);
  }
  ONTO_END_RUNS_ONCE
  static constexpr detail::element_check check(element x) { return detail::check_same(detail::elements_of(F), x); }
  static constexpr element result(element x) {
    if (detail::is_argument(F)) return element::int64;
    return F == fold::sum || F == fold::prod ? summed_as(x) : x;
  }
};

}  // namespace op

namespace detail {

ONTO_BEGIN_RUNS_ONCE
/// The attributes of a reduction.
constexpr fold fold_of(const op_info& op) { return static_cast<fold>(op.attribute[0]); }
constexpr bool keeps_axes(const op_info& op) { return op.attribute[1] != 0; }
constexpr bool folds_all(const op_info& op) { return op.attribute[2] == 0; }

/// The axes of an operand of `rank` dimensions that a reduction folds, as a set of bits.
constexpr unsigned folded_axes(const op_info& op, int rank) {
  if (folds_all(op)) return (1u << rank) - 1;
  unsigned set = 0;
  for (int k = 0; k < op.attribute[2]; ++k) set |= 1u << normalize_axis(static_cast<int>(op.attribute[3 + k]), rank);
  return set;
}

/// A reduction of the same kind over the axes in `set`, of which there is one at least.
constexpr op_info with_axes(const op_info& op, unsigned set) {
  op_info r = op;
  r.attribute[2] = 0;
  for (int d = 0; d < max_rank; ++d)
    if (set >> d & 1u) r.attribute[3 + r.attribute[2]++] = d;
  return r;
}
ONTO_END_RUNS_ONCE

/// The result of an operation that is one number already: its sum, product, extreme and mean.
template <class E>
concept one_number = requires {
  typename E::operation;
}
&&E::facts.shape.rank == 0 && is_floating(E::facts.type);

}  // namespace detail

/// The sum over all axes, or the named ones; negative axes count from the end. Nothing sums to 0. Integers of fewer
/// than 64 bits sum to int64 or uint64 as NumPy's do, but int32 to int32; all wrap around. *Returns* a tensor without
/// the folded axes; with `keep_extents`, with an extent of 1 for each. *Mandates* axes the operand has, none named
/// twice.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto sum(const E& x) {  // [onto.axis] an axis is a constant: constexpr int k = 1
  if constexpr (sizeof...(Axes) == 0 && detail::one_number<E>)
    return x;
  else
    return make<op::reduce<fold::sum, false, detail::axis_in<Axes, E>...>>(x);
}
template <int... Axes, expression E>
constexpr auto sum(const E& x, keep_extents_t) {
  return make<op::reduce<fold::sum, true, detail::axis_in<Axes, E>...>>(x);
}

/// The product, as `sum`. Nothing multiplies to 1.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto prod(const E& x) {  // [onto.axis] an axis is a constant: constexpr int k = 1
  if constexpr (sizeof...(Axes) == 0 && detail::one_number<E>)
    return x;
  else
    return make<op::reduce<fold::prod, false, detail::axis_in<Axes, E>...>>(x);
}
template <int... Axes, expression E>
constexpr auto prod(const E& x, keep_extents_t) {
  return make<op::reduce<fold::prod, true, detail::axis_in<Axes, E>...>>(x);
}

/// The smallest element, as `sum`; NaN where one is. *Mandates*, as far as it is known, an element to find.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto min(const E& x) {  // [onto.axis] an axis is a constant: constexpr int k = 1
  if constexpr (sizeof...(Axes) == 0 && detail::one_number<E>)
    return x;
  else
    return make<op::reduce<fold::min, false, detail::axis_in<Axes, E>...>>(x);
}
template <int... Axes, expression E>
constexpr auto min(const E& x, keep_extents_t) {
  return make<op::reduce<fold::min, true, detail::axis_in<Axes, E>...>>(x);
}

/// The greatest element, as `min`. The greater of two tensors' elements is `maximum`.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto max(const E& x) {  // [onto.axis] an axis is a constant: constexpr int k = 1
  if constexpr (sizeof...(Axes) == 0 && detail::one_number<E>)
    return x;
  else
    return make<op::reduce<fold::max, false, detail::axis_in<Axes, E>...>>(x);
}
template <int... Axes, expression E>
constexpr auto max(const E& x, keep_extents_t) {
  return make<op::reduce<fold::max, true, detail::axis_in<Axes, E>...>>(x);
}

/// The mean, as `sum`, of a floating-point type. The mean of nothing is NaN.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto mean(const E& x) {  // [onto.axis] an axis is a constant: constexpr int k = 1
  if constexpr (sizeof...(Axes) == 0 && detail::one_number<E>)
    return x;
  else
    return make<op::reduce<fold::mean, false, detail::axis_in<Axes, E>...>>(x);
}
template <int... Axes, expression E>
constexpr auto mean(const E& x, keep_extents_t) {
  return make<op::reduce<fold::mean, true, detail::axis_in<Axes, E>...>>(x);
}

/// Whether one of the elements, which are bool, is true; of nothing, false.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto any(const E& x) {
  return make<op::reduce<fold::any, false, detail::axis_in<Axes, E>...>>(x);
}
template <int... Axes, expression E>
constexpr auto any(const E& x, keep_extents_t) {
  return make<op::reduce<fold::any, true, detail::axis_in<Axes, E>...>>(x);
}

/// Whether all elements, which are bool, are true; of nothing, true.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto all(const E& x) {
  return make<op::reduce<fold::all, false, detail::axis_in<Axes, E>...>>(x);
}
template <int... Axes, expression E>
constexpr auto all(const E& x, keep_extents_t) {
  return make<op::reduce<fold::all, true, detail::axis_in<Axes, E>...>>(x);
}

namespace detail {
/// Conditions as 0 and 1.
template <class E>
constexpr decltype(auto) truth_as_number(const E& x) {
  if constexpr (std::is_same_v<typename E::element_type, bool>)
    return make<op::cast<std::uint8_t>>(x);
  else
    return (x);
}
}  // namespace detail

/// The index (int64) of the smallest element in row-major order; of equals the first, of NaNs the first NaN. Of
/// conditions false is the smaller: `argmax(x > 3)` is where the first such element is, or 0.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto argmin(const E& x) {
  return make<op::reduce<fold::argmin, false>>(detail::truth_as_number(x));
}
template <expression E>
constexpr auto argmin(const E& x, keep_extents_t) {
  return make<op::reduce<fold::argmin, true>>(detail::truth_as_number(x));
}
/// The index along one axis.
template <int Axis, class E, detail::only_if<expression<E>> = 0>
constexpr auto argmin(const E& x) {  // [onto.axis] an axis is a constant: constexpr int k = 1
  return make<op::reduce<fold::argmin, false, detail::axis_in<Axis, E>>>(detail::truth_as_number(x));
}
template <int Axis, expression E>
constexpr auto argmin(const E& x, keep_extents_t) {
  return make<op::reduce<fold::argmin, true, detail::axis_in<Axis, E>>>(detail::truth_as_number(x));
}

/// The index of the greatest element, as `argmin`.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto argmax(const E& x) {
  return make<op::reduce<fold::argmax, false>>(detail::truth_as_number(x));
}
template <expression E>
constexpr auto argmax(const E& x, keep_extents_t) {
  return make<op::reduce<fold::argmax, true>>(detail::truth_as_number(x));
}
template <int Axis, class E, detail::only_if<expression<E>> = 0>
constexpr auto argmax(const E& x) {  // [onto.axis] an axis is a constant: constexpr int k = 1
  return make<op::reduce<fold::argmax, false, detail::axis_in<Axis, E>>>(detail::truth_as_number(x));
}
template <int Axis, expression E>
constexpr auto argmax(const E& x, keep_extents_t) {
  return make<op::reduce<fold::argmax, true, detail::axis_in<Axis, E>>>(detail::truth_as_number(x));
}

}  // namespace onto
