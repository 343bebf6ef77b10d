// SPDX-License-Identifier: BSL-1.0
// A convolution, or a gradient of one, as a matrix product in each group whose operands are found element by element: a
// row for each window, each pixel or each element of the filter. Plain arithmetic, the same on host and device.
#pragma once

#include <onto/core/config.hpp>
#include <onto/kernel/convolution.hpp>
#include <onto/kernel/index_divisor.hpp>

#include <cstdint>

namespace onto::detail {

/// Where elements of images (batch, height, width, channel) are, in elements from the first.
struct image_strides {
  std::int64_t batch, line, pixel, channel;
};
/// And those of filters, in each group.
struct filter_strides {
  std::int64_t line, pixel, in, out, group;
};

struct convolution_product {
  std::int64_t groups, rows, columns, depth;  // of each group
  std::int64_t in, out;                       // channels of a group
  std::int64_t image[2], result[2], stride[2], dilation[2], before[2];
  index_divisor by_in, by_out, by_taps, by_width, by_height, by_stride[2];
  image_strides at_image, at_result;
  filter_strides at_filter;
};

/// An element of an operand: none is 0.
struct found_element {
  std::int64_t at;
  bool there;
};

/// A place: of a window or a pixel, or of an element of the filter (line, pixel, channel).
struct place_of_three {
  std::int64_t a, b, c;
};
ONTO_HD ONTO_INLINE place_of_three split_place(std::int64_t k, const index_divisor& inner, const index_divisor& outer) {
  const std::int64_t rest = inner.divide(k), a = outer.divide(rest);
  return {a, rest - a * outer.divisor, k - rest * inner.divisor};
}

ONTO_HD ONTO_INLINE std::int64_t at_strides(const image_strides& s, std::int64_t n, std::int64_t y, std::int64_t x,
                                            std::int64_t c) {
  return n * s.batch + y * s.line + x * s.pixel + c * s.channel;
}
ONTO_HD ONTO_INLINE std::int64_t at_strides(const filter_strides& s, std::int64_t g, std::int64_t r, std::int64_t c,
                                            std::int64_t in, std::int64_t out) {
  return r * s.line + c * s.pixel + in * s.in + out * s.out + g * s.group;
}

/// The element of the image below element (`r`, `c`) of a window.
ONTO_HD ONTO_INLINE found_element below_window(const convolution_product& p, const place_of_three& w, std::int64_t r,
                                               std::int64_t c, std::int64_t channel) {
  const std::int64_t y = w.b * p.stride[0] - p.before[0] + r * p.dilation[0],
                     x = w.c * p.stride[1] - p.before[1] + c * p.dilation[1];
  return {at_strides(p.at_image, w.a, y, x, channel), y >= 0 && y < p.image[0] && x >= 0 && x < p.image[1]};
}

/// The windows whose element `tap` is at a place.
ONTO_HD ONTO_INLINE found_element window_over(const convolution_product& p, int a, std::int64_t place,
                                              std::int64_t tap) {
  const std::int64_t from = place + p.before[a] - tap * p.dilation[a];
  if (from < 0) return {0, false};
  const std::int64_t window = p.by_stride[a].divide(from);
  return {window, window * p.stride[a] == from && window < p.result[a]};
}

/// Element (row, k) of the left matrix of group `g`.
template <convolution_part Part>
ONTO_HD ONTO_INLINE found_element left_of(const convolution_product& p, std::int64_t g, std::int64_t row,
                                          std::int64_t k) {
  if constexpr (Part == convolution_part::forward) {
    const place_of_three w = split_place(row, p.by_width, p.by_height), e = split_place(k, p.by_in, p.by_taps);
    return below_window(p, w, e.a, e.b, g * p.in + e.c);
  } else if constexpr (Part == convolution_part::filter_gradient) {
    const place_of_three e = split_place(row, p.by_in, p.by_taps), w = split_place(k, p.by_width, p.by_height);
    return below_window(p, w, e.a, e.b, g * p.in + e.c);
  } else {
    const place_of_three i = split_place(row, p.by_width, p.by_height), e = split_place(k, p.by_out, p.by_taps);
    const found_element y = window_over(p, 0, i.b, e.a), x = window_over(p, 1, i.c, e.b);
    return {at_strides(p.at_result, i.a, y.at, x.at, g * p.out + e.c), y.there && x.there};
  }
}

/// Element (k, column) of the right one.
template <convolution_part Part>
ONTO_HD ONTO_INLINE std::int64_t right_of(const convolution_product& p, std::int64_t g, std::int64_t k,
                                          std::int64_t column) {
  if constexpr (Part == convolution_part::forward) {
    const place_of_three e = split_place(k, p.by_in, p.by_taps);
    return at_strides(p.at_filter, g, e.a, e.b, e.c, column);
  } else if constexpr (Part == convolution_part::image_gradient) {
    const place_of_three e = split_place(k, p.by_out, p.by_taps);
    return at_strides(p.at_filter, g, e.a, e.b, column, e.c);
  } else {
    const place_of_three w = split_place(k, p.by_width, p.by_height);
    return at_strides(p.at_result, w.a, w.b, w.c, g * p.out + column);
  }
}

/// Where element (row, column) of the product is in images: those that are made, or an addend.
template <convolution_part Part>
ONTO_HD ONTO_INLINE std::int64_t made_in_images(const convolution_product& p, const image_strides& images,
                                                std::int64_t g, std::int64_t row, std::int64_t column) {
  const place_of_three w = split_place(row, p.by_width, p.by_height);
  return at_strides(images, w.a, w.b, w.c, g * (Part == convolution_part::forward ? p.out : p.in) + column);
}

/// Where element (row, column) of the product goes.
template <convolution_part Part>
ONTO_HD ONTO_INLINE std::int64_t made_at(const convolution_product& p, std::int64_t g, std::int64_t row,
                                         std::int64_t column) {
  if constexpr (Part == convolution_part::filter_gradient) {
    const place_of_three e = split_place(row, p.by_in, p.by_taps);
    return at_strides(p.at_filter, g, e.a, e.b, e.c, column);
  } else {
    return made_in_images<Part>(p, Part == convolution_part::forward ? p.at_result : p.at_image, g, row, column);
  }
}

/// What follows a convolution in its kernel: `relu(alpha * made + beta * addend)`.
template <class Number>
struct convolution_epilogue {
  Number alpha, beta;
  bool relu;
  image_strides addend;

