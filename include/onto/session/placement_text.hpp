// SPDX-License-Identifier: BSL-1.0
// Placement in words: the lines of the log, and the error that names every operation without a device.
#pragma once

#include <onto/graph/placer.hpp>
#include <onto/session/requests.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// `CPU (float, double), GPU (float)`.
ONTO_COLD ONTO_NOINLINE inline void write_kernels(message& m, const op_info& op) {
  const char* separator = "";
  for (int kind = 0; kind < 2; ++kind) {
    const element_set set = kind == 0 ? op.kernels.cpu : op.kernels.gpu;
    if (!set) continue;
    m << separator << (kind == 0 ? "CPU (" : "GPU (");
    const char* comma = "";
    for (int e = 0; e < element_count; ++e) {
      if (!(set & element_bit(static_cast<element>(e)))) continue;
      m << comma << name_of(static_cast<element>(e));
      comma = ", ";
    }
    m << ")";
    separator = ", ";
  }
  if (!*separator) m << "no device";
}

/// The variable that node `n` is or writes.
ONTO_COLD inline void write_variable(message& m, const graph_view& g, int n) {
  write_on_line(m, g[g[n].kind() == op_kind::assign ? g.operand(n, 0) : n].name);
}

ONTO_COLD ONTO_NOINLINE inline void write_reason(message& m, const graph_view& g, int n, placement_reason r) {
  switch (r) {
    case placement_reason::free: m << "nothing was asked for"; break;
    case placement_reason::requested: m << "as requested"; break;
    case placement_reason::consumers: m << "where it is used"; break;
    case placement_reason::variable:
      m << "where variable ";
      write_variable(m, g, n);
      m << " is";
      break;
    case placement_reason::moved_no_device: m << "moved: no such device"; break;
    case placement_reason::moved_no_kernel:
      m << "moved: no " << name_of(g.kernel_element(n)) << " kernel there; " << g[n].op->name << " has kernels for: ";
      write_kernels(m, *g[n].op);
      break;
    case placement_reason::moved_variable:
      m << "moved: variable ";
      write_variable(m, g, n);
      m << " is here";
      break;
    default: m << "no device";
  }
}

/// `MatMul_1: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0`, and for a moved node the request and the reason.
ONTO_COLD ONTO_NOINLINE inline void write_placement(message& m, const graph_view& g, const node_names& names,
                                                    const program_state& p, int n, const node_placement& where) {
  names.write(m, n) << ": (" << g[n].op->name << "): ";
  write_device(m, where.where);
  if (!is_move(where.reason)) return;
  m << " (requested ";
  write_request(m, p, n) << "; ";
  write_reason(m, g, n, where.reason);
  m << ")";
}

/// One error for all nodes that could not be placed.
[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void throw_unplaceable(const graph_view& g, const program_state& p,
                                                                   const node_placement* where, const place* devices,
                                                                   int count) {
  message m;
  const node_names names(g);
  for (int n = 0; n < g.count; ++n) {
    if (!is_error(where[n].reason) || g[n].kind() == op_kind::scalar) continue;
    if (!m.empty()) m << "\n";
    names.write(m << "Cannot assign a device for operation ", n)
        << ": Could not satisfy explicit device specification '";
    write_request(m, p, n) << "' because ";
    if (where[n].reason == placement_reason::missing_device) {
      m << "no devices matching that specification are registered in this process; available devices: ";
      const char* comma = "";
      for (const bool of_host : {true, false}) {  // in the order of `session::devices`
        for (int d = 0; d < count; ++d) {
          if ((devices[d].kind == device_kind::cpu) != of_host) continue;
          write_device(m << comma, devices[d]);
          comma = ", ";
        }
      }
    } else if (where[n].reason == placement_reason::elsewhere) {
      m << "variable ";
      write_variable(m, g, n);
      write_device(m << " is on ", where[n].where)
          << (g[n].kind() == op_kind::assign ? ", and what writes a variable runs where it is"
                                             : ", and a variable stays where it got its first value; ask for that "
                                               "device or for none");
    } else {
      m << "no supported kernel for "
        << (p.places[n].kind == device_kind::cpu ? "CPU"
            : p.places[n].is_set()               ? "GPU"
                                                 : "any")
        << " devices is available; " << g[n].op->name << " has kernels for: ";
      write_kernels(m, *g[n].op);
    }
  }
  fail<invalid_argument_error>(m);
}

/// Says that a program has more nodes than its types tell.
ONTO_COLD inline std::string told_apart_line(int nodes) {
  message m;
  m << nodes << (nodes == 1 ? " node" : " nodes") << " more than plan_of counts: values differ where types are equal";
  return m.text();
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
