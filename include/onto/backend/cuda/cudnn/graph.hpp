// SPDX-License-Identifier: BSL-1.0
// A convolution as a graph of cuDNN's operations: the convolution or one of its gradients, and after the convolution
// the sum with a bias and relu.
#pragma once

#include <onto/backend/cuda/cudnn/descriptor.hpp>
#include <onto/backend/cuda/cudnn/form.hpp>

#if defined(ONTO_HAS_CUDNN)

namespace onto::detail {

/// Whom a plan is for: a device's handle, or a device that is only described.
struct cudnn_target {
  cudnnHandle_t handle = nullptr;
  const cudnn_descriptor* described = nullptr;
};

/// The element types of convolutions as cuDNN names them.
struct cudnn_name {
  element type;
  cudnnDataType_t name;
};
inline constexpr cudnn_name cudnn_names[] = {{element::float32, CUDNN_DATA_FLOAT},
                                             {element::float64, CUDNN_DATA_DOUBLE},
                                             {element::float16, CUDNN_DATA_HALF},
                                             {element::bfloat16, CUDNN_DATA_BFLOAT16}};
constexpr cudnnDataType_t cudnn_name_of(element e) {
  for (const cudnn_name& n : cudnn_names)
    if (n.type == e) return n.name;
  return CUDNN_DATA_FLOAT;
}

/// The operands of a convolution by the numbers that plans know them by.
enum cudnn_operand : std::int64_t { cudnn_image = 1, cudnn_filter, cudnn_result, cudnn_bias, cudnn_sum, cudnn_product };

/// A finalized graph, and the descriptors that it is made of.
class cudnn_graph {
 public:
  cudnn_graph(const cudnn_target& target, const cudnn_form& form) : form_(form) {
    const convolution_form& f = form.of;
    const std::size_t filter = tensor(cudnn_filter, f.result_channels, f.filter_channels(), f.filter);
    const bool by_image = f.part == convolution_part::image_gradient, more = form.bias || form.relu;
    const std::int64_t channels = by_image ? f.image_channels : f.result_channels;
    const std::int64_t(&space)[image_axes] = by_image ? f.image : f.result;
    const std::size_t made = tensor(by_image ? cudnn_image : cudnn_result, f.batch, channels, space);
    std::size_t last = more ? tensor(cudnn_product, f.batch, channels, space, true) : made;
    if (by_image)
      convolve(last, filter, tensor(cudnn_result, f.batch, f.result_channels, f.result));
    else
      convolve(tensor(cudnn_image, f.batch, f.image_channels, f.image), filter, last);
    if (form.bias) {
      static constexpr std::int64_t one[image_axes] = {1, 1};
      const std::size_t bias = tensor(cudnn_bias, 1, channels, one);
      const std::size_t sum = form.relu ? tensor(cudnn_sum, f.batch, channels, space, true) : made;
      pointwise(CUDNN_POINTWISE_ADD, last, &bias, sum);
      last = sum;
    }
    if (form.relu) pointwise(CUDNN_POINTWISE_RELU_FWD, last, nullptr, made);
    if (target.handle) whole_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, target.handle);
    whole_.set_descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_, count_);
    supported_ = whole_.is_supported("finalizing the graph of a convolution");
  }

  const cudnn_descriptor& whole() const { return whole_; }
  bool is_supported() const { return supported_; }

 private:
  /// The type that is computed in, and that values between operations have.
  cudnnDataType_t wide() const { return form_.of.type == element::float64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }

  /// *Returns* its place in `parts_`. Its extents are (batch, channels, height, width) in whatever order they lie.
  std::size_t tensor(cudnn_operand number, std::int64_t batch, std::int64_t channels,
                     const std::int64_t (&space)[image_axes], bool between = false) {
    const std::int64_t extents[] = {batch, channels, space[0], space[1]};
    const std::int64_t last[] = {space[0] * space[1] * channels, 1, space[1] * channels, channels};
    const std::int64_t first[] = {channels * space[0] * space[1], space[0] * space[1], space[1], 1};
    cudnn_descriptor& t = parts_.emplace_back(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<std::int64_t>(number));
    t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, between ? wide() : cudnn_name_of(form_.of.type));
    t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{between ? 16 : form_.alignment});
    t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents, 4);
    t.set(CUDNN_ATTR_TENSOR_STRIDES, form_.of.layout == image_layout::nhwc ? last : first, 4);
    if (between) t.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    t.finalize("describing a tensor");
    return parts_.size() - 1;
  }

  void convolve(std::size_t image, std::size_t filter, std::size_t result) {
    const convolution_form& f = form_.of;
    cudnn_descriptor c(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    c.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
    c.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, wide());
    c.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
    c.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, f.stride, 2);
    c.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, f.dilation, 2);
    c.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, f.before, 2);
    c.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, f.after, 2);
    c.finalize("describing a convolution");

    /// How the operation of a part names its operands.
    struct words {
      cudnnBackendDescriptorType_t operation;
      cudnnBackendAttributeName_t convolution, image, filter, result, alpha, beta;
    };
    static constexpr words all[] = {
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
    };
    const words& w = all[static_cast<int>(f.part)];
    cudnn_descriptor o(w.operation);
    o.set(w.convolution, c);
    o.set(w.image, parts_[image]);
    o.set(w.filter, parts_[filter]);
    o.set(w.result, parts_[result]);
    if (f.type == element::float64) {
      o.set(w.alpha, 1.0);
      o.set(w.beta, 0.0);
    } else {
      o.set(w.alpha, 1.0f);
      o.set(w.beta, 0.0f);
    }
    parts_.push_back(std::move(c));
    add(std::move(o));
  }

  void pointwise(cudnnPointwiseMode_t mode, std::size_t from, const std::size_t* with, std::size_t to) {
    cudnn_descriptor p(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    p.set(CUDNN_ATTR_POINTWISE_MODE, mode);
    p.set(CUDNN_ATTR_POINTWISE_MATH_PREC, wide());
    p.finalize("describing what follows a convolution");
    cudnn_descriptor o(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    o.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p);
    o.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, parts_[from]);
    if (with) o.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, parts_[*with]);
    o.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, parts_[to]);
    parts_.push_back(std::move(p));
    add(std::move(o));
  }

  void add(cudnn_descriptor operation) {
    operation.finalize("describing an operation");
    operations_[count_++] = operation.get();
    parts_.push_back(std::move(operation));
  }

  cudnn_form form_;
  std::vector<cudnn_descriptor> parts_;
  cudnnBackendDescriptor_t operations_[3] = {};
  int count_ = 0;
  cudnn_descriptor whole_{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
  bool supported_ = false;
};

}  // namespace onto::detail

#endif
