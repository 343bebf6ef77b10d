// SPDX-License-Identifier: BSL-1.0
// The CPU's kernels that no program of a user's is in: they are the same for all graphs, and take the longest to
// compile.
#pragma once

#include <onto/core/element.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// A matrix product of elements that are computed as `T`, with its epilogue.
template <class T>
void matmul_on_pool(kernel_context& context, const kernel_call& call);

/// Softmax and log-softmax over one axis, of elements that are computed as `T`.
template <class T>
void softmax_on_pool(kernel_context& context, const kernel_call& call);

/// A copy between any strides, by `Copies`.
template <class Copies>
void copy_on_pool(kernel_context& context, const kernel_call& call);

ONTO_RUNTIME void widen_on_cpu(element type, const void* from, std::int64_t n, float* out);
ONTO_RUNTIME void narrow_on_cpu(element type, const float* in, std::int64_t n, void* to);
ONTO_RUNTIME void multiply_halves(thread_pool& pool, const kernel_call& call,
                                  void (*multiply)(thread_pool&, const kernel_call&));

/// All that programs over half and bfloat16 need.
inline constexpr half_kernels cpu_half_kernels{&widen_on_cpu, &narrow_on_cpu, &multiply_halves};

}  // namespace onto::detail

#if ONTO_DEFINITIONS
#include <onto/backend/cpu/common_kernels_definitions.hpp>
#endif
