// SPDX-License-Identifier: BSL-1.0
// A kernel's instructions: what a group of fused nodes computes, over numbered registers, and which values it loads.
// The compiler turns them into a kernel's type; the session reads the same lists to know what to pass.
#pragma once

#include <onto/graph/row_fusion.hpp>
#include <onto/ops/assign.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// One instruction, before it is a type. `op` counts in the expression's list of operations, or says what is loaded.
struct kernel_instruction {
  static constexpr int input = -1;
  static constexpr int scalar = -2;
  static constexpr int store = -3;
  // Of a row kernel, where its stages are not yet apart.
  static constexpr int folded = -4;  // of register argument[0], by the fold argument[1]
  // What softmax is made of.
  static constexpr int row_exp = -16;  // of a difference
  static constexpr int row_inverse = -17;
  static constexpr int row_multiply = -18;
  static constexpr int row_subtract = -19;
  static constexpr int row_log = -20;

  int op = input;
  std::uint64_t hash = 0;  // of the operation, where it is one
  element type = element::float32;
  int argument[4] = {};  // registers, or the slot of a load; of a store the slot and a register
  int count = 0;
  int cost = 0;         // of a row kernel: operations
  bool column = false;  // and whether there is one value for each row
};

/// The values a kernel is given: for each input slot a node (a leaf, a view or the result of another kernel), for each
/// scalar slot a scalar node.
struct kernel_operands {
  int* inputs = nullptr;
  int* paths = nullptr;  // of each input: the view path it is read through, see view_path.hpp
  int input_count = 0;
  int* scalars = nullptr;
  int scalar_count = 0;
};

/// Room for `kernel_codegen`: `lines` for as many as `most_instructions_of` the members; `register_of` for all nodes,
/// filled with -1.
struct codegen_scratch {
  kernel_instruction* lines = nullptr;
  int* register_of = nullptr;
};

/// The most instructions that come of one node, with its store.
constexpr int most_instructions_of(const graph_view& g, int n) {
  return 2 * g[n].count + (g[n].kind() == op_kind::row ? 8 : 2);
}

/// How often a kernel evaluates a member that holds values and is used several times. Once: it is one node. Or once for
/// each use: then the same instructions do where it stands for several nodes, whose values differ.
enum class evaluation : bool { once, per_use };

/// At most as many instructions more has a kernel that evaluates per use.
inline constexpr int most_repeated = 16;
/// And where they cost no more than this many operations, the kernel always does.
inline constexpr int cheap_repeated = 3;

/// What it takes a kernel to evaluate per use.
struct repeated_evaluations {
  int lines = 0;  // instructions more
  int cost = 0;   // operations more, and reads
  bool possible = true;

  /// The one way, or the one to be preferred.
  constexpr evaluation preferred() const {
    return possible && lines > 0 && cost <= cheap_repeated ? evaluation::per_use : evaluation::once;
  }
  /// Whether both are worth having: dear, and still short.
  constexpr bool both() const { return possible && lines > 0 && lines <= most_repeated && cost > cheap_repeated; }
};

/// `times` has room for all nodes, and is filled with 0. *Complexity* linear in nodes.
constexpr repeated_evaluations count_repeated(const graph_view& g, const kernel_partition& p, int root, int* times) {
  repeated_evaluations r;
  constexpr int limit = 1000;
  constexpr int read_cost = 2;
  times[root] = 1;
  for (int n = root; n >= 0; --n) {
    if (p.kernel_of[n] != root) continue;
    const graph_node& x = g[n];
    // Folds over rows are taken apart into stages, and further results are of one evaluation.
    if (n != root && (x.kind() == op_kind::reduce || p.result[n])) r.possible = false;
    if (!is_coded(x.kind()) && x.kind() != op_kind::view) r.possible = false;
    if (!x.holds_values) times[n] = 1;
    const int lines = x.count <= 4 ? 1 : x.count - 1;
    r.lines += (times[n] - 1) * lines;
    r.cost += (times[n] - 1) * x.op->cost;
    const bool overwrites = is_operation<op::assign>(x.op);
    for (int k = overwrites ? 1 : 0; k < x.count; ++k) {
      const int o = g.operand(n, k);
      const int base = base_of(g, p, o);
      if (!g[base].holds_values) continue;
      if (p.kernel_of[base] != root) {
        const bool reads = g[base].kind() != op_kind::scalar;
        const int more = times[n] - (times[base] == 0 ? 1 : 0);
        r.lines += more;
        r.cost += reads ? more * read_cost : 0;
      }
      times[base] += times[n];
      if (times[base] > limit) times[base] = limit;
    }
    if (r.lines > limit) r.lines = limit;
    if (r.cost > limit) r.cost = limit;
  }
  r.possible = r.possible && r.lines <= most_repeated;
  return r;
}

