// SPDX-License-Identifier: BSL-1.0
// Convolutions: conv2d, conv1d, depthwise_conv2d, conv2d_transpose. Programs say them with <onto/convolution.hpp>,
// which brings the kernels too.
#pragma once

#include <onto/ops/operation_base.hpp>
#include <onto/ops/windows.hpp>

namespace onto::detail {
/// As other_headers.hpp asks.
struct convolution_header {};
}  // namespace onto::detail

namespace onto {

namespace detail {

/// Operations over images and filters of one floating-point type.
struct image_operation {
  static constexpr op_kind kind = op_kind::own_kernel;
  static constexpr int cost = 1;
  static constexpr kernel_set kernels{floating_elements, floating_elements};

  template <class... E>
  static constexpr element_check check(E... operands) {
    return check_same(floating_elements, operands...);
  }
  template <class... E>
  static constexpr element result(element first, E...) {
    return first;
  }
};

ONTO_BEGIN_RUNS_ONCE
constexpr int known_times(int a, int b) {
  const std::int64_t n = a == dyn || b == dyn ? dyn : times(a, b);
  return n > 0x7fffffff ? 0x7fffffff : static_cast<int>(n);
}
constexpr bool fit_channels(int a, int b) { return a == b || a == dyn || b == dyn; }

/// The channels of the image and of the result, `dyn` where they are not known.
struct convolved_channels {
  int image = dyn, result = dyn;
  shape_fault fault = shape_fault::none;
};
constexpr convolved_channels channels_of(const window_options& o, const extents& filter) {
  const int in = filter.dims[filter_in_axis(o)], out = filter.dims[filter_out_axis(o)];
  if (o.groups != 0)
    return {known_times(in, o.groups), out,
            out != dyn && out % o.groups != 0 ? shape_fault::groups : shape_fault::none};
  // A filter for each channel: (height, width, channels, times), or (channels * times, 1, height, width).
  if (o.layout == image_layout::nhwc) return {in, known_times(in, out), shape_fault::none};
  return {dyn, out, fit_channels(in, 1) ? shape_fault::none : shape_fault::channels};
}

/// The result's shape, of an image and a filter.
constexpr inferred convolved(const window_options& o, const extents& x, const extents& w) {
  inferred r{x};
  if (x.rank != o.axes + 2 || w.rank != o.axes + 2) return {x, shape_fault::rank};
  const convolved_channels c = channels_of(o, w);
  const int channels = x.dims[channel_axis(o)];
  r.fault = c.fault;
  if (o.groups == 0 && channels > 0 && c.result != dyn && c.result % channels != 0) r.fault = shape_fault::groups;
  if (!fit_channels(c.image, channels)) r.fault = shape_fault::channels;
  for (int k = 0; k < o.axes; ++k) {
    int& e = r.shape.dims[first_image_axis(o) + k];
    e = windows_along(o, image_axes - o.axes + k, e, w.dims[first_filter_axis(o) + k]);
    if (e < dyn) r.fault = shape_fault::window;
  }
  r.shape.dims[channel_axis(o)] = c.result;
  return r.fault == shape_fault::none ? r : inferred{x, r.fault};
}

/// The image's shape, of a result and a filter.
constexpr inferred convolved_back(const window_options& o, const extents& y, const extents& w) {
  inferred r{y};
  if (y.rank != o.axes + 2 || w.rank != o.axes + 2) return {y, shape_fault::rank};
  const convolved_channels c = channels_of(o, w);
  r.fault = fit_channels(c.result, y.dims[channel_axis(o)]) ? c.fault : shape_fault::channels;
  for (int k = 0; k < o.axes; ++k) {
    int& e = r.shape.dims[first_image_axis(o) + k];
    e = image_of_windows(o, image_axes - o.axes + k, e, w.dims[first_filter_axis(o) + k]);
    if (e < dyn) r.fault = shape_fault::window;
  }
  r.shape.dims[channel_axis(o)] = c.image;
  return r.fault == shape_fault::none ? r : inferred{y, r.fault};
}

/// Two floating-point operations for each element of the filter that an element of the result is computed with.
constexpr std::int64_t flops_of_convolution(const window_options& o, const extents& y, const extents& w) {
  const std::int64_t out =
      o.groups == 0 && o.layout == image_layout::nhwc ? channels_of(o, w).result : w.dims[filter_out_axis(o)];
  return out <= 0 ? 0 : times(2 * (w.size() / out), y.size());
}
ONTO_END_RUNS_ONCE

}  // namespace detail

namespace op {

template <int... Options>
struct convolution;
template <int... Options>
struct convolution_filter_gradient;

/// The gradient of a convolution by its image. Operands: the gradient of its result, the filter, the image (for its
/// extents).
template <int... Options>
struct convolution_image_gradient : detail::image_operation, detail::windowed<Options...> {
  static constexpr std::string_view name = "Conv2DBackpropInput";
  static constexpr bool has_epilogue = true;
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return {x[2]}; }
  ONTO_END_RUNS_ONCE
  static constexpr std::int64_t flops(const extents* x, int) {
    return detail::flops_of_convolution(detail::windowed<Options...>::options(), x[0], x[1]);
  }
  template <int K>
  static constexpr auto derivative(auto h, auto, auto g, auto w, auto) {
    if constexpr (K == 0)
      return make<convolution<Options...>>(h, w);
    else if constexpr (K == 1)
      return make<convolution_filter_gradient<Options...>>(h, g, w);
    else
      return no_derivative{};
  }
};

/// The gradient of a convolution by its filter. Without an epilogue: what follows is an optimizer's, one launch for all
/// parameters. Operands: the image, the gradient of its result, the filter (for its extents).
template <int... Options>
struct convolution_filter_gradient : detail::image_operation, detail::windowed<Options...> {
  static constexpr std::string_view name = "Conv2DBackpropFilter";
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return {x[2]}; }
  ONTO_END_RUNS_ONCE
  static constexpr std::int64_t flops(const extents* x, int) {
    return detail::flops_of_convolution(detail::windowed<Options...>::options(), x[1], x[2]);
  }
  template <int K>
  static constexpr auto derivative(auto h, auto, auto x, auto g, auto) {
    if constexpr (K == 0)
      return make<convolution_image_gradient<Options...>>(g, h, x);
    else if constexpr (K == 1)
      return make<convolution<Options...>>(x, h);
    else
      return no_derivative{};
  }
};

