// SPDX-License-Identifier: BSL-1.0
// A plan for people: its steps as text, its graph as a picture.
#pragma once

#include <onto/plan/node_names.hpp>
#include <onto/plan/plan.hpp>

#include <iosfwd>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {

template <class E>
struct expression_has_no_values {
  using reported = void;
  static constexpr bool ok = sizeof(E) == 0;
  static_assert(ok == true, "[onto.run] an expression has no values to print; print sess.run(e), or plan_of(e).text()");
};

}  // namespace detail

/// Not there: an expression has values when it is run.
template <class Traits, expression E>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const E&) {
  if constexpr (!detail::any_ill_formed<E>)
    static_cast<void>(static_cast<typename detail::expression_has_no_values<E>::reported*>(nullptr));
  return out;
}
template <class Traits, expression... E>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const fetch_list<E...>&) {
  if constexpr (!(detail::any_ill_formed<E> || ...))
    static_cast<void>(static_cast<typename detail::expression_has_no_values<fetch_list<E...>>::reported*>(nullptr));
  return out;
}
template <class Traits, expression First, expression... More>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const std::tuple<First, More...>& several) {
  return out << fetches(several);
}

namespace detail {

/// What text and picture need of a plan, whatever its sizes.
struct plan_view {
  graph_view graph;
  const node_placement* placement;
  kernel_partition kernels;
  const plan_step* steps;
  int step_count;
  const plan_value* values;
};

/// `/job:worker/task:1/`, where a place is of a task.
ONTO_COLD inline message& write_task(message& m, const place& p) {
  if (p.in_task) m << "/job:" << p.task->job << "/task:" << p.task->task << "/";
  return m;
}

ONTO_COLD inline void write_place(message& m, const place& p) {
  if (!p.is_set())
    m << "nowhere";
  else
    write_task(m, p) << (p.kind == device_kind::gpu ? "gpu:" : "cpu:") << p.index;
}

ONTO_COLD inline void write_value(message& m, const graph_view& g, const node_names& names, int node) {
  names.write(m, node) << " " << name_of(g[node].type) << g[node].shape;
}

/// The operations of a kernel, in order: `Mul, Add, Relu`.
ONTO_COLD inline void write_members(message& m, const plan_view& p, int root) {
  const char* comma = "";
  for (int n = p.kernels.first_member[root]; n >= 0; n = p.kernels.next_member[n]) {
    m << comma << p.graph[n].op->name;
    comma = ", ";
  }
}

ONTO_COLD ONTO_NOINLINE inline std::string plan_text(const plan_view& p) {
  message m;
  const node_names names(p.graph);
  for (int k = 0; k < p.step_count; ++k) {
    const plan_step& s = p.steps[k];
    m << (k + 1) << ". ";
    if (s.kind == step_kind::transfer) {
      m << "transfer ";
      write_value(m, p.graph, names, s.node);
      if (const int base = base_of(p.graph, p.kernels, s.node); base != s.node) names.write(m << " of ", base);
      m << " from ";
      write_place(m, s.from);
      m << " to ";
      write_place(m, s.at);
      if (p.values[s.value].bytes >= 0) m << ", " << p.values[s.value].bytes << " bytes";
      if (p.values[s.value].fetch >= 0) m << ", result " << p.values[s.value].fetch;
    } else if (s.kind == step_kind::fetch_copy) {
      m << "copy ";
      write_value(m, p.graph, names, s.node);
      m << " to result " << s.fetch;
    } else if (s.kind == step_kind::broadcast) {
      m << "broadcast " << (s.bucket + 1) << (s.value < 0 ? " from " : " to ");
      write_place(m, s.at);
      write_value(m << ": ", p.graph, names, s.node);
      if (s.value >= 0 && p.values[s.value].bytes >= 0) m << ", " << p.values[s.value].bytes << " bytes";
      if (s.value >= 0 && p.values[s.value].fetch >= 0) m << ", result " << p.values[s.value].fetch;
    } else if (is_collective(s.kind)) {
      write_place(m << name_of(s.kind) << " " << (s.bucket + 1) << " on ", s.at);
      for (int v = s.value; v <= s.value + s.more; ++v) {
        write_value(m << (v == s.value ? ": " : ", "), p.graph, names, p.values[v].node);
        if (const int base = base_of(p.graph, p.kernels, p.values[v].node); base != p.values[v].node)
          names.write(m << " of ", base);
        names.write(m << " from ", p.values[v].term);
        if (p.values[v].fetch >= 0) m << " (result " << p.values[v].fetch << ")";
      }
    } else {
      m << "kernel on ";
      write_place(m, s.at);
      m << ": ";
      // The root's value is the last of them.
      for (int v = s.value + 1; v <= s.value + s.more; ++v) {
        write_value(m, p.graph, names, p.values[v].node);
        if (p.values[v].fetch >= 0) m << " (result " << p.values[v].fetch << ")";
        m << ", ";
      }
      const int fetch = p.values[s.value].fetch;
      write_value(m, p.graph, names, s.node);
      if (fetch >= 0 && s.more > 0) m << " (result " << fetch << ")";
      m << " = ";
      write_members(m, p, s.node);
      if (fetch >= 0 && s.more == 0) m << ", result " << fetch;
      if (p.values[s.value].in_place) m << ", in place";
    }
    m << (s.direct ? ", direct\n" : "\n");
  }
  return m.text();
}

/// The fill of what is in the memory of a device: the CPU grey, the GPUs in turn, told apart with any colour vision and
/// light enough for black letters. *Source* P. Tol, Colour Schemes (SRON/EPS/TN/09-002), "light".
ONTO_COLD inline std::string_view color_of(const place& p) {
  constexpr std::string_view gpus[] = {"#77aadd", "#ee8866", "#eedd88", "#ffaabb",
                                       "#44bb99", "#bbcc33", "#99ddff", "#aaaa00"};
  return p.kind == device_kind::gpu ? gpus[p.index % 8] : std::string_view("#dddddd");
}

/// Draws a plan in Graphviz' language. A box is a kernel, and the operations in it; an ellipse is data of the caller, a
/// cylinder a variable; a dashed arrow is a transfer, one each. A view is a word at an arrow, since nothing runs.
class plan_picture {
 public:
  explicit plan_picture(const plan_view& p) : p_(p), g_(p.graph), names_(p.graph) {}

