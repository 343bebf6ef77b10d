// SPDX-License-Identifier: BSL-1.0
// Which feed is whose, and what is wrong with it.
#pragma once

#include <onto/expr/symbol.hpp>
#include <onto/ops/assign.hpp>
#include <onto/session/session_runtime.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_fed_nothing(const graph_node& placeholder) {
  fail<invalid_argument_error>(message("[onto.feed] placeholder '")
                               << placeholder.name
                               << "' was fed no values: a null pointer, or a tensor that was moved from");
}

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_not_fed(const graph_node& placeholder) {
  fail<invalid_argument_error>(message("[onto.feed] placeholder '")
                               << placeholder.name << "' is not fed; give run a value: " << placeholder.name
                               << " = data");
}
[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_fed_other_shape(const graph_node& placeholder,
                                                                       const extents& given) {
  fail<invalid_argument_error>(message("[onto.feed] placeholder '")
                               << placeholder.name << "' has shape " << placeholder.shape << " and was fed " << given
                               << "; feed data of that shape");
}

/// Whether a run needs the variable's old value.
inline bool is_read(const graph_view& g, int v) {
  for (int k = 0; k < g.fetch_count; ++k)
    if (g.fetches[k] == v) return true;
  for (int n = 0; n < g.count; ++n)
    for (int k = 0; k < g[n].count; ++k)
      if (g.operand(n, k) == v && !(k == 0 && is_operation<op::assign>(g[n].op))) return true;
  return false;
}

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_no_host_memory() {
  fail<resource_exhausted_error>(
      message("[onto.memory] the system has no memory for what a run keeps on the host; use smaller programs"));
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE

// Of each run, so optimized.
namespace onto::detail {

/// The feed of a placeholder. *Throws* `invalid_argument_error` where there is none, or one of another shape.
ONTO_NOINLINE inline const feed_ref& feed_for(const graph_node& n, const run_request& r) {
  int f = 0;
  while (f < r.feed_count && r.feeds[f]->id != n.id) ++f;
  if (f == r.feed_count) throw_not_fed(n);
  const feed_ref& feed = *r.feeds[f];
  bool fits = n.shape.rank == feed.shape.rank;
  for (int k = 0; fits && k < n.shape.rank; ++k) fits = n.shape.dims[k] == dyn || n.shape.dims[k] == feed.shape.dims[k];
  if (!fits) throw_fed_other_shape(n, feed.shape);
  if (!feed.data && feed.shape.size() != 0) throw_fed_nothing(n);
  return feed;
}

}  // namespace onto::detail
