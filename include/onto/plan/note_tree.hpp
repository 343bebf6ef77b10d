// SPDX-License-Identifier: BSL-1.0
// The way of the notes by which processes agree: up a tree of tasks to the first one, and its answer down again.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A k-nomial tree: written in base 8, a task's parent has its number with the last digit that is not 0 made 0. So up
/// to eight tasks have the first one as their parent, eight that follow each other (the GPUs of a node) talk among
/// themselves first, and a task with all below it is a contiguous range. For any number of tasks a note passes
/// ceil(log8(tasks)) others at most.
///
/// With notes that take a tenth of a latency 8 is the best base: what a level takes, a latency and 7 notes, grows more
/// slowly than the number of levels falls.
struct note_tree {
  static constexpr int fan_out = 8;

  /// *Preconditions* `task` > 0.
  static constexpr int parent(int task) {
    int width = 1;
    while (task / width % fan_out == 0) width *= fan_out;
    return task - task / width % fan_out * width;
  }

  /// `f(child)` for all that are among the first `tasks`, by number: what is below a child is before the next one.
  template <class F>
  static constexpr void for_each_child(int task, int tasks, const F& f) {
    for (std::int64_t width = 1; task % (width * fan_out) == 0 && task + width < tasks; width *= fan_out)
      for (int digit = 1; digit < fan_out && task + digit * width < tasks; ++digit)
        f(static_cast<int>(task + digit * width));
  }
};

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
