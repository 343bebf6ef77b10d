// SPDX-License-Identifier: BSL-1.0
// Views: the elements of an operand in another order, another shape, or some of them. Nothing is computed.
#pragma once

#include <onto/ops/operation_base.hpp>

#include <limits>

namespace onto {

enum class view_kind : int { permute, reshape, slice, broadcast, roll };

/// The end of a `range` that goes to the end of the axis, and of one that steps backwards to its first element.
inline constexpr int to_end = std::numeric_limits<int>::max();
inline constexpr int to_begin = std::numeric_limits<int>::min();

/// The elements `Begin`, `Begin + Step`, ... before `End`, as NumPy's `begin:end:step`: negative numbers count from the
/// end, and what lies outside is cut off. `range<>` is the whole axis, `range<to_end, to_begin, -1>` all of it from the
/// last element on.
template <int Begin = 0, int End = to_end, int Step = 1>
struct range {
  static constexpr std::int64_t numbers[3] = {Begin, End, Step};

  range() = default;
  constexpr explicit range(int, int = 0, int = 0) {}  // no range: `slice<range(0, 2)>(x)` is told where bounds stand
};

namespace detail {

/// The mistake of an axis that is not there. Its result is named where it is used: an alias for it is a line more in
/// the message.
template <class Op, class E>
using no_axis_of = unless_told<shape_mistake<shape_fault::axis, Op, shape_of_t<E>>, E>;

/// What a range selects of an axis: the first index and how many.
struct selection {
  int first;
  int count;
};

ONTO_BEGIN_RUNS_ONCE
/// *Preconditions* a step other than 0 and an extent that is known.
constexpr selection select_range(std::int64_t begin, std::int64_t end, std::int64_t step, int extent) {
  const bool backwards = step < 0;
  const std::int64_t lowest = backwards ? -1 : 0, highest = backwards ? extent - 1 : extent;
  if (begin < 0) begin += extent;
  if (end < 0) end += extent;
  begin = begin < lowest ? lowest : begin > highest ? highest : begin;
  end = end < lowest ? lowest : end > highest ? highest : end;
  const std::int64_t length = backwards ? begin - end : end - begin;
  if (length <= 0) return {0, 0};
  if (backwards) step = -step;
  return {static_cast<int>(begin), static_cast<int>((length + step - 1) / step)};
}

ONTO_END_RUNS_ONCE

/// In the extents of a reshape: the extent of the operand's axis `axis`, whatever it is.
constexpr int same_as_axis(int axis) { return -2 - axis; }

ONTO_BEGIN_RUNS_ONCE
constexpr inferred permuted(const int* axes, int count, const extents& x) {
  if (count != x.rank) return {x, shape_fault::axis};
  bool seen[max_rank] = {};
  inferred r;
  for (int k = 0; k < count; ++k) {
    const int axis = normalize_axis(axes[k], x.rank);
    if (axis < 0 || seen[axis]) return {x, shape_fault::axis};
    seen[axis] = true;
    r.shape.push_back(x[axis]);
  }
  return r;
}

/// The number of elements of the known extents, and how many extents are not known.
struct partial_size {
  std::int64_t known = 1;
  int unknown = 0;

