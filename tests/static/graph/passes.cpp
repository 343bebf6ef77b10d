// SPDX-License-Identifier: BSL-1.0
// Passes run in the order of their list, and each sees what those before it have found.
#include <onto/onto.hpp>

using namespace onto;
using namespace onto::detail;

namespace {

constexpr auto x = placeholder<"x", float, 4, 4>;
constexpr auto y = placeholder<"y", float, 4, 4>;

/// What a list of passes finds for a program.
template <class Graph>
struct found_in : stored_kernels<Graph::view.count> {
  template <class... Lists>
  static constexpr found_in by() {
    found_in f;
    (Lists::run(Graph::view, f.arrays()), ...);
    return f;
  }
  constexpr int kernels() const {
    int count = 0;
    for (int n = 0; n < Graph::view.count; ++n) count += this->kernel_of[n] == n ? 1 : 0;
    return count;
  }
  constexpr int results() const {
    int count = 0;
    for (int n = 0; n < Graph::view.count; ++n) count += this->result[n] ? 1 : 0;
    return count;
  }
};

/// Passes of a test's own.
struct every_operation_alone {
  static constexpr void run(const graph_view& g, const kernel_arrays& k) {
    k.clear(g.count);
    for (int n = 0; n < g.count; ++n)
      if (!g[n].is_leaf()) k.prepend(n, n);
  }
};
struct nothing_runs {
  static constexpr void run(const graph_view& g, const kernel_arrays& k) { k.clear(g.count); }
};

using two_maps = graph_of<std::remove_const_t<decltype(exp(x) + y)>, std::remove_const_t<decltype(tanh(x) * y)>>;
using found = found_in<two_maps>;

}  // namespace

// Four operations are two kernels, and these are one.
static_assert(found::by<fusion_passes>().kernels() == 2);
static_assert(found::by<fusion_passes>().results() == 0);
static_assert(found::by<fusion_passes, merging_passes>().kernels() == 1);
static_assert(found::by<fusion_passes, merging_passes>().results() == 1);

// A plan has what the lists find.
static_assert(plan_of(fetches(exp(x) + y, tanh(x) * y)).kernels == 1);

// Another pass is a type, and a line of a list.
static_assert(found::by<pass_list<every_operation_alone>>().kernels() == 4);
static_assert(found::by<pass_list<every_operation_alone, nothing_runs>>().kernels() == 0);
static_assert(found::by<pass_list<nothing_runs, every_operation_alone>>().kernels() == 4);
static_assert(found::by<pass_list<every_operation_alone, merge_kernels>>().kernels() < 4);
