// SPDX-License-Identifier: BSL-1.0
// The derivatives of what is no map: sums and other folds, views, matrix products, softmax, concatenation. By the kind
// of operation, since their axes and ranges are numbers.
#pragma once

#include <onto/graph/derivation.hpp>
#include <onto/ops/assign.hpp>
#include <onto/ops/compare.hpp>
#include <onto/ops/generate.hpp>
#include <onto/ops/logic.hpp>
#include <onto/ops/softmax.hpp>
#include <onto/ops/unary.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Where elements are the extreme of a fold: its gradient, in equal parts where there are several.
constexpr int derive_extreme(derivation& d, int n, int x, int g, unsigned folded) {
  const element type = d.type_of(n);
  const int y = keeps_axes(*d[n].op) ? n : d.put_in(n, folded, d.shape_of(x).rank);
  const int found = d.apply<op::equal>(element::boolean, x, y);
  const int ones = d.apply<op::where>(type, found, d.number(type, 1), d.number(type, 0));
  return d.multiply(ones, d.apply<op::div>(type, g, d.sum_axes(ones, x, folded, true)));
}

/// A product of elements, some of which may be 0: the product of the others, by division where it can be. What has
/// elements that are 0 as a factor is 0, but not its derivatives: their sum stands for them.
constexpr int derive_product(derivation& d, int n, int x, int g, unsigned folded) {
  const element type = d.type_of(n);
  const int one = d.number(type, 1), zero = d.number(type, 0);
  const auto choose = [&](int condition, int yes, int no) { return d.apply<op::where>(type, condition, yes, no); };
  const auto equal = [&](int a, int b) { return d.apply<op::equal>(element::boolean, a, b); };
  const int is_zero = equal(x, zero);
  const int other = choose(is_zero, one, x);
  const int zeros = d.sum_axes(choose(is_zero, one, zero), x, folded, true);
  const int sum_of_zeros = d.sum_axes(choose(is_zero, x, zero), x, folded, true);
  const int all = d.add_fold(fold::prod, other, folded, true);
  const int none = equal(zeros, zero), single = equal(zeros, one), pair = equal(zeros, d.number(type, 2));
  const int others = d.apply<op::div>(type, all, other), with_zero = d.multiply(sum_of_zeros, others);
  const int in_range = choose(equal(with_zero, with_zero), with_zero, zero);  // 0 times infinity
  const int at_others = choose(none, others, choose(single, in_range, zero));
  const int other_zero = d.multiply(d.add(sum_of_zeros, d.multiply(d.number(type, -1), x)), all);
  const int at_zeros = choose(single, all, choose(pair, other_zero, zero));
  return d.multiply(g, choose(is_zero, at_zeros, at_others));
}

constexpr int derive_reduction(derivation& d, int n, int g) {
  const int x = d.operand(n, 0), rank = d.shape_of(x).rank;
  const op_info& o = *d[n].op;
  if (d[n].made >= 0 && o.attribute[2] == folds_to_extents) return d.stretch(g, x);
  const unsigned folded = folded_axes(o, rank);
  if (!keeps_axes(o) && !d.is_scalar(g)) {
    if (d.shape_of(g).rank != d.shape_of(n).rank) g = d.stretch(g, n);
    g = d.put_in(g, folded, rank);
  }
  switch (fold_of(o)) {
    case fold::sum: return g;
    case fold::mean: return d.multiply(g, d.count_of(x, folded, true));
    case fold::min:
    case fold::max: return derive_extreme(d, n, x, g, folded);
    case fold::prod: return derive_product(d, n, x, g, folded);
    default: return -1;
  }
}

/// Zeros of as many elements along `axis` as a slice of node `n` has.
constexpr int zeros_of(derivation& d, int n, int axis, std::int64_t begin, std::int64_t end) {
  return d.apply<op::zeros_like>(d.type_of(n), d.slice(n, axis, begin, end));
}

/// Node `n` cut along the axes before `axis` as a slice cuts it.
constexpr int cut_before(derivation& d, int n, const op_info& by, int axis) {
  for (int k = 0; k < axis; ++k)
    if (const slice_range r = range_of(by, k); r.begin != 0 || r.end != to_end || r.step != 1)
      n = d.slice(n, k, r.begin, r.end, r.step);
  return n;
}

/// The greatest extent that there is.
inline constexpr std::int64_t most_extent = 0x7fffffff;

