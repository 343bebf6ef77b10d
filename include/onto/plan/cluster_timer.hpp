// SPDX-License-Identifier: BSL-1.0
// When the steps of a plan over several tasks run: each process goes through its own, and messages and sums begin when
// all that have a part in them have come to it.
#pragma once

#include <onto/core/message.hpp>
#include <onto/plan/cluster_model.hpp>
#include <onto/plan/step_timer.hpp>

#include <initializer_list>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void estimate_needs_tasks(const char* what) {
  fail<invalid_argument_error>(message("[onto.estimate] ") << what);
}

/// *Throws* `invalid_argument_error` for a model or a number of towers that makes no sense.
constexpr void expect_tasks_on_nodes(const cluster_model& model, int towers, const place* devices, int count) {
  if (model.tasks_per_node < 1) estimate_needs_tasks("tasks_per_node of a cluster_model is 1 or more");
  if (towers != 0 && towers < task_count(devices, count))
    estimate_needs_tasks("towers are fewer than the tasks of the plan, which stand for them; plan fewer, or give more");
}

/// A step either is of one process, and then `step_timer` knows what it takes; or several processes have a part in it,
/// and `perform_together` does. A new kind of step of several processes is one more case there and in `is_together`,
/// and a function of bytes and tasks in `cluster_model`.
class cluster_timer {
 public:
  /// `towers`: all-reduces and agreements are of so many tasks, for which those of the plan stand; 0: of the plan's.
  constexpr cluster_timer(const order_input& in, const extents* shapes, const cluster_model& model, int towers)
      : in_(in),
        model_(model),
        between_gpus_(model.between_gpus()),
        alone_(in, shapes, model.device),
        count_(count_tasks()),
        towers_(towers > 0 ? towers : count_),
        task_of_device_(in.device_count),
        clocks_(count_),
        sending_(count_),
        receiving_(count_),
        free_(in.step_count) {
    for (int d = 0, next = 0; d < in_.device_count; ++d) {
      int& task = task_of_device_.get()[d];
      task = find_task(in_.devices[d], d);
      if (task >= 0) continue;
      task = next++;
      order_input own = in_;
      own.here = host_of(in_.devices[d]);
      clocks_.get()[task] = new step_clock(own);
    }
    if (model_.direct) find_free_copies();
  }
  cluster_timer(const cluster_timer&) = delete;
  cluster_timer& operator=(const cluster_timer&) = delete;
  constexpr ~cluster_timer() {
    for (int t = 0; t < count_; ++t) delete clocks_.get()[t];
  }

  /// Fills `steps` and the times of `devices`. *Returns* the seconds of all.
  constexpr double run(timed_step* steps, device_time* devices) {
    const double agreement = model_.agreement(towers_);
    for (int t = 0; t < count_; ++t) clock(t).wait_until(agreement);
    // No step waits for a later one, so each can be timed when those before it are.
    for (int k = 0; k < in_.step_count;) {
      int end = k + 1;
      while (is_part_of(k, end)) ++end;
      if (is_together(k))
        perform_together(k, end, steps, devices);
      else
        perform_alone(k, steps, devices);
      k = end;
    }
    double last = 0;
    for (int t = 0; t < count_; ++t) step_clock::raise(last, clock(t).last());
    return last + agreement;
  }

 private:
  constexpr step_clock& clock(int task) const { return *clocks_.get()[task]; }

  constexpr int count_tasks() const {
    int tasks = 0;
    for (int d = 0; d < in_.device_count; ++d) {
      bool first = true;
      for (int c = 0; c < d; ++c) first = first && !same_task(in_.devices[c], in_.devices[d]);
      tasks += first ? 1 : 0;
    }
    return tasks;
  }
  /// The number of the task of `p`, by the first `devices` devices; or -1.
  constexpr int find_task(const place& p, int devices) const {
    for (int d = 0; d < devices; ++d)
      if (same_task(in_.devices[d], p)) return task_of_device_.get()[d];
    return -1;
  }
  constexpr int task_of(const place& p) const { return find_task(p, in_.device_count); }

  /// The number of a task's node. Jobs are in the order of the devices, with as many tasks as their last one says.
  constexpr int node_of(const place& p) const {
    int before = 0;
    for (int d = 0; d < in_.device_count && in_.devices[d].task->job != p.task->job; ++d) {
      bool first = true;
      int tasks = 0;
      for (int c = 0; c < in_.device_count; ++c) {
        if (in_.devices[c].task->job != in_.devices[d].task->job) continue;
        first = first && c >= d;
        tasks = in_.devices[c].task->task >= tasks ? in_.devices[c].task->task + 1 : tasks;
      }
      before += first ? tasks : 0;
    }
    return (before + p.task->task) / model_.tasks_per_node;
  }

  constexpr bool is_together(int k) const { return is_collective(in_.steps[k].kind) || is_message(in_.steps[k]); }
  /// A collective has a step for each of its tasks, one after the other.
  constexpr bool is_part_of(int first, int k) const {
    return k < in_.step_count && is_collective(in_.steps[first].kind) && in_.steps[k].kind == in_.steps[first].kind &&
           in_.steps[k].bucket == in_.steps[first].bucket;
  }

