// SPDX-License-Identifier: BSL-1.0
// Chains of matrix products: `matmul(matmul(a, b), x)` is computed in the order of least operations, `a (b x)`, where
// all extents are known. Decided when an expression is lowered, before anything else looks at the graph.
#pragma once

#include <onto/graph/graph.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The most matrices of one chain; what is left of a longer one are chains of their own.
inline constexpr int chain_limit = 48;

/// Room for `chain_orderer`: one entry a node each.
struct chain_scratch {
  int* uses = nullptr;
  int* next = nullptr;     // of a product that moves: the one after it, or the root; of a root: the first to move
  bool* inside = nullptr;  // a product in a chain, but for its root
  bool* moves = nullptr;
};

/// Sets the operands of products anew. The products of a chain remain as many, each with its request and its visit;
/// which of them computes what is new.
class chain_orderer {
 public:
  constexpr chain_orderer(graph_node* nodes, int count, int* operands, const int* fetches, int fetch_count,
                          const chain_scratch& scratch)
      : nodes_(nodes), count_(count), operands_(operands), r_(scratch) {
    if (!has_chain()) return;
    for (int n = 0; n < count; ++n)
      for (int k = 0; k < nodes[n].count; ++k) ++r_.uses[operands[nodes[n].first + k]];
    for (int k = 0; k < fetch_count; ++k) ++r_.uses[fetches[k]];
    for (int n = 0; n < count; ++n) r_.next[n] = -1;
    for (int n = count - 1; n >= 0; --n)
      if (!r_.inside[n] && multiplies_matrices(n)) order(n);
  }

  /// Writes for each node its place in the new order, in which operands precede what they are used by.
  constexpr void write_positions(int* position_of) const {
    int position = 0;
    for (int n = 0; n < count_; ++n) {
      if (r_.moves && r_.moves[n]) continue;
      // What a chain is made of was needed by one of its products before: it comes before the root in any order.
      if (changed_)
        for (int m = r_.next[n]; m >= 0; m = r_.next[m]) position_of[m] = position++;
      position_of[n] = position++;
    }
  }

 private:
  struct span {
    int node, first, last;
    int stage;
  };

  constexpr bool is_product(int n) const { return nodes_[n].kind() == op_kind::matmul; }
  constexpr int operand(int n, int k) const { return operands_[nodes_[n].first + k]; }

  constexpr bool has_chain() const {
    for (int n = 0; n < count_; ++n)
      if (is_product(n) && (is_product(operand(n, 0)) || is_product(operand(n, 1)))) return true;
    return false;
  }

  /// A product of two matrices whose extents are known.
  constexpr bool multiplies_matrices(int n) const {
    if (!is_product(n)) return false;
    const extents &a = nodes_[operand(n, 0)].shape, &b = nodes_[operand(n, 1)].shape;
    return a.rank == 2 && b.rank == 2 && a.is_static() && b.is_static() && a[1] == b[0];
  }

  /// Whether only the chain of `root` needs to know this product.
  constexpr bool belongs(int n, int root) const {
    return multiplies_matrices(n) && r_.uses[n] == 1 && nodes_[n].name.empty() && nodes_[n].type == nodes_[root].type &&
           nodes_[n].request == nodes_[root].request;
  }

  constexpr double multiplications(int rows, int inner, int columns) const {
    return static_cast<double>(rows) * inner * columns;
  }

  /// Finds the chain below a root: its matrices from left to right, and which of them each product spans.
  constexpr void collect(int root) {
    matrices_ = products_ = 0;
    written_ = 0;
    span stack[chain_limit]{};
    int depth = 0, met = 1;
    stack[depth++] = {root, 0, 0, 0};
    while (depth > 0) {
      span& s = stack[depth - 1];
      if (s.stage == 2) {
        s.last = matrices_ - 1;
        product_[products_++] = s;
        const extents &a = nodes_[operand(s.node, 0)].shape, &b = nodes_[operand(s.node, 1)].shape;
        written_ += multiplications(a[0], a[1], b[1]);
        --depth;
        continue;
      }
      const int below = operand(s.node, s.stage++);
      if (met + 1 < chain_limit && belongs(below, root)) {
        r_.inside[below] = true;
        stack[depth++] = {below, matrices_, matrices_, 0};
        ++met;
      } else {
        matrix_[matrices_++] = below;
      }
    }
  }

