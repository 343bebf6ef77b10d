// SPDX-License-Identifier: BSL-1.0
// A GPU and memory on it, for tests of single kernels: data goes there, a kernel runs, the result comes back.
#pragma once

#include <onto/backend/cuda/device.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

namespace gpu_test {

using namespace onto;
using namespace onto::detail;

inline extents shape_of(std::initializer_list<int> dims) {
  extents e;
  for (int d : dims) e.push_back(d);
  return e;
}

/// The GPU, and everything that was put on it.
class bench {
 public:
  ~bench() {
    for (void* p : memory_) gpu.deallocate(p, 0);
  }

  template <class T>
  T* upload(const T* values, std::size_t count) {
    T* p = reserve<T>(count);
    gpu.copy_in(run, p, values, static_cast<std::int64_t>(count * sizeof(T)));
    return p;
  }
  template <class T>
  T* upload(const std::vector<T>& values) {
    return upload(values.data(), values.size());
  }

  template <class T>
  T* reserve(std::size_t count) {
    memory_.push_back(gpu.allocate(static_cast<std::int64_t>(count * sizeof(T))));
    return static_cast<T*>(memory_.back());
  }

  template <class T>
  std::vector<T> download(const T* p, std::size_t count) {
    std::vector<T> values(count);
    download(p, values.data(), count);
    return values;
  }
  template <class T>
  void download(const T* p, T* values, std::size_t count) {
    gpu.copy_out(run, values, p, static_cast<std::int64_t>(count * sizeof(T)));
    gpu.record()->wait();
    if (run.failed()) run.rethrow();
  }

  /// Runs a kernel, with the workspace it asks for.
  void launch(void (*kernel)(gpu_context&, const kernel_call&), kernel_call call,
              std::size_t (*workspace)(const kernel_call&) = nullptr) {
    if (const std::size_t bytes = workspace ? workspace(call) : 0) call.workspace = reserve<char>(bytes);
    gpu.launch(run, kernel_entry{nullptr, kernel, workspace}, call);
    if (run.failed()) run.rethrow();
  }

  cuda_device gpu{place{device_kind::gpu, 0}, 0};
  run_state run;

 private:
  std::vector<void*> memory_;
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
