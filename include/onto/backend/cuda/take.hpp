// SPDX-License-Identifier: BSL-1.0
// Takes on the GPU (gather, embedding): rows that lie whole are copied in words of up to 16 bytes, whatever their
// elements are; else a thread finds an element.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cpu/indexing.hpp>
#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/indexing.hpp>
#include <onto/backend/cuda/kernels.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/core/element.hpp>
#include <onto/kernel/indexing.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>

namespace onto::detail {

/// The widest word of a load and a store.
struct alignas(16) word_of_16 {
  std::uint64_t half[2];
};

/// A take as copies: the result is (outer, numbers, words of a row). Distances are in words.
struct taken_rows {
  indexed_operand numbers;
  std::int64_t step;    // from a number to the next
  index_divisor count;  // of numbers
  index_divisor words;  // of a row
  std::int64_t length;  // of the axis along which is taken
  std::int64_t stride;  // along it
  strided_space<1> outer;
  std::int64_t size;  // words of the result
  const void* from;
};

/// Where rows are wholes and numbers lie evenly: their copies, in words of `word` bytes. *Returns* false where that is
/// not so.
template <int Axis>
ONTO_COLD bool rows_of_take(const kernel_call& call, std::int64_t element_bytes, std::int64_t word, taken_rows& rows) {
  const extents &numbers = call.shapes[0], &x = call.shapes[1];
  const operand_view& of = call.in[1];
  const std::int64_t inner = whole_rows_taken(call, Axis);
  if (inner == 0) return false;
  const auto in_words = [&](std::int64_t elements) { return elements * element_bytes / word; };
  bool whole = inner * element_bytes % word == 0 && of.stride[Axis] * element_bytes % word == 0 &&
               (reinterpret_cast<std::uintptr_t>(of.data) | reinterpret_cast<std::uintptr_t>(call.out.data)) %
                       static_cast<std::uintptr_t>(word) ==
                   0;
  rows.outer = collapse<1>(x, all_dimensions(Axis), &of);
  for (int d = 0; d < rows.outer.rank; ++d) {
    whole = whole && rows.outer.stride[0][d] * element_bytes % word == 0;
    rows.outer.stride[0][d] = in_words(rows.outer.stride[0][d]);
  }
  if (!whole) return false;
  rows.numbers = {call.in[0].data, call.in[0].type, numbers, {}};
  rows.step = numbers.rank == 1 ? call.in[0].stride[0] : 1;
  rows.count = index_divisor(numbers.size());
  rows.words = index_divisor(in_words(inner));
  rows.length = x[Axis];
  rows.stride = in_words(of.stride[Axis]);
  rows.size = in_words(call.shapes[2].size());
  rows.from = of.data;
  return true;
}

template <class Word>
__global__ void __launch_bounds__(block_threads) take_rows_kernel(const __grid_constant__ taken_rows r, Word* out) {
  const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < r.size; k += threads) {
    const std::int64_t row = r.words.divide(k), outer = r.count.divide(row);
    std::int64_t at[] = {k - row * r.words.divisor};
    add_offsets(r.outer, outer, at);
    const std::int64_t number = number_at<device_access>(r.numbers, (row - outer * r.count.divisor) * r.step);
    device_store(out + k, device_load(static_cast<const Word*>(r.from) + at[0] + nearest(number, r.length) * r.stride));
  }
}

template <int Axis, class T>
void cuda_take(gpu_context& context, const kernel_call& call) {
  if (call.shapes[2].size() <= 0) return;
  const char* const what = "a take";
  constexpr int bytes = static_cast<int>(sizeof(T));
  taken_rows rows{};
  const auto copy = [&](auto word) {
    using type = decltype(word);
    launch(context.stream, what, &take_rows_kernel<type>, blocks_for(rows.size), rows,
           static_cast<type*>(call.out.data));
  };
  if (rows_of_take<Axis>(call, bytes, 16, rows)) return copy(word_of_16{});
  if (rows_of_take<Axis>(call, bytes, bytes, rows)) return copy(unsigned_of<bytes>{});
  cuda_indexed<op::take<Axis>, T>(context, call);
}

template <int Axis>
struct operation_kernels<op::take<Axis>, cuda_backend> {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_in_stream<&cuda_take<Axis, T>>};
  }
};

}  // namespace onto::detail

#endif  // ONTO_CUDA
