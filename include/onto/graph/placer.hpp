// SPDX-License-Identifier: BSL-1.0
// The one placer. The compiler runs it on the devices a world names, the session on the devices it found.
#pragma once

#include <onto/graph/graph.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// Why a node is where it is, or why it can be nowhere.
enum class placement_reason : std::uint8_t {
  free,             ///< nothing was asked for: the first device with a kernel
  requested,        ///< where the program asked
  consumers,        ///< a symbol or constant: where it is used
  variable,         ///< writes a variable: where the variable is
  moved_no_device,  ///< soft placement: no such device
  moved_no_kernel,  ///< soft placement: no kernel for the operation there
  moved_variable,   ///< soft placement: it writes a variable that is elsewhere
  missing_device,   ///< error: no such device
  no_kernel,        ///< error: no kernel for the operation there
  elsewhere,        ///< error: it writes a variable that is elsewhere
};

constexpr bool is_error(placement_reason r) { return r >= placement_reason::missing_device; }
constexpr bool is_move(placement_reason r) {
  return r == placement_reason::moved_no_device || r == placement_reason::moved_no_kernel ||
         r == placement_reason::moved_variable;
}

/// Where one node runs.
struct node_placement {
  place where{};
  placement_reason reason = placement_reason::free;
};

/// What the placer is told beside the graph.
struct placer_input {
  const place* requests = nullptr;  // per node
  const bool* foreign = nullptr;    // per node: asks for a device that no process has; or null
  const place* pinned = nullptr;    // per node: where a variable already lives; or null
  const place* devices = nullptr;   // task by task in order of preference: GPU before CPU, then the lowest index
  int device_count = 0;
  bool soft = false;
};

namespace detail {

inline constexpr place host{device_kind::cpu, 0};

constexpr bool in_host_memory(const graph_node& n) {
  return n.kind() == op_kind::placeholder || n.kind() == op_kind::constant;
}

constexpr bool matches(const place& request, const place& device) {
  return task_matches(request, device) &&
         (request.kind == device_kind::none ||
          (request.kind == device.kind && (request.index < 0 || request.index == device.index)));
}

constexpr bool has_kernel(const graph_view& g, int n, device_kind kind) {
  return g[n].op->kernels.has(kind, g.kernel_element(n));
}

/// Chooses for one node by its request alone.
constexpr node_placement choose(const graph_view& g, int n, const place& request, bool foreign,
                                const placer_input& in) {
  bool device_exists = false;
  if (!foreign) {
    for (int d = 0; d < in.device_count; ++d) {
      if (!matches(request, in.devices[d])) continue;
      device_exists = true;
      if (has_kernel(g, n, in.devices[d].kind))
        return {in.devices[d], request.is_set() ? placement_reason::requested : placement_reason::free};
    }
  }
  if (!in.soft || foreign || !request.is_set())
    return {place{}, device_exists ? placement_reason::no_kernel : placement_reason::missing_device};

  // Nothing is moved to another task.
  int first = 0;
  while (first < in.device_count && !task_matches(request, in.devices[first])) ++first;
  if (first == in.device_count) return {place{}, placement_reason::missing_device};
  const auto is_near = [&](int d) { return same_task(in.devices[d], in.devices[first]); };

  const placement_reason moved = device_exists ? placement_reason::moved_no_kernel : placement_reason::moved_no_device;
  int same_kind = 0;
  for (int d = first; d < in.device_count; ++d) same_kind += in.devices[d].kind == request.kind && is_near(d) ? 1 : 0;
  if (same_kind > 0 && has_kernel(g, n, request.kind)) {
    int wanted = (request.index < 0 ? 0 : request.index) % same_kind;
    for (int d = first; d < in.device_count; ++d)
      if (in.devices[d].kind == request.kind && is_near(d) && wanted-- == 0) return {in.devices[d], moved};
  }
  for (int d = first; d < in.device_count; ++d)
    if (in.devices[d].kind == device_kind::cpu && is_near(d) && has_kernel(g, n, device_kind::cpu))
      return {in.devices[d], moved};
  return {place{}, device_exists ? placement_reason::no_kernel : placement_reason::missing_device};
}

/// Whether a device is in the list.
constexpr bool is_there(const placer_input& in, const place& p) {
  for (int d = 0; d < in.device_count; ++d)
    if (in.devices[d] == p) return true;
  return false;
}

/// Places symbols and constants: where asked, else where their consumers agree, else by the order of devices.
constexpr void place_leaves(const graph_view& g, const placer_input& in, node_placement* out, bool variables) {
  const auto concerned = [&](int n) {
    return g[n].is_leaf() && g[n].kind() != op_kind::scalar && (g[n].kind() == op_kind::variable) == variables;
  };
  for (int u = 0; u < g.count; ++u) {
    if (g[u].is_leaf() || !out[u].where.is_set()) continue;
    for (int k = 0; k < g[u].count; ++k) {
      node_placement& o = out[g.operand(u, k)];
      if (!concerned(g.operand(u, k))) continue;
      if (!o.where.is_set())
        o = {out[u].where, placement_reason::consumers};
      else if (!(o.where == out[u].where))
        o.reason = placement_reason::free;  // they disagree
    }
  }
  for (int n = 0; n < g.count; ++n) {
    if (!concerned(n)) continue;
    const place agreed = out[n].reason == placement_reason::consumers ? out[n].where : place{};
    const bool is_foreign = in.foreign && in.foreign[n];
    const bool asked = in.requests[n].is_set() || is_foreign;
    if (in.pinned && in.pinned[n].is_set()) {
      out[n] = {in.pinned[n], placement_reason::free};
      if (!asked) continue;
      const node_placement wish = choose(g, n, in.requests[n], is_foreign, in);
      out[n].reason = wish.where == in.pinned[n]                              ? wish.reason
                      : in.soft && task_matches(in.requests[n], in.pinned[n]) ? placement_reason::moved_variable
                                                                              : placement_reason::elsewhere;
    } else if (!asked && agreed.is_set() && has_kernel(g, n, agreed.kind)) {
      out[n] = {agreed, placement_reason::consumers};
    } else {
      out[n] = choose(g, n, in.requests[n], is_foreign, in);
    }
  }
}

/// Places what an optimizer computes for a variable, and what it keeps, where the variable is.
constexpr void place_with_variable(const graph_view& g, int n, const placer_input& in, node_placement* out) {
  const bool asked = in.requests[n].is_set() || (in.foreign && in.foreign[n]);
  if (g[n].is_leaf() && (asked || (in.pinned && in.pinned[n].is_set()))) return;
  int v = 0;
  while (v < g.count && !(g[v].kind() == op_kind::variable && g[v].id == g[n].variable)) ++v;
  const place home = v < g.count ? out[v].where : place{};
  if (is_there(in, home) && has_kernel(g, n, home.kind))
    out[n] = {home, placement_reason::variable};
  else if (!g[n].is_leaf())
    out[n] = choose(g, n, in.requests[n], in.foreign && in.foreign[n], in);
}

}  // namespace detail