  constexpr partial_size(const extents& x) {
    for (int k = 0; k < x.rank; ++k) {
      if (x[k] == dyn) {
        ++unknown;
      } else {
        known = times(known, x[k]);
      }
    }
  }
};

/// The shape of a reshape; an extent of `dyn` is what makes the numbers of elements equal. Axes that the result has
/// from the operand say nothing of the others, also where their extent is 0.
constexpr inferred reshaped(const int* dims, int count, const extents& x) {
  inferred r;
  int open = -1;      // the axis to be computed
  unsigned kept = 0;  // the operand's axes that the result has
  extents others, to_others;
  for (int k = 0; k < count; ++k) {
    const int axis = dims[k] < dyn ? -2 - dims[k] : -1;
    r.shape.push_back(axis >= 0 ? x[axis] : dims[k]);
    if (axis >= 0 && (kept >> axis & 1u) == 0) {
      kept |= 1u << axis;
    } else if (dims[k] != dyn) {
      to_others.push_back(r.shape[k]);
    } else {
      if (open >= 0) return {x, shape_fault::size};
      open = k;
    }
  }
  for (int k = 0; k < x.rank; ++k)
    if ((kept >> k & 1u) == 0) others.push_back(x[k]);
  const partial_size from(others), to(to_others);
  if (open >= 0) {
    if (from.unknown > 0 || to.unknown > 0) return r;
    if (to.known == 0 || from.known % to.known != 0) return {r.shape, shape_fault::size};
    if (from.known / to.known > to_end) return {r.shape, shape_fault::extent};
    r.shape[open] = static_cast<int>(from.known / to.known);
  } else if (to.unknown == 0) {
    // What is not known of the operand must be a whole number of times what is known.
    const bool fits = from.unknown == 0 ? from.known == to.known
                      : from.known == 0 ? to.known == 0
                                        : to.known % from.known == 0;
    if (!fits) return {r.shape, shape_fault::size};
  }
  return r;
}

constexpr inferred sliced(const std::int64_t* numbers, int count, const extents& x) {
  if (count > x.rank) return {x, shape_fault::rank};
  inferred r;
  r.shape = x;
  for (int k = 0; k < count; ++k) {
    const std::int64_t begin = numbers[3 * k], end = numbers[3 * k + 1], step = numbers[3 * k + 2];
    // Also a step away from where the range ends, which selects nothing of any axis.
    if (step == 0 || end == (step < 0 ? to_end : to_begin)) return {x, shape_fault::range};
    if (x[k] == dyn) continue;
    r.shape[k] = select_range(begin, end, step, x[k]).count;
  }
  return r;
}
ONTO_END_RUNS_ONCE

}  // namespace detail

namespace op {

struct view : detail::keeps_element<elements_and_text> {
  static constexpr op_kind kind = op_kind::view;
  static constexpr int cost = 0;
};

/// Attributes: `view_kind::permute`, the rank, and for each axis of the result the operand's.
template <int... Axes>
struct permute : view {
  static constexpr std::string_view name = "Transpose";
  static constexpr int attribute_count = 2 + static_cast<int>(sizeof...(Axes));
  static constexpr std::int64_t attribute[attribute_count] = {static_cast<std::int64_t>(view_kind::permute),
                                                              sizeof...(Axes), Axes...};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    constexpr int axes[sizeof...(Axes) + 1] = {Axes...};
    return detail::permuted(axes, static_cast<int>(sizeof...(Axes)), operands[0]);
  }
  ONTO_END_RUNS_ONCE
};

/// Attributes: `view_kind::reshape`, the rank, the extents. -1 is to be computed, -2 - k is the operand's extent k.
template <int... Dims>
struct reshape : view {
  static_assert(sizeof...(Dims) <= max_rank, "[onto.shape] a tensor has at most 8 dimensions; reshape to fewer");
  static constexpr std::string_view name = "Reshape";
  static constexpr int attribute_count = 2 + static_cast<int>(sizeof...(Dims));
  static constexpr std::int64_t attribute[attribute_count] = {static_cast<std::int64_t>(view_kind::reshape),
                                                              sizeof...(Dims), Dims...};

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    constexpr int dims[sizeof...(Dims) + 1] = {Dims...};
    return detail::reshaped(dims, static_cast<int>(sizeof...(Dims)), operands[0]);
  }
  ONTO_END_RUNS_ONCE
};

/// Attributes: `view_kind::slice`, the number of ranges, and begin, end and step of each. Axes without a range are
/// whole.
template <class... Ranges>
struct slice : view {
  static_assert(sizeof...(Ranges) <= max_rank, "[onto.axis] more axes are named than a tensor can have");
  static constexpr std::string_view name = "StridedSlice";
  static constexpr int attribute_count = 2 + 3 * static_cast<int>(sizeof...(Ranges));

