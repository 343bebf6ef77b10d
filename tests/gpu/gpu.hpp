// SPDX-License-Identifier: BSL-1.0
// A GPU and memory on it, for tests of single kernels: data goes there, a kernel runs, the result comes back.
#pragma once

#include <onto/backend/cuda/device.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

#if defined(ONTO_CUDA_EMULATION)
#include "control.hpp"
#endif

namespace gpu_test {

using namespace onto;
using namespace onto::detail;

inline extents shape_of(std::initializer_list<int> dims) {
  extents e;
  for (int d : dims) e.push_back(d);
  return e;
}

/// A kernel that only CUDA has.
constexpr kernel_entry cuda_entry(void (*run)(kernel_context&, const kernel_call&)) {
  kernel_entry e;
  e.launch[cuda_slot] = {run};
  return e;
}

/// Whether something has been set up on a GPU. Through the driver, since the runtime would set it up to answer.
inline bool is_in_use(int ordinal) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &entry, 7000, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess)
    throw internal_error("the driver does not say what is in use");
  unsigned flags = 0;
  int active = 0;
  (void)reinterpret_cast<int (*)(int, unsigned*, int*)>(entry)(ordinal, &flags, &active);
  return active != 0;
}

/// The GPU, and everything that was put on it.
class bench {
 public:
  explicit bench(memory_limit limit = {}) : gpu(place{device_kind::gpu, 0}, 0, limit) {}

  template <class T>
  T* upload(const T* values, std::size_t count) {
    T* p = reserve<T>(count);
    write(p, values, count);
    return p;
  }
  template <class T>
  T* upload(const std::vector<T>& values) {
    return upload(values.data(), values.size());
  }
  /// Copies to memory that is there already.
  template <class T>
  void write(T* to, const T* values, std::size_t count) {
    const host_slot slot{const_cast<T*>(values)};
    gpu.copy_in(work{run, label}, to, slot, static_cast<std::int64_t>(count * sizeof(T)));
    settle(stream_kind::in);
  }

  template <class T>
  T* reserve(std::size_t count) {
    const auto bytes = static_cast<std::int64_t>(count * sizeof(T));
    blocks_.push_back(gpu.reserve({bytes, "test", "data"}));
#if defined(ONTO_CUDA_EMULATION)
    if (bytes > 0) cuda_emulation::use_only(blocks_.back()->data(), bytes);
#endif
    return static_cast<T*>(blocks_.back()->data());
  }

  template <class T>
  std::vector<T> download(const T* p, std::size_t count) {
    std::vector<T> values(count);
    download(p, values.data(), count);
    return values;
  }
  template <class T>
  void download(const T* p, T* values, std::size_t count) {
    const host_slot slot{values};
    order(stream_kind::compute, stream_kind::out);
    gpu.copy_out(work{run, label}, slot, p, static_cast<std::int64_t>(count * sizeof(T)));
    settle(stream_kind::out);
  }

  /// Runs a kernel, with the workspace it asks for.
  void launch(void (*kernel)(gpu_context&, const kernel_call&), kernel_call call,
              std::size_t (*workspace)(const kernel_call&) = nullptr) {
    if (workspace) {
      call.workspace_bytes = static_cast<std::int64_t>(gpu.ask_workspace(workspace, call));
      if (call.workspace_bytes > 0 && call.workspace_bytes < 1 << 20)
        call.workspace = reserve<char>(static_cast<std::size_t>(call.workspace_bytes));  // no more than that
      else
        spaces_.push_back(gpu.workspace(call.workspace_bytes, call.workspace));
    }
    launched_ = kernel;
    gpu.launch(work{run, label}, cuda_entry(&run_launched), call);
    if (run.failed()) run.rethrow();
  }

  /// What is issued to `later` waits for what was issued to `earlier`.
  void order(stream_kind earlier, stream_kind later) {
    gpu.record(run, earlier, *event_);
    gpu.wait(run, later, *event_);
  }
  /// Waits for a stream, and throws what went wrong.
  void settle(stream_kind stream) {
    gpu.record(run, stream, *event_);
    try {
      event_->wait();
      if (run.failed()) run.rethrow();
    } catch (...) {
      finish();  // what was issued works in memory of the caller's
      throw;
    }
  }
  void finish() {
    for (const stream_kind l : {stream_kind::in, stream_kind::compute, stream_kind::out}) gpu.finish(l);
  }

  cuda_device gpu;
  run_state run;
  work_label label{"Test_1", "Test"};

 private:
  static void run_launched(kernel_context& context, const kernel_call& call) {
    launched_(static_cast<gpu_context&>(context), call);
  }
  static inline thread_local void (*launched_)(gpu_context&, const kernel_call&) = nullptr;

  ref<device_event> event_ = gpu.make_event();
  std::vector<ref<device_block>> blocks_;
  std::vector<ref<counted>> spaces_;
};

inline operand_view view_of(const void* data, element type, std::initializer_list<std::int64_t> strides) {
  operand_view v;
  v.data = const_cast<void*>(data);
  v.type = type;
  int d = 0;
  for (std::int64_t s : strides) v.stride[d++] = s;
  return v;
}

inline operand_view contiguous_view(const void* data, element type, const extents& space) {
  operand_view v = view_of(data, type, {});
  contiguous_strides(space, v.stride);
  return v;
}

/// Numbers between -1 and 1, the same in every run.
inline double number(std::size_t k) {
  std::uint64_t x = (k + 1) * 0x9e3779b97f4a7c15u;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 29;
  return static_cast<double>(x >> 11) / 4503599627370496.0 - 1;
}

template <class T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> v(count);
  for (std::size_t k = 0; k < count; ++k) v[k] = static_cast<T>(number(k));
  return v;
}

}  // namespace gpu_test
