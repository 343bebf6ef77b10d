// SPDX-License-Identifier: BSL-1.0
// What a derivative adds to a graph: operations on nodes that are there, each once. Gradients are kept as small as they
// are: one that is the same along an axis has extent 1 there until something needs all of it.
#pragma once

#include <onto/graph/derived_nodes.hpp>
#include <onto/ops/matmul.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class derivation : public derived_nodes {
 public:
  using derived_nodes::derived_nodes;

  /// Whether `c`, which broadcasts to node `n`, has less than its extent along axis `axis` of that.
  constexpr bool lacks(int c, int n, int axis) const {
    const int own = axis - (shape_of(n).rank - shape_of(c).rank);
    return own < 0 || (shape_of(c)[own] == 1 && shape_of(n)[axis] != 1);
  }
  /// Whether it may have less: only the run knows its extent, which is not that of `n` for certain.
  constexpr bool may_lack(int c, int n, int axis) {
    const int own = axis - (shape_of(n).rank - shape_of(c).rank);
    if (own < 0 || shape_of(c)[own] != dyn) return lacks(c, n, axis);
    return shape_of(n)[axis] != 1 && !(extent(c, own) == extent(n, axis));
  }

  /// `c`, which broadcasts to node `n`, in all of its shape.
  constexpr int stretch(int c, int n) {
    const extents to = shape_of(n);
    if (is_scalar(c)) {
      // One element, so that nothing is computed for its shape alone.
      if (b_.nodes[n].is_leaf() || to.rank == 0) return apply<op::fill_like>(type_of(c), n, c);
      c = one_element(c);
    }
    return stretch_axes(c, n, (1u << to.rank) - 1);
  }

  /// The sum of `c`, which broadcasts to node `n`, over the axes of `n` in `set`: what it lacks is a factor.
  constexpr int sum_axes(int c, int n, unsigned set, bool keep) {
    const int lead = shape_of(n).rank - shape_of(c).rank;
    unsigned own = 0, lacking = 0;
    for (int k = 0; k < shape_of(n).rank; ++k) {
      if (!(set >> k & 1u)) continue;
      if (lacks(c, n, k)) lacking |= 1u << k;
      if (k >= lead) own |= 1u << (k - lead);
    }
    c = stretch_axes(c, n, set & ~lacking);
    const int factor = lacking ? count_of(n, lacking, false) : -1;
    if (!is_scalar(c) && own != 0) {
      c = add_fold(fold::sum, c, own, keep);
    }
    return factor < 0 ? c : multiply(c, factor);
  }

  /// Along which axes of node `n` only the run knows whether `o`, which broadcasts to it, has less.
  constexpr unsigned open_axes(int n, int o) {
    const extents full = shape_of(n), to = shape_of(o);
    const int lead = full.rank - to.rank;
    unsigned open = 0;
    for (int k = lead; k < full.rank; ++k)
      if (to[k - lead] == dyn && full[k] != 1 && !(extent(n, k) == extent(o, k - lead))) open |= 1u << k;
    return open;
  }

  /// Whether `sum_to` makes a sum that folds what only the run knows: `c` is not the same along such an axis.
  constexpr bool sums_to_extents(int c, int n, int o) {
    const unsigned open = is_scalar(c) ? 0 : open_axes(n, o);
    for (int k = 0; k < shape_of(n).rank; ++k)
      if (open >> k & 1u && !lacks(c, n, k)) return true;
    return false;
  }
  /// Whether two nodes have the same shape for certain.
  constexpr bool same_extents(int a, int b) {
    bool same = shape_of(a).rank == shape_of(b).rank;
    for (int k = 0; k < shape_of(a).rank && same; ++k) same = extent(a, k) == extent(b, k);
    return same;
  }

  /// Whether `c` is the same for all elements of `n` that one of `o`, which broadcasts to `n`, is stretched to.
  constexpr bool is_same_along(int c, int o) {
    const extents of = shape_of(c), to = shape_of(o);
    bool same = of.rank <= to.rank;
    for (int k = 0; k < of.rank && same; ++k) same = of[k] == 1 || extent(c, k) == extent(o, k + to.rank - of.rank);
    return same;
  }

  /// The gradient of an operand: what is the gradient in the shape of node `n`, summed to that of `o`, which broadcasts
  /// to it. It may lack axes of `o`.
  constexpr int sum_to(int c, int n, int o) {
    const extents full = shape_of(n), to = shape_of(o);
    const int lead = full.rank - to.rank;
    unsigned open = open_axes(n, o), sure = 0;
    bool drops = false, keeps = false;
    for (int k = 0; k < full.rank; ++k) {
      if (k >= lead && (to[k - lead] != 1 || full[k] == 1)) continue;
      sure |= 1u << k;
      (k < lead ? drops : keeps) = true;
    }
    // What is the same along an axis is as many times that as there are elements for one of the operand's.
    int times = -1;
    for (int k = lead; k < full.rank; ++k) {
      if (!(open >> k & 1u) || !lacks(c, n, k) || (times >= 0 && !has_room(times))) continue;
      if (times < 0) times = number(type_of(c), 1);
      times = scaled(scaled(times, extent(n, k), 0), extent(o, k - lead), divides | unless_zero);
      open &= ~(1u << k);
    }
    if (open != 0) c = stretch_axes(is_scalar(c) ? one_element(c) : c, n, open);
    if (sure != 0) {
      const int rank = shape_of(c).rank;
      c = sum_axes(c, n, sure, is_scalar(c) || keeps);
      if (keeps && drops && rank > to.rank) c = without_first(c, rank - to.rank);
    }
    if (times >= 0) c = multiply(c, times);
    return open != 0 ? sum_to_extents(c, o) : c;
  }

  /// Axes of extent 1 put in where `set`, of an operand of `rank` dimensions, says that a reduction took them away.
  constexpr int put_in(int c, unsigned set, int rank) {
    if (is_scalar(c) || set == 0) return c;
    op_info o = view_operation(view_kind::reshape, "Reshape", rank);
    extents to;
    int own = 0;
    for (int k = 0; k < rank; ++k) {
      o.attribute[2 + k] = set >> k & 1u ? 1 : same_as_axis(own);
      to.push_back(set >> k & 1u ? 1 : shape_of(c)[own++]);
    }
    return add_made(o, type_of(c), to, &c, 1);
  }

  /// `c` with the elements of another shape, that of node `n`.
  constexpr int reshape_to(int c, int n) {
    if (is_scalar(c)) return c;
    const extents to = shape_of(n);
    op_info o = view_operation(view_kind::reshape, "Reshape", to.rank);
    int open = 0;  // of which one is computed, unless there is a 0 beside it
    for (int k = 0; k < to.rank; ++k) open += to[k] == dyn ? 1 : to[k] == 0 ? max_rank : 0;
    for (int k = 0; k < to.rank; ++k) {
      if (to[k] != dyn)
        o.attribute[2 + k] = to[k];
      else if (open == 1)
        o.attribute[2 + k] = dyn;
      else
        set_extent(o, k, extent(n, k));
    }
    return add_made(o, type_of(c), to, &c, 1);
  }
  /// A matrix: all axes but the last one are rows.
  constexpr int as_rows(int c) {
    const extents x = shape_of(c);
    op_info o = view_operation(view_kind::reshape, "Reshape", 2);
    o.attribute[2] = dyn;
    o.attribute[3] = same_as_axis(x.rank - 1);
    const extents to = reshaped_to(o, x);
    return add_made(o, type_of(c), to, &c, 1);
  }

  /// Axis `k` of the result is axis `axes[k]` of `c`.
  constexpr int permute(int c, const int* axes) {
    const int rank = shape_of(c).rank;
    op_info o = view_operation(view_kind::permute, "Transpose", rank);
    extents to;
    for (int k = 0; k < rank; ++k) {
      o.attribute[2 + k] = axes[k];
      to.push_back(shape_of(c)[axes[k]]);
    }
    return add_made(o, type_of(c), to, &c, 1);
  }
  /// Matrices transposed.
  constexpr int transpose(int c) {
    const int rank = shape_of(c).rank;
    int axes[max_rank]{};
    for (int k = 0; k < rank; ++k) axes[k] = k;
    axes[rank - 2] = rank - 1;
    axes[rank - 1] = rank - 2;
    return permute(c, axes);
  }

  /// The elements `begin`, `begin + step`, ... before `end` along an axis.
  constexpr int slice(int c, int axis, std::int64_t begin, std::int64_t end, std::int64_t step = 1) {
    op_info o = view_operation(view_kind::slice, "StridedSlice", 0);
    o.attribute[1] = axis + 1;
    o.attributes = 2 + 3 * (axis + 1);
    for (int k = 0; k <= axis; ++k) {
      o.attribute[2 + 3 * k] = k == axis ? begin : 0;
      o.attribute[3 + 3 * k] = k == axis ? end : to_end;
      o.attribute[4 + 3 * k] = k == axis ? step : 1;
    }
    return add_made(o, type_of(c), sliced(o.attribute + 2, axis + 1, shape_of(c)).shape, &c, 1);
  }

  /// What a roll did, undone.
  constexpr int roll_back(int c, const op_info& by) {
    op_info o = view_operation(view_kind::roll, "Roll", 2);
    o.attribute[1] = 1;
    o.attribute[2] = by.attribute[2];
    o.attribute[3] = -by.attribute[3];
    return add_made(o, type_of(c), shape_of(c), &c, 1);
  }

  constexpr int concat(const int* parts, int count, int axis) {
    op_info o = made_operation(op_kind::concat, "Concat", {all_elements, all_elements});
    o.attributes = 1;
    o.attribute[0] = axis;
    extents shapes[max_operands];
    for (int k = 0; k < count; ++k) shapes[k] = shape_of(parts[k]);
    return add_made(o, type_of(parts[0]), infer_made_concat(o, shapes, count).shape, parts, count);
  }

  /// As many elements of `c` along `axis` as `like` has, after as many as the nodes `before` have together.
  constexpr int part_of(int c, int like, const int* before, int count, int axis) {
    op_info o = made_operation(op_kind::concat, "ConcatGrad", {all_elements, all_elements});
    o.attributes = 2;
    o.attribute[0] = axis;
    int list[max_operands]{c, like};
    for (int j = 0; j < count; ++j) list[2 + j] = before[j];
    return add_made(o, type_of(c), shape_of(like), list, 2 + count);
  }

  /// `step` - 1 zeros after each element along an axis, or before each. *Preconditions* as many extents can say.
  constexpr int with_zeros(int c, int axis, std::int64_t step, bool zeros_first) {
    const extents x = shape_of(c);
    int part = put_in(c, 1u << (axis + 1), x.rank + 1);
    const extents one = shape_of(part);
    op_info zeros = view_operation(view_kind::broadcast, "BroadcastTo", one.rank);
    extents rest = one;
    rest[axis + 1] = static_cast<int>(step) - 1;
    for (int k = 0; k < one.rank; ++k) zeros.attribute[2 + k] = rest[k];
    const int none = apply<op::zeros_like>(type_of(c), part);
    const int others = add_made(zeros, type_of(c), rest, &none, 1);
    const int parts[] = {zeros_first ? others : part, zeros_first ? part : others};
    part = concat(parts, 2, axis + 1);
    op_info o = view_operation(view_kind::reshape, "Reshape", x.rank);
    extents to = x;
    to[axis] = x[axis] == dyn ? dyn : x[axis] * static_cast<int>(step);
    for (int k = 0; k < x.rank; ++k) o.attribute[2 + k] = k == axis ? to[k] : same_as_axis(k < axis ? k : k + 1);
    return add_made(o, type_of(c), to, &part, 1);
  }
  /// A fold of `c` over axes; folded ones may stay, with an extent of 1.
  constexpr int add_fold(fold f, int c, unsigned axes, bool keep) {
    op_info o = fold_operation(f, keep);
    for (int k = 0; k < shape_of(c).rank; ++k)
      if (axes >> k & 1u) o.attribute[o.attributes++] = k;
    o.attribute[2] = o.attributes - 3;
    return add_made(o, type_of(c), infer_made_reduction(o, {{}, nullptr, false}, shape_of(c)).shape, &c, 1);
  }

  /// That an operation has no derivative here.
  constexpr int refuse(int n) {
    if (n >= 0 && b_.underived.empty()) b_.underived = b_.nodes[n].op->name;
    return -1;
  }

 private:
  static constexpr op_info view_operation(view_kind kind, std::string_view name, int rank) {
    op_info o = made_operation(op_kind::view, name, {all_elements, all_elements});
    o.attributes = 2 + rank;
    o.attribute[0] = static_cast<std::int64_t>(kind);
    o.attribute[1] = rank;
    return o;
  }
  static constexpr op_info fold_operation(fold f, bool keep) {
    op_info o = made_operation(op_kind::reduce, name_of(f), {floating_elements, floating_elements});
    o.attributes = 3;
    o.attribute[0] = static_cast<std::int64_t>(f);
    o.attribute[1] = keep;
    return o;
  }
  static constexpr extents reshaped_to(const op_info& o, const extents& x) {
    const int dims[] = {static_cast<int>(o.attribute[2]), static_cast<int>(o.attribute[3])};
    return reshaped(dims, 2, x).shape;
  }
  static constexpr void set_extent(op_info& o, int axis, const extent_source& e) {
    if (e.is_known()) {
      o.attribute[2 + axis] = e.value;
      return;
    }
    const int others = (o.attributes - 2 - static_cast<int>(o.attribute[1])) / 2;
    o.attribute[2 + axis] = made_extent - others;
    add_source(o, e);
  }

  constexpr int without_first(int c, int count) {
    const extents x = shape_of(c);
    op_info o = view_operation(view_kind::reshape, "Reshape", x.rank - count);
    extents to;
    for (int k = count; k < x.rank; ++k) {
      o.attribute[2 + k - count] = same_as_axis(k);
      to.push_back(x[k]);
    }
    return add_made(o, type_of(c), to, &c, 1);
  }

  /// The sum over the axes along which, at run time, node `o` has extent 1 and `c` more. What `c` lacks it lacks still.
  constexpr int sum_to_extents(int c, int o) {
    op_info r = fold_operation(fold::sum, true);
    r.attribute[2] = folds_to_extents;
    extents to;
    const int lead = shape_of(o).rank - shape_of(c).rank;
    for (int k = 0; k < shape_of(c).rank; ++k) {
      const extent_source e = shape_of(c)[k] == 1 ? extent_source{1} : extent(o, k + lead);
      add_source(r, e);
      to.push_back(e.value);
    }
    return add_made(r, type_of(c), to, &c, 1);
  }
  /// `c`, which broadcasts to node `n`, with the extents of that along the axes in `set`.
  constexpr int stretch_axes(int c, int n, unsigned set) {
    const extents whole = shape_of(n), x = shape_of(c);
    const int lead = whole.rank - x.rank;
    unsigned wanted = 0;
    for (int k = 0; k < whole.rank; ++k)
      if (set >> k & 1u && may_lack(c, n, k)) wanted |= 1u << k;
    if (wanted == 0) return c;
    const int first = (wanted & ((1u << lead) - 1)) != 0 ? 0 : lead;
    op_info o = view_operation(view_kind::broadcast, "BroadcastTo", whole.rank - first);
    extents to;
    for (int k = first; k < whole.rank; ++k) {
      const int own = k < lead ? 1 : x[k - lead];
      to.push_back(wanted >> k & 1u ? whole[k] : own);
      if (wanted >> k & 1u)
        set_extent(o, k - first, extent(n, k));
      else
        o.attribute[2 + k - first] = own;
    }
    return add_made(o, type_of(c), to, &c, 1);
  }
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
