// SPDX-License-Identifier: BSL-1.0
// Pooling on the CPU: means and maxima line by line, what goes to the greatest of a window window by window, vector by
// vector of channels. Images (batch, channels, height, width) are so many images of one channel.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/images.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/backend/cpu/pooling_lines.hpp>
#include <onto/kernel/pooling.hpp>
#include <onto/ops/pooling.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

/// What goes to the greatest of each window of a line, channel by channel, and comes from it.
template <pooling_part Part, class T>
struct pool_windows {
  /// `result`: of the windows; `image`: that which is compared; `gradient`: of the image, added to or picked from.
  template <int Bytes>
  ONTO_INLINE static void run(const pooling_form& f, const windows_of_line& l, const T* image, T* result, T* gradient) {
    T* to = result + ((l.n * f.result[0] + l.y) * f.result[1] + l.first) * f.channels;
    for (std::int64_t x = 0; x < l.count; ++x, to += f.channels)
      go_to_greatest(pixels_of_window(f, l.n, l.y, l.first + x), f.channels, image, to, gradient);
  }
  static std::int64_t room_of(const pooling_form&, std::int64_t) { return 0; }

 private:
  ONTO_INLINE static void go_to_greatest(const window_pixels& w, std::int64_t channels, const T* image, T* result,
                                         T* gradient) {
    constexpr std::int64_t some = 16;
    std::int64_t c = 0;
    if (w.height * w.line < 0x7fffffff)
      for (; c + some <= channels; c += some) go_to_greatest_of<some>(w, channels, c, image, result, gradient);
    for (; c < channels; ++c) {
      const T* const first = image + w.first + c;
      T most = *first;
      std::int64_t best = 0;
      for (std::int64_t y = 0; y < w.height; ++y)
        for (std::int64_t x = 0; x < w.width; ++x) {
          const std::int64_t at = y * w.line + x * channels;
          const bool greater = is_greater(first[at], most);
          best = greater ? at : best;
          most = greater ? first[at] : most;
        }
      T& to = gradient[w.first + c + best];
      if constexpr (Part == pooling_part::max_gradient)
        to += result[c];
      else
        result[c] = to;
    }
  }

  /// The same for `Count` channels at once: comparisons and choices of vectors, where the greatest is kept as a number
  /// that is as wide as an element.
  template <std::int64_t Count>
  ONTO_INLINE static void go_to_greatest_of(const window_pixels& w, std::int64_t channels, std::int64_t c,
                                            const T* image, T* result, T* gradient) {
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
  constexpr bool folds = Part != pooling_part::max_gradient && Part != pooling_part::pick;
  using body_of_line = std::conditional_t<folds, pool_line<Part, T>, pool_windows<Part, T>>;
  const auto run =
      vector_variants<body_of_line, void(const pooling_form&, const windows_of_line&, T*, T*, T*)>::chosen();
  const line_parts l(f);
  // Windows of a gradient overlap, so those of an image are the work of one thread.
  const std::int64_t of_image = f.result[0] * l.parts, tasks = back ? f.batch : f.batch * of_image;
  auto body = [&](std::int64_t lo, std::int64_t hi) {
    small_array<T, 16> room(body_of_line::room_of(f, l.pixels(f)));
    if (back) lo *= of_image, hi *= of_image;
    for (; lo < hi; ++lo) {
      const std::int64_t line = lo / l.parts, first = lo % l.parts * l.windows, rest = f.result[1] - first;
      const windows_of_line w{line / f.result[0], line % f.result[0], first, rest < l.windows ? rest : l.windows};
      if constexpr (Part == pooling_part::max_gradient)
        run(f, w, const_cast<T*>(b), const_cast<T*>(a), out.data);
      else if constexpr (Part == pooling_part::mean_gradient)
        run(f, w, out.data, const_cast<T*>(a), room.data());
      else if constexpr (Part == pooling_part::pick)
        run(f, w, const_cast<T*>(b), out.data, const_cast<T*>(a));
      else
        run(f, w, const_cast<T*>(a), out.data, room.data());
    }
  };
  const std::int64_t elements = f.batch * f.image[0] * f.image[1] * f.channels;
  split(pool, tasks, 16384 / (elements / (tasks > 0 ? tasks : 1) + 1) + 1, body);
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
