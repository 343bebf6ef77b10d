// SPDX-License-Identifier: BSL-1.0
// Pooling as plain numbers, for every backend: which elements of an image are in a window, which of them is the
// greatest.
#pragma once

#include <onto/core/config.hpp>
#include <onto/kernel/accumulator.hpp>
#include <onto/shape/convolution.hpp>

#include <cstdint>

namespace onto::detail {

/// The greatest or the mean of a window; their gradients; and what another image has where the greatest is.
enum class pooling_part : int { max, mean, max_gradient, mean_gradient, pick };

/// Whether a value counts as the greatest so far, before one that is `so_far`: of equals, and of NaN, the first does.
template <class T>
ONTO_HD ONTO_INLINE constexpr bool is_greater(T value, T so_far) {
  return is_more_extreme<fold::max>(value, so_far);
}

/// Windows over images (batch, height, width, channels).
struct pooling_form {
  std::int64_t batch, channels;
  std::int64_t image[2], result[2], window[2], stride[2], before[2];
};

/// Of images with that layout. Those whose channels come first are so many images of one channel: no element moves.
constexpr pooling_form pooling_form_of(const window_options& o, const extents& image, const extents& result) {
  pooling_form f{image.dims[0], image.dims[channel_axis(o)], {}, {}, {}, {}, {}};
  if (o.layout == image_layout::nchw) {
    f.batch *= f.channels;
    f.channels = 1;
  }
  for (int a = 0; a < image_axes; ++a) {
    f.image[a] = image.dims[first_image_axis(o) + a];
    f.result[a] = result.dims[first_image_axis(o) + a];
    f.window[a] = o.window[a];
    f.stride[a] = o.stride[a];
    f.before[a] = padding_of(o, a, f.image[a], o.window[a]).before;
  }
  return f;
}

/// The pixels of a window that are in the image: where the first begins, so many lines of so many pixels, and the
/// elements from line to line.
struct window_pixels {
  std::int64_t first, height, width, line;
};

/// The part of a window along one axis that is in the image.
ONTO_HD ONTO_INLINE void window_range(const pooling_form& f, int a, std::int64_t window, std::int64_t& first,
                                      std::int64_t& count) {
  std::int64_t lo = window * f.stride[a] - f.before[a], hi = lo + f.window[a];
  lo = lo < 0 ? 0 : lo;
  hi = hi > f.image[a] ? f.image[a] : hi;
  first = lo;
  count = hi > lo ? hi - lo : 0;
}

ONTO_HD ONTO_INLINE window_pixels pixels_of_window(const pooling_form& f, std::int64_t n, std::int64_t y,
                                                   std::int64_t x) {
  window_pixels w{};
  std::int64_t row = 0, column = 0;
  window_range(f, 0, y, row, w.height);
  window_range(f, 1, x, column, w.width);
  w.line = f.image[1] * f.channels;
  w.first = (n * f.image[0] + row) * w.line + column * f.channels;
  return w;
}

}  // namespace onto::detail