class kernel_codegen {
 public:
  /// `ops`: the operations of the expression, by hash, or null.
  constexpr kernel_codegen(const graph_view& g, const kernel_partition& kernels, int root, const std::uint64_t* ops,
                           int op_count, const codegen_scratch& scratch, kernel_operands& operands, evaluation how)
      : g_(g),
        p_(kernels),
        root_(root),
        ops_(ops),
        op_count_(op_count),
        r_(scratch),
        o_(operands),
        how_(how),
        row_axis_(row_axis_of_kernel(g, kernels, root)) {}

  /// *Returns* the number of instructions. The last one's register is what the kernel stores or folds.
  constexpr int run() {
    if (g_[root_].kind() == op_kind::reduce) {
      const int x = g_.operand(root_, 0);
      if (is_member(base_of(g_, p_, x))) {
        members();
      } else {
        load(x, -1);
      }
    } else {
      members();
    }
    return count_;
  }

 private:
  constexpr void members() {
    if (how_ == evaluation::per_use) {
      const bool sees = g_[root_].kind() == op_kind::reduce || g_[root_].kind() == op_kind::view;
      compute(sees ? base_of(g_, p_, g_.operand(root_, 0)) : root_);
      return;
    }
    for (int n = p_.first_member[root_]; n >= 0; n = p_.next_member[n])
      if ((n != root_ || g_[n].kind() != op_kind::reduce) && g_[n].kind() != op_kind::view) compute(n);
  }

  constexpr bool is_member(int n) const { return p_.kernel_of[n] == root_; }

  ONTO_INLINE constexpr bool is_once_a_row(int n) const { return row_axis_ >= 0 && is_column(g_[n].shape, row_axis_); }

  /// Whether each use of a node is an evaluation of its own.
  constexpr bool is_repeated(int n) const { return how_ == evaluation::per_use && g_[n].holds_values; }

  /// Stores the results beside the root's, all after the last load.
  constexpr void store_results() {
    int slot = 0;
    for (int n = p_.first_member[root_]; n >= 0; n = p_.next_member[n]) {
      if (!p_.result[n]) continue;
      kernel_instruction line;
      line.op = kernel_instruction::store;
      line.type = seen_by_kernels(g_[n].type);
      line.argument[0] = slot++;
      line.argument[1] = r_.register_of[n];
      line.count = 2;
      append(line);
    }
  }

  constexpr int append(const kernel_instruction& line) {
    r_.lines[count_] = line;
    return count_++;
  }

  constexpr int load(int n, int path) {
    if (const int base = base_of(g_, p_, n); is_member(base)) {
      if (r_.register_of[base] < 0 || is_repeated(base)) compute(base);
      return r_.register_of[base];
    }
    if (path < 0 || g_[n].kind() == op_kind::scalar) {
      if (r_.register_of[n] >= 0 && !is_repeated(n)) return r_.register_of[n];
      return r_.register_of[n] = read(n, -1);
    }
    for (int k = 0; k < o_.input_count && !is_repeated(n); ++k)
      if (o_.inputs[k] == n && o_.paths[k] == path) return line_of(k);
    return read(n, path);
  }

