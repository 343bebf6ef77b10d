// SPDX-License-Identifier: BSL-1.0
// Convolutions and their gradients on the GPU through cuDNN, in programs that define ONTO_HAS_CUDNN and link it.
#pragma once

#include <onto/core/config.hpp>

#if defined(ONTO_HAS_CUDNN)

#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/cudnn/library.hpp>
#include <onto/backend/cuda/cudnn/operands.hpp>

#include <cstdint>

namespace onto::detail {

/// Finishes a convolution from where it was made: `relu(alpha * from + beta * addend)`.
using convolution_finish = void (*)(gpu_context& context, const kernel_call& call, const operand_view& from);

/// One call of a convolution or of one of its gradients. What follows is in cuDNN's graph where cuDNN has engines for
/// that; else a map follows in the memory of the result.
class cudnn_call {
 public:
  cudnn_call(const kernel_call& call, convolution_part part) : call_(call) {
    form_.of = convolution_form_of(part, *call.op, call.out.type, call.shapes, call.inputs);
    form_.tf32 = call.form.tf32;
    operands_ = plan_cudnn_operands(call, part);
    const matmul_form& f = call.form;
    form_.bias = f.alpha == 1 && f.beta == 1 && adds_bias(call) && !is_in_place();
    form_.relu = f.relu;
    if (f.alpha != 1 || (f.beta != 0 && !form_.bias) || find_cudnn_gap(form_) != cudnn_gap::none) leave_to_map();
  }

  /// Bytes of device memory that `run` asks for: its copies, and what the plan works in. 0 where there is no plan.
  std::size_t workspace(gpu_context& context) {
    ref<cudnn_plan> plan = cudnn_of(context).plan_of(form_, cudnn_workspace);
    if (!plan && form_.bias) {
      leave_to_map();
      plan = cudnn_of(context).plan_of(form_, cudnn_workspace);
    }
    return plan ? operands_.copies + static_cast<std::size_t>(plan->workspace) : 0;
  }
  /// `finish` goes over the result in the end, where cuDNN does not. *Returns* false, with nothing issued, where cuDNN
  /// has no plan in the memory that there is.
  bool run(gpu_context& context, convolution_finish finish) {
    char* const room = static_cast<char*>(call_.workspace);
    const auto left = call_.workspace_bytes - static_cast<std::int64_t>(operands_.copies);
    if (left < 0) return false;
    cudnn_view& computed = operands_.computed(form_.of.part);
    cudnn_pointers at;
    at.image = place(operands_.image, room);
    at.filter = place(operands_.filter, room);
    at.result = place(operands_.result, room);
    at.workspace = room + operands_.copies;
    if (form_.bias) at.bias = call_.in[call_.inputs - 1].data;
    form_.alignment = cudnn_alignment_of(at);
    cuda_cudnn& library = cudnn_of(context);
    const ref<cudnn_plan> plan = library.plan_of(form_, left < cudnn_workspace ? left : cudnn_workspace);
    if (!plan && form_.bias) {
      leave_to_map();
      return run(context, finish);
    }
    if (!plan) return false;
    if (plan->workspace == 0) at.workspace = nullptr;
    for (cudnn_view* v : {&operands_.image, &operands_.filter, &operands_.result})
      if (v->copied && v != &computed) copy(context, *v, v->as_given, contiguous(*v, room));
    if (!library.execute(context.stream, context.recording, *plan, form_, at)) return false;
    const operand_view made = computed.copied ? contiguous(computed, room) : computed.as_given;
    if (finishes_)
      finish(context, call_, made);
    else if (computed.copied)
      copy(context, computed, made, computed.as_given);
    return true;
  }

 private:
  /// Whether the addend is where the result will be. Before a program runs that is not known: it may be.
  bool is_in_place() const {
    return adds_images(call_) && (!call_.out.data || call_.in[call_.inputs - 1].data == call_.out.data);
  }

  /// What follows is done by a map. What it adds must still be there: if need be, the convolution is made elsewhere.
  void leave_to_map() {
    form_.bias = form_.relu = false;
    finishes_ = call_.form.alpha != 1 || call_.form.beta != 0 || call_.form.relu;
    cudnn_view& computed = operands_.computed(form_.of.part);
    if (finishes_ && !computed.copied && is_in_place()) operands_.make_room(computed);
  }

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
  bool finishes_ = false;  // by a map
};

/// Bytes of device memory that `cudnn_convolve` asks for, on the device that the thread asks for it on.
template <convolution_part Part>
ONTO_COLD std::size_t cudnn_convolution_workspace(const kernel_call& call) {
  return cudnn_call(call, Part).workspace(*asked_context);
}

/// `finish` does what follows and cuDNN does not do. *Returns* false, with nothing issued, where cuDNN does not do the
/// convolution.
template <convolution_part Part>
ONTO_COLD bool cudnn_convolve(gpu_context& context, const kernel_call& call, convolution_finish finish) {
  return cudnn_call(call, Part).run(context, finish);
}

}  // namespace onto::detail

#endif
