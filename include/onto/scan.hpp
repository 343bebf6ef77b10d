// SPDX-License-Identifier: BSL-1.0
// Scans: cumsum, cumprod, cummax, cummin. Beside onto.hpp, for programs that have them: their kernels for GPUs are
// CUB's, which takes nvcc seconds to read.
#pragma once

#include <onto/onto.hpp>

#include <onto/backend/cpu/scan.hpp>
#include <onto/ops/scan.hpp>
#if ONTO_CUDA
#include <onto/backend/cuda/scan.hpp>
#endif

namespace onto::detail {
inline namespace ONTO_ABI {

template <fold F, int Axis, bool Reverse>
struct operation_kernels<op::scan<F, Axis, Reverse>> {
  template <class T>
  static constexpr kernel_entry entry() {
    kernel_entry e;
    e.on_cpu = &cpu_scan<F, computed_of<T>>;
#if ONTO_CUDA
    e.on_gpu = &cuda_scan<F, T>;
    e.gpu_workspace = &cuda_scan_workspace<F, T>;
#endif
    return e;
  }
};

}  // namespace ONTO_ABI
}  // namespace onto::detail
