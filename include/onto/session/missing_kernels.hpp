// SPDX-License-Identifier: BSL-1.0
// What becomes of a kernel that the backend of its device does not have. The placer knows which operations have kernels
// on devices of a kind; a backend need not have every kind of kernel.
#pragma once

#include <onto/graph/placer.hpp>
#include <onto/plan/node_names.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/runtime/device.hpp>
#include <onto/session/requests.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_no_kernel(const graph_view& g, int n, const device& at) {
  message m("[onto.placement] Cannot assign a device for operation ");
  const node_names names(g);
  write_short(names.write(m, n) << ": the backend of ", at.where());
  fail<invalid_argument_error>(m << " (" << at.description()
                                 << ") has no such kernel; place it on another device, as with on<cpu<0>>(...)");
}

/// Whether guards have spread the members of a kernel: it is not run as a whole.
ONTO_COLD inline bool is_spread(const compiled_program& p, const node_placement* where, int root) {
  for (int m = p.kernels.first_member[root]; m >= 0; m = p.kernels.next_member[m])
    if (!(where[m].where == where[root].where)) return true;
  return false;
}

/// Moves kernels to the first device whose backend has them: what was asked for only softly.
/// *Throws* `invalid_argument_error` for one that may not be moved, or is nowhere.
ONTO_COLD ONTO_NOINLINE inline void move_missing_kernels(const compiled_program& p, const program_state& s,
                                                         const device_list& devices, bool soft, node_placement* where) {
  const graph_view& g = p.graph;
  for (int r = 0; r < g.count; ++r) {
    if (p.kernels.kernel_of[r] != r) continue;
    const device& at = devices[devices.index_of(where[r].where)];
    if (p.whole[r].launch[at.slot()].run || is_spread(p, where, r)) continue;
    bool asked = false;
    for (int m = p.kernels.first_member[r]; m >= 0; m = p.kernels.next_member[m]) asked = asked || s.places[m].is_set();
    int d = 0;
    while (d < devices.count() &&
           !(p.whole[r].launch[devices[d].slot()].run && has_kernel(g, r, devices[d].where().kind)))
      ++d;
    if ((asked && !soft) || g[r].kind() == op_kind::assign || d == devices.count()) throw_no_kernel(g, r, at);
    for (int m = p.kernels.first_member[r]; m >= 0; m = p.kernels.next_member[m])
      where[m] = {devices[d].where(), asked ? placement_reason::moved_no_kernel : placement_reason::free};
  }
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
