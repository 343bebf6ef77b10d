// SPDX-License-Identifier: BSL-1.0
// How windows go over images: convolutions and pooling. Strides, padding, dilation, and the extents that follow.
#pragma once

#include <onto/shape/extents.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The order of the axes of images and filters: (batch, height, width, channels) and (height, width, in, out), which is
/// TensorFlow's; or (batch, channels, height, width) and (out, in, height, width), which is PyTorch's.
enum class image_layout : int { nhwc, nchw };

/// How far windows reach beyond an image: not at all; as far as one starts at every stride; so many elements.
enum class padding_rule : int { valid, same, numbers };

/// The most axes of an image that windows go along.
inline constexpr int image_axes = 2;

/// What is said of windows: the attributes of an operation, in this order. Of images with one axis that is the second.
struct window_options {
  image_layout layout = image_layout::nhwc;
  padding_rule padding = padding_rule::valid;
  int axes = 2;
  int stride[image_axes] = {1, 1};
  int dilation[image_axes] = {1, 1};
  int before[image_axes] = {};
  int after[image_axes] = {};
  int groups = 1;               // 0: as many as the image has channels
  int window[image_axes] = {};  // of pooling
  int more[image_axes] = {};    // of a transposed convolution: elements more than the least that gives its operand

  static constexpr int count = 16;

  constexpr window_options() = default;
  /// From `count` numbers.
  template <class Integer>
  constexpr explicit window_options(const Integer* n)
      : layout(static_cast<image_layout>(n[0])),
        padding(static_cast<padding_rule>(n[1])),
        axes(static_cast<int>(n[2])) {
    for (int a = 0; a < image_axes; ++a) {
      stride[a] = static_cast<int>(n[3 + a]);
      dilation[a] = static_cast<int>(n[5 + a]);
      before[a] = static_cast<int>(n[7 + a]);
      after[a] = static_cast<int>(n[9 + a]);
      window[a] = static_cast<int>(n[12 + a]);
      more[a] = static_cast<int>(n[14 + a]);
    }
    groups = static_cast<int>(n[11]);
  }
  constexpr int number(int k) const {
    const int a = (k - 3) & 1, b = k & 1;
    if (k < 3) return k == 0 ? static_cast<int>(layout) : k == 1 ? static_cast<int>(padding) : axes;
    if (k < 11) return k < 5 ? stride[a] : k < 7 ? dilation[a] : k < 9 ? before[a] : after[a];
    return k == 11 ? groups : k < 14 ? window[b] : more[b];
  }
};

/// How many elements of an image a window of `window` elements spans.
constexpr std::int64_t reach_of(std::int64_t window, std::int64_t dilation) {
  return window > 0 ? (window - 1) * dilation + 1 : 0;
}

/// How far windows along one axis reach beyond the image.
struct axis_padding {
  std::int64_t before = 0, after = 0;
};

/// The padding of axis `a` of an image with `in` elements along it. `same` pads as TensorFlow does: as little as gives
/// ceil(in / stride) windows, and where that is odd, the greater part after the image.
constexpr axis_padding padding_of(const window_options& o, int a, std::int64_t in, std::int64_t window) {
  if (o.padding == padding_rule::valid) return {};
  if (o.padding == padding_rule::numbers) return {o.before[a], o.after[a]};
  const std::int64_t stride = o.stride[a], windows = (in + stride - 1) / stride;
  const std::int64_t all = (windows - 1) * stride + reach_of(window, o.dilation[a]) - in;
  return all > 0 ? axis_padding{all / 2, all - all / 2} : axis_padding{};
}

/// The number of windows along axis `a`: `dyn` where it is not known, -2 where not one fits.
constexpr int windows_along(const window_options& o, int a, int in, int window) {
  constexpr int none = -2;
  if (in == dyn || (window == dyn && o.padding != padding_rule::same)) return dyn;
  if (window == 0) return none;
  const std::int64_t stride = o.stride[a];
  if (o.padding == padding_rule::same) return static_cast<int>((in + stride - 1) / stride);
  const axis_padding p = padding_of(o, a, in, window);
  const std::int64_t left = in + p.before + p.after - reach_of(window, o.dilation[a]);
  const std::int64_t windows = left / stride + 1;
  return left < 0 || windows > 0x7fffffff ? none : static_cast<int>(windows);
}

/// The extent along axis `a` of an image with `windows` windows: what a transposed convolution makes of as many
/// elements. `same`: so many strides; else the least image, and what is said to be more. -2 where there is none.
constexpr int image_of_windows(const window_options& o, int a, int windows, int window) {
  constexpr int none = -2;
  if (windows == dyn || (window == dyn && o.padding != padding_rule::same)) return dyn;
  if (window == 0) return none;
  if (windows == 0) return 0;
  std::int64_t n = std::int64_t{windows} * o.stride[a];
  if (o.padding != padding_rule::same)
    n += reach_of(window, o.dilation[a]) - o.stride[a] - o.before[a] - o.after[a] + o.more[a];
  return n < 0 || n > 0x7fffffff ? none : static_cast<int>(n);
}

/// Where the axes of an image of `axes` axes are: its channels, and the first of those that windows go along.
constexpr int channel_axis(const window_options& o) { return o.layout == image_layout::nhwc ? o.axes + 1 : 1; }
constexpr int first_image_axis(const window_options& o) { return o.layout == image_layout::nhwc ? 1 : 2; }
/// Those of a filter.
constexpr int filter_in_axis(const window_options& o) { return o.layout == image_layout::nhwc ? o.axes : 1; }
constexpr int filter_out_axis(const window_options& o) { return o.layout == image_layout::nhwc ? o.axes + 1 : 0; }
constexpr int first_filter_axis(const window_options& o) { return o.layout == image_layout::nhwc ? 0 : 2; }

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
