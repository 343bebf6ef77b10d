// SPDX-License-Identifier: BSL-1.0
// Convolutions and their gradients on the GPU through cuDNN, in programs that define ONTO_HAS_CUDNN and link it.
#pragma once

#include <onto/core/config.hpp>

#if defined(ONTO_HAS_CUDNN)

#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/cudnn/library.hpp>
#include <onto/backend/cuda/cudnn/operands.hpp>

namespace onto::detail {

/// One call of a convolution or of one of its gradients.
class cudnn_call {
 public:
  cudnn_call(const kernel_call& call, convolution_part part) : call_(call) {
    form_.of = convolution_form_of(part, *call.op, call.out.type, call.shapes, call.inputs);
    form_.tf32 = call.form.tf32;
    operands_ = plan_cudnn_operands(call, part);
  }

  /// Bytes of device memory that `run` asks for: its copies, and what the plan works in. 0 where there is no plan.
  std::size_t workspace(gpu_context& context) const {
    const ref<cudnn_plan> plan = cudnn_of(context).plan_of(form_, cudnn_workspace);
    return plan ? operands_.copies + static_cast<std::size_t>(plan->workspace) : 0;
  }
  /// *Returns* false, with nothing issued, where cuDNN has no plan in the memory that there is.
  bool run(gpu_context& context) {
    char* const room = static_cast<char*>(call_.workspace);
    const auto left = call_.workspace_bytes - static_cast<std::int64_t>(operands_.copies);
    if (left < 0) return false;
    cudnn_view& computed = operands_.computed(form_.of.part);
    cudnn_pointers at;
    at.image = place(operands_.image, room);
    at.filter = place(operands_.filter, room);
    at.result = place(operands_.result, room);
    at.workspace = room + operands_.copies;
    form_.alignment = cudnn_alignment_of(at);
    cuda_cudnn& library = cudnn_of(context);
    const ref<cudnn_plan> plan = library.plan_of(form_, left < cudnn_workspace ? left : cudnn_workspace);
    if (!plan) return false;
    if (plan->workspace == 0) at.workspace = nullptr;
    for (cudnn_view* v : {&operands_.image, &operands_.filter, &operands_.result})
      if (v->copied && v != &computed) copy(context, *v, v->as_given, contiguous(*v, room));
    if (!library.execute(context.stream, context.recording, *plan, form_, at)) return false;
    if (computed.copied) copy(context, computed, contiguous(computed, room), computed.as_given);
    return true;
  }

 private:
  static void* place(const cudnn_view& v, char* room) { return v.copied ? room + v.at : v.as_given.data; }

  static operand_view contiguous(const cudnn_view& v, char* room) {
    operand_view to = v.as_given;
    to.data = room + v.at;
    contiguous_strides(v.space, to.stride);
    return to;
  }

  static void copy(gpu_context& context, const cudnn_view& v, const operand_view& from, const operand_view& to) {
    kernel_call c;
    c.space = v.space;
    c.inputs = 1;
    c.in = &from;
    c.out = to;
    cuda_copy(context, c);
  }

  const kernel_call& call_;
  cudnn_form form_;
  cudnn_operands operands_;
};

/// Bytes of device memory that `cudnn_convolve` asks for, on the device that the thread asks for it on.
template <convolution_part Part>
ONTO_COLD std::size_t cudnn_convolution_workspace(const kernel_call& call) {
  return cudnn_call(call, Part).workspace(*asked_context);
}
/// None is needed: with less there are other engines, and onto's own kernels.
inline std::size_t no_least_workspace(const kernel_call&) { return 0; }

/// *Returns* false, with nothing issued, where cuDNN does not do it.
template <convolution_part Part>
ONTO_COLD bool cudnn_convolve(gpu_context& context, const kernel_call& call) {
  return cudnn_call(call, Part).run(context);
}

}  // namespace onto::detail

#endif
