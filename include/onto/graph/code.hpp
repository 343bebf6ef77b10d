// SPDX-License-Identifier: BSL-1.0
// A kernel's instructions: what a group of fused nodes computes, over numbered registers, and which values it loads.
// The compiler turns them into a kernel's type; the session reads the same lists to know what to pass.
#pragma once

#include <onto/graph/fuse.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// One instruction, before it is a type. `op` counts in the expression's list of operations, or says what is loaded.
struct code_line {
  static constexpr int input = -1;
  static constexpr int scalar = -2;

  int op = input;
  element type = element::float32;
  int argument[4] = {};  // registers, or the slot of a load
  int count = 0;
};

/// The values a kernel is given: for each input slot a node (a leaf, a view or the result of another kernel), for each
/// scalar slot a scalar node.
struct kernel_operands {
  int* inputs = nullptr;
  int input_count = 0;
  int* scalars = nullptr;
  int scalar_count = 0;
};

/// Room for `collect_code`: `lines` for twice the operands and members; `register_of` for all nodes, filled with -1.
struct code_room {
  code_line* lines = nullptr;
  int* register_of = nullptr;
};

class code_collector {
 public:
  constexpr code_collector(const graph_view& g, const int* unit, int root, const std::uint64_t* ops, int op_count,
                           const code_room& room, kernel_operands& operands)
      : g_(g), unit_(unit), root_(root), ops_(ops), op_count_(op_count), r_(room), o_(operands) {}

  /// *Returns* the number of instructions. The last one's register is what the kernel stores or folds.
  constexpr int run() {
    if (g_[root_].kind() == op_kind::reduce) {
      const int x = g_.operand(root_, 0);
      if (unit_[x] == root_) {
        members();
      } else {
        load(x);
      }
    } else {
      members();
    }
    return count_;
  }

 private:
  constexpr void members() {
    for (int n = 0; n <= root_; ++n)
      if (unit_[n] == root_ && g_[n].kind() != op_kind::reduce) compute(n);
  }

  constexpr int append(const code_line& line) {
    r_.lines[count_] = line;
    return count_++;
  }

  constexpr int load(int n) {
    if (r_.register_of[n] >= 0) return r_.register_of[n];
    code_line line;
    line.type = g_[n].type;
    line.count = 1;
    if (g_[n].kind() == op_kind::scalar) {
      line.op = code_line::scalar;
      line.argument[0] = o_.scalar_count;
      o_.scalars[o_.scalar_count++] = n;
    } else {
      line.op = code_line::input;
      line.argument[0] = o_.input_count;
      o_.inputs[o_.input_count++] = n;
    }
    return r_.register_of[n] = append(line);
  }

  constexpr void compute(int n) {
    const graph_node& x = g_[n];
    code_line line;
    line.op = 0;
    while (line.op + 1 < op_count_ && ops_[line.op] != x.op->hash) ++line.op;
    line.type = x.type;
    // A plain assignment does not read the old value, which may not be there yet.
    const bool overwrites = is_operation<op::assign>(x.op);
    int operands[4] = {};
    for (int k = 0; k < x.count; ++k) {
      const int r = load(g_.operand(n, overwrites ? 1 : k));
      if (x.count <= 4) {
        operands[k] = r;
      } else if (k == 0) {  // a sum of many: two at a time
        operands[0] = r;
      } else {
        line.argument[0] = operands[0];
        line.argument[1] = r;
        line.count = 2;
        operands[0] = append(line);
      }
    }
    if (x.count <= 4) {
      for (int k = 0; k < x.count; ++k) line.argument[k] = operands[k];
      line.count = x.count;
      operands[0] = append(line);
    }
    r_.register_of[n] = operands[0];
  }

  const graph_view& g_;
  const int* unit_;
  int root_;
  const std::uint64_t* ops_;
  int op_count_;
  code_room r_;
  kernel_operands& o_;
  int count_ = 0;
};

/// Whether the kernel of this root is a program of instructions.
constexpr bool has_code(const graph_view& g, int root) {
  const op_kind k = g[root].kind();
  return k == op_kind::map || k == op_kind::generator || k == op_kind::assign || k == op_kind::reduce;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