/// A slice that steps along an axis whose extent only the run knows, put back: with zeros between its elements, zeros
/// on the side from which it counts, and on the other one more zeros than can be missing, of which the rest is cut off.
constexpr int derive_steps_of_open_axis(derivation& d, int g, int x, int axis, slice_range r) {
  const bool backwards = r.step < 0;
  if (backwards) g = d.slice(g, axis, to_end, to_begin, -1);
  const std::int64_t step = backwards ? -r.step : r.step;
  if (step > most_extent) return d.refuse(-1);
  if (step > 1) g = d.with_zeros(g, axis, step, backwards);
  const int rest = d.apply<op::zeros_like>(d.type_of(x), x);
  if (!backwards) {
    const int parts[] = {zeros_of(d, x, axis, 0, r.begin), g, rest};
    return d.part_of(r.begin == 0 ? d.concat(parts + 1, 2, axis) : d.concat(parts, 3, axis), x, nullptr, 0, axis);
  }
  const bool whole = r.begin == to_end || r.begin == -1;
  const int parts[] = {rest, g, whole ? -1 : zeros_of(d, x, axis, r.begin + 1, to_end)};
  return d.part_of(d.concat(parts, whole ? 2 : 3, axis), x, parts + 1, whole ? 1 : 2, axis);
}

/// A slice along one axis put back among zeros.
constexpr int derive_slice_of_axis(derivation& d, int g, int x, int axis, slice_range r) {
  const int extent = d.shape_of(x)[axis];
  if (r.begin == 0 && r.end == to_end && r.step == 1) return g;
  if (extent == dyn) {
    if (r.step == -1 && r.begin == to_end && r.end == to_begin) return d.slice(g, axis, to_end, to_begin, -1);
    if (r.step != 1 || (r.begin < 0 && r.end >= 0 && r.end != to_end))
      return derive_steps_of_open_axis(d, g, x, axis, r);
    const int before = zeros_of(d, x, axis, 0, r.begin);
    if (r.end == to_end) {
      const int parts[] = {before, g};
      return d.concat(parts, 2, axis);
    }
    // Of what is not before it: where the range ends before it begins, that is all.
    const int rest = r.begin == 0 ? x : d.slice(x, axis, r.begin, to_end);
    const std::int64_t end = r.end < 0 ? r.end : r.end > r.begin ? r.end - r.begin : 0;
    const int after = zeros_of(d, rest, axis, end, to_end);
    const int parts[] = {before, g, after};
    return r.begin == 0 ? d.concat(parts + 1, 2, axis) : d.concat(parts, 3, axis);
  }
  const selection all = select_range(r.begin, r.end, r.step, extent);
  std::int64_t first = all.first, step = r.step;
  if (step < 0) {
    g = d.slice(g, axis, to_end, to_begin, -1);
    first += (all.count - 1) * step;
    step = -step;
  }
  if (step > 1 && all.count > 1) {
    if (step * all.count > most_extent) return d.refuse(-1);
    g = d.slice(d.with_zeros(g, axis, step, false), axis, 0, (all.count - 1) * step + 1);
  }
  const std::int64_t length = all.count == 0 ? 0 : (all.count - 1) * step + 1, after = extent - first - length;
  if (all.count == 0) return zeros_of(d, x, axis, 0, extent);
  int parts[3]{}, count = 0;
  if (first > 0) parts[count++] = zeros_of(d, x, axis, 0, first);
  parts[count++] = g;
  if (after > 0) parts[count++] = zeros_of(d, x, axis, extent - after, to_end);
  return count == 1 ? g : d.concat(parts, count, axis);
}

constexpr int derive_view(derivation& d, int n, int g) {
  const int x = d.operand(n, 0);
  const op_info& o = *d[n].op;
  if (view_of(o) == view_kind::broadcast) return d.sum_to(g, n, x);
  if (d.is_scalar(g)) return view_of(o) == view_kind::slice ? derive_view(d, n, d.stretch(g, n)) : g;
  g = d.stretch(g, n);
  if (view_of(o) == view_kind::reshape) return d.reshape_to(g, x);
  if (view_of(o) == view_kind::roll) return d.roll_back(g, o);
  if (view_of(o) == view_kind::permute) {
    int axes[max_rank]{};
    const int rank = d.shape_of(n).rank;
    for (int k = 0; k < rank; ++k) axes[permuted_axis(o, k, rank)] = k;
    return d.permute(g, axes);
  }
  // Axis by axis from the last one on: what was cut along the others is still cut.
  for (int k = range_count(o) - 1; k >= 0; --k) {
    g = derive_slice_of_axis(d, g, cut_before(d, x, o, k), k, range_of(o, k));
    if (g < 0) return d.refuse(n);
  }
  return g;
}

