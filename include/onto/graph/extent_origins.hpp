// SPDX-License-Identifier: BSL-1.0
// Where extents that only the run knows come from: two of one origin are equal for certain. That of a broadcast has
// several: broadcasting extents in any order, some of them again, gives one extent.
#pragma once

#include <onto/graph/builder.hpp>
#include <onto/graph/made_operation.hpp>
#include <onto/ops/softmax.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class extent_origins {
 public:
  constexpr explicit extent_origins(const graph_builder& b) : b_(b) {}

  /// The extent of node `n` along an axis. *Complexity* linear in nodes that are new since the last call.
  constexpr extent_source of(int n, int axis) {
    if (b_.nodes[n].shape[axis] != dyn) return {b_.nodes[n].shape[axis]};
    const int root = find(n, axis);
    return {dyn, b_.nodes[root / max_rank].id, root % max_rank};
  }

 private:
  /// An extent that two or more are broadcast to: where they are in the list of `parts_`.
  struct joint {
    int root = -1;
    int first = 0;
    int count = 0;
  };

  constexpr int find(int n, int axis) {
    for (int k = roots_.size() / max_rank; k <= n; ++k)
      for (int a = 0; a < max_rank; ++a) roots_.push_back(root_of(k, a));
    return roots_[n * max_rank + axis];
  }

  constexpr joint joint_of(int root) const {
    for (int k = 0; k < joints_.size(); ++k)
      if (joints_[k].root == root) return joints_[k];
    return {};
  }
  constexpr bool has_part(const joint& j, int part) const {
    for (int k = 0; k < j.count; ++k)
      if (parts_[j.first + k] == part) return true;
    return false;
  }
  /// Whether what origin `a` is made of is part of what `b` is made of.
  constexpr bool is_among(int a, int b) const {
    if (a == b) return true;
    const joint x = joint_of(a), y = joint_of(b);
    for (int k = 0; k < x.count; ++k)
      if (!has_part(y, parts_[x.first + k])) return false;
    return x.count > 0 || has_part(y, a);
  }

  /// The origin of `a` and `b` broadcast together, at `own`.
  constexpr int broadcast(int a, int b, int own) {
    if (is_among(b, a)) return a;
    if (is_among(a, b)) return b;
    joint all{own, parts_.size(), 0};
    for (int side = 0; side < 2; ++side) {
      const int from = side == 0 ? a : b;
      const joint j = joint_of(from);
      for (int k = 0; k < (j.count > 0 ? j.count : 1); ++k) {
        const int part = j.count > 0 ? parts_[j.first + k] : from;
        bool known = false;
        for (int i = 0; i < all.count; ++i) known = known || parts_[all.first + i] == part;
        if (known) continue;
        parts_.push_back(part);
        ++all.count;
      }
    }
    for (int k = 0; k < joints_.size(); ++k) {
      bool same = joints_[k].count == all.count;
      for (int i = 0; i < all.count && same; ++i) same = has_part(joints_[k], parts_[all.first + i]);
      if (same) return joints_[k].root;
    }
    joints_.push_back(all);
    return own;
  }

  /// The node and axis where an extent that is not known comes from, as one number.
  constexpr int root_of(int n, int axis) {
    const graph_node& x = b_.nodes[n];
    const int own = n * max_rank + axis;
    if (axis >= x.shape.rank || x.shape[axis] != dyn) return own;
    if (const int pair = x.made >= 0 ? looked_up(*x.op, axis) : 0; pair > 0) {
      for (int m = 0; m < n; ++m)
        if (b_.nodes[m].id == static_cast<std::uint64_t>(x.op->attribute[pair]))
          return m * max_rank + static_cast<int>(x.op->attribute[pair + 1]);
      return own;
    }
    int root = -1;
    for (int k = 0; k < x.count; ++k) {
      const int found = axis_of_operand(n, b_.operands[x.first + k], k, axis);
      if (found < 0) continue;
      const int below = roots_[b_.operands[x.first + k] * max_rank + found];
      root = root < 0 ? below : broadcast(root, below, own);
    }
    return root < 0 ? own : root;
  }

  /// The axis of operand `o` that gives axis `axis` of a result an extent that is not known, or -1.
  constexpr int axis_of_operand(int n, int o, int k, int axis) const {
    const graph_node& x = b_.nodes[n];
    const extents& of = b_.nodes[o].shape;
    const auto open = [&](int a) { return a >= 0 && a < of.rank && of[a] == dyn ? a : -1; };
    switch (x.kind()) {
      case op_kind::map: return open(axis - (x.shape.rank - of.rank));
      case op_kind::assign:
      case op_kind::row: return k == 0 ? open(axis) : -1;
      case op_kind::matmul:
        if (axis < x.shape.rank - 2) return open(axis - (x.shape.rank - of.rank));
        if (axis == x.shape.rank - 2) return k == 0 ? open(of.rank - 2) : -1;
        return k == 1 ? open(of.rank - 1) : -1;
      case op_kind::concat:
        if (is_part_of_concat(x)) return k == 1 ? open(axis) : -1;
        return axis != normalize_axis(static_cast<int>(x.op->attribute[0]), x.shape.rank) ? open(axis) : -1;
      case op_kind::reduce: {
        const unsigned folded = folded_axes(*x.op, of.rank);
        int to = axis;
        if (!keeps_axes(*x.op))
          for (int a = 0; a <= to && a < of.rank; ++a) to += folded >> a & 1u;
        return open(to);
      }
      case op_kind::view: return open(axis_under_view(*x.op, x.shape.rank, of, axis));
      default: return -1;
    }
  }
  static constexpr int axis_under_view(const op_info& op, int rank, const extents& of, int axis) {
    if (view_of(op) == view_kind::permute) return permuted_axis(op, axis, rank);
    if (view_of(op) == view_kind::broadcast) return op.attribute[2 + axis] == dyn ? axis - (rank - of.rank) : -1;
    if (view_of(op) == view_kind::slice) {
      if (axis >= range_count(op)) return axis;
      const slice_range r = range_of(op, axis);
      const bool whole = r.begin == 0 && r.end == to_end && r.step == 1;
      const bool flipped = r.begin == to_end && r.end == to_begin && r.step == -1;
      return whole || flipped ? axis : -1;
    }
    if (view_of(op) == view_kind::roll) return axis;
    const std::int64_t e = op.attribute[2 + axis];
    return e < dyn && e > made_extent ? static_cast<int>(-2 - e) : -1;
  }

  const graph_builder& b_;
  growing_list<int> roots_;  // per node and axis
  growing_list<joint> joints_;
  growing_list<int> parts_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
