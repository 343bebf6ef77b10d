// SPDX-License-Identifier: BSL-1.0
// The backends of a program: a line for each folder.
#pragma once

#include <onto/backend/cpu/kernels.hpp>
#include <onto/runtime/backend.hpp>
#include <onto/session/session_runtime.hpp>
#if ONTO_CUDA
#include <onto/backend/cuda/kernels.hpp>
#endif
#if defined(ONTO_BACKEND)
#include ONTO_BACKEND  // the header of a backend of the program's own
#endif

#include <utility>

namespace onto::detail {
inline namespace ONTO_ABI {

template <int... Slots>
auto list_backends(std::integer_sequence<int, Slots...>)
    -> decltype((backend_list<>{} + ... + typename backend_at<Slots>::list{}));
using backends = decltype(list_backends(std::make_integer_sequence<int, kernel_entry::slot_count>{}));

/// The GPUs of one backend, found.
template <class Gpus>
class found_gpus final : public gpu_list {
 public:
  explicit found_gpus(const session_options& options) : gpus_(options) {}
  int count() override { return gpus_.count(); }
  std::int64_t memory(int k) override { return gpus_.memory(k); }
  device* open(place where, int k, const memory_limit& limit) override { return gpus_.open(where, k, limit); }

 private:
  Gpus gpus_;
};

template <class Backend>
ref<gpu_list> find_gpus(const session_options& options) {
  return ref<gpu_list>(new found_gpus<typename Backend::gpus>(options));
}

/// How the GPUs of a program's backends are found; the CPU has none.
template <class List>
struct gpu_finders_of;
template <class Cpu, class... Backends>
struct gpu_finders_of<backend_list<Cpu, Backends...>> {
  static constexpr gpu_finder all[] = {&find_gpus<Backends>..., nullptr};
};
inline constexpr const gpu_finder* gpu_finders = gpu_finders_of<backends>::all;

}  // namespace ONTO_ABI
}  // namespace onto::detail