/// Places every node of a graph. `out` has room for `g.count`. Returns whether all could be placed; where not, the
/// reasons tell.
constexpr bool place_nodes(const graph_view& g, const placer_input& in, node_placement* out) {
  using detail::choose;
  const auto foreign = [&](int n) { return in.foreign && in.foreign[n]; };

  // Operations by their own request.
  for (int n = 0; n < g.count; ++n) {
    out[n] = node_placement{};
    if (!g[n].is_leaf() && !g[n].variable) out[n] = choose(g, n, in.requests[n], foreign(n), in);
  }

  // Variables first, since what writes them runs where they are; then the other leaves, which go where they are used.
  detail::place_leaves(g, in, out, true);
  for (int n = 0; n < g.count; ++n)
    if (g[n].variable) detail::place_with_variable(g, n, in, out);
  for (int n = 0; n < g.count; ++n) {
    if (g[n].kind() != op_kind::assign || foreign(n)) continue;
    const place home = out[g.operand(n, 0)].where;
    if (!detail::is_there(in, home) || out[n].where == home) continue;
    const bool asked = in.requests[n].is_set() && !detail::matches(in.requests[n], home);
    out[n].where = home;
    out[n].reason = !asked                                                  ? placement_reason::variable
                    : in.soft && detail::task_matches(in.requests[n], home) ? placement_reason::moved_variable
                                                                            : placement_reason::elsewhere;
  }
  detail::place_leaves(g, in, out, false);

  // Scalars are not anywhere; they travel with the kernels.
  bool all = true;
  for (int n = 0; n < g.count; ++n) all = all && (!is_error(out[n].reason) || g[n].kind() == op_kind::scalar);
  return all;
}

}  // namespace onto

ONTO_END_RUNS_ONCE
