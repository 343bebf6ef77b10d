// SPDX-License-Identifier: BSL-1.0
// The words that say how windows go over images, `conv2d<strides<2>, same>(x, w)`: of every program, so that one
// without the header of convolutions is told of it.
#pragma once

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

}  // namespace onto
