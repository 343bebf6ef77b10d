// SPDX-License-Identifier: BSL-1.0
// Pooling: max_pool2d, avg_pool2d. Programs say them with <onto/convolution.hpp>, which brings the kernels too.
#pragma once

#include <onto/ops/convolution.hpp>
#include <onto/ops/windows.hpp>

namespace onto {

namespace detail {

ONTO_BEGIN_RUNS_ONCE
/// The result's shape, of an image.
constexpr inferred pooled(const window_options& o, const extents& x) {
  inferred r{x};
  if (x.rank != o.axes + 2) return {x, shape_fault::rank};
  for (int k = 0; k < o.axes; ++k) {
    const int a = image_axes - o.axes + k;
    int& e = r.shape.dims[first_image_axis(o) + k];
    e = windows_along(o, a, e, o.window[a]);
    if (e < dyn) r.fault = shape_fault::window;
  }
  return r.fault == shape_fault::none ? r : inferred{x, r.fault};
}

/// An operation for each element of each window.
constexpr std::int64_t flops_of_pooling(const window_options& o, const extents& y) {
  std::int64_t n = y.size();
  for (int a = image_axes - o.axes; a < image_axes; ++a) n = times(n, o.window[a]);
  return n;
}
ONTO_END_RUNS_ONCE

/// The base of pooling of images.
template <int... Options>
struct pooling : image_operation, windowed<Options...> {
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return pooled(windowed<Options...>::options(), x[0]); }
  ONTO_END_RUNS_ONCE
  static constexpr std::int64_t flops(const extents* x, int count) {
    return flops_of_pooling(windowed<Options...>::options(), infer(x, count).shape);
  }
};
/// The base of its gradients. Operands: the gradient of its result, the image.
template <int... Options>
struct pooling_gradient : image_operation, windowed<Options...> {
  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* x, int) { return {x[1]}; }
  ONTO_END_RUNS_ONCE
  static constexpr std::int64_t flops(const extents* x, int) {
    return flops_of_pooling(windowed<Options...>::options(), x[0]);
  }
};

}  // namespace detail

namespace op {

template <int... Options>
struct max_pool_gradient;

/// From `x`, what is where the greatest element of each window of the image is. Operands: `x`, the image.
template <int... Options>
struct max_pool_pick : detail::pooling<Options...> {
  static constexpr std::string_view name = "MaxPoolGradGrad";
  template <int K>
  static constexpr auto derivative(auto g, auto, auto, auto image) {
    if constexpr (K == 0)
      return make<max_pool_gradient<Options...>>(g, image);
    else
      return no_derivative{};
  }
};

template <int... Options>
struct max_pool_gradient : detail::pooling_gradient<Options...> {
  static constexpr std::string_view name = "MaxPoolGrad";
  template <int K>
  static constexpr auto derivative(auto h, auto, auto, auto image) {
    if constexpr (K == 0)
      return make<max_pool_pick<Options...>>(h, image);
    else
      return no_derivative{};
  }
};

/// Attributes: those of `window_options`.
template <int... Options>
struct max_pool : detail::pooling<Options...> {
  static constexpr std::string_view name = "MaxPool";
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return make<max_pool_gradient<Options...>>(g, x);
  }
};

template <int... Options>
struct avg_pool;

template <int... Options>
struct avg_pool_gradient : detail::pooling_gradient<Options...> {
  static constexpr std::string_view name = "AvgPoolGrad";
  template <int K>
  static constexpr auto derivative(auto h, auto, auto, auto) {
    if constexpr (K == 0)
      return make<avg_pool<Options...>>(h);
    else
      return no_derivative{};
  }
};

template <int... Options>
struct avg_pool : detail::pooling<Options...> {
  static constexpr std::string_view name = "AvgPool";
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return make<avg_pool_gradient<Options...>>(g, x);
  }
};

}  // namespace op

namespace detail {

// One struct a mistake, as in shape_check.hpp.
template <class Shape>
struct not_images : mistake {
  static constexpr bool ok = sizeof(Shape) > 99;
  static_assert(
      ok == true,
      "[onto.shape] pooling takes images (batch, height, width, channels), with nchw (batch, channels, height, "
      "width); reshape, or add an axis with expand_dims");
};

template <class Word>
constexpr bool says_strides(Word) {
  return false;
}
template <int H, int W>
constexpr bool says_strides(strides<H, W>) {
  return true;
}

/// Windows of pooling: as far from each other as they are long, unless strides are said.
template <class... Words>
struct pool_words : window_words<2, 1, Words...> {
  static constexpr window_options options() {
    window_options o = window_words<2, 1, Words...>::options();
    for (int a = 0; a < image_axes && !(says_strides(Words{}) || ...); ++a) o.stride[a] = o.window[a];
    return o;
  }
  static constexpr window_fault fault() {
    constexpr window_options o = options();
    constexpr window_fault words = window_words<2, 1, Words...>::fault();
    if (words != window_fault::none) return words;
    if (o.groups != 1 || o.dilation[0] != 1 || o.dilation[1] != 1) return window_fault::not_pooling;
    for (int a = 0; a < image_axes; ++a) {
      if (o.window[a] < 1) return window_fault::extent;
      if (o.before[a] >= o.window[a] || o.after[a] >= o.window[a]) return window_fault::outside;
    }
    return window_fault::none;
  }
};

template <template <int...> class Op, class... Words, expression X>
constexpr auto pool(const X& x) {
  using words = pool_words<Words...>;
  if constexpr (any_ill_formed<X>)
    return ill_formed{};
  else if constexpr (words::fault() != window_fault::none)
    return typename window_mistake<words::fault(), Words...>::result{};
  else if constexpr (X::facts.shape.rank != 4)
    return typename not_images<shape_of_t<X>>::result{};
  else
    return make<typename spelled_windows<Op, words>::type>(x);
}

}  // namespace detail

/// The greatest element of each window of an image, NaN where there is one: `max_pool2d<window<3>, strides<2>,
/// same>(x)`. Options: the window; strides, which are the window's extents unless said; `valid`, `same` or
/// `padding<1>`, and `nchw`, as `conv2d`. What is padded is never the greatest; of equals the first counts as it, row
/// by row: its is the gradient. *Mandates* floating-point images (batch, height, width, channels). *Returns* (batch,
/// ..., ..., channels).
template <class... Options, expression X>
constexpr auto max_pool2d(const X& x) {
  return detail::pool<op::max_pool, Options...>(x);
}

/// The mean of each window of an image, as `max_pool2d`; what is padded is not counted.
template <class... Options, expression X>
constexpr auto avg_pool2d(const X& x) {
  return detail::pool<op::avg_pool, Options...>(x);
}

}  // namespace onto
