// SPDX-License-Identifier: BSL-1.0
// The names of a graph's nodes in logs, errors and pictures: the program's own, else the operation's, made unique with
// _1, _2.
#pragma once

#include <onto/core/arena.hpp>
#include <onto/core/message.hpp>
#include <onto/graph/graph.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Writes a name so that it stays on one line, whatever is in it.
ONTO_COLD ONTO_NOINLINE inline message& write_on_line(message& m, std::string_view name) {
  for (const char& c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n')
      m << "\\n";
    else if (c == '\t')
      m << "\\t";
    else if (code < 32 || code == 127)
      m << "\\x" << as_text(hex_digits[code / 16]) << as_text(hex_digits[code % 16]);
    else
      m << as_text(c);
  }
  return m;
}

/// The names of all nodes of a graph. *Complexity* of making them: linear, but where names look like made ones.
class node_names {
 public:
  ONTO_COLD ONTO_NOINLINE explicit node_names(const graph_view& g) : g_(g), number_(memory_.make<int>(g.count)) {
    while (slots_ < 2 * g.count) slots_ *= 2;
    given_ = memory_.make<int>(slots_);
    auto* operations = memory_.make<int>(slots_);  // the last node of each operation
    for (int k = 0; k < slots_; ++k) given_[k] = operations[k] = -1;
    for (int n = 0; n < g.count; ++n)
      if (!g[n].name.empty()) given_[slot_of(given_, g[n].name, false)] = n;
    for (int n = 0; n < g.count; ++n) {
      if (!g[n].name.empty()) continue;
      int& last = operations[slot_of(operations, g[n].op->name, true)];
      // Past the numbers that the program has given away.
      number_[n] = last < 0 ? -1 : number_[last];
      do ++number_[n];
      while (is_given(g[n].op->name, number_[n]));
      last = n;
    }
  }

  /// Writes the name of node `n`, on one line; nothing for a scalar.
  ONTO_COLD ONTO_NOINLINE message& write(message& m, int n) const { return write_on_line(m, text(n)); }

  /// The name as the program gave it.
  ONTO_COLD ONTO_NOINLINE std::string text(int n) const {
    if (!g_[n].name.empty()) return std::string(g_[n].name);
    return g_[n].kind() == op_kind::scalar ? std::string() : numbered(g_[n].op->name, number_[n]);
  }

 private:
  ONTO_COLD static std::string numbered(std::string_view stem, int number) {
    message m(stem);
    if (number) m << "_" << number;
    return m.text();
  }

  std::string_view key(int node, bool operation) const { return operation ? g_[node].op->name : g_[node].name; }

  /// Where a name is in a table, or would be.
  int slot_of(const int* table, std::string_view name, bool operation) const {
    auto k = static_cast<int>(hash_text(name) % static_cast<std::uint64_t>(slots_));
    while (table[k] >= 0 && key(table[k], operation) != name) k = k + 1 < slots_ ? k + 1 : 0;
    return k;
  }

  ONTO_COLD bool is_given(std::string_view stem, int number) const {
    const std::string with_number = number ? numbered(stem, number) : std::string();
    return given_[slot_of(given_, number ? std::string_view(with_number) : stem, false)] >= 0;
  }

  const graph_view& g_;
  arena memory_;
  int* number_;
  int* given_ = nullptr;  // the nodes with names of the program's, by name
  int slots_ = 16;
};

/// Writes the name of node `n`, on one line; nothing for a scalar. For one or two of them: it looks at the whole graph.
ONTO_COLD ONTO_NOINLINE inline message& write_name(message& m, const graph_view& g, int n) {
  return node_names(g).write(m, n);
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
