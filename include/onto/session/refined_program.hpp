// SPDX-License-Identifier: BSL-1.0
// A program whose nodes values have told apart: the compiler's passes run once more, over the nodes there are, and the
// kernels are looked up among those that were compiled.
#pragma once

#include <onto/core/ref.hpp>
#include <onto/graph/builder.hpp>
#include <onto/graph/merge.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/session/requests.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class refined_program;

/// The kernels of a program in which values decide how many nodes there are, and how it is rewritten.
struct value_dependence {
  const keyed_kernel* kernels;
  int kernel_count;
  refined_program* (*rewrite)(const compiled_program& typed, const refinement& nodes);
};

/// Kept by the session, and by what is bound to it.
class refined_program : public counted {
 public:
  static refined_program* rewrite(const compiled_program& typed, const refinement& nodes) {
    ref<refined_program> p(new refined_program(typed, nodes));
    return p.leave();
  }

  const compiled_program& program() const { return program_; }

  /// How many nodes there are beyond those of the types.
  int told_apart() const { return count_nodes(g_) - count_nodes(typed_.graph); }

  /// Whether it is what `nodes` of the program come to.
  bool is_for(const compiled_program& typed, const refinement& r) const {
    if (&typed_ != &typed || r.nodes.size != count_ || r.operands.size != operand_count_) return false;
    for (int k = 0; k < count_; ++k)
      if (typed_node_[k] != r.nodes[k].typed) return false;
    for (int k = 0; k < operand_count_; ++k)
      if (operand_[k] != r.operands[k]) return false;
    for (int k = 0; k < program_.graph.fetch_count; ++k)
      if (fetch_[k] != r.fetches[k]) return false;
    return true;
  }

  /// What its nodes ask for and hold.
  program_state state_of(const refinement& r, arena& memory) const {
    program_state p(count_, r.has_guards(), memory);
    for (int k = 0; k < count_; ++k) p.set(at_[k], r.nodes[k]);
    return p;
  }

 private:
  refined_program(const compiled_program& typed, const refinement& r)
      : typed_(typed), count_(r.nodes.size), operand_count_(r.operands.size) {
    typed_node_ = m_.make<int>(count_);
    for (int k = 0; k < count_; ++k) typed_node_[k] = r.nodes[k].typed;
    operand_ = m_.copy(r.operands.items, operand_count_);
    fetch_ = m_.copy(r.fetches, typed.graph.fetch_count);
    make_graph(r);
    fuse_nodes();
    find_kernels();
    program_.narrow = typed.narrow;
    program_.graph = g_;
    program_.root = root_;
    program_.part = part_;
    program_.via = via_;
    program_.whole = whole_;
    program_.parts = parts_;
    program_.single = single_;
    program_.how = how_;
    program_.part_how = part_how_;
    program_.lone_softmax = lone_softmax_;
  }

  static int count_nodes(const graph_view& g) {
    int nodes = 0;
    for (int n = 0; n < g.count; ++n) nodes += g[n].kind() == op_kind::scalar ? 0 : 1;
    return nodes;
  }

  template <class T>
  T* per_node() {
    return m_.make<T>(count_);
  }

  void make_graph(const refinement& r) {
    auto* written = per_node<graph_node>();
    auto* nodes = per_node<graph_node>();
    int* const operands = m_.copy(operand_, operand_count_);
    int* const fetches = m_.copy(fetch_, typed_.graph.fetch_count);
    extents shapes[max_operands];
    for (int k = 0; k < count_; ++k) {
      graph_node& n = written[k];
      n = typed_.graph[typed_node_[k]];
      n.first = r.nodes[k].first;
      n.visit = -1;
      if (n.is_leaf()) continue;
      // As it was written: chains of products are ordered below.
      for (int j = 0; j < n.count && j < max_operands; ++j) shapes[j] = written[operands[n.first + j]].shape;
      n.shape = n.op->infer(shapes, n.count).shape;
    }
    at_ = per_node<int>();
    order_chains(written, count_, operands, operand_count_, fetches, typed_.graph.fetch_count,
                 {per_node<int>(), per_node<int>(), per_node<bool>(), per_node<bool>()}, at_, nodes);
    g_ = {nodes, count_, operands, fetches, typed_.graph.fetch_count, nullptr, 0};
    for (int n = 0; n < count_; ++n)
      for (int m = 0; g_[n].kind() == op_kind::assign && m < n; ++m)
        if (g_[m].kind() == op_kind::assign && g_.operand(m, 0) == g_.operand(n, 0))
          fail<invalid_argument_error>(message("[onto.variable] one run assigns to variable '")
                                       << g_[g_.operand(n, 0)].name
                                       << "' twice, and the order is not said; assign in two runs");
  }

  void fuse_nodes() {
    root_ = per_node<int>();
    via_ = per_node<int>();
    result_ = per_node<bool>();
    fuse(g_, {root_, per_node<int>(), per_node<int>(), via_, per_node<int>()});
    part_ = m_.copy(root_, count_);
    const int kernels = count_mergeable(g_, root_);
    if (kernels > 0) {
      kernel_merger(g_, root_, via_, kernels,
                    {per_node<int>(), per_node<int>(), per_node<int>(), m_.make<kernel_group>(kernels),
                     m_.make<int>(kernels), m_.make<std::uint64_t>(kernels * ((kernels + 63) / 64))})
          .run();
      mark_results(g_, root_, via_, result_);
    }
  }