/// Operands: images and a filter. Attributes: those of `window_options`.
template <int... Options>
struct convolution : detail::image_operation, detail::windowed<Options...> {
  static constexpr std::string_view name =
      detail::windowed<Options...>::options().groups == 0 ? "DepthwiseConv2dNative" : "Conv2D";
  static constexpr bool has_epilogue = true;
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) {
    return detail::convolved(detail::windowed<Options...>::options(), x[0], x[1]);
  }
  ONTO_END_RUNS_ONCE
  static constexpr std::int64_t flops(const extents* x, int count) {
    return detail::flops_of_convolution(detail::windowed<Options...>::options(), infer(x, count).shape, x[1]);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto x, auto w) {
    if constexpr (K == 0)
      return make<convolution_image_gradient<Options...>>(g, w, x);
    else
      return make<convolution_filter_gradient<Options...>>(x, g, w);
  }
};

/// A convolution turned round: what is its result is the operand, what is its image is the result. Operands: images and
/// the filter of that convolution.
template <int... Options>
struct transposed_convolution : detail::image_operation, detail::windowed<Options...> {
  static constexpr std::string_view name = "Conv2DTranspose";
  static constexpr bool has_epilogue = true;
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) {
    return detail::convolved_back(detail::windowed<Options...>::options(), x[0], x[1]);
  }
  ONTO_END_RUNS_ONCE
  static constexpr std::int64_t flops(const extents* x, int) {
    return detail::flops_of_convolution(detail::windowed<Options...>::options(), x[0], x[1]);
  }
  template <int K>
  static constexpr auto derivative(auto h, auto, auto x, auto w) {
    if constexpr (K == 0)
      return make<convolution<Options...>>(h, w);
    else
      return make<convolution_filter_gradient<Options...>>(h, x, w);
  }
};

}  // namespace op