  /// The copies between a GPU and its host that are there for messages alone.
  constexpr void find_free_copies() {
    const value_finder values(in_);
    const scratch_array<bool> used(in_.value_count);
    for (int k = 0; k < in_.step_count; ++k)
      if (!is_together(k)) values.for_each_read(k, [&](int v) { used.get()[v] = true; });
    for (int k = 0; k < in_.step_count; ++k) {
      const plan_step& s = in_.steps[k];
      if (s.kind != step_kind::transfer || is_message(s)) continue;
      const bool to_host = s.at.kind == device_kind::cpu;
      free_.get()[k] =
          to_host ? !used.get()[s.value] && in_.values[s.value].fetch < 0
                  : s.from.kind == device_kind::cpu && s.source >= 0 && is_together(in_.values[s.source].birth);
    }
  }

  constexpr void perform_alone(int k, timed_step* steps, device_time* devices) {
    step_clock& own = clock(task_of(in_.steps[k].at));
    // No GPU knows when a message has come: the host waits, and then issues.
    if (!model_.direct)
      own.for_each_wait(k, [&](int other) {
        if (is_together(other) && !in_.steps[other].direct) own.wait_until(steps[other].end);
      });
    alone_.perform(k, own, free_.get()[k] ? 0 : alone_.seconds_of(k), steps, devices);
  }

  /// When a task can begin what others have a part in. The host waits for what it gives, unless it is a GPU that does.
  constexpr double ready(int task, int k, const timed_step* steps) const {
    step_clock& own = clock(task);
    if (!model_.direct && !in_.steps[k].direct)
      own.for_each_wait(k, [&](int other) { own.wait_until(steps[other].end); });
    return own.begin_of(k, steps);
  }
  constexpr void end(int task, int k, double time, device_time* devices, double seconds) {
    step_clock& own = clock(task);
    own.end(k, time);
    if (in_.steps[k].direct) {
      devices[(own.order(k).stream - 1) / 3].copying += seconds;
      return;
    }
    if (model_.host_moves) own.wait_until(time);
    for (int d = 0; d < in_.device_count; ++d)
      if (task_of_device_.get()[d] == task && in_.devices[d] == host_of(in_.devices[d])) devices[d].copying += seconds;
  }

  constexpr void perform_together(int first, int last, timed_step* steps, device_time* devices) {
    const plan_step& s = in_.steps[first];
    const std::int64_t bytes = alone_.bytes_of_step(first);
    const cluster_model& model = s.direct ? between_gpus_ : model_;
    if (is_message(s)) {
      const int from = task_of(s.from), to = task_of(s.at);
      double begin = ready(from, first, steps);
      step_clock::raise(begin, ready(to, first, steps));
      if (!s.direct) {  // GPUs have links of their own
        step_clock::raise(begin, sending_.get()[from]);
        step_clock::raise(begin, receiving_.get()[to]);
      }
      const double seconds = model.message(bytes, node_of(s.from) == node_of(s.at)), over = begin + seconds;
      end(from, first, over, devices, seconds);
      end(to, first, over, devices, seconds);
      if (!s.direct) sending_.get()[from] = receiving_.get()[to] = over;
      steps[first] = {s, clock(from).order(first).stream, begin, over};
      return;
    }
    double begin = 0;
    for (int k = first; k < last; ++k) {
      const int task = task_of(in_.steps[k].at);
      step_clock::raise(begin, ready(task, k, steps));
      if (s.direct) continue;
      step_clock::raise(begin, sending_.get()[task]);
      step_clock::raise(begin, receiving_.get()[task]);
    }
    // Several values go as one, by the hosts in one piece.
    const int tasks = towers_ > count_ ? towers_ : last - first;
    const double seconds =
        together(model, s.kind, bytes, tasks) + (s.more > 0 && !s.direct ? 2 * model_.collecting(bytes) : 0);
    for (int k = first; k < last; ++k) {
      const int task = task_of(in_.steps[k].at);
      end(task, k, begin + seconds, devices, seconds);
      if (!s.direct) sending_.get()[task] = receiving_.get()[task] = begin + seconds;
      steps[k] = {in_.steps[k], s.direct ? clock(task).order(k).stream : 0, begin, begin + seconds};
    }
  }

  static constexpr double together(const cluster_model& model, step_kind kind, std::int64_t bytes, int tasks) {
    if (kind == step_kind::all_reduce) return model.all_reduce(bytes, tasks);
    if (kind == step_kind::reduce_scatter) return model.reduce_scatter(bytes, tasks);
    if (kind == step_kind::all_gather) return model.all_gather(bytes, tasks);
    return model.broadcast(bytes, tasks);
  }

  const order_input& in_;
  const cluster_model& model_;
  cluster_model between_gpus_;
  step_timer alone_;
  int count_;
  int towers_;
  scratch_array<int> task_of_device_;
  scratch_array<step_clock*> clocks_;  // per task, as the next two
  scratch_array<double> sending_;      // when it has sent, and received, what it began to
  scratch_array<double> receiving_;
  scratch_array<bool> free_;  // per step: a copy that takes no time
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
