// SPDX-License-Identifier: BSL-1.0
// Scatters, segment sums and gradients of reads on the GPU: numbers are sorted into groups, and an element goes through
// those of its own group; integers are added up at once. The same bits in every run. nvcc takes seconds to read CUB:
// <onto/indexing.hpp> includes this, and onto.hpp does not.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/group_sums.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/indexing.hpp>
#include <onto/backend/cuda/integer_sums.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/number_sort.hpp>
#include <onto/backend/cuda/private_sums.hpp>
#include <onto/kernel/number_groups.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

/// A thread an element of the result.
template <class Op, class T, class Numbers, class Result>
__global__ void __launch_bounds__(block_threads)
    grouped_kernel(const __grid_constant__ indexed_call c, const __grid_constant__ Numbers numbers, Result* out) {
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < c.size; k += threads)
    device_store(out + k, (element_of_group<Op, T>::template at<device_access>(c, numbers, k)));
}

/// *Preconditions* the result has elements.
template <class Op, class T>
indexed_call grouped_call_of(const kernel_call& call) {
  indexed_call c = indexed_call_of(call);
  if constexpr (requires { number_groups<Op, T>::join_numbers(c); }) number_groups<Op, T>::join_numbers(c);
  return c;
}
template <class Op, class T>
number_sort number_sort_of(const indexed_call& c) {
  return {number_groups<Op, T>::count(c), number_groups<Op, T>::groups(c)};
}

/// Which way sums go: by numbers as they come, each thread with sums of its own, where groups are few; else by sorted
/// ones.
template <class Op, class T>
constexpr bool find_may_sort() {
  const std::int64_t known = known_groups<Op>, most = most_private_groups<state_of_group<Op, T>>;
  return known < 0 || known > most;
}
template <class Op, class T>
inline constexpr bool may_sort = find_may_sort<Op, T>();
template <class Op, class T>
bool sums_privately(const indexed_call& c) {
  return !may_sort<Op, T> || number_groups<Op, T>::groups(c) <= most_private_groups<state_of_group<Op, T>>;
}

/// Bytes of device memory that `cuda_grouped` needs for the call on the device that is current.
template <class Op, class T>
std::size_t cuda_grouped_workspace(const kernel_call& call) {
  using groups = number_groups<Op, T>;
  if (call.shapes[call.inputs].size() <= 0) return 0;
  const indexed_call c = grouped_call_of<Op, T>(call);
  const number_sort sort = number_sort_of<Op, T>(c);
  if (sort.few()) return 0;
  if constexpr (!groups::rule::replaces)
    if (sums_privately<Op, T>(c)) return private_sums_workspace<Op, T>(private_sums_of<Op, T>(c));
  if (!sort.sorts()) return 0;
  std::size_t bytes = sort.workspace();
  if constexpr (!groups::rule::replaces) bytes += group_sums_workspace<Op, T>(group_sums_of<Op, T>(c));
  return bytes;
}

/// The operation by numbers that are sorted into groups.
/// *Throws* `internal_error` where CUB cannot launch its kernels.
template <class Op, class T, class Result>
void cuda_sorted_groups(gpu_context& context, const kernel_call& call, const indexed_call& c, const char* what,
                        Result* out) {
  using groups = number_groups<Op, T>;
  const number_sort sort = number_sort_of<Op, T>(c);
  auto* const room = static_cast<char*>(call.workspace);
  const auto sorted_in = [&](char* sort_room) {
    launch(context.stream, what, &group_kernel<groups>, blocks_for(groups::count(c)), c, sort.groups(sort_room),
           sort.numbers(sort_room));
    return sort.run(sort_room, call.workspace_bytes - (sort_room - room), context.stream);
  };
  if constexpr (groups::rule::replaces) {
    launch(context.stream, what, &grouped_kernel<Op, T, sorted_numbers, Result>, blocks_for(c.size), c, sorted_in(room),
           out);
  } else {
    const group_sums sums = group_sums_of<Op, T>(c);
    const sorted_numbers sorted = sorted_in(room + group_sums_workspace<Op, T>(sums));
    launch_group_sums<Op, T>(context.stream, what, c, sums, sorted, room, out);
  }
}

/// The call's operation over operands of type `T`.
/// *Throws* `internal_error` where CUB cannot launch its kernels.
/// *Complexity* linear in the numbers and in what the result and its updates have of elements.
template <class Op, class T>
void cuda_grouped(gpu_context& context, const kernel_call& call) {
  if (call.shapes[call.inputs].size() <= 0) return;
  using result = decltype(element_of_group<Op, T>::template at<device_access>(indexed_call{}, unsorted_numbers{}, 0));
  const indexed_call c = grouped_call_of<Op, T>(call);
  auto* const out = static_cast<result*>(call.out.data);
  const char* const what = "an operation by index";
  if constexpr (sums_integers<Op, T>) {
    launch(context.stream, what, &grouped_kernel<Op, T, no_numbers, result>, blocks_for(c.size), c, no_numbers{}, out);
    return add_integers<Op, T>(context.stream, what, c, out);
  } else {
    using groups = number_groups<Op, T>;
    const number_sort sort = number_sort_of<Op, T>(c);
    bool privately = false;
    if constexpr (!groups::rule::replaces) privately = !sort.few() && sums_privately<Op, T>(c);
    if (!privately && !sort.sorts())
      return launch(context.stream, what, &grouped_kernel<Op, T, unsorted_numbers, result>, blocks_for(c.size), c,
                    unsorted_numbers{}, out);
    if (!call.workspace) throw internal_error("[onto.cuda] a scatter was launched without its workspace");
    if constexpr (!groups::rule::replaces)
      if (privately)
        return launch_private_sums<Op, T>(context.stream, what, c, private_sums_of<Op, T>(c), call.workspace, out);
    if constexpr (groups::rule::replaces || may_sort<Op, T>) cuda_sorted_groups<Op, T>(context, call, c, what, out);
  }
}

template <class Op>
struct cuda_grouping {
  template <class T>
  static constexpr backend_kernel kernel() {
    if constexpr (sums_integers<Op, T>)
      return {&run_in_stream<&cuda_grouped<Op, T>>};
    else
      return {&run_in_stream<&cuda_grouped<Op, T>>, &cuda_grouped_workspace<Op, T>};
  }
};

template <bool Add>
struct operation_kernels<op::scatter<Add>, cuda_backend> : cuda_grouping<op::scatter<Add>> {};
template <int N>
struct operation_kernels<op::segment_sum<N>, cuda_backend> : cuda_grouping<op::segment_sum<N>> {};
template <int N, fold F>
struct operation_kernels<op::segment_extreme<N, F>, cuda_backend> : cuda_grouping<op::segment_extreme<N, F>> {};
template <class Read>
struct operation_kernels<op::gather_gradient<Read>, cuda_backend> : cuda_grouping<op::gather_gradient<Read>> {};
template <>
struct operation_kernels<op::scatter_gradient<op::scatter<false>>, cuda_backend>
    : cuda_grouping<op::scatter_gradient<op::scatter<false>>> {};

}  // namespace onto::detail

#endif  // ONTO_CUDA
