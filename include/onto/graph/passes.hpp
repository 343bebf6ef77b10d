// SPDX-License-Identifier: BSL-1.0
// The passes that find the kernels of a graph, a line each, in their order. The compiler runs them for every program,
// and a session runs them once more where values have told nodes apart.
#pragma once

#include <onto/graph/batched_updates.hpp>
#include <onto/graph/fuse.hpp>
#include <onto/graph/horizontal_fusion.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Passes, each a type with a function `run`: it reads the graph and the partition that those before it have found, and
/// rewrites that. What room it needs it makes itself.
template <class... Passes>
struct pass_list {
  static constexpr void run(const graph_view& g, const kernel_arrays& k) { (Passes::run(g, k), ...); }
};

/// What runs together wherever it is.
using fusion_passes = pass_list<fuse_nodes>;

/// And what runs together where all of it is on one device: kernels that guards spread are taken apart again into what
/// they were before these.
using merging_passes = pass_list<merge_kernels, batch_updates>;

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