  constexpr int extent(int k) const {
    return k < matrices_ ? nodes_[matrix_[k]].shape[0] : nodes_[matrix_[matrices_ - 1]].shape[1];
  }

  constexpr void order(int root) {
    collect(root);
    bool square = true;
    for (int k = 1; k <= matrices_; ++k) square = square && extent(k) == extent(0);
    if (matrices_ < 3 || square) return;
    // Source: Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, "Matrix-chain multiplication".
    double least[chain_limit][chain_limit]{};
    int cut[chain_limit][chain_limit]{};
    for (int length = 1; length < matrices_; ++length) {
      for (int i = 0; i + length < matrices_; ++i) {
        const int j = i + length;
        for (int k = i; k < j; ++k) {
          const double all = least[i][k] + least[k + 1][j] + multiplications(extent(i), extent(k + 1), extent(j + 1));
          if (k > i && all >= least[i][j]) continue;
          least[i][j] = all;
          cut[i][j] = k;
        }
      }
    }
    if (least[0][matrices_ - 1] < written_) rewrite(root, cut);
  }

  constexpr void rewrite(int root, const int (&cut)[chain_limit][chain_limit]) {
    changed_ = true;
    span stack[chain_limit]{};
    int depth = 0, after = -1;
    stack[depth++] = {root, 0, matrices_ - 1, 0};
    // What is the product of the same matrices as before stays itself; the others are given out as they come.
    bool kept[chain_limit]{};
    for (int p = 0; p < products_; ++p) kept[p] = product_[p].node == root || is_cut(product_[p], cut);
    while (depth > 0) {
      const span s = stack[--depth];
      if (s.node != root) {
        r_.moves[s.node] = true;
        r_.next[s.node] = after;
        after = s.node;
      }
      const int k = cut[s.first][s.last];
      const int ends[2][2] = {{s.first, k}, {k + 1, s.last}};
      for (int side = 0; side < 2; ++side) {
        int below = matrix_[ends[side][0]];
        if (ends[side][0] < ends[side][1]) {
          below = take(ends[side][0], ends[side][1], kept);
          stack[depth++] = {below, ends[side][0], ends[side][1], 0};
          graph_node& n = nodes_[below];
          n.shape = extents{};
          n.shape.push_back(extent(ends[side][0]));
          n.shape.push_back(extent(ends[side][1] + 1));
        }
        operands_[nodes_[s.node].first + side] = below;
      }
    }
    r_.next[root] = after;
  }

  /// Whether the best order has this product, too.
  constexpr bool is_cut(const span& p, const int (&cut)[chain_limit][chain_limit]) const {
    int i = 0, j = matrices_ - 1;
    while (i < p.first || j > p.last) {
      const int k = cut[i][j];
      if (p.last <= k)
        j = k;
      else if (p.first > k)
        i = k + 1;
      else
        return false;
    }
    return true;
  }

  /// The node for the product of these matrices.
  constexpr int take(int first, int last, bool* kept) const {
    for (int p = 0; p < products_; ++p)
      if (kept[p] && product_[p].first == first && product_[p].last == last) return product_[p].node;
    int p = 0;
    while (kept[p]) ++p;
    kept[p] = true;
    // It is not found by its old span, which no product has now.
    return product_[p].node;
  }

  graph_node* nodes_;
  int count_;
  int* operands_;
  chain_scratch r_;
  bool changed_ = false;
  int matrix_[chain_limit]{};
  span product_[chain_limit]{};
  int matrices_ = 0;
  int products_ = 0;
  double written_ = 0;
};

/// Orders the chains of a graph: its nodes, operands first, go to `out`, and `at` says where each went.
constexpr void order_chains(graph_node* nodes, int count, int* operands, int operand_count, int* fetches,
                            int fetch_count, const chain_scratch& scratch, int* at, graph_node* out) {
  chain_orderer(nodes, count, operands, fetches, fetch_count, scratch).write_positions(at);
  for (int k = 0; k < count; ++k) out[at[k]] = nodes[k];
  for (int k = 0; k < operand_count; ++k) operands[k] = at[operands[k]];
  for (int k = 0; k < fetch_count; ++k) fetches[k] = at[fetches[k]];
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