  struct numbers {
    std::int64_t of[2 + 3 * sizeof...(Ranges)];
    constexpr const std::int64_t& operator[](int k) const { return of[k]; }
  };
  static constexpr numbers collect() {
    numbers n{{static_cast<std::int64_t>(view_kind::slice), sizeof...(Ranges)}};
    int k = 2;
    ((n.of[k] = Ranges::numbers[0], n.of[k + 1] = Ranges::numbers[1], n.of[k + 2] = Ranges::numbers[2], k += 3), ...);
    return n;
  }
  static constexpr numbers attribute = collect();

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int) {
    constexpr numbers n = collect();
    return detail::sliced(n.of + 2, static_cast<int>(sizeof...(Ranges)), operands[0]);
  }
  ONTO_END_RUNS_ONCE
};

}  // namespace op

namespace detail {

ONTO_BEGIN_RUNS_ONCE
/// The attributes of a view.
constexpr view_kind view_of(const op_info& op) { return static_cast<view_kind>(op.attribute[0]); }
/// A transposition: the operand's axis that axis `k` of a result of `rank` dimensions is.
constexpr int permuted_axis(const op_info& op, int k, int rank) {
  return normalize_axis(static_cast<int>(op.attribute[2 + k]), rank);
}
/// A reshape: how many extents it names, and the one of axis `k` as it is written.
constexpr int named_extents(const op_info& op) { return static_cast<int>(op.attribute[1]); }
constexpr std::int64_t named_extent(const op_info& op, int k) { return op.attribute[2 + k]; }

/// A slice: how many axes have a range, and the one of axis `k`.
struct slice_range {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t step;
};
constexpr int range_count(const op_info& op) { return static_cast<int>(op.attribute[1]); }
constexpr slice_range range_of(const op_info& op, int k) {
  return {op.attribute[2 + 3 * k], op.attribute[3 + 3 * k], op.attribute[4 + 3 * k]};
}
/// A roll: the axis, and how many elements further than its own an element of the result is read, around the end.
ONTO_INLINE constexpr int rolled_axis(const op_info& op, int rank) {
  return normalize_axis(static_cast<int>(op.attribute[2]), rank);
}
ONTO_INLINE constexpr int rolled_by(const op_info& op, int extent) {
  return extent == 0 ? 0 : static_cast<int>((extent - op.attribute[3] % extent) % extent);
}
/// Whether a view has numbers for the extents or axes of its result.
ONTO_INLINE constexpr bool names_axes(const op_info& op) {
  return view_of(op) != view_kind::slice && view_of(op) != view_kind::roll;
}
/// Whether a view is rows of its operand, one after the other: contiguous memory, whatever the extents.
constexpr bool takes_rows(const op_info& op) {
  if (view_of(op) != view_kind::slice) return false;
  for (int k = 0; k < range_count(op); ++k) {
    const slice_range r = range_of(op, k);
    if (r.step != 1 || (k > 0 && (r.begin != 0 || r.end != to_end))) return false;
  }
  return true;
}

template <int... Dims>
struct reshape_extents_wrong : mistake {
  static constexpr bool ok = sizeof...(Dims) > 99;
  static_assert(ok == true,
                "[onto.shape] reshape: an extent is 0, positive, or dyn, and dyn (to be computed) only once");
};

template <int... Dims>
inline constexpr bool reshape_extents_right = ((Dims >= dyn) && ...) && ((Dims == dyn ? 1 : 0) + ... + 0) < 2;

template <class Axes>
struct reversed;
template <int... K>
struct reversed<std::integer_sequence<int, K...>> {
  using type = op::permute<(static_cast<int>(sizeof...(K)) - 1 - K)...>;
};

template <int Axis, class Axes>
struct with_axis;
template <int Axis, int... K>
struct with_axis<Axis, std::integer_sequence<int, K...>> {
  using type = op::reshape<(K == Axis ? 1 : same_as_axis(K < Axis ? K : K - 1))...>;
};

template <int Axis, class Axes>
struct without_axis;
template <int Axis, int... K>
struct without_axis<Axis, std::integer_sequence<int, K...>> {
  using type = op::reshape<same_as_axis(K < Axis ? K : K + 1)...>;
};

template <int N>
using axes_up_to = std::make_integer_sequence<int, N>;
ONTO_END_RUNS_ONCE

}  // namespace detail

