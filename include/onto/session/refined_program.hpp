// SPDX-License-Identifier: BSL-1.0
// A program whose nodes values have told apart: the compiler's passes run once more, over the nodes there are, and the
// kernels are looked up among those that were compiled.
#pragma once

#include <onto/core/ref.hpp>
#include <onto/graph/lowering.hpp>
#include <onto/graph/passes.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/session/refined_nodes.hpp>
#include <onto/session/requests.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Kept by the session, and by what is bound to it.
class refined_program : public counted {
 public:
  refined_program(const compiled_program& typed, const refinement& r)
      : typed_(typed), written_(r.nodes.size), count_(r.nodes.size), operand_count_(r.operands.size) {
    typed_node_ = m_.make<int>(count_);
    for (int k = 0; k < count_; ++k) typed_node_[k] = r.nodes[k].typed;
    operand_ = m_.copy(r.operands.items, operand_count_);
    fetch_ = m_.copy(r.fetches, typed.graph.fetch_count);
    // Operations alone are not on vectors: to compute again what the kernel of another node computes, too, is cheaper.
    const int alone = make(r, nullptr);
    if (alone >= recompute_limit && make(r, &typed.unmerged) >= alone) make(r, nullptr);
    program_.half_precision = typed.half_precision;
    program_.graph = g_;
    program_.kernels = kernels_;
    program_.unmerged = unmerged_;
    program_.whole = whole_;
    program_.parts = parts_;
    program_.single = single_;
    program_.how = how_;
    program_.part_how = part_how_;
    program_.lone_softmax = lone_softmax_;
  }

  const compiled_program& program() const { return program_; }

  /// How many nodes there are beyond those of the types.
  int told_apart() const { return count_nodes(g_) - count_nodes(typed_.graph); }

  /// Whether it is what `nodes` of the program come to.
  bool is_for(const compiled_program& typed, const refinement& r) const;

  /// What its nodes ask for and hold.
  program_state state_of(const refinement& r, arena& memory) const;

