// SPDX-License-Identifier: BSL-1.0
// CUDA as a backend: all its kernels, and its GPUs.
#pragma once

#include <onto/backend/cuda/batched_map.hpp>
#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/gpus.hpp>
#include <onto/backend/cuda/map.hpp>
#include <onto/backend/cuda/matmul.hpp>
#include <onto/backend/cuda/reduce.hpp>
#include <onto/backend/cuda/row.hpp>
#include <onto/backend/cuda/softmax.hpp>
#include <onto/runtime/backend.hpp>

namespace onto::detail {

struct cuda_backend {
  static constexpr int slot = cuda_slot;
  static constexpr bool runs_host_code = false;
  static constexpr bool computes_in_floats = false;
  using gpus = cuda_gpus;
};
template <>
struct backend_at<cuda_slot> {
  using list = backend_list<cuda_backend>;
};

template <>
struct backend_kernels<cuda_backend> : no_kernels {
  template <class Program, extent_of_kernel Extent, int Sizes, bool Views>
  static constexpr backend_kernel map() {
    return {&run_in_stream<&cuda_map<Program, Extent != extent_of_kernel::single>>};
  }
  template <class Program, int Most, int Sizes, bool Views>
  static constexpr backend_kernel map_batch() {
    backend_kernel k = {&run_in_stream<&cuda_map_batch<Program, Most>>};
    k.batches = true;
    return k;
  }
  template <class Program, fold F, bool All, extent_of_kernel Extent, int Sizes, bool Views>
  static constexpr backend_kernel reduce() {
    return {&run_in_stream<&cuda_reduce<Program, F>>, &cuda_reduce_workspace<Program, F>};
  }
  template <class RowProgram, row_order>
  static constexpr backend_kernel rows() {
    return {&run_in_stream<&cuda_row<RowProgram>>, &cuda_row_workspace<RowProgram>};
  }
  template <class T>
  static constexpr backend_kernel softmax() {
    return {&run_in_stream<&cuda_softmax<T>>, &cuda_softmax_workspace<T>};
  }
  template <class T>
  static constexpr backend_kernel matmul() {
    if constexpr (is_floating(element_of<T>))
      return {&run_in_stream<&cuda_matmul<T>>, &cuda_matmul_workspace<T>, &cuda_matmul_least_workspace<T>};
    else
      return {};
  }
  template <int Sizes>
  static constexpr backend_kernel copy() {
    return {&run_in_stream<&cuda_copy>};
  }
};

}  // namespace onto::detail
