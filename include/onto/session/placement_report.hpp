// SPDX-License-Identifier: BSL-1.0
// Where everything went and why: the placement report, the log, and the error that names every operation without a device.
#pragma once

#include <onto/graph/placer.hpp>
#include <onto/session/requests.hpp>

#include <iosfwd>
#include <ostream>
#include <string>
#include <vector>

namespace onto {

/// One node of a placement report.
struct placement_entry {
  std::string name;        ///< unique in the program: `MatMul_1`
  std::string operation;   ///< `MatMul`
  device_name requested;   ///< constrains nothing where nothing was asked for
  device_name assigned;    ///< the full name of a device
  placement_reason reason = placement_reason::free;
  std::string why;         ///< the reason, in words

  /// `MatMul_1: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0`, and for a moved node the request and the reason.
  std::string to_string() const {
    std::string line = name + ": (" + operation + "): " + assigned.to_string();
    if (is_move(reason)) line += " (requested " + requested.to_string() + "; " + why + ")";
    return line;
  }
};

/// Where the operations of a program run: `session::placement(e)`.
struct placement_report {
  std::vector<placement_entry> nodes;

  /// The entry of a node by its name. *Throws* `not_found_error`.
  const placement_entry& at(std::string_view name) const {
    for (const placement_entry& n : nodes)
      if (n.name == name) return n;
    throw not_found_error("[onto.name] no node '" + std::string(name) + "' in this program");
  }
  /// How many nodes soft placement moved.
  int moved() const {
    int n = 0;
    for (const placement_entry& e : nodes) n += is_move(e.reason) ? 1 : 0;
    return n;
  }
  /// A line a node.
  std::string to_string() const {
    std::string text;
    for (const placement_entry& n : nodes) text += n.to_string() + "\n";
    return text;
  }
};

inline std::ostream& operator<<(std::ostream& out, const placement_report& r) { return out << r.to_string(); }

namespace detail {

/// `CPU (float, double), GPU (float)`.
ONTO_COLD inline std::string kernel_list(const op_info& op) {
  std::string text;
  for (const device_kind kind : {device_kind::cpu, device_kind::gpu}) {
    const element_set set = kind == device_kind::cpu ? op.kernels.cpu : op.kernels.gpu;
    if (!set) continue;
    if (!text.empty()) text += ", ";
    text += kind == device_kind::cpu ? "CPU (" : "GPU (";
    bool first = true;
    for (int e = 0; e < element_count; ++e) {
      if (!(set & one(static_cast<element>(e)))) continue;
      if (!first) text += ", ";
      text += std::string(name_of(static_cast<element>(e)));
      first = false;
    }
    text += ")";
  }
  return text.empty() ? "no device" : text;
}

ONTO_COLD inline std::string variable_of(const graph_view& g, const std::vector<std::string>& names, int n) {
  const int v = g[n].kind() == op_kind::assign ? g.operand(n, 0) : n;
  return names[static_cast<std::size_t>(v)];
}

ONTO_COLD inline std::string kind_name(const std::string& request, const device_name& d) {
  return d.kind().empty() ? request : d.kind();
}

ONTO_COLD inline std::string reason_text(const graph_view& g, const std::vector<std::string>& names, int n, placement_reason r) {
  const op_info& op = *g[n].op;
  switch (r) {
    case placement_reason::free: return "nothing was asked for";
    case placement_reason::requested: return "as requested";
    case placement_reason::consumers: return "where it is used";
    case placement_reason::variable: return "where variable " + variable_of(g, names, n) + " is";
    case placement_reason::moved_no_device: return "moved: no such device";
    case placement_reason::moved_no_kernel:
      return "moved: no kernel there for " + std::string(name_of(g.kernel_element(n))) + "; " + std::string(op.name) +
             " has kernels for: " + kernel_list(op);
    case placement_reason::moved_variable: return "moved: variable " + variable_of(g, names, n) + " is here";
    default: return "no device";
  }
}

ONTO_COLD inline placement_report make_report(const graph_view& g, const program_state& p, const node_placement* where) {
  const std::vector<std::string> names = node_names(g);
  placement_report report;
  for (int n = 0; n < g.count; ++n) {
    if (g[n].kind() == op_kind::scalar) continue;
    const auto k = static_cast<std::size_t>(n);
    placement_entry e;
    e.name = names[k];
    e.operation = std::string(g[n].op->name);
    e.requested = p.requests.empty() ? device_name(p.places[k]) : p.requests[k];
    e.assigned = device_name::local(where[n].where);
    e.reason = where[n].reason;
    e.why = reason_text(g, names, n, e.reason);
    report.nodes.push_back(static_cast<placement_entry&&>(e));
  }
  return report;
}

/// One error for all nodes that could not be placed.
[[noreturn]] ONTO_COLD inline void throw_unplaceable(const graph_view& g, const program_state& p, const node_placement* where,
                                                     const std::vector<place>& devices) {
  const std::vector<std::string> names = node_names(g);
  std::string available;
  for (std::size_t d = devices.size(); d-- > 0;) {  // CPU first, then GPUs by index
    if (devices[d].kind != device_kind::cpu) continue;
    if (!available.empty()) available += ", ";
    available += device_name::local(devices[d]).to_string();
  }
  for (const place& d : devices) {
    if (d.kind == device_kind::cpu) continue;
    if (!available.empty()) available += ", ";
    available += device_name::local(d).to_string();
  }
  std::string text;
  for (int n = 0; n < g.count; ++n) {
    const auto k = static_cast<std::size_t>(n);
    if (!is_error(where[n].reason) || g[n].kind() == op_kind::scalar) continue;
    if (!text.empty()) text += "\n";
    const std::string request = request_text(p, n);
    text += "Cannot assign a device for operation " + names[k] + ": Could not satisfy explicit device specification '" + request +
            "' because ";
    if (where[n].reason == placement_reason::missing_device) {
      text += "no devices matching that specification are registered in this process; available devices: " + available;
    } else if (where[n].reason == placement_reason::elsewhere) {
      text += "variable " + variable_of(g, names, n) + " is on " +
              device_name::local(where[n].where).to_string() + ", and what writes a variable runs where it is";
    } else {
      const place asked = p.places[k];
      text += std::string("no supported kernel for ") + (asked.kind == device_kind::cpu ? "CPU" : asked.is_set() ? "GPU" : "any") +
              " devices is available; " + std::string(g[n].op->name) + " has kernels for: " + kernel_list(*g[n].op);
    }
  }
  throw invalid_argument_error(text);
}

}  // namespace detail

}  // namespace onto
