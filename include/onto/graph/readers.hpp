// SPDX-License-Identifier: BSL-1.0
// Who reads what: of each node the nodes that read it, listed once, so that what asks for them is linear in the edges.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/kernels.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Of each node that is the base of an operand, the nodes that run and read it, in order; once for each operand.
class base_readers {
 public:
  constexpr base_readers(const graph_view& g, const kernel_partition& p) : first_(g.count + 1), readers_(edges(g)) {
    int* const first = first_.get();
    const auto each = [&](const auto& f) {
      for (int m = 0; m < g.count; ++m)
        if (p.runs(m))
          for (int k = 0; k < g[m].count; ++k) f(m, base_of(g, p, g.operand(m, k)));
    };
    each([&](int, int base) { ++first[base + 1]; });
    for (int n = 0; n < g.count; ++n) first[n + 1] += first[n];
    each([&](int m, int base) { readers_.get()[first[base]++] = m; });
    for (int n = g.count; n > 0; --n) first[n] = first[n - 1];
    first[0] = 0;
  }

  constexpr const int* begin(int base) const { return readers_.get() + first_.get()[base]; }
  constexpr const int* end(int base) const { return readers_.get() + first_.get()[base + 1]; }

 private:
  static constexpr int edges(const graph_view& g) {
    int sum = 0;
    for (int n = 0; n < g.count; ++n) sum += g[n].count;
    return sum;
  }

  scratch_array<int> first_, readers_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
