// SPDX-License-Identifier: BSL-1.0
// A convolution as plain numbers, as every backend and every library takes it: the convolution itself, its gradient by
// the image or by the filter. All three have the same form: that of the convolution from an image to a result.
#pragma once

#include <onto/core/element.hpp>
#include <onto/expr/operation.hpp>
#include <onto/shape/convolution.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What is computed from what: the result from image and filter; the image's gradient from the result's and the filter;
/// the filter's gradient from the image and the result's. It is a cross-correlation, as everybody's convolution is: the
/// filter is not turned round.
enum class convolution_part : int { forward, image_gradient, filter_gradient };

/// An image of one axis has height 1. Index 0 is the height, 1 the width.
struct convolution_form {
  convolution_part part = convolution_part::forward;
  image_layout layout = image_layout::nhwc;
  element type = element::float32;
  std::int64_t batch = 0;
  std::int64_t groups = 1;
  std::int64_t image_channels = 0;   // of all groups; those of the filter are image_channels / groups
  std::int64_t result_channels = 0;  // of all groups; as many as the filter has
  std::int64_t image[image_axes] = {1, 1};
  std::int64_t filter[image_axes] = {1, 1};
  std::int64_t result[image_axes] = {1, 1};
  std::int64_t stride[image_axes] = {1, 1};
  std::int64_t dilation[image_axes] = {1, 1};
  std::int64_t before[image_axes] = {0, 0};  // zeros around the image; before and after may differ
  std::int64_t after[image_axes] = {0, 0};

  friend constexpr bool operator==(const convolution_form&, const convolution_form&) = default;

  constexpr std::int64_t filter_channels() const { return groups > 0 ? image_channels / groups : 0; }
  constexpr std::int64_t image_size() const { return times(times(batch, image_channels), times(image[0], image[1])); }
  constexpr std::int64_t filter_size() const {
    return times(times(filter_channels(), result_channels), times(filter[0], filter[1]));
  }
  constexpr std::int64_t result_size() const {
    return times(times(batch, result_channels), times(result[0], result[1]));
  }
  /// Floating-point operations, those with padding among them: the same for each of the three parts.
  constexpr std::int64_t flops() const {
    return times(2 * result_size(), times(filter_channels(), times(filter[0], filter[1])));
  }
  /// Whether every channel of the image is a group of its own.
  constexpr bool is_depthwise() const { return groups == image_channels && groups > 1; }
};

/// The form of a convolution that an operation's attributes `o` describe, over an image, a filter and a result of these
/// shapes. *Preconditions* the extents are known and fit.
constexpr convolution_form form_of_convolution(convolution_part part, const window_options& o, element type,
                                               const extents& image, const extents& filter, const extents& result) {
  convolution_form f;
  f.part = part;
  f.layout = o.layout;
  f.type = type;
  f.batch = image.dims[0];
  f.image_channels = image.dims[channel_axis(o)];
  f.result_channels = result.dims[channel_axis(o)];
  f.groups = o.groups == 0 ? f.image_channels : o.groups;
  for (int k = 0; k < o.axes; ++k) {
    const int a = image_axes - o.axes + k;
    f.image[a] = image.dims[first_image_axis(o) + k];
    f.filter[a] = filter.dims[first_filter_axis(o) + k];
    f.result[a] = result.dims[first_image_axis(o) + k];
    f.stride[a] = o.stride[a];
    f.dilation[a] = o.dilation[a];
    const axis_padding p = padding_of(o, a, f.image[a], f.filter[a]);
    f.before[a] = p.before;
    f.after[a] = p.after;
  }
  return f;
}

/// The operands of the kernels of convolutions, in order:
/// `op::convolution`: image, filter; its result is the result.
/// `op::convolution_image_gradient`: the result's gradient, the filter, the image (for its extents alone).
/// `op::convolution_filter_gradient`: the image, the result's gradient, the filter (for its extents alone).
/// `op::transposed_convolution`: the result of the convolution that it turns round, the filter; its own is the image.
/// `shapes`: of the operands, then of the result, as `kernel_call::shapes`.
constexpr convolution_form convolution_form_of(convolution_part part, const op_info& op, element type,
                                               const extents* shapes, int operands) {
  const window_options o(op.attribute);
  const extents& made = shapes[operands];
  if (part == convolution_part::forward) return form_of_convolution(part, o, type, shapes[0], shapes[1], made);
  if (part == convolution_part::image_gradient) return form_of_convolution(part, o, type, made, shapes[1], shapes[0]);
  return form_of_convolution(part, o, type, shapes[0], made, shapes[1]);
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