  ONTO_COLD ONTO_NOINLINE std::string draw() {
    m_ << "digraph plan {\n"
          "  graph [fontname=\"Helvetica\", fontsize=12, labeljust=l];\n"
          "  node [fontname=\"Helvetica\", fontsize=12, shape=box, style=filled, fillcolor=white];\n"
          "  edge [fontname=\"Helvetica\", fontsize=10];\n";
    if (p_.step_count == 0 && g_.fetch_count > 0)
      m_ << "  none [label=\"no device for some operation in this world\", shape=plaintext, style=\"\"];\n";
    else
      draw_steps();
    return (m_ << "}\n").text();
  }

 private:
  ONTO_COLD void draw_steps() {
    for (int n = 0; n < g_.count; ++n)
      if (g_[n].is_leaf() && g_[n].kind() != op_kind::scalar) draw_leaf(n);
    for (int k = 0; k < p_.step_count; ++k) {
      if (is_drawn(k)) draw_kernel(k);
      if (is_box(k)) draw_copy(k);
    }
    for (int n = 0; n < g_.count; ++n)
      if (p_.kernels.runs(n)) draw_operands(n);
    for (int k = 0; k < g_.fetch_count; ++k) draw_result(k);
  }

  ONTO_COLD void draw_leaf(int n) {
    const bool variable = g_[n].kind() == op_kind::variable;
    const place at = variable ? p_.placement[n].where : host;
    m_ << "  n" << n << " [label=\"";
    write_label(n);
    if (variable) write_place(m_ << "\\n", at);
    m_ << "\", shape=" << (variable ? "cylinder" : "ellipse") << ", fillcolor=\"" << color_of(at) << "\"];\n";
  }

