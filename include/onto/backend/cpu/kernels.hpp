// SPDX-License-Identifier: BSL-1.0
// The CPU as a backend: all its kernels.
#pragma once

#include <onto/backend/cpu/columns.hpp>
#include <onto/backend/cpu/common_kernels.hpp>
#include <onto/backend/cpu/map.hpp>
#include <onto/backend/cpu/reduce.hpp>
#include <onto/backend/cpu/row.hpp>
#include <onto/runtime/backend.hpp>

namespace onto::detail {

struct cpu_backend {
  static constexpr int slot = kernel_entry::host;
  static constexpr bool runs_host_code = true;
  static constexpr bool computes_in_floats = true;
};
template <>
struct backend_at<cpu_backend::slot> {
  using list = backend_list<cpu_backend>;
};

/// A kernel of the CPU's, as backend_kernel has it.
template <void (*Kernel)(thread_pool&, const kernel_call&)>
void run_on_pool(kernel_context& context, const kernel_call& call) {
  Kernel(static_cast<thread_pool&>(context), call);
}

#if defined(ONTO_COMPILED)
template <int, bool>
using kernel_copies = copies<all_sizes, true>;  // those of the compiled runtime
#else
template <int Sizes, bool Views>
using kernel_copies = copies<Sizes, Views>;
#endif

template <>
struct backend_kernels<cpu_backend> : no_kernels {
  /// Operations and parts of a split kernel are evaluated without packs and for one instruction set: they run where
  /// guards have pulled a kernel apart, which is rare, and every program compiles them.
  template <class Program, extent_of_kernel Extent, int Sizes, bool Views>
  static constexpr backend_kernel map() {
    constexpr bool packs = Extent == extent_of_kernel::whole && has_packs && Program::packs.possible();
    return {&run_on_pool<&cpu_map<Program, packs, kernel_copies<Sizes, Views>, Extent == extent_of_kernel::whole>>};
  }
  template <class Program, int Most, int Sizes, bool Views>
  static constexpr backend_kernel map_batch() {
    backend_kernel k = {&run_on_pool<&cpu_map_batch<Program, kernel_copies<Sizes, Views>>>};
    k.batches = true;
    return k;
  }
  template <class Program, fold F, bool All, extent_of_kernel Extent, int Sizes, bool Views>
  static constexpr backend_kernel reduce() {
    constexpr bool whole = Extent == extent_of_kernel::whole;
    return {&run_on_pool<&cpu_reduce<Program, F, kernel_copies<Sizes, Views>,
                                     whole && has_packs && Program::packs.possible(), whole, All>>};
  }
  template <class RowProgram, row_order Order>
  static constexpr backend_kernel rows() {
    if constexpr (Order == row_order::along_memory)
      return {&run_on_pool<&cpu_row<RowProgram>>};
    else
      return {&run_on_pool<&cpu_columns<RowProgram>>};
  }
  template <class T>
  static constexpr backend_kernel softmax() {
    return {&softmax_on_pool<computed_of<T>>};
  }
  template <class T>
  static constexpr backend_kernel matmul() {
    return {&matmul_on_pool<computed_of<T>>};
  }
  template <int Sizes>
  static constexpr backend_kernel copy() {
    return {&copy_on_pool<kernel_copies<Sizes, true>>};
  }
};

}  // namespace onto::detail
