// SPDX-License-Identifier: BSL-1.0
// What kernels are launched with: a device's stream, and its library handles once something needs them.
#pragma once

#include <onto/backend/cuda/check.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/core/mutex.hpp>
#include <onto/core/ref.hpp>
#include <onto/runtime/device.hpp>

#include <cstdint>

namespace onto::detail {

/// Where kernels have CUDA's, see kernel_entry.
inline constexpr int cuda_slot = 1;

/// The stream of a device. It is current on the calling thread while a kernel is launched.
struct gpu_context : kernel_context {
  cudaStream_t stream = nullptr;
  bool recording = false;  // the stream leads into a graph
  mutex blas_mutex;        // of both libraries
  ref<counted> blas;       // see blas.hpp: a program without matrix products does not link cuBLAS
  ref<counted> dnn;        // see cudnn/library.hpp: a program without convolutions does not link cuDNN
};

/// The device that a kernel is asked for its workspace on, by this thread.
inline thread_local gpu_context* asked_context = nullptr;

class asking_on {
 public:
  explicit asking_on(gpu_context& context) : before_(asked_context) { asked_context = &context; }
  asking_on(const asking_on&) = delete;
  asking_on& operator=(const asking_on&) = delete;
  ~asking_on() { asked_context = before_; }

 private:
  gpu_context* before_;
};

/// A kernel of CUDA's, as backend_kernel has it.
template <void (*Kernel)(gpu_context&, const kernel_call&)>
ONTO_COLD void run_in_stream(kernel_context& context, const kernel_call& call) {
  Kernel(static_cast<gpu_context&>(context), call);
}

/// Blocks for so many units of work; kernels go on in steps of the grid where these are not enough.
inline constexpr std::int64_t most_blocks = std::int64_t{1} << 24;
constexpr unsigned grid_blocks(std::int64_t units) {
  return static_cast<unsigned>(units < most_blocks ? units : most_blocks);
}

}  // namespace onto::detail
