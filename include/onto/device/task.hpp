// SPDX-License-Identifier: BSL-1.0
// Places in other processes: `task<"worker", 1>` and `task<"worker", 1, gpu<0>>` as types.
#pragma once

#include <onto/core/text.hpp>
#include <onto/device/place.hpp>

#include <limits>
#include <type_traits>

namespace onto {

/// A job of a cluster, and how many tasks it has.
struct cluster_job {
  std::string_view name;
  int tasks;
};

namespace detail {

/// The id of a task, of which a part may be open.
constexpr std::uint64_t task_id(std::string_view job, int task) {
  return hash_mix(hash_text(job), static_cast<std::uint64_t>(task + 1));
}

/// No device of the task in particular.
struct any_device_of_task {
  static constexpr place value{};
};

/// A task with its job's name spelled out: text is no template argument of what kernels are made of.
template <class Job, int Task, class Device>
struct task_place {
  static_assert(Task != std::numeric_limits<int>::min(),
                "[onto.device] a task has a number in its job; give it: task<\"worker\", 0>");
  static_assert(Task >= 0 || Task == std::numeric_limits<int>::min(), "[onto.device] a task is 0 or positive");
  static_assert(Job::value.size() > 0, "[onto.device] a task is of a job; give it a name: task<\"worker\", 0>");
  static constexpr int index = Task;  // for towers: `place.index`
  static constexpr task_name name{Job::value, Task, task_id(Job::value, Task)};
  static constexpr place value{Device::value.kind, Device::value.index, true, &name};
};

template <class Job, int Task, class Device>
inline constexpr bool is_place<task_place<Job, Task, Device>> = true;

/// The name of a job. `task` takes its type from a variable, which nvcc looks up: a call in an alias it repeats word
/// for word, and `Job` with it.
template <fixed_string Job>
inline constexpr auto job_name = spelled<Job>();

}  // namespace detail

/// Task `Index` of a job, a process of a cluster: `on<task<"worker", 1>>(e)`, or one of its devices:
/// `on<task<"worker", 1, gpu<0>>>(e)`. Scopes combine: `on<task<"worker", 1>>(on<gpu<0>>(e))` is the same.
template <fixed_string Job, int Index = std::numeric_limits<int>::min(), class Device = detail::any_device_of_task>
using task = detail::task_place<std::remove_const_t<decltype(detail::job_name<Job>)>, Index, Device>;

}  // namespace onto
