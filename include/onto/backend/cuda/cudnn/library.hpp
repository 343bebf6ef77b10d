// SPDX-License-Identifier: BSL-1.0
// cuDNN on a device: its handle, the plans of the forms that it has met, and their execution on a stream.
#pragma once

#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/cudnn/plan.hpp>

#if defined(ONTO_HAS_CUDNN)

namespace onto::detail {

/// What a plan may use besides its operands.
inline constexpr std::int64_t cudnn_workspace = std::int64_t{256} << 20;

/// Where the operands of a convolution are; all of them are read but for the one that is computed.
struct cudnn_pointers {
  const void* image = nullptr;
  const void* filter = nullptr;
  const void* result = nullptr;
  const void* bias = nullptr;  // or null
  void* workspace = nullptr;
};

/// *Returns* the largest power of two, up to 16, that divides the addresses.
inline int cudnn_alignment_of(const cudnn_pointers& at) {
  std::uintptr_t bits = 0;
  for (const void* p : {at.image, at.filter, at.result, at.bias}) bits |= reinterpret_cast<std::uintptr_t>(p);
  int a = 16;
  while (bits % static_cast<std::uintptr_t>(a) != 0) a /= 2;
  return a;
}

/// A handle of cuDNN's. Made where its device is current; used by several threads.
class cuda_cudnn final : public counted {
 public:
  cuda_cudnn() {
    if (cudnnGetVersion() / 10000 != CUDNN_MAJOR)
      throw internal_error("[onto.cuda] the program was compiled for cuDNN " + std::to_string(CUDNN_MAJOR) +
                           ", and the library that it has found is of version " + std::to_string(cudnnGetVersion()) +
                           "; let it find the other");
    cudnn_check(cudnnCreate(&handle_), "cudnnCreate");
  }
  ~cuda_cudnn() override {
    known_.clear();
    cudnn_ignore(cudnnDestroy(handle_));
  }

  /// *Returns* the plan of a form with at most `most` bytes of workspace; null where cuDNN has none.
  ref<cudnn_plan> plan_of(const cudnn_form& form, std::int64_t most) {
    if (find_cudnn_gap(form) != cudnn_gap::none) return {};
    mutex_lock lock(mutex_);
    for (const known& k : known_)
      // What is best with more memory is so with less, where it is enough; what there is none of, there is not with
      // less.
      if (k.form == form && (k.most == most || (k.most > most && (!k.plan || k.plan->workspace <= most))))
        return k.plan;
    known_.push_back({form, most, find_cudnn_plan({handle_, nullptr}, form, most)});
    return known_.back().plan;
  }

  /// *Effects* issues the convolution. `recording`: the stream leads into a graph.
  /// *Preconditions* `at.workspace` has the bytes that the plan says.
  /// *Returns* false, with nothing issued, where cuDNN does not do it after all.
  bool execute(cudaStream_t stream, bool recording, const cudnn_plan& plan, const cudnn_form& form,
               const cudnn_pointers& at) {
    const std::int64_t numbers[] = {cudnn_image, cudnn_filter, cudnn_result, cudnn_bias};
    void* const memory[] = {const_cast<void*>(at.image), const_cast<void*>(at.filter), const_cast<void*>(at.result),
                            const_cast<void*>(at.bias)};
    const std::int64_t count = form.bias ? 4 : 3;
    cudnn_descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, numbers, count);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, memory, count);
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, at.workspace);
    pack.finalize("naming a convolution's operands");
    mutex_lock lock(mutex_);  // a handle has one stream
    cudnn_check(cudnnSetStream(handle_, stream), "cudnnSetStream");
    const cudnnStatus_t status = cudnnBackendExecute(handle_, plan.get(), pack.get());
    if (status == CUDNN_STATUS_SUCCESS) {
      if (recording)
        for (known& k : known_) k.recorded = k.recorded || k.plan.get() == &plan;
      else if (known_.size() > most_known)
        forget(stream);
      return true;
    }
    if (!is_not_supported(status)) throw_cudnn(status, "a convolution");
    for (known& k : known_)
      if (k.form == form) k.plan = {};
    return false;
  }

 private:
  static constexpr std::size_t most_known = 512;

  struct known {
    cudnn_form form;
    std::int64_t most;      // bytes of workspace that it was asked for with
    ref<cudnn_plan> plan;   // or null
    bool recorded = false;  // in a graph, which needs what the plan holds
  };

  /// Drops plans once nothing needs them: all that were issued are done.
  ONTO_COLD void forget(cudaStream_t stream) {
    cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    std::vector<known> left;
    for (known& k : known_)
      if (k.recorded || (k.plan && !k.plan->is_unique())) left.push_back(std::move(k));
    known_.swap(left);
  }

  cudnnHandle_t handle_ = nullptr;
  mutex mutex_;
  std::vector<known> known_;
};

/// The device's handle, made when it is first asked for.
inline cuda_cudnn& cudnn_of(gpu_context& context) {
  mutex_lock lock(context.blas_mutex);
  if (!context.dnn) context.dnn = ref<counted>(new cuda_cudnn);
  return *static_cast<cuda_cudnn*>(context.dnn.get());
}

}  // namespace onto::detail

#endif
