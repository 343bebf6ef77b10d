// SPDX-License-Identifier: BSL-1.0
// Shapes of convolutions and pooling, what they count, what their options say, as assertions the compiler checks.
#include <onto/convolution.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 8, 24, 24, 3>;
constexpr auto w = placeholder<"w", float, 5, 5, 3, 64>;
constexpr auto any = placeholder<"any", float, dyn, dyn, 24, dyn>;

template <class E>
constexpr extents shape_of(const E&) {
  return E::facts.shape;
}

// valid, unless said; same keeps what there is one window for each stride of; numbers count on both sides.
static_assert(shape_of(conv2d(x, w)) == extents(shape<8, 20, 20, 64>{}));
static_assert(shape_of(conv2d<same>(x, w)) == extents(shape<8, 24, 24, 64>{}));
static_assert(shape_of(conv2d<strides<2>, same>(x, w)) == extents(shape<8, 12, 12, 64>{}));
static_assert(shape_of(conv2d<strides<5, 7>, same>(x, w)) == extents(shape<8, 5, 4, 64>{}));
static_assert(shape_of(conv2d<padding<1>>(x, w)) == extents(shape<8, 22, 22, 64>{}));
static_assert(shape_of(conv2d<padding<>>(x, w)) == shape_of(conv2d<valid>(x, w)));
static_assert(shape_of(conv2d<padding<0, 1>, padding<2, 3>>(x, w)) == extents(shape<8, 21, 25, 64>{}));
static_assert(shape_of(conv2d<dilation<2>>(x, w)) == extents(shape<8, 16, 16, 64>{}));
static_assert(shape_of(conv2d<strides<3>, dilation<1, 2>>(x, w)) == extents(shape<8, 7, 6, 64>{}));

// What the run knows is known where it follows.
static_assert(shape_of(conv2d(any, w)) == extents(shape<dyn, dyn, 20, 64>{}));
static_assert(shape_of(conv2d<strides<2>, same>(x, placeholder<"f", float, dyn, dyn, 3, dyn>)) ==
              extents(shape<8, 12, 12, dyn>{}));

// The order of the options does not matter, nor does saying what is so anyway: they are one node.
static_assert(detail::graph_of<decltype(conv2d<strides<2>, same>(x, w)), decltype(conv2d<same, strides<2, 2>>(x, w)),
                               decltype(conv2d<nhwc, same, groups<1>, strides<2>>(x, w))>::view.count == 3);
static_assert(detail::graph_of<decltype(conv2d(x, w)), decltype(conv2d<valid>(x, w)),
                               decltype(conv2d<padding<0>>(x, w))>::view.count == 3);

// Channels first; groups; a filter for each channel; one axis.
static_assert(shape_of(conv2d<nchw, groups<2>>(placeholder<"p", float, 8, 6, 9, 7>,
                                               placeholder<"q", float, 4, 3, 2, 2>)) == extents(shape<8, 4, 8, 6>{}));
static_assert(shape_of(depthwise_conv2d<same>(x, placeholder<"d", float, 3, 3, 3, 2>)) ==
              extents(shape<8, 24, 24, 6>{}));
static_assert(shape_of(depthwise_conv2d<same>(any, placeholder<"d", float, 3, 3, 5, 2>)) ==
              extents(shape<dyn, dyn, 24, 10>{}));
static_assert(shape_of(conv1d<strides<2>, padding<1, 0>>(placeholder<"s", float, 4, 10, 3>,
                                                         placeholder<"t", float, 3, 3, 7>)) ==
              extents(shape<4, 5, 7>{}));

// A transposed convolution makes the image of the convolution; options say which of them.
constexpr auto y = placeholder<"y", float, 8, 12, 12, 64>;
static_assert(shape_of(conv2d_transpose<strides<2>, same>(y, w)) == extents(shape<8, 24, 24, 3>{}));
static_assert(shape_of(conv2d_transpose<strides<2>>(y, w)) == extents(shape<8, 27, 27, 3>{}));
static_assert(shape_of(conv2d_transpose<strides<2>, padding<1>, output_padding<1, 0>>(y, w)) ==
              extents(shape<8, 26, 25, 3>{}));

// Pooling goes by windows beside each other, unless strides are said.
static_assert(shape_of(max_pool2d<window<2>>(x)) == extents(shape<8, 12, 12, 3>{}));
static_assert(shape_of(max_pool2d<window<3>, strides<2>, same>(x)) == extents(shape<8, 12, 12, 3>{}));
static_assert(shape_of(avg_pool2d<window<5, 24>, strides<1>>(x)) == extents(shape<8, 20, 1, 3>{}));
static_assert(shape_of(avg_pool2d<window<2>, nchw>(x)) == extents(shape<8, 24, 12, 1>{}));