  /// Finds for each group a kernel that was compiled: for all of it, for what was merged, or for each operation.
  void find_kernels() {
    whole_ = per_node<kernel_entry>();
    parts_ = per_node<kernel_entry>();
    single_ = per_node<kernel_entry>();
    how_ = per_node<evaluation>();
    part_how_ = per_node<evaluation>();
    lone_softmax_ = per_node<bool>();
    unit_ = per_node<int>();
    registers_ = per_node<int>();
    times_ = per_node<int>();
    none_ = per_node<bool>();
    for (int r = 0; r < count_; ++r)
      if (root_[r] == r && !find_group(root_, result_, r, whole_[r], how_[r])) take_apart(r);
    for (int n = 0; n < count_; ++n) {
      if (root_[n] < 0 || members_of(g_, root_, root_[n]) < 2) continue;
      if (part_[n] == n && part_[n] != root_[n]) find_group(part_, nullptr, n, parts_[n], part_how_[n]);
      find_single(n, single_[n]);
    }
  }

  /// A merged kernel goes back to what it was made of, and what has no kernel then is done one operation at a time.
  void take_apart(int r) {
    for (int n = 0; n <= r; ++n)
      if (root_[n] == r) root_[n] = part_[n];
    for (int p = 0; p <= r; ++p) {
      if (root_[p] != p || part_[p] != p || whole_[p].on_cpu) continue;
      if (find_group(root_, nullptr, p, whole_[p], how_[p])) continue;
      for (int n = 0; n <= p; ++n) {
        if (root_[n] != p) continue;
        root_[n] = part_[n] = n;
        via_[n] = -1;
        how_[n] = evaluation::per_use;
        if (find_single(n, whole_[n])) {
          lone_softmax_[n] = g_[n].kind() == op_kind::row;
        } else {
          for (int k = 0; k < count_; ++k) unit_[k] = k == n ? n : -1;
          if (!find_group(unit_, nullptr, n, whole_[n], how_[n]))
            throw internal_error("[onto.internal] an operation has no kernel of its own");
        }
      }
    }
  }

  bool look_up(const kernel_key& key, kernel_entry& out) const {
    for (int k = 0; k < typed_.values_decide->kernel_count; ++k) {
      const keyed_kernel& known = typed_.values_decide->kernels[k];
      if (!(known.key == key)) continue;
      out = known.entry;
      return true;
    }
    return false;
  }

  bool find_group(const int* unit, const bool* result, int root, kernel_entry& out, evaluation& how) {
    const int node = kernel_node(g_, unit, root);
    if (node != root || !(has_code(g_, unit, root) || is_row_kernel(g_, unit, root))) return find_operation(node, out);
    for (int n = 0; n < count_; ++n) times_[n] = 0;
    const repeated_evaluations r = count_repeated(g_, unit, root, result ? result : none_, times_);
    how = r.preferred();
    if (find_code(unit, result, root, how, out)) return true;
    if (!r.possible || r.lines <= 0) return false;
    how = how == evaluation::once ? evaluation::per_use : evaluation::once;
    return find_code(unit, result, root, how, out);
  }

  /// An operation alone: each operand that may be another node is loaded for itself.
  bool find_single(int n, kernel_entry& out) {
    for (int k = 0; k < count_; ++k) unit_[k] = k == n ? n : -1;
    if (g_[n].kind() != op_kind::view && has_code(g_, unit_, n))
      return find_code(unit_, nullptr, n, evaluation::per_use, out);
    return find_operation(n, out);
  }

  bool find_operation(int n, kernel_entry& out) const { return look_up(operation_key(g_, n), out); }

  bool find_code(const int* unit, const bool* result, int root, evaluation how, kernel_entry& out) {
    arena scratch;
    int room = 4 + 3 * most_repeated;
    for (int n = 0; n < count_; ++n) {
      registers_[n] = -1;
      if (unit[n] == root) room += code_room_for(g_, n);
    }
    auto* lines = scratch.make<code_line>(room);
    kernel_operands o{scratch.make<int>(room), scratch.make<int>(room), 0, scratch.make<int>(room), 0};
    const bool* results = result ? result : none_;
    const int count = code_collector(g_, unit, via_, root, nullptr, 0, {lines, registers_}, o, results, how).run();
    const int fold = g_[root].kind() == op_kind::reduce ? static_cast<int>(fold_of(*g_[root].op)) : -1;
    return look_up({lines, count, fold, is_row_kernel(g_, unit, root)}, out);
  }

  const compiled_program& typed_;
  const int count_;
  const int operand_count_;
  arena m_;
  // What it was made for.
  int* typed_node_ = nullptr;
  int* operand_ = nullptr;
  int* fetch_ = nullptr;

  int* at_ = nullptr;  // where a node is in the graph
  graph_view g_;
  int* root_ = nullptr;
  int* part_ = nullptr;
  int* via_ = nullptr;
  bool* result_ = nullptr;
  kernel_entry* whole_ = nullptr;
  kernel_entry* parts_ = nullptr;
  kernel_entry* single_ = nullptr;
  evaluation* how_ = nullptr;
  evaluation* part_how_ = nullptr;
  bool* lone_softmax_ = nullptr;
  // Room.
  int* unit_ = nullptr;
  int* registers_ = nullptr;
  int* times_ = nullptr;
  const bool* none_ = nullptr;  // no results
  compiled_program program_{};
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
