// SPDX-License-Identifier: BSL-1.0
// How values get from the devices of one task to those of another: through the hosts, from GPU to GPU, or in messages
// that begin and end in the memory of GPUs.
#pragma once

#include <onto/graph/plan_step.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether GPUs of several tasks copy to each other and add up in their streams, where no two of them are the same:
/// then plans count on it. All files of a program are compiled with it, or none.
#if defined(ONTO_HAS_NCCL)
inline constexpr bool gpus_are_direct = true;
#else
inline constexpr bool gpus_are_direct = false;
#endif

/// Whether NCCL adds up elements of a type of so many tasks as well as the hosts do. Sums of half and bfloat16 are
/// rounded after each addition: of two terms that is once, as everywhere.
constexpr bool adds_on_gpus(element type, int tasks) {
  switch (type) {
    case element::float16:
    case element::bfloat16: return tasks == 2;
    case element::float32:
    case element::float64:
    case element::int8:
    case element::uint8:
    case element::int32:
    case element::uint32:
    case element::int64:
    case element::uint64: return true;
    default: return false;
  }
}

/// How the devices of all tasks reach each other.
class device_routes {
 public:
  constexpr device_routes(const fetch_targets& targets, const device_links* links) : targets_(targets), links_(links) {}

  constexpr bool any() const { return links_ != nullptr; }
  /// Of a place that is no such device: nothing.
  constexpr device_links of(const place& p) const {
    for (int d = 0; d < targets_.count && links_; ++d)
      if (targets_.devices[d] == p) return links_[d];
    return {};
  }
  /// Whether they are GPUs that do it among themselves.
  constexpr bool are_direct(const place& a, const place& b) const {
    const std::uint64_t one = of(a).hardware, other = of(b).hardware;
    return one != 0 && other != 0 && one != other;
  }
  /// Where a message begins and ends that goes to a device or comes from it.
  constexpr place end_of_message(const place& p) const { return of(p).in_messages ? p : host_of(p); }

 private:
  fetch_targets targets_;
  const device_links* links_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
