// SPDX-License-Identifier: BSL-1.0
// Gradients of programs whose nodes values have told apart. Only programs with gradients compile it.
#pragma once

#include <onto/graph/reverse_mode.hpp>
#include <onto/session/refinement.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Derives node `loss` by `of` once more, over the nodes that there are: what `gradient` is at `visit`. Its operations
/// run where those do that they are derived from. *Throws* `invalid_argument_error` where that is more than 2048 nodes.
template <class Refinement>
int derive_again(Refinement& r, int visit, int loss, int of) {
  graph_builder b;
  for (int k = 0; k < r.nodes.size; ++k) {
    const refined_node& x = r.nodes[k];
    graph_node n = x.typed >= 0 ? r.graph()[x.typed] : *x.derived;
    n.id = r.id_of(k);
    n.request = x.request.where;
    n.first = b.operands.size();
    for (int j = 0; j < n.count; ++j) b.operands.push_back(r.operands[x.first + j]);
    b.nodes.push_back(n);
    if (x.typed < 0) b.known.add(n.id, k, -1);
  }
  const int before = r.nodes.size;
  const int found = reverse_pass(b, visit, *r.graph().visits[visit].derivatives).run(loss, of);
  if (b.overflow) fail<invalid_argument_error>(message("[onto.graph] more than 2048 nodes in one run"));
  for (int k = before; k < b.nodes.size(); ++k) {
    graph_node* const made = r.memory().copy(&b.nodes[k], 1);
    made->op = r.memory().copy(made->op, 1);
    refined_node x;
    x.derived = made;
    x.request = r.nodes[made->runs_with].request;
    x.first = r.operands.size;
    for (int j = 0; j < made->count; ++j) r.operands.push_back(r.memory(), b.operands[b.nodes[k].first + j]);
    r.nodes.push_back(r.memory(), x);
  }
  return found;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
