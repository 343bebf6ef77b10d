// SPDX-License-Identifier: BSL-1.0
// How placement reports are made and printed.
#pragma once

#include <onto/core/json.hpp>
#include <onto/session/placement_report.hpp>
#include <onto/session/placement_text.hpp>
#include <onto/session/refined_programs.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

#if ONTO_DEFINITIONS

ONTO_RUNTIME std::string placement_entry::to_string() const {
  detail::message line;
  detail::write_on_line(line, name) << ": (" << operation << "): " << assigned.to_string();
  if (is_move(reason)) line << " (requested " << requested.to_string() << "; " << why << ")";
  return line.text();
}

ONTO_RUNTIME const placement_entry& placement_report::at(std::string_view name) const {
  for (const placement_entry& n : nodes)
    if (n.name == name) return n;
  throw not_found_error("[onto.name] no node '" + std::string(name) +
                        "' in this program; placement(e).to_string() lists them");
}

ONTO_RUNTIME int placement_report::moved() const {
  int n = 0;
  for (const placement_entry& e : nodes) n += is_move(e.reason) ? 1 : 0;
  return n;
}

ONTO_RUNTIME std::string placement_report::to_string() const {
  std::string text;
  for (const placement_entry& n : nodes) text += n.to_string() + "\n";
  if (told_apart > 0) text += detail::told_apart_line(told_apart) + "\n";
  return text;
}

ONTO_RUNTIME std::string placement_report::to_json() const {
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

#endif

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
