// SPDX-License-Identifier: BSL-1.0
// Where everything went and why, as a structure that prints: `session::placement(e)`.
#pragma once

#include <onto/core/json.hpp>
#include <onto/device/device_name.hpp>
#include <onto/session/bound_program.hpp>
#include <onto/session/placement_text.hpp>

#include <iosfwd>
#include <ostream>
#include <string>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// A reason in a word that stays the same, for programs that read reports: `requested`, `moved_no_device`.
constexpr std::string_view name_of(placement_reason r) {
  constexpr std::string_view names[] = {
      "free",           "requested",      "consumers", "variable", "moved_no_device", "moved_no_kernel",
      "moved_variable", "missing_device", "no_kernel", "elsewhere"};
  return names[static_cast<int>(r)];
}

/// One node of a placement report.
struct placement_entry {
  std::string name;       ///< unique in the program: `MatMul_1`
  std::string operation;  ///< `MatMul`
  device_name requested;  ///< constrains nothing where nothing was asked for
  device_name assigned;   ///< the full name of a device
  placement_reason reason = placement_reason::free;
  std::string why;  ///< the reason, in words

  /// `MatMul_1: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0`, and for a moved node the request and the
  /// reason.
  std::string to_string() const {
    detail::message line;
    detail::write_on_line(line, name) << ": (" << operation << "): " << assigned.to_string();
    if (is_move(reason)) line << " (requested " << requested.to_string() << "; " << why << ")";
    return line.text();
  }
};

/// Where the operations of a program run.
struct placement_report {
  std::vector<placement_entry> nodes;
  /// How many nodes there are beyond those that `plan_of` counts, since unnamed scalars or constants differ where types
  /// are equal.
  int told_apart = 0;

  /// The entry of a node by its name. *Throws* `not_found_error`.
  const placement_entry& at(std::string_view name) const {
    for (const placement_entry& n : nodes)
      if (n.name == name) return n;
    throw not_found_error("[onto.name] no node '" + std::string(name) +
                          "' in this program; placement(e).to_string() lists them");
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
    if (told_apart > 0) text += detail::told_apart_line(told_apart) + "\n";
    return text;
  }
  /// The same as a JSON document, a line a node: `nodes` with `name operation requested assigned reason why`, where
  /// `requested` is null if nothing was, and `summary` with `total moved`, and `told_apart` if it is not 0.
  std::string to_json() const {
    detail::message m("{\n  \"nodes\": [");
    const char* separator = "\n";
    for (const placement_entry& n : nodes) {
      detail::write_json_string(m << separator << "    {\"name\": ", n.name);
      detail::write_json_string(m << ", \"operation\": ", n.operation);
      m << ", \"requested\": ";
      if (n.requested.constrains_nothing())
        m << "null";
      else
        detail::write_json_string(m, n.requested.to_string());
      detail::write_json_string(m << ", \"assigned\": ", n.assigned.to_string());
      detail::write_json_string(m << ", \"reason\": ", name_of(n.reason));
      detail::write_json_string(m << ", \"why\": ", n.why) << "}";
      separator = ",\n";
    }
    m << (nodes.empty() ? "" : "\n  ") << "],\n  \"summary\": {\"total\": " << static_cast<std::int64_t>(nodes.size())
      << ", \"moved\": " << moved();
    if (told_apart > 0) m << ", \"told_apart\": " << told_apart;
    m << "}\n}\n";
    return m.text();
  }
};

inline std::ostream& operator<<(std::ostream& out, const placement_report& r) { return out << r.to_string(); }

namespace detail {

inline placement_report make_report(const meaning& m, const node_placement* where) {
  const graph_view& g = m.program->graph;
  const program_state& p = m.state;
  placement_report report;
  report.told_apart = m.refined ? m.refined->told_apart() : 0;
  const node_names names(g);
  for (int n = 0; n < g.count; ++n) {
    if (g[n].kind() == op_kind::scalar) continue;
    placement_entry e;
    message request, why;
    write_request(request, p, n);
    write_reason(why, g, n, where[n].reason);
    e.name = names.text(n);
    e.operation = std::string(g[n].op->name);
    e.requested = device_name::parse(request.text());
    e.assigned = device_name::local(where[n].where);
    e.reason = where[n].reason;
    e.why = why.text();
    report.nodes.push_back(static_cast<placement_entry&&>(e));
  }
  return report;
}

}  // namespace detail

}  // namespace onto

ONTO_END_RUNS_ONCE