  /// A box for a kernel, the first one where it runs on several tasks, and for each sum or concatenation of a
  /// collective.
  ONTO_COLD bool is_drawn(int step) const {
    const plan_step& s = p_.steps[step];
    if (s.kind == step_kind::broadcast) return false;
    if (is_collective(s.kind))
      return step == 0 || p_.steps[step - 1].kind != s.kind || p_.steps[step - 1].bucket != s.bucket;
    for (int k = 0; k < step && s.kind == step_kind::kernel; ++k)
      if (p_.steps[k].kind == step_kind::kernel && p_.steps[k].node == s.node) return false;
    return s.kind == step_kind::kernel;
  }

  ONTO_COLD void draw_kernel(int step) {
    const plan_step& s = p_.steps[step];
    if (is_collective(s.kind)) return draw_collective(step);
    m_ << "  subgraph cluster_" << (step + 1) << " {\n    label=\"";
    write_place(m_, s.at);
    m_ << ", step " << (step + 1) << "\"; style=filled; fillcolor=\"" << color_of(s.at) << "\";\n";
    for (int n = p_.kernels.first_member[s.node]; n >= 0; n = p_.kernels.next_member[n]) {
      m_ << "    n" << n << " [label=\"";
      write_label(n);
      m_ << "\"];\n";
    }
    m_ << "  }\n";
  }

  ONTO_COLD void draw_collective(int step) {
    const plan_step& s = p_.steps[step];
    m_ << "  subgraph cluster_" << (step + 1) << " {\n    label=\"" << name_of(s.kind) << " " << (s.bucket + 1)
       << ", step " << (step + 1) << "\"; style=filled; fillcolor=\"" << color_of(s.at) << "\";\n";
    for (int v = s.value; v <= s.value + s.more; ++v) {
      const int root = base_of(g_, p_.kernels, p_.values[v].node);
      for (int n = p_.kernels.first_member[root]; n >= 0; n = p_.kernels.next_member[n]) {
        m_ << "    n" << n << " [label=\"";
        write_label(n);
        m_ << "\"];\n";
      }
    }
    m_ << "  }\n";
  }

  /// What a transfer made, where more than one arrow leaves it.
  ONTO_COLD void draw_copy(int step) {
    const plan_step& s = p_.steps[step];
    m_ << "  t" << (step + 1) << " [label=\"";
    write_text(name(s.node));
    write_place(m_ << "\\n", s.at);
    m_ << "\", shape=ellipse, fillcolor=\"" << color_of(s.at) << "\"];\n  n" << base_of(g_, p_.kernels, s.node)
       << " -> t" << (step + 1);
    finish_arrow(step, -1, -1);
  }

  ONTO_COLD void draw_operands(int n) {
    for (int k = 0; k < g_[n].count; ++k) {
      const int o = g_.operand(n, k);
      bool again = g_[o].kind() == op_kind::scalar;
      for (int j = 0; j < k; ++j) again = again || g_.operand(n, j) == o;
      if (again) continue;
      const int b = base_of(g_, p_.kernels, o);
      const int kernel = p_.kernels.kernel_of[n];
      const bool inside = p_.kernels.kernel_of[b] == kernel;
      const int transfer = inside ? -1 : start_arrow(o, p_.placement[kernel].where);
      if (inside) m_ << "  n" << b;
      m_ << " -> n" << n;
      finish_arrow(transfer, o, b, g_[n].kind() == op_kind::assign && k == 0 ? n : -1);
    }
  }

  ONTO_COLD void draw_result(int fetch) {
    const int node = g_.fetches[fetch];
    m_ << "  r" << fetch << " [label=\"result " << fetch << "\", shape=plaintext, style=\"\"];\n";
    const int transfer = start_arrow(node, host);
    m_ << " -> r" << fetch;
    finish_arrow(transfer, -1, -1);
  }

  /// Writes where the value of an operand is read on a device. *Returns* the transfer that is the arrow itself, or -1.
  ONTO_COLD int start_arrow(int operand, const place& at) {
    const int step = transfer_to(held_at(operand, at), at);
    m_ << "  ";
    if (step >= 0 && is_box(step)) {
      m_ << "t" << (step + 1);
      return -1;
    }
    m_ << "n" << base_of(g_, p_.kernels, operand);
    return step;
  }

