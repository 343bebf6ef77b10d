// SPDX-License-Identifier: BSL-1.0
// Pooling on the CPU: window by window, vector by vector of channels. Images (batch, channels, height, width) are so
// many images of one channel.
#pragma once

#include <onto/backend/cpu/images.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/kernel/pooling.hpp>
#include <onto/ops/pooling.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

/// What pooling does with the elements of a window, channel by channel: `count` pixels, `channels` each.
template <pooling_part Part, class T>
struct pool_window {
  /// `result`: of the window; `image`: that which is compared; `gradient`: of the image, written or picked from.
  template <int Bytes>
  ONTO_INLINE static void run(const window_pixels& w, std::int64_t channels, const T* image, T* result, T* gradient) {
    if constexpr (Part == pooling_part::mean || Part == pooling_part::mean_gradient) {
      const T share = T{1} / static_cast<T>(w.height * w.width);
      // Runs of a fixed length become vectors.
      constexpr std::int64_t some = 16;
      T sums[some];
      for (std::int64_t c = 0; c < channels; c += some) {
        const std::int64_t n = channels - c < some ? channels - c : some;
        for (std::int64_t k = 0; k < some; ++k) sums[k] = 0;
        if constexpr (Part == pooling_part::mean_gradient)
          for (std::int64_t k = 0; k < n; ++k) sums[k] = result[c + k] * share;
        for (std::int64_t y = 0; y < w.height; ++y)
          for (std::int64_t x = 0; x < w.width; ++x) {
            const std::int64_t at = w.first + y * w.line + x * channels + c;
            if constexpr (Part == pooling_part::mean_gradient) {
              if (n == some)
                for (std::int64_t k = 0; k < some; ++k) gradient[at + k] += sums[k];
              else
                for (std::int64_t k = 0; k < n; ++k) gradient[at + k] += sums[k];
            } else if (n == some) {
              for (std::int64_t k = 0; k < some; ++k) sums[k] += image[at + k];
            } else {
              for (std::int64_t k = 0; k < n; ++k) sums[k] += image[at + k];
            }
          }
        if constexpr (Part == pooling_part::mean)
          for (std::int64_t k = 0; k < n; ++k) result[c + k] = sums[k] * share;
      }
    } else if constexpr (Part == pooling_part::max) {
      constexpr std::int64_t some = 16;
      T most[some];
      for (std::int64_t c = 0; c < channels; c += some) {
        const std::int64_t n = channels - c < some ? channels - c : some;
        for (std::int64_t k = 0; k < n; ++k) most[k] = image[w.first + c + k];
        for (std::int64_t y = 0; y < w.height; ++y)
          for (std::int64_t x = 0; x < w.width; ++x) {
            const T* const from = image + w.first + y * w.line + x * channels + c;
            // Not a branch: a vector's comparison and choice.
            if (n == some)
              for (std::int64_t k = 0; k < some; ++k) most[k] = is_greater(from[k], most[k]) ? from[k] : most[k];
            else
              for (std::int64_t k = 0; k < n; ++k) most[k] = is_greater(from[k], most[k]) ? from[k] : most[k];
          }
        for (std::int64_t k = 0; k < n; ++k) result[c + k] = most[k];
      }
    } else {
      constexpr std::int64_t some = 16;
      std::int64_t c = 0;
      if (w.height * w.line < 0x7fffffff)
        for (; c + some <= channels; c += some) go_to_greatest<some>(w, channels, c, image, result, gradient);
      for (; c < channels; ++c) {
        std::int64_t best = w.first + c;
        for (std::int64_t y = 0; y < w.height; ++y)
          for (std::int64_t x = 0; x < w.width; ++x) {
            const std::int64_t at = w.first + y * w.line + x * channels + c;
            if (is_greater(image[at], image[best])) best = at;
          }
        if constexpr (Part == pooling_part::max_gradient)
          gradient[best] += result[c];
        else
          result[c] = gradient[best];
      }
    }
  }