  /// The operation's place in the expression's list.
  constexpr int number_of(const op_info& op) const {
    int k = 0;
    while (k + 1 < op_count_ && ops_[k] != op.hash) ++k;
    return k;
  }

  /// The load of an input.
  constexpr int line_of(int slot) const {
    int k = 0;
    while (r_.lines[k].op != kernel_instruction::input || r_.lines[k].argument[0] != slot) ++k;
    return k;
  }

  constexpr int read(int n, int path) {
    kernel_instruction line;
    line.type = seen_by_kernels(g_[n].type);
    line.count = 1;
    line.column = is_once_a_row(n);
    if (g_[n].is_literal()) {
      line.op = number_of(*g_[n].op);
      line.hash = g_[n].op->hash;
      line.count = 0;
    } else if (g_[n].kind() == op_kind::scalar) {
      line.op = kernel_instruction::scalar;
      line.argument[0] = o_.scalar_count;
      o_.scalars[o_.scalar_count++] = n;
    } else {
      line.op = kernel_instruction::input;
      line.argument[0] = o_.input_count;
      o_.paths[o_.input_count] = path;
      o_.inputs[o_.input_count++] = n;
    }
    return append(line);
  }

  constexpr int append(int op, const graph_node& x, int cost, bool column, int a, int b = 0) {
    kernel_instruction line;
    line.op = op;
    line.type = seen_by_kernels(x.type);
    line.argument[0] = a;
    line.argument[1] = b;
    line.count = op == kernel_instruction::row_inverse || op == kernel_instruction::row_log ? 1 : 2;
    line.cost = cost;
    line.column = column;
    return append(line);
  }

  /// A fold of each row, or softmax by its parts.
  constexpr void compute_rows(int n) {
    const graph_node& x = g_[n];
    const int of = load(g_.operand(n, 0), -1);
    if (x.kind() == op_kind::reduce) {
      r_.register_of[n] = append(kernel_instruction::folded, x, 1, true, of, static_cast<int>(fold_of(*x.op)));
      return;
    }
    const int greatest = append(kernel_instruction::folded, x, 1, true, of, static_cast<int>(row_maximum));
    const int power = append(kernel_instruction::row_exp, x, 11, false, of, greatest);
    const int total = append(kernel_instruction::folded, x, 1, true, power, static_cast<int>(fold::sum));
    if (takes_logarithm(*x.op)) {
      const int rest = append(kernel_instruction::row_log, x, 10, true, total);
      const int shifted = append(kernel_instruction::row_subtract, x, 1, false, of, greatest);
      r_.register_of[n] = append(kernel_instruction::row_subtract, x, 1, false, shifted, rest);
    } else {
      const int inverse = append(kernel_instruction::row_inverse, x, 4, true, total);
      r_.register_of[n] = append(kernel_instruction::row_multiply, x, 1, false, power, inverse);
    }
  }

  /// Computes the operands of a node that are members, before it loads others: in the order of nodes, as where each is
  /// evaluated once. Writes the register of each, and 1 more.
  constexpr void evaluate_operands(int n, int* out) {
    const bool overwrites = is_operation<op::assign>(g_[n].op);
    for (int k = 0; k < g_[n].count; ++k) {
      const int base = base_of(g_, p_, g_.operand(n, k));
      if (!is_member(base) || (overwrites && k == 0)) continue;
      if (r_.register_of[base] < 0 || is_repeated(base)) compute(base);
      out[overwrites ? 0 : k] = r_.register_of[base] + 1;
    }
  }

