// SPDX-License-Identifier: BSL-1.0
// Operations that go by numbers of elements, on the GPU: a thread an element of the result. What is brought together by
// number is in grouped.hpp, rows that are taken in take.hpp.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cpu/indexing.hpp>
#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/kernels.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/kernel/indexing.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

struct device_access {
  template <class T>
  ONTO_HD ONTO_INLINE static T load(const T* p) {
    return device_load(p);
  }
};

template <class Op, class T>
using indexed_result = decltype(indexed_element<Op>::template at<T, device_access>(indexed_call{}, 0));

template <class Op, class T, class Result>
__global__ void __launch_bounds__(block_threads) indexed_kernel(const __grid_constant__ indexed_call c, Result* out) {
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < c.size; k += threads)
    device_store(out + k, indexed_element<Op>::template at<T, device_access>(c, k));
}

/// The call's operation over operands of type `T`.
template <class Op, class T>
void cuda_indexed(gpu_context& context, const kernel_call& call) {
  if (call.shapes[call.inputs].size() <= 0) return;
  using result = indexed_result<Op, T>;
  const indexed_call c = indexed_call_of(call);
  launch(context.stream, "an operation by index", &indexed_kernel<Op, T, result>, blocks_for(c.size), c,
         static_cast<result*>(call.out.data));
}

template <class Op>
struct cuda_indexing {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_in_stream<&cuda_indexed<Op, T>>};
  }
};

template <int Axis>
struct operation_kernels<op::take_along<Axis>, cuda_backend> : cuda_indexing<op::take_along<Axis>> {};
template <int... Sizes>
struct operation_kernels<op::dynamic_slice<Sizes...>, cuda_backend> : cuda_indexing<op::dynamic_slice<Sizes...>> {};
template <>
struct operation_kernels<op::update_slice, cuda_backend> : cuda_indexing<op::update_slice> {};
template <bool Right>
struct operation_kernels<op::searchsorted<Right>, cuda_backend> : cuda_indexing<op::searchsorted<Right>> {};
template <int Axis>
struct operation_kernels<op::extent<Axis>, cuda_backend> : cuda_indexing<op::extent<Axis>> {};
template <>
struct operation_kernels<op::slice_like, cuda_backend> : cuda_indexing<op::slice_like> {};
template <class Write>
struct operation_kernels<op::scatter_gradient<Write>, cuda_backend> : cuda_indexing<op::scatter_gradient<Write>> {};

}  // namespace onto::detail

#endif  // ONTO_CUDA