 private:
  /// The same for `Count` channels at once: comparisons and choices of vectors, where the greatest is kept as a number
  /// that is as wide as an element.
  template <std::int64_t Count>
  ONTO_INLINE static void go_to_greatest(const window_pixels& w, std::int64_t channels, std::int64_t c, const T* image,
                                         T* result, T* gradient) {
    using number = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    T most[Count];
    number best[Count];
    const T* const first = image + w.first + c;
    for (std::int64_t k = 0; k < Count; ++k) most[k] = first[k];
    for (std::int64_t k = 0; k < Count; ++k) best[k] = 0;
    for (std::int64_t y = 0; y < w.height; ++y)
      for (std::int64_t x = 0; x < w.width; ++x) {
        const auto at = static_cast<number>(y * w.line + x * channels);
        const T* const from = first + at;
        for (std::int64_t k = 0; k < Count; ++k) {
          const bool greater = is_greater(from[k], most[k]);
          best[k] = greater ? at : best[k];
          most[k] = greater ? from[k] : most[k];
        }
      }
    T* const to = gradient + w.first + c;
    for (std::int64_t k = 0; k < Count; ++k) {
      if constexpr (Part == pooling_part::max_gradient)
        to[best[k] + k] += result[c + k];
      else
        result[c + k] = to[best[k] + k];
    }
  }
};

/// The kernel of pooling and of its gradients, over floats or doubles; that of float takes half and bfloat16 too.
/// Gradients go image by image, so that each element of one is the work of one thread.
template <pooling_part Part, class T>
void cpu_pooling(thread_pool& pool, const kernel_call& call) {
  constexpr bool back = Part == pooling_part::max_gradient || Part == pooling_part::mean_gradient;
  const extents& made = call.shapes[call.inputs];
  if (made.size() <= 0) return;
  const window_options o(call.op->attribute);
  const pooling_form f = pooling_form_of(o, back ? made : call.shapes[0], back ? call.shapes[0] : made);
  const result_in_order<T> out(call, {});
  // The order of the axes is the operand's own: see pooling_form_of.
  const T* const a = elements_in_order<T>(pool, call, 0, {}, memory_of_thread<kept_memory::filter>());
  const T* const b =
      call.inputs > 1 ? elements_in_order<T>(pool, call, 1, {}, memory_of_thread<kept_memory::image>()) : a;
  if (back) std::memset(static_cast<void*>(out.data), 0, static_cast<std::size_t>(made.size()) * sizeof(T));
  const auto run =
      vector_variants<pool_window<Part, T>, void(const window_pixels&, std::int64_t, const T*, T*, T*)>::chosen();
  const std::int64_t lines = back ? f.batch : f.batch * f.result[0], images = f.image[0] * f.image[1] * f.channels;
  auto pool_line = [&](std::int64_t n, std::int64_t y) {
    for (std::int64_t x = 0; x < f.result[1]; ++x) {
      const window_pixels w = pixels_of_window(f, n, y, x);
      const std::int64_t at = ((n * f.result[0] + y) * f.result[1] + x) * f.channels;
      if constexpr (back)
        run(w, f.channels, b, const_cast<T*>(a) + at, out.data);
      else if constexpr (Part == pooling_part::pick)
        run(w, f.channels, b, out.data + at, const_cast<T*>(a));
      else
        run(w, f.channels, a, out.data + at, nullptr);
    }
  };
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) {
      if constexpr (back)
        for (std::int64_t y = 0; y < f.result[0]; ++y) pool_line(lo, y);
      else
        pool_line(lo / f.result[0], lo % f.result[0]);
    }
  };
  const std::int64_t work = images * f.batch / (lines > 0 ? lines : 1) + 1;
  split(pool, lines, 16384 / work + 1, body);
  out.leave(pool);
}

template <pooling_part Part>
struct cpu_poolings {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_pooling<Part, computed_of<T>>>};
  }
};

}  // namespace ONTO_VECTOR_ABI

template <int... O>
struct operation_kernels<op::max_pool<O...>, cpu_backend> : cpu_poolings<pooling_part::max> {};
template <int... O>
struct operation_kernels<op::max_pool_gradient<O...>, cpu_backend> : cpu_poolings<pooling_part::max_gradient> {};
template <int... O>
struct operation_kernels<op::max_pool_pick<O...>, cpu_backend> : cpu_poolings<pooling_part::pick> {};
template <int... O>
struct operation_kernels<op::avg_pool<O...>, cpu_backend> : cpu_poolings<pooling_part::mean> {};
template <int... O>
struct operation_kernels<op::avg_pool_gradient<O...>, cpu_backend> : cpu_poolings<pooling_part::mean_gradient> {};

}  // namespace onto::detail