 private:
  /// `repeated`: as refined_nodes has it. *Returns* what an element costs in maps that are kernels by themselves and
  /// were compiled as parts of others; 0 where nodes are of gradients, whose kernels hang on which others there are.
  int make(const refinement& r, const kernel_partition* repeated) {
    general_ = m_.make<int>(written_);
    pass_ = 0;
    do {
      ++pass_;
      made_general_ = false;
      make_graph(r, repeated);
      fuse_nodes();
      find_kernels();
    } while (made_general_);
    int cost = 0;
    for (int k = 0; k < written_; ++k) {
      const int n = at_[k], t = typed_node_[k];
      if (t < 0 || typed_.graph[t].runs_with >= 0) return 0;
      if (n < 0 || !g_[n].is_map() || kernels_.kernel_of[n] != n || kernels_.first_member[n] != n) continue;
      if (const int root = typed_.unmerged.kernel_of[t]; root >= 0 && typed_.unmerged.first_member[root] != root)
        cost += g_[n].op->cost;
    }
    return cost;
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

  void make_graph(const refinement& r, const kernel_partition* repeated) {
    const refined_nodes all(typed_.graph, r, typed_node_, operand_, general_, repeated, m_, put_between_);
    count_ = all.nodes.size;
    graph_node* const written = all.nodes.items;
    auto* nodes = per_node<graph_node>();
    int* const operands = all.operands.items;
    const int operand_count = all.operands.size;
    int* const fetches = m_.copy(fetch_, typed_.graph.fetch_count);
    for (int k = 0; k < typed_.graph.fetch_count; ++k) fetches[k] = all.place_of[fetches[k]];
    // What nothing fetched needs is no part of the program.
    int* const place_of = per_node<int>();
    const int needed = needed_first(written, count_, operands, fetches, typed_.graph.fetch_count, place_of);
    for (int k = 0; k < count_; ++k) nodes[place_of[k]] = written[k];
    for (int k = 0; k < count_; ++k) written[k] = nodes[k];
    for (int k = 0; k < operand_count; ++k) operands[k] = place_of[operands[k]];
    for (int k = 0; k < typed_.graph.fetch_count; ++k) fetches[k] = place_of[fetches[k]];
    int* const moved = per_node<int>();
    for (int k = needed; k < count_; ++k) {
      nodes[k] = written[k];
      moved[k] = k;
    }
    order_chains(written, needed, operands, operand_count, fetches, typed_.graph.fetch_count,
                 {per_node<int>(), per_node<int>(), per_node<bool>(), per_node<bool>()}, moved, nodes);
    const auto now = [&](int k) { return place_of[k] < needed ? moved[place_of[k]] : -1; };
    at_ = m_.make<int>(written_);
    for (int k = 0; k < written_; ++k) at_[k] = now(all.place_of[k]);
    for (int k = 0; k < put_between_.size; ++k) put_between_[k].at = now(put_between_[k].at);
    g_ = {nodes, needed, operands, fetches, typed_.graph.fetch_count, nullptr, 0, count_};
    count_ = needed;
    for (int n = 0; n < count_; ++n)
      for (int m = 0; g_[n].kind() == op_kind::assign && m < n; ++m)
        if (g_[m].kind() == op_kind::assign && g_.operand(m, 0) == g_.operand(n, 0))
          fail<invalid_argument_error>(message("[onto.variable] one run assigns to variable '")
                                       << g_[g_.operand(n, 0)].name
                                       << "' twice, and the order is not said; assign in two runs");
  }

  void fuse_nodes() {
    const int products = count_products(g_);
    kernels_ = kernel_arrays::make(m_, count_, products);
    unmerged_ = kernel_arrays::make(m_, count_, products);
    fusion_passes::run(g_, unmerged_);
    kernels_.copy(unmerged_, count_);
    merging_passes::run(g_, kernels_);
  }

  /// Finds for each group a kernel that was compiled: for all of it, for what was merged, or for each operation.
  void find_kernels() {
    whole_ = per_node<kernel_entry>();
    parts_ = per_node<kernel_entry>();
    single_ = per_node<kernel_entry>();
    how_ = per_node<evaluation>();
    part_how_ = per_node<evaluation>();
    lone_softmax_ = per_node<bool>();
    alone_ = kernel_arrays::make(m_, count_);
    alone_.clear(count_);
    registers_ = per_node<int>();
    times_ = per_node<int>();
    for (int r = 0; r < count_; ++r)
      if (kernels_.kernel_of[r] == r && !find_group(kernels_, r, whole_[r], how_[r])) take_apart(r);
    // A batch is of one kernel, and one that goes over batches.
    for (int r = 0; r < count_; ++r)
      if (const int first = kernels_.kernel_of[r] == r ? kernels_.batch_of[r] : -1; first >= 0) {
        const backend_kernel& one = whole_[first].launch[kernel_entry::host];
        if (!one.batches || whole_[r].launch[kernel_entry::host].run != one.run) kernels_.batch_of[r] = -1;
      }
    const kernel_partition whole = kernels_, parts = unmerged_;
    for (int n = 0; n < count_; ++n) {
      if (!whole.runs(n) || whole.is_single(whole.kernel_of[n])) continue;
      if (parts.kernel_of[n] == n && whole.kernel_of[n] != n) find_group(parts, n, parts_[n], part_how_[n]);
      find_single(n, single_[n]);
    }
  }

  /// A merged kernel goes back to what it was made of, and what has no kernel then is done one operation at a time.
  void take_apart(int r) {
    for (int m = kernels_.first_member[r]; m >= 0; m = kernels_.next_member[m]) {
      kernels_.kernel_of[m] = unmerged_.kernel_of[m];
      kernels_.result[m] = false;
      kernels_.batch_of[m] = -1;
    }
    kernels_.list_members(count_);
    for (int p = 0; p <= r; ++p) {
      if (kernels_.kernel_of[p] != p || unmerged_.kernel_of[p] != p || whole_[p].launch[kernel_entry::host].run)
        continue;
      if (!find_group(kernels_, p, whole_[p], how_[p])) take_out(p);
    }
  }

  /// Makes each member of a kernel one of its own.
  void take_out(int root) {
    int next = -1;
    for (int m = kernels_.first_member[root]; m >= 0; m = next) {
      next = kernels_.next_member[m];
      kernels_.kernel_of[m] = unmerged_.kernel_of[m] = m;
      kernels_.path_of[m] = unmerged_.path_of[m] = -1;
      how_[m] = evaluation::per_use;
      if (find_single(m, whole_[m]))
        lone_softmax_[m] = g_[m].kind() == op_kind::row;
      else if (!find_alone(m, whole_[m], how_[m]))
        make_general(m);
    }
    kernels_.list_members(count_);
    unmerged_.list_members(count_);
  }

  /// Of an operation for which there is no kernel: that it gets every operand from memory. *Throws* where it did.
  void make_general(int n) {
    int k = 0;
    while (k < written_ && at_[k] != n) ++k;
    if (k == written_ || g_[n].runs_with < 0 || (general_[k] > 0 && general_[k] < pass_)) {
      if (g_[n].runs_with < 0) throw internal_error("[onto.internal] an operation has no kernel of its own");
      fail<invalid_argument_error>(
          message("[onto.gradient] parts of the loss have equal types and different values, and their gradient needs a "
                  "kernel of ")
          << g_[n].op->name
          << " that the compiler could not foresee; write the numbers as 0.5_c, or name what holds them: "
             "named<\"h\">(x * 0.5f)");
    }
    general_[k] = pass_;
    made_general_ = true;
  }

  bool look_up(const kernel_key& key, kernel_entry& out) const {
    const value_dependence& d = *typed_.values_decide;
    return look_up(d.kernels, d.kernel_count, key, out) || look_up(d.general, d.general_count, key, out);
  }
  static bool look_up(const keyed_kernel* kernels, int count, const kernel_key& key, kernel_entry& out) {
    for (int k = 0; k < count; ++k) {
      if (!(kernels[k].key == key)) continue;
      out = kernels[k].entry;
      return true;
    }
    return false;
  }

  bool find_group(const kernel_partition& p, int root, kernel_entry& out, evaluation& how) {
    if (const int product = product_of(g_, p, root); product >= 0) return find_operation(product, out);
    if (!has_code(g_, p, root) && !is_row_kernel(g_, p, root)) return find_operation(root, out);
    for (int n = 0; n < count_; ++n) times_[n] = 0;
    const repeated_evaluations r = count_repeated(g_, p, root, times_);
    how = r.preferred();
    if (find_code(p, root, how, out)) return true;
    if (!r.possible || r.lines <= 0) return false;
    how = how == evaluation::once ? evaluation::per_use : evaluation::once;
    return find_code(p, root, how, out);
  }

  /// Calls `f` with a partition that has one kernel, of one operation.
  template <class F>
  bool with_alone(int n, const F& f) {
    alone_.prepend(n, n);
    const bool found = f(kernel_partition(alone_));
    alone_.kernel_of[n] = alone_.first_member[n] = -1;
    return found;
  }

  /// An operation alone: each operand that may be another node is loaded for itself.
  bool find_single(int n, kernel_entry& out) {
    return with_alone(n, [&](const kernel_partition& p) {
      if (g_[n].kind() != op_kind::view && has_code(g_, p, n)) return find_code(p, n, evaluation::per_use, out);
      return find_operation(n, out);
    });
  }
  /// The same as the kernel that it is by itself.
  bool find_alone(int n, kernel_entry& out, evaluation& how) {
    return with_alone(n, [&](const kernel_partition& p) { return find_group(p, n, out, how); });
  }

  bool find_operation(int n, kernel_entry& out) const { return look_up(operation_key(g_, n), out); }

  bool find_code(const kernel_partition& p, int root, evaluation how, kernel_entry& out) {
    arena scratch;
    int capacity = 4 + 3 * most_repeated;
    for (int n = 0; n < count_; ++n) registers_[n] = -1;
    for (int m = p.first_member[root]; m >= 0; m = p.next_member[m]) capacity += most_instructions_of(g_, m);
    auto* lines = scratch.make<kernel_instruction>(capacity);
    kernel_operands o{scratch.make<int>(capacity), scratch.make<int>(capacity), 0, scratch.make<int>(capacity), 0};
    const int count = kernel_codegen(g_, p, root, nullptr, 0, {lines, registers_}, o, how).run();
    return look_up({lines, count, reduction_of_kernel(g_, root), row_order_of_kernel(g_, p, root)}, out);
  }

  const compiled_program& typed_;
  const int written_;  // nodes, with those that nothing fetched needs
  int count_;          // without them, once the graph is made
  const int operand_count_;
  arena m_;
  // What it was made for.
  int* typed_node_ = nullptr;
  int* operand_ = nullptr;
  int* fetch_ = nullptr;

  int* at_ = nullptr;  // where a node is in the graph
  graph_view g_;
  kernel_arrays kernels_;
  kernel_arrays unmerged_;  // before some were merged
  kernel_entry* whole_ = nullptr;
  kernel_entry* parts_ = nullptr;
  kernel_entry* single_ = nullptr;
  evaluation* how_ = nullptr;
  evaluation* part_how_ = nullptr;
  bool* lone_softmax_ = nullptr;
  int* general_ =
      nullptr;  // per node of the refinement: since which pass it reads all operands from memory; 0: it does not
  int pass_ = 0;
  bool made_general_ = false;
  arena_list<node_between> put_between_;
  // Room.
  kernel_arrays alone_;
  int* registers_ = nullptr;
  int* times_ = nullptr;
  compiled_program program_{};
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE

// What each run asks is optimized.
namespace onto::detail {

inline bool refined_program::is_for(const compiled_program& typed, const refinement& r) const {
  if (&typed_ != &typed || r.nodes.size != written_ || r.operands.size != operand_count_) return false;
  for (int k = 0; k < written_; ++k)
    if (typed_node_[k] != r.nodes[k].typed) return false;
  for (int k = 0; k < operand_count_; ++k)
    if (operand_[k] != r.operands[k]) return false;
  for (int k = 0; k < program_.graph.fetch_count; ++k)
    if (fetch_[k] != r.fetches[k]) return false;
  return true;
}

inline program_state refined_program::state_of(const refinement& r, arena& memory) const {
  program_state p(count_, r.has_guards(), memory);
  for (int k = 0; k < written_; ++k)
    if (at_[k] >= 0) p.set(at_[k], r.nodes[k]);
  for (int k = 0; k < put_between_.size; ++k)
    if (put_between_[k].at >= 0) {
      refined_node like = r.nodes[put_between_[k].reader];
      like.values = nullptr;
      p.set(put_between_[k].at, like);
    }
  return p;
}

}  // namespace onto::detail
