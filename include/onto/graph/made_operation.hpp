// SPDX-License-Identifier: BSL-1.0
// Operations that are values and no types: what a derivation makes of views, reductions and numbers. Their extents may
// be those of other nodes, which only the run knows.
#pragma once

#include <onto/graph/graph.hpp>
#include <onto/ops/concat.hpp>
#include <onto/ops/rearrange.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/ops/view.hpp>

#include <bit>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// An extent: a number, or that of axis `axis` of the node with this id.
struct extent_source {
  int value = dyn;
  std::uint64_t id = 0;
  int axis = 0;

  constexpr bool is_known() const { return value != dyn; }
  friend constexpr bool operator==(const extent_source& a, const extent_source& b) {
    return a.value == b.value && (a.value != dyn || (a.id == b.id && a.axis == b.axis));
  }
};

/// Looks extents up in the shapes of a graph's nodes. Nodes that nothing fetched needs have none among `shapes`: theirs
/// are inferred where they are asked for.
struct extent_lookup {
  const graph_view& graph;
  const extents* shapes;  // of the nodes that are needed
  bool of_run = true;     // false: as the graph has them

  constexpr int operator()(std::int64_t id, std::int64_t axis) const {
    if (axis < 0) return static_cast<int>(id);
    const int count = of_run ? graph.written : graph.count;
    for (int n = 0; n < count; ++n)
      if (graph[n].id == static_cast<std::uint64_t>(id)) return shape_of(n)[static_cast<int>(axis)];
    return dyn;
  }

 private:
  constexpr extents shape_of(int n) const;
};

/// In the extents of a view that was made, from here down: extent number `made_extent - x` of those that follow.
inline constexpr int made_extent = -100;

/// The number of axes in the attributes of a reduction that folds what its operand has more of than its result.
inline constexpr int folds_to_extents = -1;

constexpr op_info made_operation(op_kind kind, std::string_view name, const kernel_set& kernels) {
  op_info o{kind, name, 0, kernels, kind == op_kind::reduce ? 1 : 0, nullptr, 0, {}, false};
  o.made = true;
  return o;
}

constexpr std::uint64_t hash_of_made(const op_info& o) {
  std::uint64_t h = hash_mix(hash_text(o.name), 0x6d61646500 + static_cast<unsigned>(o.kind));
  for (int k = 0; k < o.attributes; ++k) h = hash_mix(h, static_cast<std::uint64_t>(o.attribute[k]));
  return h;
}

/// The nodes whose extents an operation that was made looks up.
template <class Take>
constexpr void for_each_source(const op_info& op, const Take& take) {
  int first = op.attributes;
  if (op.kind == op_kind::scalar)
    first = 2;
  else if (op.kind == op_kind::view && names_axes(op))
    first = 2 + static_cast<int>(op.attribute[1]);
  else if (op.kind == op_kind::reduce && op.attribute[2] == folds_to_extents)
    first = 3;
  for (int k = first; k + 1 < op.attributes; k += 2)
    if (op.attribute[k + 1] >= 0) take(static_cast<std::uint64_t>(op.attribute[k]));
}

/// Which attributes of an operation that was made say where its extent along an axis is looked up; 0: it is not.
constexpr int looked_up(const op_info& op, int axis) {
  if (op.kind == op_kind::reduce && op.attribute[2] == folds_to_extents) return 3 + 2 * axis;
  if (op.kind != op_kind::view || !names_axes(op) || op.attribute[2 + axis] > made_extent) return 0;
  return 2 + static_cast<int>(op.attribute[1] + 2 * (made_extent - op.attribute[2 + axis]));
}

constexpr void add_source(op_info& o, const extent_source& e) {
  o.attribute[o.attributes++] = e.is_known() ? e.value : static_cast<std::int64_t>(e.id);
  o.attribute[o.attributes++] = e.is_known() ? -1 : e.axis;
}

constexpr inferred infer_made_view(const op_info& op, const extent_lookup& of, const extents& x) {
  const int count = static_cast<int>(op.attribute[1]);
  if (view_of(op) == view_kind::slice) return sliced(op.attribute + 2, count, x);
  if (view_of(op) == view_kind::roll) return {x};
  int dims[max_rank]{};
  for (int k = 0; k < count; ++k) {
    const int pair = looked_up(op, k);
    dims[k] = pair > 0 ? of(op.attribute[pair], op.attribute[pair + 1]) : static_cast<int>(op.attribute[2 + k]);
  }
  if (view_of(op) == view_kind::permute) return permuted(dims, count, x);
  return view_of(op) == view_kind::broadcast ? stretched(dims, count, x) : reshaped(dims, count, x);
}

constexpr inferred infer_made_reduction(const op_info& op, const extent_lookup& of, const extents& x) {
  if (op.attribute[2] == folds_to_extents) {
    inferred r{x};
    for (int k = 0; k < x.rank; ++k) r.shape[k] = of(op.attribute[3 + 2 * k], op.attribute[4 + 2 * k]);
    return r;
  }
  int axes[max_rank]{};
  const int count = static_cast<int>(op.attribute[2]);
  for (int k = 0; k < count; ++k) axes[k] = static_cast<int>(op.attribute[3 + k]);
  return reduced(fold_of(op), keeps_axes(op), axes, count, x);
}

/// A concatenation that was made backwards. Operands: what is to be taken apart, the operand whose part it is and those
/// before it, of which the extents count.
constexpr bool is_part_of_concat(const graph_node& n) {
  return n.kind() == op_kind::concat && n.made >= 0 && n.op->attributes == 2;
}

constexpr inferred infer_made_concat(const op_info& op, const extents* x, int count) {
  if (op.attributes == 2) return {x[1]};
  inferred r{x[0]};
  int& all = r.shape[static_cast<int>(op.attribute[0])];
  for (int k = 1; k < count; ++k) {
    const int more = x[k][static_cast<int>(op.attribute[0])];
    all = all == dyn || more == dyn ? dyn : all + more;
  }
  return r;
}

/// The shape of an operation's result. What was made may look at the shapes of nodes before it.
constexpr inferred infer_shape(const op_info& op, const extent_lookup& of, const extents* operands, int count) {
  if (!op.made) return op.infer(operands, count);
  if (op.kind == op_kind::view) return infer_made_view(op, of, operands[0]);
  if (op.kind == op_kind::concat) return infer_made_concat(op, operands, count);
  return infer_made_reduction(op, of, operands[0]);
}

constexpr extents extent_lookup::shape_of(int n) const {
  if (!of_run || (n >= graph.count && graph[n].count == 0)) return graph[n].shape;
  if (n < graph.count) return shapes[n];
  extents operands[max_operands];
  for (int k = 0; k < graph[n].count; ++k) operands[k] = shape_of(graph.operand(n, k));
  return infer_shape(*graph[n].op, *this, operands, graph[n].count).shape;
}

/// How an extent scales a number: bits beside its axis.
inline constexpr int divides = 64;
inline constexpr int unless_zero = 128;

/// The number that a made scalar is: its value, times or divided by extents.
constexpr double made_number(const op_info& op, const extent_lookup& of) {
  double v = std::bit_cast<double>(op.attribute[0]);
  for (int k = 0; k < op.attribute[1]; ++k) {
    const std::int64_t axis = op.attribute[3 + 2 * k];
    const double e = of(op.attribute[2 + 2 * k], axis & 63);
    if (e == 0 && (axis & unless_zero) != 0) continue;
    v = (axis & divides) != 0 ? v / e : v * e;
  }
  return v;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
