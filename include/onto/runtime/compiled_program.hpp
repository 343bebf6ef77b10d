// SPDX-License-Identifier: BSL-1.0
// A program as the runtime gets it from the compiler: graph, fusion and kernels, all constant.
#pragma once

#include <onto/graph/kernel_codegen.hpp>
#include <onto/runtime/kernel.hpp>

namespace onto::detail {

/// A kernel, and what it is.
struct keyed_kernel {
  kernel_key key;
  kernel_entry entry;
};

struct compiled_program;
class refinement;
class refined_program;

/// The kernels of a program in which values decide how many nodes there are, and how it is rewritten.
struct value_dependence {
  const keyed_kernel* kernels;
  int kernel_count;
  const keyed_kernel* general;  // where there are gradients: operations alone, every operand in memory
  int general_count;
  refined_program* (*rewrite)(const compiled_program& typed, const refinement& nodes);
};

struct compiled_program {
  graph_view graph;
  kernel_partition kernels;
  kernel_partition unmerged;            // before some were merged
  const kernel_entry* whole = nullptr;  // per node: the kernel it is the root of
  const kernel_entry* parts = nullptr;  // per node: the kernel before merging it was the root of, where that is another
  const kernel_entry* single = nullptr;  // per node: the operation alone, for kernels that are split
  const evaluation* how = nullptr;       // per root: how the kernel evaluates members that hold values
  const evaluation* part_how = nullptr;  // and before merging
  const bool* lone_softmax = nullptr;    // per root: a softmax over rows by the operation's own kernel; null: none
  const half_kernels* half_precision = nullptr;     // null where no element is of type half or bfloat16
  const value_dependence* values_decide = nullptr;  // null where they do not decide how many nodes there are
};

}  // namespace onto::detail
