// SPDX-License-Identifier: BSL-1.0
// The words that say how windows go over images: `conv2d<strides<2>, same>(x, w)`.
#pragma once

#include <onto/expr/shape_check.hpp>
#include <onto/ops/pad.hpp>
#include <onto/shape/convolution.hpp>

#include <type_traits>
#include <utility>

namespace onto {

/// From one window to the next, along both axes or along each.
template <int Height, int Width = Height>
struct strides {};

/// From one element of a window to the next, along both axes or along each.
template <int Height, int Width = Height>
struct dilation {};

/// The extents of pooling's windows.
template <int Height, int Width = Height>
struct window {};

/// Channels in as many groups, each with filters of its own.
template <int Count>
struct groups {
  static_assert(Count > 0, "[onto.shape] there is a group at least; depthwise_conv2d has one for each channel");
};

/// Elements that a transposed convolution makes beside the least that its operand comes from.
template <int Height, int Width = Height>
struct output_padding {};

/// Zeros around images so that there is a window for each stride, TensorFlow's: where their number is odd, the greater
/// part is after the image.
struct same {};
/// No window reaches beyond the image.
struct valid {};

/// Images (batch, channels, height, width), as PyTorch has them.
struct nchw {};
/// Images (batch, height, width, channels), as TensorFlow has them; so they are unless another layout is said.
struct nhwc {};

namespace detail {

/// What `same` and `valid` count as: nothing is said beside them.
inline constexpr int all_paddings = 16;

constexpr void say(window_options& o, int& paddings, same) {
  o.padding = padding_rule::same;
  paddings += all_paddings;
}
constexpr void say(window_options& o, int& paddings, valid) {
  o.padding = padding_rule::valid;
  paddings += all_paddings;
}
/// One padding is for all axes, two for one each.
template <int Before, int After>
constexpr void say(window_options& o, int& paddings, padding<Before, After>) {
  o.padding = padding_rule::numbers;
  for (int a = paddings > 0 ? 1 : 0; a < image_axes; ++a) {
    o.before[a] = Before;
    o.after[a] = After;
  }
  ++paddings;
}
constexpr void say(window_options& o, int&, nchw) { o.layout = image_layout::nchw; }
constexpr void say(window_options& o, int&, nhwc) { o.layout = image_layout::nhwc; }
template <int Count>
constexpr void say(window_options& o, int&, groups<Count>) {
  o.groups = Count;
}
template <int H, int W>
constexpr void say(window_options& o, int&, strides<H, W>) {
  o.stride[0] = H;
  o.stride[1] = W;
}
template <int H, int W>
constexpr void say(window_options& o, int&, dilation<H, W>) {
  o.dilation[0] = H;
  o.dilation[1] = W;
}
template <int H, int W>
constexpr void say(window_options& o, int&, window<H, W>) {
  o.window[0] = H;
  o.window[1] = W;
}
template <int H, int W>
constexpr void say(window_options& o, int&, output_padding<H, W>) {
  o.more[0] = H;
  o.more[1] = W;
}

/// What is wrong with the words.
enum class window_fault : int { none, steps, more, padding, groups, extent, outside, not_pooling };

/// What words say of windows along `Axes` axes. Of one axis, that is the second; its window's and strides' numbers are
/// those of the height.
template <int Axes, int Groups, class... Words>
struct window_words {
  static constexpr window_options said(int& paddings) {
    window_options o;
    o.axes = Axes;
    o.groups = Groups;
    (say(o, paddings, Words{}), ...);
    if (o.groups < 1 && Groups == 1) o.groups = -1;
    if (Axes == 1) {
      o.stride[1] = o.stride[0];
      o.dilation[1] = o.dilation[0];
      o.window[1] = o.window[0];
      o.stride[0] = o.dilation[0] = 1;
      o.window[0] = o.before[0] = o.after[0] = 0;
    }
    return o;
  }
  static constexpr window_options options() {
    int count = 0;
    window_options o = said(count);
    bool none = o.padding == padding_rule::numbers;
    for (int a = 0; a < image_axes; ++a) none = none && o.before[a] == 0 && o.after[a] == 0;
    if (none) o.padding = padding_rule::valid;
    return o;
  }
  static constexpr window_fault fault() {
    int paddings = 0;
    const window_options o = said(paddings);
    for (int a = 0; a < image_axes; ++a) {
      if (o.stride[a] < 1 || o.dilation[a] < 1) return window_fault::steps;
      if (o.more[a] < 0 || (o.more[a] > 0 && o.more[a] >= o.stride[a])) return window_fault::more;
    }
    if (paddings > Axes && paddings != all_paddings) return window_fault::padding;
    return (Groups == 0 && o.groups != 0) || o.groups < 0 ? window_fault::groups : window_fault::none;
  }
};

// One struct a mistake, as in shape_check.hpp.
template <window_fault Fault, class... Words>
struct window_mistake : mistake {
  static constexpr bool ok = Fault == window_fault::none;
  static_assert(ok == true, "[onto.shape] strides and dilation are 1 or more");
};
template <class... Words>
struct window_mistake<window_fault::more, Words...> : mistake {
  static constexpr bool ok = sizeof...(Words) > 99;
  static_assert(ok == true, "[onto.shape] output_padding is 0 or more, and less than the strides");
};
template <class... Words>
struct window_mistake<window_fault::padding, Words...> : mistake {
  static constexpr bool ok = sizeof...(Words) > 99;
  static_assert(ok == true,
                "[onto.shape] the padding is said once: valid, same, or padding<1>, one for each axis at most");
};
template <class... Words>
struct window_mistake<window_fault::groups, Words...> : mistake {
  static constexpr bool ok = sizeof...(Words) > 99;
  static_assert(ok == true,
                "[onto.shape] there is a group at least; depthwise_conv2d has one for each channel, and names none");
};
template <class... Words>
struct window_mistake<window_fault::extent, Words...> : mistake {
  static constexpr bool ok = sizeof...(Words) > 99;
  static_assert(ok == true, "[onto.shape] pooling has a window with an element at least: max_pool2d<window<2>>(x)");
};
template <class... Words>
struct window_mistake<window_fault::outside, Words...> : mistake {
  static constexpr bool ok = sizeof...(Words) > 99;
  static_assert(ok == true,
                "[onto.shape] the padding of pooling is less than its window: there is no value of no elements");
};
template <class... Words>
struct window_mistake<window_fault::not_pooling, Words...> : mistake {
  static constexpr bool ok = sizeof...(Words) > 99;
  static_assert(ok == true, "[onto.shape] pooling has neither groups nor dilation");
};

/// The operation `Op` with its options as numbers.
template <template <int...> class Op, class Words>
struct spelled_windows {
  static constexpr window_options options = Words::options();
  template <int... K>
  static auto spell(std::integer_sequence<int, K...>) -> Op<options.number(K)...>;
  using type = decltype(spell(std::make_integer_sequence<int, window_options::count>{}));
};

/// The base of operations over windows: their options as attributes.
template <int... Options>
struct windowed {
  static constexpr int attribute_count = sizeof...(Options);
  static constexpr std::int64_t attribute[attribute_count] = {Options...};
  static constexpr window_options options() { return window_options(attribute); }
};

}  // namespace detail

}  // namespace onto
