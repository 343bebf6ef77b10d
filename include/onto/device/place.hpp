// SPDX-License-Identifier: BSL-1.0
// Places: `gpu<0>` and `cpu<0>` as types, and the same as a small value for constexpr passes.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>
#include <string_view>

namespace onto {

enum class device_kind : std::uint8_t { none, cpu, gpu };

namespace detail {

/// A task of a cluster, a process: as a program names it, which may leave a part open, or as a session has it.
struct task_name {
  std::string_view job{};     // empty where it is open
  int task = -1;              // -1 where it is open
  std::uint64_t id = 0;       // of both
  bool is_simulated = false;  // some threads of a process
  int replica = 0;            // which of its job's tasks it is, where programs know but the first
};

}  // namespace detail

/// A place as a value: a kind and an index, and in programs over several processes a task. `{none, -1}` without a task
/// asks for nothing.
struct place {
  device_kind kind = device_kind::none;
  int index = -1;
  bool in_task = false;  // `task` is not null: -fsanitize=undefined compares no addresses in constant expressions
  const detail::task_name* task = nullptr;

  ONTO_INLINE constexpr bool is_set() const { return kind != device_kind::none || in_task; }
  ONTO_INLINE friend constexpr bool operator==(const place& a, const place& b) {
    return a.kind == b.kind && a.index == b.index && a.in_task == b.in_task && (!a.in_task || a.task->id == b.task->id);
  }
};

/// GPU number `Index`, as a type.
template <int Index>
struct gpu {
  static_assert(Index >= 0, "[onto.device] a device index is 0 or positive, and stands in <>: gpu<0>");
  static constexpr int index = Index;
  static constexpr place value{device_kind::gpu, Index};

  gpu() = default;
  constexpr explicit gpu(int) requires(Index < 0) {}
};
gpu(int)->gpu<-1>;

/// CPU number `Index`, as a type.
template <int Index>
struct cpu {
  static_assert(Index >= 0, "[onto.device] a device index is 0 or positive, and stands in <>: cpu<0>");
  static constexpr int index = Index;
  static constexpr place value{device_kind::cpu, Index};

  cpu() = default;
  constexpr explicit cpu(int) requires(Index < 0) {}
};
cpu(int)->cpu<-1>;

namespace detail {

/// A place of the task of `p`.
ONTO_INLINE constexpr place in_task_of(const place& p, device_kind kind, int index) {
  return {kind, index, p.in_task, p.task};
}
/// Where the host's memory of a task is.
ONTO_INLINE constexpr place host_of(const place& p) { return in_task_of(p, device_kind::cpu, 0); }

ONTO_INLINE constexpr bool same_task(const place& a, const place& b) {
  return a.in_task == b.in_task && (!a.in_task || a.task->id == b.task->id);
}

/// Whether a device is in the task that a request names, as far as it names one. A session of one process is the task
/// 0 of the job `localhost`.
constexpr bool task_matches(const place& request, const place& device) {
  if (!request.in_task) return true;
  const task_name& wanted = *request.task;
  if (!device.in_task) return (wanted.job.empty() || wanted.job == "localhost") && wanted.task <= 0;
  return (wanted.job.empty() || wanted.job == device.task->job) &&
         (wanted.task < 0 || wanted.task == device.task->task - device.task->replica);
}

/// A scope inside another one, part by part: another kind drops the index from outside.
constexpr place merged(const place& outer, const place& inner) {
  place both = inner.kind == device_kind::none ? outer : inner;
  const place& named = inner.in_task ? inner : outer;
  both.in_task = named.in_task;
  both.task = named.task;
  return both;
}

/// A number for hashes.
ONTO_INLINE constexpr std::uint64_t key_of(const place& p) {
  return static_cast<std::uint64_t>(p.kind) * 4096 + static_cast<std::uint64_t>(p.index + 1) +
         (p.in_task ? p.task->id * 65537 : 0);
}

template <class D>
inline constexpr bool is_place = false;
template <int Index>
inline constexpr bool is_place<gpu<Index>> = true;
template <int Index>
inline constexpr bool is_place<cpu<Index>> = true;
}  // namespace detail

/// `gpu<Index>` or `cpu<Index>`.
template <class D>
concept place_type = detail::is_place<D>;

}  // namespace onto
