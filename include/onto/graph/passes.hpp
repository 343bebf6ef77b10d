// SPDX-License-Identifier: BSL-1.0
// The passes that find the kernels of a graph, a line each, in their order. The compiler runs them for every program,
// and a session runs them once more where values have told nodes apart.
#pragma once

#include <onto/core/scratch_array.hpp>
#include <onto/graph/fuse.hpp>
#include <onto/graph/merge.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What passes find, per node: each reads what those before it have found, and the graph.
struct found_kernels {
  int* root = nullptr;     // the root of its kernel, or -1
  int* via = nullptr;      // the frame it has there, see seen.hpp
  bool* result = nullptr;  // a result beside the root
};

/// Nodes become kernels.
struct fuse_nodes {
  static constexpr void run(const graph_view& g, const found_kernels& k) {
    const scratch_array<int> uses(g.count), target(g.count), split(g.count);
    fuse(g, {k.root, uses.get(), target.get(), k.via, split.get()});
  }
};

/// Kernels beside each other become one.
struct merge_kernels {
  static constexpr void run(const graph_view& g, const found_kernels& k) {
    const int kernels = count_mergeable(g, k.root);
    if (kernels == 0) return;
    const scratch_array<int> next(g.count), number(g.count), source(g.count), joined(kernels);
    const scratch_array<kernel_group> groups(kernels);
    const scratch_array<std::uint64_t> before(kernels * ((kernels + 63) / 64));
    kernel_merger(g, k.root, k.via, kernels,
                  {next.get(), number.get(), source.get(), groups.get(), joined.get(), before.get()})
        .run();
    mark_results(g, k.root, k.via, k.result);
  }
};

/// Passes, each a type with a function `run` as those above have it. What room one needs it makes itself.
template <class... Passes>
struct pass_list {
  static constexpr void run(const graph_view& g, const found_kernels& k) { (Passes::run(g, k), ...); }
};

/// What runs together wherever it is.
using fusion_passes = pass_list<fuse_nodes>;

/// And what runs together where all of it is on one device: kernels that guards spread are taken apart again into what
/// they were before these.
using merging_passes = pass_list<merge_kernels>;

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
