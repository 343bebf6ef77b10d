// SPDX-License-Identifier: BSL-1.0
// The kernels of common_kernels.hpp; in the compiled runtime, for all element types that have them.
#pragma once

#include <onto/backend/cpu/common_kernels.hpp>
#include <onto/backend/cpu/copy.hpp>
#include <onto/backend/cpu/half_precision.hpp>
#include <onto/backend/cpu/matmul.hpp>
#include <onto/backend/cpu/softmax.hpp>
#include <onto/backend/cpu/thread_pool.hpp>

#if ONTO_DEFINITIONS
namespace onto::detail {

template <class T>
void matmul_on_pool(kernel_context& context, const kernel_call& call) {
  cpu_matmul<T>(static_cast<thread_pool&>(context), call);
}

template <class T>
void softmax_on_pool(kernel_context& context, const kernel_call& call) {
  cpu_softmax<T>(static_cast<thread_pool&>(context), call);
}

template <class Copies>
void copy_on_pool(kernel_context& context, const kernel_call& call) {
  cpu_copy(static_cast<thread_pool&>(context), call, &Copies::run);
}

ONTO_RUNTIME void widen_on_cpu(element type, const void* from, std::int64_t n, float* out) {
  widen_run(type, from, n, out);
}

ONTO_RUNTIME void narrow_on_cpu(element type, const float* in, std::int64_t n, void* to) {
  narrow_run(type, in, n, to);
}

ONTO_RUNTIME void multiply_halves(thread_pool& pool, const kernel_call& call,
                                  void (*multiply)(thread_pool&, const kernel_call&)) {
  half_matmul(pool, call, multiply);
}

#if defined(ONTO_COMPILED)
template struct copies<all_sizes, true>;
template void copy_on_pool<copies<all_sizes, true>>(kernel_context&, const kernel_call&);
template void run_map_of_views<copies<all_sizes, true>>(thread_pool&, span_function, const kernel_call&, int,
                                                        result_store);
template void softmax_on_pool<float>(kernel_context&, const kernel_call&);
template void softmax_on_pool<double>(kernel_context&, const kernel_call&);
template void matmul_on_pool<float>(kernel_context&, const kernel_call&);
template void matmul_on_pool<double>(kernel_context&, const kernel_call&);
template void matmul_on_pool<std::int32_t>(kernel_context&, const kernel_call&);
template void matmul_on_pool<std::int64_t>(kernel_context&, const kernel_call&);
template void matmul_on_pool<std::uint32_t>(kernel_context&, const kernel_call&);
template void matmul_on_pool<std::uint64_t>(kernel_context&, const kernel_call&);
#endif

}  // namespace onto::detail
#endif