constexpr int derive_matmul(derivation& d, int n, int k, int g) {
  const int a = d.operand(n, 0), b = d.operand(n, 1);
  const element type = d.type_of(n);
  g = d.stretch(g, n);
  if (k == 0) {
    const int all = d.apply<op::matmul>(type, g, d.transpose(b));
    return d.sum_to(all, all, a);
  }
  // One matrix for all of a batch: its rows are one long matrix.
  if (d.shape_of(b).rank == 2 && d.shape_of(a).rank > 2)
    return d.apply<op::matmul>(type, d.transpose(d.as_rows(a)), d.as_rows(g));
  const int all = d.apply<op::matmul>(type, d.transpose(a), g);
  return d.sum_to(all, all, b);
}

constexpr int derive_softmax(derivation& d, int n, int g) {
  const element type = d.type_of(n);
  const unsigned axis = 1u << softmax_axis(*d[n].op, d.shape_of(n).rank);
  if (takes_logarithm(*d[n].op)) {
    const int share = d.multiply(d.apply<op::exp>(type, n), d.sum_axes(g, n, axis, true));
    return d.apply<op::sub>(type, g, share);
  }
  const int weighted = d.sum_axes(d.multiply(g, n), n, axis, true);
  return d.multiply(n, d.apply<op::sub>(type, g, weighted));
}

/// A part of node `c` along an axis put back: zeros as long as what was before it, and after it as many as `c` has, of
/// which the rest is cut off. Of the other operands only the extents count.
constexpr int derive_part_of_concat(derivation& d, int n, int k, int g, int axis) {
  if (k > 0) return -1;
  const int c = d.operand(n, 0), count = d[n].count;
  if (count > max_operands) return d.refuse(n);
  int parts[max_operands]{};
  for (int j = 2; j < count; ++j) parts[j - 2] = d.apply<op::zeros_like>(d.type_of(n), d.operand(n, j));
  parts[count - 2] = g;
  parts[count - 1] = d.apply<op::zeros_like>(d.type_of(c), c);
  return d.part_of(d.concat(parts, count, axis), c, nullptr, 0, axis);
}

/// The part of the gradient along the axis that is operand `k`'s.
constexpr int derive_concat(derivation& d, int n, int k, int g) {
  const int axis = normalize_axis(static_cast<int>(d[n].op->attribute[0]), d.shape_of(n).rank);
  if (is_part_of_concat(d[n])) return derive_part_of_concat(d, n, k, k == 0 ? d.stretch(g, n) : g, axis);
  if (d.is_scalar(g) || d.lacks(g, n, axis)) return g;
  g = d.stretch(g, n);
  std::int64_t before = 0, after = 0;
  for (int j = 0; j < d[n].count; ++j) {
    const int e = d.shape_of(d.operand(n, j))[axis];
    std::int64_t& side = j < k ? before : after;
    if (j != k) side = e == dyn || side < 0 ? -1 : side + e;
  }
  const std::int64_t own = d.shape_of(d.operand(n, k))[axis];
  if (before >= 0 && own != dyn) return d.slice(g, axis, before, before + own);
  if (before >= 0 && after >= 0) return d.slice(g, axis, before, after == 0 ? to_end : -after);
  if (after >= 0 && own != dyn && own > 0) return d.slice(g, axis, -after - own, after == 0 ? to_end : -after);
  if (k + 2 > max_operands) return d.refuse(n);
  int others[max_operands]{};
  for (int j = 0; j < k; ++j) others[j] = d.operand(n, j);
  return d.part_of(g, d.operand(n, k), others, k, axis);
}

/// The gradient by operand `k` of node `n`, whose own is `g`, or -1.
constexpr int derive_structural(derivation& d, int n, int k, int g) {
  switch (d[n].kind()) {
    case op_kind::reduce: return derive_reduction(d, n, g);
    case op_kind::view: return derive_view(d, n, g);
    case op_kind::matmul: return derive_matmul(d, n, k, g);
    case op_kind::row: return derive_softmax(d, n, g);
    case op_kind::concat: return derive_concat(d, n, k, g);
    // The value that a variable is given; its old one is another value.
    case op_kind::assign:
      if (k == 0) return -1;
      return d.sum_to(is_operation<op::assign_sub>(d[n].op) ? d.apply<op::neg>(d.type_of(g), g) : g, n,
                      d.operand(n, 1));
    default: return d.refuse(n);
  }
}

/// Whether a derivative is by the kind of operation.
constexpr bool is_structural(op_kind k) {
  return k == op_kind::reduce || k == op_kind::view || k == op_kind::matmul || k == op_kind::row ||
         k == op_kind::concat || k == op_kind::assign;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