  ONTO_HD ONTO_INLINE Number scaled(Number made) const { return alpha * made; }
  ONTO_HD ONTO_INLINE Number added(Number made, Number more) const { return made + beta * more; }
  /// NaN stays.
  ONTO_HD ONTO_INLINE Number finished(Number made) const { return relu && made < Number{0} ? Number{0} : made; }
};

/// The strides of images, from those in the order of their own axes.
inline image_strides strides_of_images(const window_options& o, const std::int64_t* stride) {
  const int first = first_image_axis(o);
  return {stride[0], o.axes == 2 ? stride[first] : 0, stride[first + o.axes - 1], stride[channel_axis(o)]};
}

/// The product of a convolution whose operands have these strides, each in the order of its own axes.
inline convolution_product product_of_convolution(const convolution_form& f, const window_options& o,
                                                  const std::int64_t* image, const std::int64_t* filter,
                                                  const std::int64_t* result) {
  convolution_product p{};
  p.groups = f.groups;
  p.in = f.filter_channels();
  p.out = f.result_channels / f.groups;
  const std::int64_t taps = f.filter[0] * f.filter[1], windows = f.batch * f.result[0] * f.result[1],
                     pixels = f.batch * f.image[0] * f.image[1];
  const bool by_image = f.part == convolution_part::image_gradient;
  p.rows = f.part == convolution_part::forward ? windows : by_image ? pixels : taps * p.in;
  p.depth = f.part == convolution_part::forward ? taps * p.in : by_image ? taps * p.out : windows;
  p.columns = by_image ? p.in : p.out;
  for (int a = 0; a < image_axes; ++a) {
    p.image[a] = f.image[a];
    p.result[a] = f.result[a];
    p.stride[a] = f.stride[a];
    p.dilation[a] = f.dilation[a];
    p.before[a] = f.before[a];
    p.by_stride[a] = index_divisor(f.stride[a]);
  }
  p.by_in = index_divisor(p.in);
  p.by_out = index_divisor(p.out);
  p.by_taps = index_divisor(f.filter[1]);
  p.by_width = index_divisor(by_image ? f.image[1] : f.result[1]);
  p.by_height = index_divisor(by_image ? f.image[0] : f.result[0]);
  const int window = first_filter_axis(o);
  const bool two = o.axes == 2;
  p.at_image = strides_of_images(o, image);
  p.at_result = strides_of_images(o, result);
  const std::int64_t in = filter[filter_in_axis(o)], out = filter[filter_out_axis(o)];
  // A filter (height, width, channels, times) has a channel for each group.
  const bool times = o.groups == 0 && o.layout == image_layout::nhwc;
  p.at_filter = {two ? filter[window] : 0, filter[window + o.axes - 1], times ? 0 : in, out, times ? in : p.out * out};
  return p;
}

}  // namespace onto::detail