namespace detail {

// One struct a mistake, as in shape_check.hpp.
template <class... Shapes>
struct not_images_and_a_filter : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(
      ok == true,
      "[onto.shape] a convolution takes images and a filter of as many dimensions, 4 for conv2d and 3 for "
      "conv1d: (batch, height, width, in) and (height, width, in, out); reshape, or add one with expand_dims");
};

/// The operation `Op` with these options over images and a filter, of `Axes` axes that windows go along. A type, not a
/// call of `make`: a message has a line for each function on its way.
template <template <int...> class Op, int Axes, int Groups, class X, class W, class... Words>
constexpr auto choose_convolution() {
  using words = window_words<Axes, Groups, Words...>;
  if constexpr (any_ill_formed<X, W>)
    return ill_formed{};
  else if constexpr (words::fault() != window_fault::none)
    return typename window_mistake<words::fault(), Words...>::result{};
  else if constexpr (X::facts.shape.rank != Axes + 2 || W::facts.shape.rank != Axes + 2)
    return typename not_images_and_a_filter<shape_of_t<X>, shape_of_t<W>>::result{};
  else
    return typename spelled_windows<Op, words>::type{};
}
template <template <int...> class Op, int Axes, int Groups, class X, class W, class... Words>
using convolution_of = decltype(choose_convolution<Op, Axes, Groups, X, W, Words...>());

}  // namespace detail

/// Each window of an image times the filter, summed: TensorFlow's and PyTorch's convolution, which does not turn the
/// filter round. `conv2d<strides<2>, same>(x, w)`. Options, in any order: `strides<2>` or `strides<2, 1>`,
/// `dilation<2>` (1 unless said); `valid` (unless said), `same`, or `padding<1>` for both axes, `padding<0, 1>` with
/// other numbers before and after, and a second `padding` for the width; `groups<4>`; `nchw`. *Mandates* one
/// floating-point element type, images (batch, height, width, in) and a filter (height, width, in / groups, out); with
/// `nchw` images (batch, in, height, width) and a filter (out, in / groups, height, width). *Returns* images with `out`
/// channels. *Complexity* height * width * in / groups multiplications an element; half and bfloat16 are summed in
/// float.
template <class... Options, expression X, expression W>
constexpr auto conv2d(const X& x, const W& w) {
  return make<detail::convolution_of<op::convolution, 2, 1, X, W, Options...>>(x, w);
}

/// `conv2d` along one axis: sequences (batch, width, in), a filter (width, in / groups, out); with `nchw` (batch, in,
/// width) and (out, in / groups, width).
template <class... Options, expression X, expression W>
constexpr auto conv1d(const X& x, const W& w) {
  return make<detail::convolution_of<op::convolution, 1, 1, X, W, Options...>>(x, w);
}

/// A filter for each channel, which makes `times` channels of it: a filter (height, width, in, times), whose results
/// are channels `c * times + t`; with `nchw` (in * times, 1, height, width). Options as `conv2d` but for groups.
template <class... Options, expression X, expression W>
constexpr auto depthwise_conv2d(const X& x, const W& w) {
  return make<detail::convolution_of<op::convolution, 2, 0, X, W, Options...>>(x, w);
}

/// The gradient of a `conv2d` with these options by its image, as an operation: (batch, height, width, out) and the
/// filter (height, width, in / groups, out) give (batch, ..., in). Of n elements it makes n * stride with `same`, else
/// (n - 1) * stride + dilation * (window - 1) + 1, less the padding; `output_padding<1>` makes so many more.
template <class... Options, expression X, expression W>
constexpr auto conv2d_transpose(const X& x, const W& w) {
  return make<detail::convolution_of<op::transposed_convolution, 2, 1, X, W, Options...>>(x, w);
}

}  // namespace onto