  constexpr void compute(int n) {
    const graph_node& x = g_[n];
    if (x.kind() == op_kind::reduce || x.kind() == op_kind::row) return compute_rows(n);
    kernel_instruction line;
    line.cost = x.op->cost;
    line.column = is_once_a_row(n);
    line.op = number_of(*x.op);
    line.hash = x.op->hash;
    line.type = seen_by_kernels(x.type);
    // A plain assignment does not read the old value, which may not be there yet.
    const bool overwrites = is_operation<op::assign>(x.op);
    int operands[4] = {};
    int evaluated[max_operands] = {};
    if (how_ == evaluation::per_use) evaluate_operands(n, evaluated);
    for (int k = 0; k < x.count; ++k) {
      int r = overwrites && k > 0 ? operands[0] : evaluated[k] - 1;
      if (r < 0) r = load(g_.operand(n, overwrites ? 1 : k), p_.path_of[n]);
      if (x.count <= 4) {
        operands[k] = r;
      } else if (k == 0) {  // a sum of many: two at a time
        operands[0] = r;
      } else {
        if (n == root_ && k + 1 == x.count) store_results();
        line.argument[0] = operands[0];
        line.argument[1] = r;
        line.count = 2;
        operands[0] = append(line);
      }
    }
    if (x.count <= 4) {
      if (n == root_) store_results();
      for (int k = 0; k < x.count; ++k) line.argument[k] = operands[k];
      line.count = x.count;
      operands[0] = append(line);
    }
    r_.register_of[n] = operands[0];
  }

  const graph_view& g_;
  kernel_partition p_;
  int root_;
  const std::uint64_t* ops_;
  int op_count_;
  codegen_scratch r_;
  kernel_operands& o_;
  evaluation how_;
  int row_axis_;  // of a row kernel
  int count_ = 0;
};

/// By what a kernel folds its values, and whether over all axes, as one number; -1 where it does not.
constexpr int reduction_of_kernel(const graph_view& g, int root) {
  if (g[root].kind() != op_kind::reduce) return -1;
  return 2 * static_cast<int>(fold_of(*g[root].op)) + (folds_all(*g[root].op) ? 1 : 0);
}

/// What a kernel is: groups of one key can run each other's kernel.
class kernel_key {
 public:
  /// Of a program of instructions. `reduction`: that of the kernel; `order`: of a row kernel, see
  /// row_order_of_kernel.
  constexpr kernel_key(const kernel_instruction* lines, int count, int reduction, row_order order)
      : kernel_key(order == row_order::none ? 1 : 2, reduction) {
    if (order > row_order::along_memory) add(static_cast<std::uint64_t>(order));
    for (int k = 0; k < count; ++k) {
      const kernel_instruction& x = lines[k];
      add(x.op >= 0 ? x.hash : static_cast<std::uint64_t>(x.op));
      add(static_cast<std::uint64_t>(x.type));
      add(static_cast<std::uint64_t>(x.count));
      for (int j = 0; j < x.count && j < 4; ++j) add(static_cast<std::uint64_t>(x.argument[j]));
      if (order != row_order::none) add(static_cast<std::uint64_t>(2 * x.cost + (x.column ? 1 : 0)));
    }
  }
  /// Of a kernel that is known by what it does and the element type.
  constexpr kernel_key(op_kind kind, element type) : kernel_key(3 + static_cast<int>(kind), static_cast<int>(type)) {}

  /// Of an operation's own kernel.
  constexpr kernel_key(const op_info& op, element type) : kernel_key(0, static_cast<int>(type)) { add(op.hash); }

  constexpr bool operator==(const kernel_key& other) const { return hash_ == other.hash_; }

 private:
  constexpr kernel_key(int kind, int detail)
      : hash_(hash_mix(static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(detail))) {}
  constexpr void add(std::uint64_t v) { hash_ = hash_mix(hash_, v); }

  std::uint64_t hash_;
};

/// What the kernel of an operation without instructions is. One of its own is known by the operation, attributes and
/// all, and its operands' type; what is left is copies.
constexpr kernel_key operation_key(const graph_view& g, int n) {
  const graph_node& x = g[n];
  if (x.kind() == op_kind::row || x.kind() == op_kind::matmul) return {x.kind(), x.type};
  if (x.kind() == op_kind::own_kernel) return {*x.op, seen_by_kernels(g.kernel_element(n))};
  return {op_kind::view, element::boolean};
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
