// SPDX-License-Identifier: BSL-1.0
// Gradients: reverse mode automatic differentiation (backpropagation) of the lowered graph. From the loss down, each
// node's gradient is the sum of what its consumers give it.
#pragma once

#include <onto/graph/structural_derivatives.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class reverse_pass {
 public:
  constexpr reverse_pass(graph_builder& b, int visit, const derivative_rules& rules)
      : b_(b), d_(b, visit), rules_(rules) {}

  /// *Returns* the gradient of node `loss` by node `of`, in the shape of that.
  constexpr int run(int loss, int of) {
    if (b_.overflow || b_.broken) return of;
    find_needed(loss, of);
    if (!needed_[loss]) {
      b_.unreached = true;
      return of;
    }
    find_recomputed(loss);
    for (int n = 0; n <= loss; ++n) {
      gradient_.push_back({});
      stretched_.push_back({});
    }
    d_.run_with(loss);
    gradient_[loss].node = d_.number(d_.type_of(loss), 1);
    for (int n = loss; n >= of; --n) {
      if (n > of && passes_stretched(n)) {
        pass(n, stretched_[n].part, stretched_[n].shape);
        continue;
      }
      sum_stretched(n);
      if (n > of && needed_[n] && gradient_[n].node >= 0) pass(n, gradient_[n], n);
    }
    if (!b_.underived.empty() || b_.overflow) return of;
    if (gradient_[of].node < 0) {
      b_.unreached = true;
      return of;
    }
    d_.run_with(of);
    return d_.stretch(gradient_[of].node, of);
  }

 private:
  /// The gradient of a node so far. It counts only where `condition` holds, if there is one: beyond, it is 0 whatever
  /// else it is multiplied by, so that no NaN comes from what a `where` did not take.
  struct gradient {
    int node = -1;
    int condition = -1;
  };

  /// A part of a node's gradient in the shape of a node that it is broadcast to.
  struct stretched {
    gradient part{};
    int shape = -1;
  };

  /// Which nodes change with `of`, as far as the loss is a function of them that has a derivative.
  constexpr void find_needed(int loss, int of) {
    for (int n = 0; n <= loss; ++n) {
      bool any = n == of;
      for (int k = 0; k < b_.nodes[n].count && n > of && !any; ++k) any = needed_[d_.operand(n, k)];
      const derivative_rule r = rules_.find(b_.nodes[n].op->hash);
      needed_.push_back(any && is_floating(d_.type_of(n)) && (n == of || r.kind != derivative_kind::flat));
    }
  }

  constexpr bool is_recomputed(int n) const {
    const derivative_rule r = rules_.find(b_.nodes[n].op->hash);
    return r.kind == derivative_kind::recomputed;
  }

  /// Finds what is computed again: what is needed by nothing but a `recompute`, or by others that are computed again.
  constexpr void find_recomputed(int loss) {
    growing_list<bool> inside, outside;  // whether it is needed there
    for (int n = 0; n <= loss; ++n) {
      again_.push_back(kept);
      inside.push_back(false);
      outside.push_back(false);
    }
    for (int n = loss; n >= 0; --n) {
      const graph_node& x = b_.nodes[n];
      const bool marked = is_recomputed(n);
      const bool again = inside[n] && !outside[n] && !marked && !x.is_leaf() && x.kind() != op_kind::assign;
      if (again) again_[n] = not_yet;
      for (int k = 0; k < x.count; ++k) (again || marked ? inside : outside)[d_.operand(n, k)] = true;
    }
  }

  /// The node whose value and operands a derivative reads: `n`, or the same computed again.
  constexpr int read_from(int n) {
    if (n >= again_.size() || again_[n] == kept) return n;
    if (again_[n] == not_yet) {
      graph_node again = b_.nodes[n];
      again.id = hash_mix(0x616761696e, again.id);
      again.name = {};
      again.runs_with = n;
      int list[max_operands]{};
      for (int k = 0; k < again.count; ++k) {
        list[k] = read_from(d_.operand(n, k));
        again.id = hash_mix(again.id, static_cast<std::uint64_t>(list[k]));
      }
      again_[n] = b_.derived(again, list);
    }
    return again_[n];
  }

  /// Whether all of a node's gradient has the shape of what the node may be stretched to, and an elementwise operation
  /// gives it on so: the sum of products with what is the same along an axis is the product of the sum. It is summed
  /// where a leaf or another operation needs it, so that all until there is in one kernel. Not where axes are folded
  /// for certain, which makes less to compute.
  constexpr bool passes_stretched(int n) const {
    const stretched& s = stretched_[n];
    return needed_[n] && s.part.node >= 0 && gradient_[n].node < 0 && b_.nodes[n].kind() == op_kind::map &&
           d_.shape_of(s.shape) == d_.shape_of(n);
  }

  /// Gives the operands of `n` their part of its gradient `g`, which has the shape of node `in`: of `n`, or of what
  /// that is stretched to.
  constexpr void pass(int n, const gradient g, int in) {
    const derivative_rule r = rules_.find(b_.nodes[n].op->hash);
    const int from = read_from(n);
    d_.run_with(n);
    const op_kind kind = b_.nodes[n].kind();
    const bool map = kind == op_kind::map;
    for (int k = 0; k < b_.nodes[n].count; ++k) {
      const int o = d_.operand(n, k);
      if (o >= gradient_.size() || !needed_[o]) continue;
      gradient part{-1, map || r.kind == derivative_kind::recomputed ? g.condition : -1};
      if (r.kind == derivative_kind::rule)
        part.node = r.apply(d_, from, k, map ? g.node : d_.stretch(g.node, n));
      else if (is_structural(kind))
        part.node = derive_structural(d_, from, k, g.node);
      else
        part.node = d_.refuse(n);
      if (part.node < 0) continue;
      if (is_operation<op::where>(b_.nodes[n].op)) {
        const int c = d_.operand(from, 0);
        part.condition = both(g.condition, k == 1 ? c : d_.apply<op::logical_not>(element::boolean, c));
      } else if (part.condition >= 0 && part.node != g.node) {
        part.node = only_where(part);
      }
      if (map || kind == op_kind::generator) {
        if (d_.sums_to_extents(part.node, in, o)) {
          collect_stretched(o, part, in);
          continue;
        }
        const int whole = part.node;
        part.node = d_.sum_to(part.node, in, o);
        if (part.node != whole || !(d_.shape_of(in) == d_.shape_of(o))) part.condition = below(part.condition, o);
      }
      collect(o, part);
    }
  }

  constexpr int only_where(const gradient& g) {
    const element type = d_.type_of(g.node);
    return d_.apply<op::where>(type, g.condition, g.node, d_.number(type, 0));
  }

  /// Both conditions, as far as there are any; and that one of them holds.
  constexpr int both(int a, int b) {
    return a < 0 || a == b ? b : b < 0 ? a : d_.apply<op::logical_and>(element::boolean, a, b);
  }
  constexpr int either(int a, int b) {
    if (a < 0 || b < 0 || is_not(a, b) || is_not(b, a)) return -1;
    if (a == b) return a;
    // What both sides of a `where` inside of another give.
    const auto is_both = [&](int n) { return is_operation<op::logical_and>(b_.nodes[n].op); };
    if (is_both(a) && is_both(b) && d_.operand(a, 0) == d_.operand(b, 0) &&
        (is_not(d_.operand(a, 1), d_.operand(b, 1)) || is_not(d_.operand(b, 1), d_.operand(a, 1))))
      return d_.operand(a, 0);
    return d_.apply<op::logical_or>(element::boolean, a, b);
  }
  constexpr bool is_not(int a, int b) const {
    return is_operation<op::logical_not>(b_.nodes[a].op) && d_.operand(a, 0) == b;
  }

  /// Notes a gradient of `o` in the shape of `n`, to which only the run knows whether `o` is stretched. Those of one
  /// shape are added before they are summed, so that it is one sum.
  constexpr void collect_stretched(int o, const gradient& part, int n) {
    stretched& sum = stretched_[o];
    if (sum.part.node >= 0 && d_.same_extents(sum.shape, n)) {
      d_.run_with(o);
      sum = {added(sum.part, part), n};
      return;
    }
    sum_stretched(o);
    stretched_[o] = {part, n};
  }
  constexpr void sum_stretched(int o) {
    if (o >= stretched_.size() || stretched_[o].part.node < 0) return;
    const stretched s = stretched_[o];
    stretched_[o] = {};
    d_.run_with(s.shape);
    collect(o, {d_.sum_to(s.part.node, s.shape, o), below(s.part.condition, o)});
  }

  constexpr void collect(int o, const gradient& part) {
    gradient& sum = gradient_[o];
    if (sum.node < 0) {
      sum = part;
      return;
    }
    if (!b_.nodes[o].is_leaf()) d_.run_with(o);
    sum = added(sum, part);
  }

  /// The sum counts where one of them does.
  constexpr gradient added(const gradient& a, const gradient& b) {
    return {d_.add(a.node, b.node), either(a.condition, b.condition)};
  }

  /// The condition of a gradient that was summed to the shape of `o`: what of it does not differ within a sum.
  constexpr int below(int condition, int o) {
    if (condition < 0 || d_.is_same_along(condition, o)) return condition;
    const bool all = is_operation<op::logical_and>(b_.nodes[condition].op);
    if (!all && !is_operation<op::logical_or>(b_.nodes[condition].op)) return -1;
    const int x = below(d_.operand(condition, 0), o), y = below(d_.operand(condition, 1), o);
    return all ? both(x, y) : either(x, y);
  }

  graph_builder& b_;
  derivation d_;
  const derivative_rules& rules_;
  static constexpr int kept = -1, not_yet = -2;

  growing_list<bool> needed_;
  growing_list<int> again_;  // per node: `kept`, or the node that computes it again
  growing_list<gradient> gradient_;
  growing_list<stretched> stretched_;  // per node
};

/// Adds the gradient of one node by another to a graph.
constexpr int derive_gradient(graph_builder& b, int visit, const node_facts& facts, const place& scope, int loss,
                              int of, const derivative_rules& rules) {
  return b.leave_gradient(visit, facts, scope, reverse_pass(b, visit, rules).run(loss, of), rules);
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
