// SPDX-License-Identifier: BSL-1.0
// How a convolution's call is put to cuDNN: which of its operands lie as cuDNN reads them, and which are copied to
// memory of the kernel's own, before it or after. Plain arithmetic.
#pragma once

#include <onto/backend/cuda/cudnn/form.hpp>
#include <onto/kernel/workspace.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstddef>
#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// An operand in cuDNN's order of axes.
struct cudnn_view {
  extents space{};
  operand_view as_given{};  // its strides are in that order
  std::size_t at = 0;       // bytes from the beginning of the workspace, of the copy
  bool copied = false;
};

constexpr bool lies_contiguously(const extents& space, const std::int64_t* stride) {
  std::int64_t step = 1;
  for (int d = space.rank - 1; d >= 0; --d) {
    if (space[d] != 1 && stride[d] != step) return false;
    step *= space[d];
  }
  return true;
}

/// Whether the addend of a call is one number for each channel, next to each other.
constexpr bool adds_bias(const kernel_call& call) {
  if (call.form.beta == 0) return false;
  const int channel = channel_axis(window_options(call.op->attribute));
  const extents& made = call.shapes[call.inputs];
  const std::int64_t* const stride = call.in[call.inputs - 1].stride;
  bool bias = made[channel] == 1 || stride[channel] == 1;
  for (int d = 0; d < made.rank; ++d) bias = bias && (d == channel || made[d] == 1 || stride[d] == 0);
  return bias;
}

/// Whether it lies as the result does, in whose memory it then may be.
constexpr bool adds_images(const kernel_call& call) {
  return call.form.beta != 0 && lies_contiguously(call.shapes[call.inputs], call.in[call.inputs - 1].stride);
}

/// A convolution's operands, however they are ordered in its call.
struct cudnn_operands {
  cudnn_view image, filter, result;
  std::size_t copies = 0;  // bytes

  constexpr void make_room(cudnn_view& v) {
    v.copied = true;
    v.at = copies;
    copies += aligned_bytes(v.space.size(), static_cast<std::size_t>(size_of(v.as_given.type)));
  }
  constexpr cudnn_view& computed(convolution_part part) {
    return part == convolution_part::forward ? result : part == convolution_part::image_gradient ? image : filter;
  }
};

/// Makes the last axis the first.
constexpr void turn(cudnn_view& v) {
  const int last = v.space.rank - 1;
  const int extent = v.space[last];
  const std::int64_t stride = v.as_given.stride[last];
  for (int d = last; d > 0; --d) {
    v.space.dims[d] = v.space[d - 1];
    v.as_given.stride[d] = v.as_given.stride[d - 1];
  }
  v.space.dims[0] = extent;
  v.as_given.stride[0] = stride;
}

/// *Preconditions* `call` is that of a convolution, or of the gradient that `part` says.
constexpr cudnn_operands plan_cudnn_operands(const kernel_call& call, convolution_part part) {
  const window_options o(call.op->attribute);
  operand_view out = call.out;
  const extents& made = call.shapes[call.inputs];
  contiguous_strides(made, out.stride);
  // Where in the call each operand is; -1 is the result.
  constexpr int places[3][3] = {{0, 1, -1}, {-1, 1, 0}, {0, -1, 1}};
  const int* place = places[static_cast<int>(part)];
  cudnn_operands all;
  cudnn_view* const views[] = {&all.image, &all.filter, &all.result};
  for (int k = 0; k < 3; ++k) {
    cudnn_view& v = *views[k];
    v.space = place[k] < 0 ? made : call.shapes[place[k]];
    v.as_given = place[k] < 0 ? out : call.in[place[k]];
    // (height, width, in, out) becomes (out, height, width, in); one for each channel, (height, width, channels,
    // times), becomes (channels, times, height, width).
    const int turns = k != 1 || o.layout != image_layout::nhwc ? 0 : o.groups == 0 ? 2 : 1;
    for (int t = 0; t < turns; ++t) turn(v);
    v.copied = !lies_contiguously(v.space, v.as_given.stride);
    if (v.copied) all.make_room(v);
  }
  return all;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
