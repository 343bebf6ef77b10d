// SPDX-License-Identifier: BSL-1.0
// The nodes that a derivation adds to a graph: operations on nodes that are there, each once, and numbers, which are
// multiplied while compiling.
#pragma once

#include <onto/graph/extent_origins.hpp>
#include <onto/ops/arithmetic.hpp>
#include <onto/ops/generate.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The operation that makes a number of a floating-point type a tensor of rank 0.
constexpr const op_info* fill_of(element type) {
  switch (type) {
    case element::float64: return &op_info_of<op::fill<double>>;
    case element::float16: return &op_info_of<op::fill<half>>;
    case element::bfloat16: return &op_info_of<op::fill<bfloat16>>;
    default: return &op_info_of<op::fill<float>>;
  }
}

class derived_nodes {
 public:
  /// `visit`: of the gradient, from where the nodes' run-time state is found.
  constexpr derived_nodes(graph_builder& b, int visit) : b_(b), extents_(b), visit_(visit) {}

  constexpr const graph_node& operator[](int n) const { return b_.nodes[n]; }
  constexpr int operand(int n, int k) const { return b_.operands[b_.nodes[n].first + k]; }
  constexpr element type_of(int n) const { return b_.nodes[n].type; }
  constexpr const extents& shape_of(int n) const { return b_.nodes[n].shape; }
  /// A scalar of a kernel, which is in no memory; and one that a derivation made.
  constexpr bool is_scalar(int n) const { return b_.nodes[n].kind() == op_kind::scalar; }
  constexpr bool is_number(int n) const { return b_.nodes[n].made >= 0 && is_scalar(n); }

  /// The nodes from here on run where this one runs.
  constexpr void run_with(int n) { with_ = n; }

  /// An extent: of which leaf or other node it is, where it is not known. Two that are the same are equal for certain.
  constexpr extent_source extent(int n, int axis) { return extents_.of(n, axis); }

  /// A number as a scalar of a kernel.
  constexpr int number(element type, double value) {
    op_info o = made_operation(op_kind::scalar, "Scalar", {all_elements, all_elements});
    o.attributes = 2;
    o.attribute[0] = std::bit_cast<std::int64_t>(value);
    return add_made(o, type, {}, nullptr, 0);
  }
  /// The number `n`, times an extent of a node, or divided by it.
  constexpr int scaled(int n, const extent_source& e, int how) {
    const bool divided = (how & divides) != 0;
    op_info o = *b_.nodes[n].op;
    const double v = std::bit_cast<double>(o.attribute[0]);
    if (e.is_known()) {
      o.attribute[0] = std::bit_cast<std::int64_t>(divided ? v / e.value : v * e.value);
    } else {
      o.attribute[o.attributes++] = static_cast<std::int64_t>(e.id);
      o.attribute[o.attributes++] = e.axis | how;
      ++o.attribute[1];
    }
    return add_made(o, type_of(n), {}, nullptr, 0);
  }
  /// The number of elements of node `n` along the axes in `set`, or 1 divided by it.
  constexpr int count_of(int n, unsigned set, bool divided) {
    int c = number(type_of(n), 1);
    for (int k = 0; k < shape_of(n).rank; ++k)
      if (set >> k & 1u) c = scaled(c, extent(n, k), divided ? divides : 0);
    return c;
  }

  /// An operation that is a type, over nodes: those that are there already, and products of numbers, are not made
  /// again.
  constexpr int apply(const op_info& op, element type, const int* list, int count) {
    if (count == 2 && is_operation<op::mul>(&op)) {
      for (int k = 0; k < 2; ++k)
        if (is_number(list[k])) return multiply_by(list[k], list[1 - k], op, list);
    } else if (count == 1 && is_operation<op::neg>(&op) && is_number(list[0])) {
      return product(number(type, -1), list[0]);
    }
    extents shapes[max_operands];
    for (int k = 0; k < count; ++k) shapes[k] = shape_of(list[k]);
    return add_node(op, -1, type, op.infer(shapes, count).shape, list, count);
  }
  template <class Op>
  constexpr int apply(element type, int a) {
    return apply(op_info_of<Op>, type, &a, 1);
  }
  template <class Op>
  constexpr int apply(element type, int a, int b) {
    const int list[] = {a, b};
    return apply(op_info_of<Op>, type, list, 2);
  }
  template <class Op>
  constexpr int apply(element type, int a, int b, int c) {
    const int list[] = {a, b, c};
    return apply(op_info_of<Op>, type, list, 3);
  }
  constexpr int add(int a, int b) { return apply<op::add>(type_of(a), a, b); }
  constexpr int multiply(int a, int b) { return apply<op::mul>(type_of(a), a, b); }

  /// A scalar as a tensor of rank 0.
  constexpr int one_element(int c) { return apply(*fill_of(type_of(c)), type_of(c), &c, 1); }

 protected:
  /// Whether a number can be scaled by two more extents.
  constexpr bool has_room(int a) const { return b_.nodes[a].op->attributes + 4 <= max_attributes; }

  constexpr int add_made(op_info o, element type, const extents& shape, const int* list, int count) {
    o.hash = hash_of_made(o);
    int made = 0;
    while (made < b_.made.size() && b_.made[made]->hash != o.hash) ++made;
    if (made == b_.made.size()) b_.made.push_back(new op_info(o));
    return add_node(*b_.made[made], made, type, shape, list, count);
  }

  constexpr int add_node(const op_info& op, int made, element type, const extents& shape, const int* list, int count) {
    std::uint64_t key = hash_mix(hash_mix(0x64657269, op.hash), static_cast<std::uint64_t>(type));
    for (int k = 0; k < count; ++k) key = hash_mix(key, static_cast<std::uint64_t>(list[k]));
    if (op.kind != op_kind::scalar) key = graph_builder::key_of(key, b_.nodes[with_].request);
    graph_node n;
    n.op = &op;
    n.id = key;
    n.type = type;
    n.shape = shape;
    n.visit = visit_;
    n.made = made;
    n.runs_with = with_;
    n.count = count;
    return b_.derived(n, list);
  }

  graph_builder& b_;
  extent_origins extents_;

 private:
  /// The product of two numbers.
  constexpr int product(int a, int b) {
    op_info o = *b_.nodes[a].op;
    const op_info& more = *b_.nodes[b].op;
    o.attribute[0] =
        std::bit_cast<std::int64_t>(std::bit_cast<double>(o.attribute[0]) * std::bit_cast<double>(more.attribute[0]));
    for (int k = 2; k < more.attributes; ++k) o.attribute[o.attributes++] = more.attribute[k];
    o.attribute[1] += more.attribute[1];
    return add_made(o, type_of(a), {}, nullptr, 0);
  }
  constexpr bool has_room(int a, int b) const {
    return b_.nodes[a].op->attributes + b_.nodes[b].op->attributes <= max_attributes;
  }
  constexpr int multiply_by(int number, int x, const op_info& op, const int* list) {
    const op_info& o = *b_.nodes[number].op;
    if (is_number(x) && has_room(number, x)) return product(number, x);
    if (o.attributes == 2 && std::bit_cast<double>(o.attribute[0]) == 1) return x;
    if (b_.nodes[x].made < 0 && b_.nodes[x].runs_with >= 0 && is_operation<op::mul>(b_.nodes[x].op))
      for (int k = 0; k < 2; ++k)
        if (is_number(operand(x, k)) && has_room(number, operand(x, k)))
          return multiply(product(number, operand(x, k)), operand(x, 1 - k));
    return add_node(op, -1, type_of(x), shape_of(x), list, 2);
  }

  int visit_;
  int with_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
