// SPDX-License-Identifier: BSL-1.0
// The epilogue of a convolution on the CPU: that of the built-in product, whose rows are pixels and columns channels.
#pragma once

#include <onto/backend/cpu/gemm_epilogue.hpp>
#include <onto/backend/cpu/images.hpp>

#include <cstdint>

namespace onto::detail {

/// `relu(alpha * made + beta * addend)` of images (batch, height, width, channels).
template <class T>
struct image_epilogue {
  T alpha = 1, beta = 0;
  matrix_view<T> addend{nullptr, 0, 0};  // a row for each pixel, a column for each channel
  bool relu = false;

  bool any() const { return alpha != T{1} || addend.data != nullptr || relu; }

  /// What becomes of a product whose first row is the pixel with this number, its first column this channel; `step`
  /// pixels from row to row. `data`: of the first pixel, with `channels` for each.
  gemm_target<T> target(T* data, std::int64_t channels, std::int64_t pixel = 0, std::int64_t channel = 0,
                        std::int64_t step = 1) const {
    gemm_target<T> to{data + pixel * channels + channel, step * channels, alpha, beta, addend, relu};
    if (addend.data == nullptr) return to;
    to.addend.data += pixel * addend.row + channel * addend.column;
    to.addend.row *= step;
    return to;
  }

  /// Finishes `pixels` pixels of all channels from `pixel` on, which are at `made`: where the result is, or elsewhere.
  void finish(T* data, std::int64_t channels, std::int64_t pixel, std::int64_t pixels, const T* made,
              std::int64_t made_row) const {
    best_gemm_epilogue<T>()(target(data, channels, pixel), pixels, channels, made, made_row);
  }
};

/// A call's epilogue; an addend that is neither in this order nor a number for each channel is copied.
template <class T>
image_epilogue<T> epilogue_in_order(thread_pool& pool, const kernel_call& call, const axis_order& order) {
  image_epilogue<T> e;
  e.alpha = static_cast<T>(call.form.alpha);
  e.relu = call.form.relu;
  if (call.form.beta == 0) return e;
  e.beta = static_cast<T>(call.form.beta);
  const int k = call.inputs - 1;
  const operand_view& v = call.in[k];
  const extents space = order.permute(call.shapes[k]);
  const int last = space.rank - 1;
  std::int64_t stride[max_rank];
  order.permute(space.rank, v.stride, stride);
  bool same = !is_half_precision(v.type);  // for all pixels
  for (int d = 0; d < last; ++d) same = same && (space[d] == 1 || stride[d] == 0);
  if (same)
    e.addend = {static_cast<const T*>(v.data), 0, stride[last]};
  else
    e.addend = {elements_in_order<T>(pool, call, k, order, memory_of_thread<kept_memory::addend>()), space[last], 1};
  return e;
}

}  // namespace onto::detail
