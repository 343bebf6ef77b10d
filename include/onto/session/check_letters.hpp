// SPDX-License-Identifier: BSL-1.0
// Letters for axes, at run time: the compiler could not know whether axes of one letter have one extent.
#pragma once

#include <onto/graph/graph.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether axes of one letter have one extent, of product `n`, whose operation has letters for them (op::of_letters).
/// *Throws* `invalid_argument_error` that names a letter, its extents, and the operands by letters and extents.
ONTO_RUNTIME void check_letters(const graph_view& g, const extents* shapes, int n);

#if ONTO_DEFINITIONS
/// An operand of a product with letters, below the reshapes that join its axes.
struct lettered_operand {
  std::int64_t letters;  // of its axes, a byte each
  std::int64_t written;  // in the order of the program, without those of views
  extents shape;

  lettered_operand(const graph_view& g, const extents* shapes, int n, int k)
      : letters(g[n].op->attribute[k]), written(g[n].op->attribute[2 + k]) {
    int rank = 0, o = g.operand(n, k);
    while (rank < max_rank && letter(letters, rank) != 0) ++rank;
    while (shapes[o].rank < rank && g[o].kind() == op_kind::view) o = g.operand(o, 0);
    shape = shapes[o];
  }

  static char letter(std::int64_t of, int k) { return static_cast<char>(of >> (8 * k) & 127); }
  /// The extent of the axis with this letter; `dyn` where it has none.
  int operator[](char c) const {
    bool has = false;
    for (int k = 0; k < max_rank; ++k) has = has || letter(written, k) == c;
    for (int k = 0; has && k < shape.rank; ++k)
      if (letter(letters, k) == c) return shape[k];
    return dyn;
  }
};

ONTO_COLD inline message& operator<<(message& m, const lettered_operand& x) {
  extents e;
  for (int k = 0; k < x.shape.rank; ++k) {
    const char c = lettered_operand::letter(x.written, k);
    if (c == 0) break;
    m << std::string_view(&c, 1);
    e.push_back(x[c]);
  }
  return m << " " << e;
}

ONTO_RUNTIME void check_letters(const graph_view& g, const extents* shapes, int n) {
  const lettered_operand a(g, shapes, n, 0), b(g, shapes, n, 1);
  for (int k = 0; k < max_rank; ++k) {
    const char c = lettered_operand::letter(a.written, k);
    if (c == 0 || b[c] == dyn || a[c] == b[c]) continue;
    fail<invalid_argument_error>(message("[onto.shape] einsum: axes of one letter have different extents, ")
                                 << a[c] << " and " << b[c] << " of " << std::string_view(&c, 1) << "; operands: " << a
                                 << ", " << b);
  }
}
#endif

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
