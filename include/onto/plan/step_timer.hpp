// SPDX-License-Identifier: BSL-1.0
// When the steps of a plan run by a cost model: what a session and simulated GPUs do, in thought. A stream does one
// thing after the other, work for a device is issued at the host's present time, and the host waits for what its own
// steps read.
#pragma once

#include <onto/graph/stream_assignment.hpp>
#include <onto/plan/cost_model.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// When a step of a plan runs, in seconds since the run began.
struct timed_step {
  plan_step step{};
  int stream = 0;  ///< 0: the host; 1 + 3 d: kernels of device d of the plan, 2 + 3 d: copies in, 3 + 3 d: copies out
  double begin = 0;
  double end = 0;
};

/// What a device does in a timeline, in seconds.
struct device_time {
  place where{};
  double busy = 0;     ///< its kernels
  double copying = 0;  ///< its copies, in and out, which run beside them
};

namespace detail {

/// The clocks of one process: of its host, and of its streams.
class step_clock {
 public:
  /// `in.here` says whose.
  constexpr explicit step_clock(const order_input& in)
      : streams_(stream_count(in.device_count)),
        orders_(in.step_count),
        waits_(in.step_count * streams_),
        time_(streams_) {
    stream_assigner(in, orders_.get(), waits_.get()).run();
  }

  constexpr const step_order& order(int step) const { return orders_.get()[step]; }
  /// What the host has come to.
  constexpr double now() const { return time_.get()[0]; }
  /// The host waits.
  constexpr void wait_until(double time) { raise(time_.get()[0], time); }

  /// Calls `f(step)` for each step of another stream that must be over.
  template <class F>
  constexpr void for_each_wait(int step, const F& f) const {
    const step_order& o = order(step);
    for (int w = 0; w < o.count; ++w) f(waits_.get()[o.first + w]);
  }
  /// When it is issued, its stream is free, and what it waits for is over.
  constexpr double begin_of(int step, const timed_step* steps) const {
    double begin = time_.get()[order(step).stream];
    raise(begin, now());
    for_each_wait(step, [&](int other) { raise(begin, steps[other].end); });
    return begin;
  }
  constexpr void end(int step, double time) { time_.get()[order(step).stream] = time; }

  /// When all is over.
  constexpr double last() const {
    double last = 0;
    for (int q = 0; q < streams_; ++q) raise(last, time_.get()[q]);
    return last;
  }

  static constexpr void raise(double& time, double to) {
    if (to > time) time = to;
  }

 private:
  int streams_;
  scratch_array<step_order> orders_;
  scratch_array<int> waits_;
  scratch_array<double> time_;
};

/// Times the plan of one process.
class step_timer {
 public:
  constexpr step_timer(const order_input& in, const extents* shapes, const cost_model& model)
      : in_(in), costs_(in, shapes), model_(model) {}

  /// Fills `steps` and the times of `devices`. *Returns* the seconds of all.
  constexpr double run(timed_step* steps, device_time* devices) const {
    step_clock clock(in_);
    for (int k = 0; k < in_.step_count; ++k) perform(k, clock, seconds_of(k), steps, devices);
    return clock.last();
  }

  /// Does a step of the process of `clock` alone, as soon as it can be.
  constexpr void perform(int k, step_clock& clock, double seconds, timed_step* steps, device_time* devices) const {
    const int stream = clock.order(k).stream;
    const double begin = clock.begin_of(k, steps), end = begin + seconds;
    clock.end(k, end);
    steps[k] = {in_.steps[k], stream, begin, end};
    if (device_time* d = device_of(devices, stream, in_.steps[k]))
      (in_.steps[k].kind == step_kind::transfer ? d->copying : d->busy) += end - begin;
  }

  /// Of what one process does.
  constexpr double seconds_of(int step) const {
    const plan_step& s = in_.steps[step];
    const step_cost c = costs_.of(step);
    const bool on_host = s.at.kind == device_kind::cpu;
    if (s.kind != step_kind::transfer)
      return on_host ? model_.host_kernel(c.flops, c.bytes) : model_.kernel(c.flops, c.bytes);
    const bool from_host = s.from.kind == device_kind::cpu;
    if (on_host && from_host) return model_.host_kernel(0, 2 * c.bytes);
    return on_host || from_host ? model_.host_copy(c.bytes) : model_.link(c.bytes);
  }
  constexpr std::int64_t bytes_of_step(int step) const { return costs_.of(step).bytes; }

 private:
  constexpr device_time* device_of(device_time* devices, int stream, const plan_step& s) const {
    if (stream > 0) return devices + (stream - 1) / 3;
    for (int d = 0; d < in_.device_count; ++d)
      if (devices[d].where == s.at) return devices + d;
    return nullptr;
  }

  const order_input& in_;
  step_costs costs_;
  const cost_model& model_;
};

}  // namespace detail

}  // namespace onto

ONTO_END_RUNS_ONCE