/// The operand with all its axes in reverse order: a matrix transposed.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto transpose(const E& x) {
  return make<typename detail::reversed<detail::axes_up_to<E::facts.shape.rank>>::type>(x);
}

/// The axes in another order: axis `k` of the result is axis `Axes[k]` of `x`. `permute<0, 2, 1>(x)`
/// *Mandates* each axis of `x` once.
template <int... Axes, class E, detail::only_if<expression<E>> = 0>
constexpr auto permute(const E& x) {
  return make<op::permute<detail::axis_in<Axes, E>...>>(x);
}

/// The elements in row-major order in another shape: `reshape<2, dyn>(x)`; one extent may be `dyn`, to be computed.
/// *Mandates*, as far as extents are known, the same number of elements.
template <int... Dims, class E, detail::only_if<expression<E>> = 0>
constexpr auto reshape(const E& x) {  // [onto.axis] an extent is a constant: constexpr int n = 2
  if constexpr (detail::reshape_extents_right<Dims...>) {
    return make<op::reshape<Dims...>>(x);
  } else {
    return typename detail::reshape_extents_wrong<Dims...>::result{};
  }
}

/// With an axis of extent 1 put in before axis `Axis`, or as the last one.
template <int Axis, class E, detail::only_if<expression<E>> = 0>
constexpr auto expand_dims(const E& x) {
  constexpr int rank = E::facts.shape.rank;
  constexpr int axis = normalize_axis(Axis, rank + 1);
  if constexpr (axis >= 0 && rank < max_rank) {
    return make<typename detail::with_axis<axis, detail::axes_up_to<rank + 1>>::type>(x);
  } else {
    return typename detail::no_axis_of<op::reshape<>, E>::result{};
  }
}

/// Without axis `Axis`, whose extent is 1.
template <int Axis, class E, detail::only_if<expression<E>> = 0>
constexpr auto squeeze(const E& x) {
  constexpr int rank = E::facts.shape.rank;
  constexpr int axis = normalize_axis(Axis, rank);
  if constexpr (axis < 0) {
    return typename detail::no_axis_of<op::reshape<>, E>::result{};
  } else if constexpr (E::facts.shape.dims[axis] != 1 && E::facts.shape.dims[axis] != dyn) {
    return typename detail::squeezed_extent_is_not_one<op::reshape<>, detail::shape_of_t<E>>::result{};
  } else {
    return make<typename detail::without_axis<axis, detail::axes_up_to<rank - 1>>::type>(x);
  }
}

/// Some of the elements: `slice<range<0, 2>, range<1, to_end, 2>>(x)`, a range an axis; the axes after them are whole.
/// *Mandates* steps other than 0, and no more ranges than axes.
template <class... Ranges, expression E>
  requires(sizeof...(Ranges) > 0)
constexpr auto slice(const E& x) { return make<op::slice<Ranges...>>(x); }

/// The elements `Begin` to before `End` of the first axis: `slice<0, 10>(x)`.
template <int Begin, int End = to_end, int Step = 1, class E, detail::only_if<expression<E>> = 0>
constexpr auto slice(const E& x) {  // [onto.axis] a bound is a constant: constexpr int n = 2; else dynamic_slice
  return make<op::slice<range<Begin, End, Step>>>(x);
}

}  // namespace onto
