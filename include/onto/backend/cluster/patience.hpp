// SPDX-License-Identifier: BSL-1.0
// Waiting without blocking: look again at once, then after others had their turn on this core, then after a while, and
// not for ever.
#pragma once

#include <onto/core/config.hpp>

#include <sched.h>
#include <time.h>

namespace onto::detail {

class patience {
 public:
  explicit patience(double seconds) : begin_(now()), seconds_(seconds) {}

  double waited() const { return now() - begin_; }
  bool is_over() const { return looks_ > at_once && waited() > seconds_; }

  /// Between two looks.
  void pause() {
    if (++looks_ <= at_once) return;
    if (waited() < soon) {
      sched_yield();
    } else {
      const timespec while_others_work{0, 50'000};
      nanosleep(&while_others_work, nullptr);
    }
  }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  static constexpr int at_once = 64;
  static constexpr double soon = 0.005;  // seconds: a core that is yielded all the time is a core that is used

  double begin_;
  double seconds_;
  int looks_ = 0;
};

}  // namespace onto::detail
