// SPDX-License-Identifier: BSL-1.0
// All-reduces of a session, in order.
#pragma once

#include <onto/backend/cluster/all_reduction.hpp>
#include <onto/backend/cluster/group.hpp>

#include <deque>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What is done in an order, by this process and others, and can be waited for.
class shared_stream : public counted {
 public:
  /// How many have begun.
  virtual std::uint64_t started() const = 0;
  /// Waits for the first `count`. *Throws* where another process does not come in time.
  virtual void wait(std::uint64_t count) = 0;
};

class reduction_stream final : public shared_stream {
 public:
  explicit reduction_stream(ref<cluster_group> group)
      : group_(static_cast<ref<cluster_group>&&>(group)), begun_(static_cast<std::size_t>(group_->tasks().count())) {
    group_->set_reductions(this);
  }
  ~reduction_stream() override {
    abandon();
    group_->set_reductions(nullptr);
  }

  void begin(run_state& run, element type, const reduced_value* values, int count, const place* tasks, int task_count) {
    group_->expect_whole();
    reduction_tasks with;
    for (int t = 0; t < task_count; ++t) {
      const int rank = group_->tasks().rank_of(*tasks[t].task);
      if (rank == group_->rank()) with.own = t;
      with.ranks.push_back(rank);
      // Both ends count those that they have a part in.
      with.tags.push_back(first_tag + 2 * static_cast<int>(begun_[static_cast<std::size_t>(rank)]++ % tags));
    }
    entry e{{}, &run, 0, run.trace ? run.trace->now() : 0};
    for (int k = 0; k < count; ++k) e.bytes += values[k].count * size_of(type);
    e.sums = ref<all_reduction>(new all_reduction(group_->ways(), memory_, run, type, values, count,
                                                  static_cast<reduction_tasks&&>(with), group_->deterministic));
    open_.push_back(static_cast<entry&&>(e));
    ++started_;
  }

  std::uint64_t started() const override { return started_; }

  void wait(std::uint64_t count) override {
    try {
      group_->wait_for(cluster_group::all_of_them, [&] { return advance() >= count; });
    } catch (...) {
      abandon();
      throw;
    }
  }

  /// Lets all that are under way go on. *Returns* how many are done.
  std::uint64_t advance() {
    for (const entry& e : open_) e.sums->is_done();
    for (; !open_.empty() && open_.front().sums->is_done(); open_.pop_front()) trace(open_.front());
    return started_ - open_.size();
  }

 private:
  struct entry {
    ref<all_reduction> sums;
    run_state* run;
    std::int64_t bytes;
    std::int64_t begin;  // in the run's trace
  };

  void trace(const entry& e) const {
    if (!e.run->trace) return;
    const work_label label{"all-reduce", "sums over tasks", e.bytes, 0};
    e.run->trace->add(
        {trace_span::all_reduce, group_->here(), stream_kind::compute, &label, e.begin, e.run->trace->now(), {}, 0});
  }

  void abandon() noexcept {
    for (const entry& e : open_) e.sums->abandon();
    open_.clear();
  }

  static constexpr std::uint64_t tags = 1 << 20;
  static constexpr int first_tag = 2 + (1 << 20);  // behind those of messages, and within what every MPI allows

  ref<cluster_group> group_;
  message_memory memory_;
  std::deque<entry> open_;
  std::vector<std::uint64_t> begun_;  // per task, those that it has a part in
  std::uint64_t started_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
