// SPDX-License-Identifier: BSL-1.0
// Waiting without blocking: look again at once, then now and then, and not for ever.
#pragma once

#include <onto/core/config.hpp>

#include <time.h>

namespace onto::detail {

/// How time passes, for tests in which it is no clock's.
struct time_source {
  virtual double now() = 0;
  virtual void pause() = 0;

 protected:
  ~time_source() = default;
};
inline thread_local time_source* tested_time = nullptr;

class patience {
 public:
  explicit patience(double seconds) : begin_(now()), seconds_(seconds) {}

  double waited() const { return now() - begin_; }
  bool is_over() const { return (tested_time || looks_ > at_once) && waited() > seconds_; }

  /// Between two looks. Where there are more processes than cores, who yields a core gets it back a time slice later,
  /// and who sleeps as soon as there is something to do: 12 ms a step against 2.
  void pause() {
    if (tested_time) return tested_time->pause();
    if (++looks_ <= at_once) return;
    const timespec while_others_work{0, 50'000};
    nanosleep(&while_others_work, nullptr);
  }

 private:
  static double now() {
    if (tested_time) return tested_time->now();
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  // Some 0.2 ms: a large message is many small ones, each of which waits for a look. With 64 a step of training over
  // two processes takes ten times as long: docs/measurements/all_reduce.md.
  static constexpr int at_once = 1000;

  double begin_;
  double seconds_;
  int looks_ = 0;
};

}  // namespace onto::detail