// Gradients have the shapes of what is derived by; each is a kernel.
constexpr auto loss = sum(conv2d<same>(x, w) * placeholder<"g", float, 8, 24, 24, 64>);
static_assert(shape_of(gradient(loss, w)) == extents(shape<5, 5, 3, 64>{}));
static_assert(shape_of(gradient(loss, x)) == extents(shape<8, 24, 24, 3>{}));
static_assert(plan_of(gradient(loss, w)).kernels == 1);

// What follows a convolution and reads it alone is in its kernel: a factor, what is added, relu.
constexpr auto b = placeholder<"b", float, 64>;
constexpr auto c = conv2d<same>(x, w);
constexpr auto images = placeholder<"images", float, 8, 24, 24, 64>;
static_assert(plan_of(relu(c + b)).kernels == 1);
static_assert(plan_of(relu(2_c * c - 0.5_c * b)).kernels == 1);
static_assert(plan_of(relu(c)).kernels == 1);
static_assert(plan_of(c + images).kernels == 1);
static_assert(
    plan_of(relu(conv2d<nchw>(permute<0, 3, 1, 2>(x), permute<3, 2, 0, 1>(w)) + reshape<64, 1, 1>(b))).kernels == 1);
constexpr auto run = placeholder<"run", onto::half, dyn, dyn, dyn, dyn>;
static_assert(plan_of(relu(conv2d(run, placeholder<"v", onto::half, 3, 3, dyn, dyn>) +
                           placeholder<"d", onto::half, dyn>))
                  .kernels == 1);
static_assert(plan_of(c + conv2d<same>(exp(x), w)).kernels == 3);  // exp, and the second convolution adds the first
// And the memory of what was between is not there.
static_assert(plan_of(max_pool2d<window<2>>(relu(c + b))).peak_bytes(cpu<0>()) == 8 * 24 * 24 * 64 * 4);
static_assert(plan_of<world<cpu<0>, gpu<0>>>(on<gpu<0>>(relu(c + b))).kernels == 1);
// What is read elsewhere too is a result, and other maps follow it.
static_assert(plan_of(relu(c + b) * c).kernels == 2);
static_assert(plan_of(sigmoid(c + b)).kernels == 2);
// A map that is added is computed where it is added, not for itself.
static_assert(plan_of(tanh(c + exp(images))).kernels == 2);
// Behind the filter's gradient comes an optimizer, whose one launch is for all parameters.
static_assert(plan_of(gradient(loss, w) * 2_c).kernels == 2);
static_assert(plan_of(gradient(loss, x) + x).kernels == 1);

// Two operations for each element of the filter that a result is made with; the gradients have as many.
constexpr std::int64_t flops = std::int64_t{2} * 8 * 24 * 24 * 64 * 75;
static_assert(plan_of(conv2d<same>(x, w)).flops == flops);
static_assert(plan_of(gradient(loss, w)).flops == flops);
static_assert(plan_of(depthwise_conv2d<same>(x, placeholder<"d", float, 3, 3, 3, 2>)).flops ==
              std::int64_t{2} * 8 * 24 * 24 * 6 * 9);
static_assert(plan_of(max_pool2d<window<2>>(x)).flops == 8 * 12 * 12 * 3 * 4);

using detail::convolved;
using detail::window_options;
constexpr shape_fault fault(const extents& image, const extents& filter, int of_groups = 1) {
  window_options o;
  o.groups = of_groups;
  return convolved(o, image, filter).fault;
}
static_assert(fault(shape<1, 4, 4, 3>{}, shape<3, 3, 3, 5>{}) == shape_fault::none);
static_assert(fault(shape<1, 4, 4, 3>{}, shape<3, 3, 2, 5>{}) == shape_fault::channels);
static_assert(fault(shape<1, 4, 4, 6>{}, shape<3, 3, 3, 5>{}, 2) == shape_fault::groups);
static_assert(fault(shape<1, 4, 4, 3>{}, shape<5, 3, 3, 5>{}) == shape_fault::window);
static_assert(fault(shape<1, 4, 4, 3>{}, shape<0, 3, 3, 5>{}) == shape_fault::window);
static_assert(fault(shape<dyn, dyn, dyn, dyn>{}, shape<5, 3, 3, 5>{}) == shape_fault::none);
static_assert(fault(shape<1, 4, 4, 3>{}, shape<3, 3, 4, 2>{}, 0) == shape_fault::channels);

}  // namespace