  /// The rest of an arrow: a transfer is dashed, with its bytes; the views from `base` up to `operand` are named;
  /// an arrow between a variable and what writes it points to the variable.
  ONTO_COLD void finish_arrow(int transfer, int operand, int base, int writer = -1) {
    const std::int64_t bytes = transfer < 0 ? -1 : p_.values[p_.steps[transfer].value].bytes;
    const char* separator = " [";
    if (transfer >= 0) {
      m_ << separator << "style=dashed";
      separator = ", ";
    }
    if (writer >= 0) {
      m_ << separator << "dir=" << (g_[writer].op->name == "Assign" ? "back" : "both");
      separator = ", ";
    }
    if (operand != base || bytes >= 0) {
      m_ << separator << "label=\"";
      write_views(operand, base);
      if (operand != base && bytes >= 0) m_ << "\\n";
      if (bytes >= 0) m_ << bytes << " bytes";
      m_ << "\"";
      separator = ", ";
    }
    m_ << (*separator == ',' ? "];\n" : ";\n");
  }

  ONTO_COLD void write_views(int operand, int base) {
    if (operand == base) return;
    const int below = g_.operand(operand, 0);
    write_views(below, base);
    if (below != base) m_ << ", ";
    write_text(name(operand));
  }

  /// What of an operand a device has in memory.
  ONTO_COLD int held_at(int operand, const place& at) const {
    return find_held(g_, p_.kernels, operand, [&](int n) { return transfer_to(n, at) >= 0; });
  }

  /// Whether a step brings a value to where another one is.
  static bool is_copy(const plan_step& s) {
    return s.kind == step_kind::transfer || (s.kind == step_kind::broadcast && s.value >= 0);
  }
  /// The step that copies the value of a node to a device, or -1.
  ONTO_COLD int transfer_to(int node, const place& at) const {
    for (int k = 0; k < p_.step_count; ++k) {
      const plan_step& s = p_.steps[k];
      if (is_copy(s) && s.node == node && s.at == at) return k;
    }
    return -1;
  }

  /// Whether a step is a transfer that is read more than once, and so not drawn as an arrow alone.
  ONTO_COLD bool is_box(int step) const {
    const plan_step& s = p_.steps[step];
    if (!is_copy(s)) return false;
    int readers = 0;
    for (int n = 0; n < g_.count; ++n) {
      const int u = p_.kernels.kernel_of[n];
      if (u < 0 || !(p_.placement[u].where == s.at)) continue;
      for (int k = 0; k < g_[n].count; ++k) {
        const int o = g_.operand(n, k);
        bool again = false;
        for (int j = 0; j < k; ++j) again = again || g_.operand(n, j) == o;
        if (!again && held_at(o, s.at) == s.node && p_.kernels.kernel_of[s.node] != u) ++readers;
      }
    }
    for (int k = 0; k < g_.fetch_count && s.at == host; ++k) readers += g_.fetches[k] == s.node ? 1 : 0;
    return readers > 1;
  }

  ONTO_COLD void write_label(int n) {
    write_text(name(n));
    m_ << "\\n" << name_of(g_[n].type) << g_[n].shape;
  }

  ONTO_COLD std::string name(int n) const { return names_.text(n); }

  /// Text between the quotes of a label.
  ONTO_COLD void write_text(const std::string& s) {
    for (const char& c : s) {
      if (c == '"' || c == '\\') m_ << "\\";
      m_ << (c == '\n' ? std::string_view("\\n") : as_text(c));
    }
  }

  const plan_view& p_;
  const graph_view& g_;
  node_names names_;
  message m_;
};

}  // namespace detail

template <int Nodes, int Steps, int Values, int Devices>
std::string plan<Nodes, Steps, Values, Devices>::text() const {
  return detail::plan_text({graph, placement, units.view(), steps, step_count, values});
}

/// Prints the steps, as `text()`.
template <class Traits, int Nodes, int Steps, int Values, int Devices>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const plan<Nodes, Steps, Values, Devices>& p) {
  return out << p.text();
}

template <int Nodes, int Steps, int Values, int Devices>
std::string plan<Nodes, Steps, Values, Devices>::dot() const {
  return detail::plan_picture({graph, placement, units.view(), steps, step_count, values}).draw();
}

}  // namespace onto

ONTO_END_RUNS_ONCE
