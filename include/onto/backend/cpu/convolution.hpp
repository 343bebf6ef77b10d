// SPDX-License-Identifier: BSL-1.0
// Convolutions on the CPU: the built-in matrix product over windows that are packed as it goes. The gradient by the
// image is a convolution too, one for each place that a stride has; that by the filter is the product with the windows
// transposed.
#pragma once

#include <onto/backend/cpu/depthwise.hpp>
#include <onto/backend/cpu/image_epilogue.hpp>
#include <onto/backend/cpu/images.hpp>
#include <onto/backend/cpu/kernels.hpp>
#include <onto/backend/cpu/lines.hpp>
#include <onto/backend/cpu/matmul.hpp>
#include <onto/backend/cpu/onednn_convolution.hpp>
#include <onto/backend/cpu/patches.hpp>
#include <onto/kernel/convolution.hpp>
#include <onto/ops/convolution.hpp>

#include <cstdint>
#include <cstring>

namespace onto::detail {
inline namespace ONTO_VECTOR_ABI {

/// The windows of a convolution's image.
inline window_grid windows_of(const convolution_form& f) {
  window_grid g{};
  for (int a = 0; a < image_axes; ++a) {
    g.image[a] = f.image[a];
    g.count[a] = f.result[a];
    g.window[a] = f.filter[a];
    g.stride[a] = f.stride[a];
    g.first[a] = -f.before[a];
    g.step[a] = f.dilation[a];
  }
  g.channels = f.image_channels;
  g.taken = f.filter_channels();
  return g;
}

/// What becomes of a × b, where a is windows.
template <class T, bool Transposed>
void multiply_patches(thread_pool& pool, std::int64_t m, std::int64_t n, std::int64_t k,
                      const patches<T, Transposed>& a, const matrix_view<T>& b, const gemm_target<T>& target) {
  const gemm_kernels<T>& kernels = best_gemm_kernels<T>();
  const std::int64_t most = (times(times(m, n), k) >> 18) + 1, threads = most < pool.size() ? most : pool.size();
  run_partitioned(pool, threads, m, n, k, a, b, target, gemm_costs,
                  [&](std::int64_t rows, std::int64_t columns, std::int64_t depth, patches<T, Transposed> left,
                      const matrix_view<T>& right, gemm_target<T> part) {
                    // The part of the result that is added to stays in the second cache.
                    constexpr std::int64_t some = 1344;
                    for (std::int64_t n_rows = some; rows > 0; rows -= n_rows) {
                      if (rows < n_rows + n_rows / 2) n_rows = rows;
                      gemm_with(kernels, n_rows, columns, depth, left, right, part);
                      left.row += n_rows;
                      part.data += n_rows * part.row;
                      if (part.addend.data != nullptr) part.addend.data += n_rows * part.addend.row;
                    }
                  });
}

template <class T>
void convolve_forward(thread_pool& pool, const convolution_form& f, const T* image, const T* filter, T* result,
                      const image_epilogue<T>& epilogue) {
  const window_grid g = windows_of(f);
  const std::int64_t windows = f.batch * f.result[0] * f.result[1], in_window = f.filter[0] * f.filter[1] * g.taken,
                     out = f.result_channels / f.groups;
  for (std::int64_t k = 0; k < f.groups; ++k)
    multiply_patches<T, false>(pool, windows, out, in_window, {&g, image + k * g.taken},
                               {filter + k * out, f.result_channels, 1},
                               epilogue.target(result, f.result_channels, 0, k * out));
}

template <class T>
void convolve_filter_gradient(thread_pool& pool, const convolution_form& f, const T* image, const T* gradient,
                              T* filter) {
  const window_grid g = windows_of(f);
  const std::int64_t windows = f.batch * f.result[0] * f.result[1], in_window = f.filter[0] * f.filter[1] * g.taken,
                     out = f.result_channels / f.groups;
  for (std::int64_t k = 0; k < f.groups; ++k)
    multiply_patches<T, true>(pool, in_window, out, windows, {&g, image + k * g.taken},
                              {gradient + k * out, f.result_channels, 1},
                              image_epilogue<T>{}.target(filter, f.result_channels, 0, k * out));
}

/// Along one axis, the elements of an image that are `at` modulo the stride: which elements of the filter have come to
/// them, and which windows of the result's gradient these make.
struct stride_place {
  std::int64_t count;          // elements of the image
  std::int64_t taps;           // elements of the filter, counted from its end
  std::int64_t tap, tap_step;  // the first, and from one to the next
  std::int64_t first, step;    // the window: where it begins for the first element, and from element to element
};
inline stride_place place_in_stride(const convolution_form& f, int a, std::int64_t at) {
  const std::int64_t stride = f.stride[a], dilation = f.dilation[a];
  stride_place p{};
  p.count = f.image[a] > at ? (f.image[a] - at - 1) / stride + 1 : 0;
  const std::int64_t origin = at + f.before[a] - (f.filter[a] - 1) * dilation;
  const auto meets = [&](std::int64_t tap) { return (origin + tap * dilation) % stride == 0; };
  while (p.tap < f.filter[a] && !meets(p.tap)) ++p.tap;
  p.tap_step = 1;
  while (p.tap_step < stride && p.tap_step * dilation % stride != 0) ++p.tap_step;
  p.taps = p.tap < f.filter[a] ? (f.filter[a] - p.tap - 1) / p.tap_step + 1 : 0;
  p.first = (origin + p.tap * dilation) / stride;  // exact where there are taps
  p.step = p.tap_step * dilation / stride;
  return p;
}

/// The filter of the gradient by the image at one place in the strides: turned round, results as what is summed.
template <class T>
void turn_filter(const convolution_form& f, const stride_place& y, const stride_place& x, const T* filter, T* to) {
  const std::int64_t in = f.filter_channels(), out = f.result_channels / f.groups;
  for (std::int64_t r = 0; r < y.taps; ++r)
    for (std::int64_t c = 0; c < x.taps; ++c, to += in * out) {
      const std::int64_t row = f.filter[0] - 1 - (y.tap + r * y.tap_step),
                         column = f.filter[1] - 1 - (x.tap + c * x.tap_step);
      copy_elements(sizeof(T), to, 1, in, filter + (row * f.filter[1] + column) * in * f.result_channels,
                    f.result_channels, 1, in, out);
    }
}

template <class T>
void convolve_image_gradient(thread_pool& pool, const convolution_form& f, const T* gradient, const T* filter, T* image,
                             const image_epilogue<T>& epilogue) {
  const std::int64_t in = f.filter_channels(), out = f.result_channels / f.groups, channels = f.image_channels;
  const std::int64_t most_taps = f.filter[0] * f.filter[1], pixels = f.image[0] * f.image[1];
  small_array<T, 16> turned(most_taps * in * out);
  const bool whole = f.stride[0] == 1 && f.stride[1] == 1;
  small_array<T, 16> part(
      whole ? 0 : f.batch * ((f.image[0] - 1) / f.stride[0] + 1) * ((f.image[1] - 1) / f.stride[1] + 1) * in);
  for (std::int64_t k = 0; k < f.groups; ++k)
    for (std::int64_t at = 0; at < f.stride[0] * f.stride[1]; ++at) {
      const std::int64_t at_y = at / f.stride[1], at_x = at % f.stride[1];
      const stride_place y = place_in_stride(f, 0, at_y), x = place_in_stride(f, 1, at_x);
      const std::int64_t windows = f.batch * y.count * x.count, in_window = y.taps * x.taps * out;
      if (windows == 0) continue;
      turn_filter(f, y, x, filter + k * out, turned.data());
      const window_grid g{{f.result[0], f.result[1]}, {y.count, x.count}, {y.taps, x.taps},  {1, 1},
                          {y.first, x.first},         {y.step, x.step},   f.result_channels, out};
      if (whole) {
        multiply_patches<T, false>(pool, windows, in, in_window, {&g, gradient + k * out}, {turned.data(), in, 1},
                                   epilogue.target(image, channels, 0, k * in));
        continue;
      }
      if (in_window == 0)
        std::memset(static_cast<void*>(part.data()), 0, static_cast<std::size_t>(windows * in) * sizeof(T));
      else
        multiply_patches<T, false>(pool, windows, in, in_window, {&g, gradient + k * out}, {turned.data(), in, 1},
                                   image_epilogue<T>{}.target(part.data(), in));
      auto body = [&](std::int64_t lo, std::int64_t hi) {
        for (; lo < hi; ++lo) {
          const std::int64_t pixel = lo / y.count * pixels + (lo % y.count * f.stride[0] + at_y) * f.image[1] + at_x;
          const T* from = part.data() + lo * x.count * in;
          if (epilogue.any()) {
            best_gemm_epilogue<T>()(epilogue.target(image, channels, pixel, k * in, f.stride[1]), x.count, in, from,
                                    in);
            continue;
          }
          T* to = image + pixel * channels + k * in;
          for (std::int64_t c = 0; c < x.count; ++c, from += in, to += f.stride[1] * channels) copy_run(to, from, in);
        }
      };
      split(pool, f.batch * y.count, 16384 / (x.count * in) + 1, body);
    }
}

/// The epilogue of a convolution of nothing, which is 0: `size` elements of images with so many channels.
template <class T>
void finish_nothing(const image_epilogue<T>& epilogue, std::int64_t channels, std::int64_t size, T* made) {
  if (!epilogue.any()) {
    std::memset(static_cast<void*>(made), 0, static_cast<std::size_t>(size) * sizeof(T));
    return;
  }
  small_array<T, 64> zeros(channels);
  for (std::int64_t c = 0; c < channels; ++c) zeros[c] = 0;
  epilogue.finish(made, channels, 0, size / channels, zeros.data(), 0);
}

/// The kernel of the three parts of a convolution over floats or doubles; that of float takes half and bfloat16 too.
/// `Library` is an argument so that files with different libraries have two functions, not two definitions of one.
template <convolution_part Part, class T, matmul_library Library = chosen_library<T>>
void cpu_convolution(thread_pool& pool, const kernel_call& call) {
  const extents& made = call.shapes[call.inputs];
  if (made.size() <= 0) return;
  const window_options o(call.op->attribute);
  const convolution_form f = convolution_form_of(Part, *call.op, call.out.type, call.shapes, call.inputs);
  constexpr bool by_filter = Part == convolution_part::filter_gradient;
  const axis_order images = image_order(o), filters = filter_order(o);
  const result_in_order<T> result(call, by_filter ? filters : images);
  image_epilogue<T> epilogue;
  if constexpr (!by_filter) epilogue = epilogue_in_order<T>(pool, call, images);
  if (f.result_size() == 0 || f.filter_size() == 0 || f.image_size() == 0) {
    finish_nothing(epilogue, made.dims[channel_axis(o)], made.size(), result.data);
  } else {
    const T* const a = elements_in_order<T>(pool, call, 0, images, memory_of_thread<kept_memory::image>());
    const T* const b =
        elements_in_order<T>(pool, call, 1, by_filter ? images : filters, memory_of_thread<kept_memory::filter>());
    const bool depthwise = f.is_depthwise();
    if (const convolution_form lines = along_lines(f); goes_by_lines(lines)) {
      if constexpr (by_filter)
        depthwise_filter_gradient<T>(pool, lines, a, b, result.data);
      else
        convolve_lines<T>(pool, lines, a, b, result.data, epilogue);
      return result.leave(pool);
    }
#if defined(ONTO_HAS_ONEDNN)
    if constexpr (Library == matmul_library::onednn && !by_filter)
      if (!depthwise && convolve_with_onednn(pool, f, a, b, result.data, epilogue)) return result.leave(pool);
#endif
    if constexpr (Part == convolution_part::forward)
      (depthwise ? depthwise_forward<T> : convolve_forward<T>)(pool, f, a, b, result.data, epilogue);
    else if constexpr (Part == convolution_part::image_gradient)
      (depthwise ? depthwise_image_gradient<T> : convolve_image_gradient<T>)(pool, f, a, b, result.data, epilogue);
    else
      (depthwise ? depthwise_filter_gradient<T> : convolve_filter_gradient<T>)(pool, f, a, b, result.data);
  }
  result.leave(pool);
}

template <convolution_part Part>
struct cpu_convolutions {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_on_pool<&cpu_convolution<Part, computed_of<T>>>};
  }
};

}  // namespace ONTO_VECTOR_ABI

template <int... O>
struct operation_kernels<op::convolution<O...>, cpu_backend> : cpu_convolutions<convolution_part::forward> {};
template <int... O>
struct operation_kernels<op::convolution_image_gradient<O...>, cpu_backend>
    : cpu_convolutions<convolution_part::image_gradient> {};
template <int... O>
struct operation_kernels<op::transposed_convolution<O...>, cpu_backend>
    : cpu_convolutions<convolution_part::image_gradient> {};
template <int... O>
struct operation_kernels<op::convolution_filter_gradient<O...>, cpu_backend>
    : cpu_convolutions<convolution_part::filter_gradient> {};

}  // namespace onto::detail
