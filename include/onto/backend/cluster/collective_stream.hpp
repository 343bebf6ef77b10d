// SPDX-License-Identifier: BSL-1.0
// Collectives of a session, in order.
#pragma once

#include <onto/backend/cluster/all_gathering.hpp>
#include <onto/backend/cluster/all_reduction.hpp>
#include <onto/backend/cluster/broadcasting.hpp>
#include <onto/backend/cluster/direct_collectives.hpp>
#include <onto/backend/cluster/group.hpp>
#include <onto/backend/cluster/scattered_reduction.hpp>

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

class collective_stream final : public shared_stream {
 public:
  explicit collective_stream(ref<cluster_group> group)
      : group_(static_cast<ref<cluster_group>&&>(group)),
        begun_(static_cast<std::size_t>(group_->tasks().count())),
        direct_(*group_) {
    group_->set_collectives(this);
  }
  ~collective_stream() override {
    abandon();
    group_->set_collectives(nullptr);
  }

  void begin(const work& w, device& at, const collective_part& part) {
    run_state& run = w.run;
    group_->expect_whole();
    collective_tasks with;
    for (int t = 0; t < part.task_count; ++t) {
      const int rank = group_->tasks().rank_of(*part.tasks[t].task);
      if (rank == group_->rank()) with.own = t;
      with.ranks.push_back(rank);
      // Both ends count those that they have a part in.
      with.tags.push_back(first_tag + 2 * static_cast<int>(begun_[static_cast<std::size_t>(rank)]++ % tags));
    }
    if (!at.is_host()) return direct_.begin(w, at, part, with);
    collective* made = nullptr;
    transport& ways = group_->ways();
    if (part.kind == step_kind::all_reduce)
      made = new all_reduction(ways, memory_, run, part, static_cast<collective_tasks&&>(with), group_->deterministic);
    else if (part.kind == step_kind::reduce_scatter)
      made = new scattered_reduction(ways, memory_, run, part, static_cast<collective_tasks&&>(with),
                                     group_->deterministic);
    else if (part.kind == step_kind::all_gather)
      made = new all_gathering(ways, memory_, run, part, static_cast<collective_tasks&&>(with));
    else
      made = new broadcasting(ways, memory_, run, part, static_cast<collective_tasks&&>(with));
    entry e{ref<collective>(made), &run, part.kind, 0, run.trace ? run.trace->now() : 0};
    for (int k = 0; k < part.count; ++k) e.bytes += part.values[k].count * size_of(part.type);
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

  /// Waits for what devices do among themselves.
  void settle() { direct_.settle(); }

  /// Lets all that are under way go on. *Returns* how many are done.
  std::uint64_t advance() {
    for (const entry& e : open_) e.work->is_done();
    for (; !open_.empty() && open_.front().work->is_done(); open_.pop_front()) trace(open_.front());
    return started_ - open_.size();
  }

 private:
  struct entry {
    ref<collective> work;
    run_state* run;
    step_kind kind;
    std::int64_t bytes;
    std::int64_t begin;  // in the run's trace
  };

  void trace(const entry& e) const {
    if (!e.run->trace) return;
    const work_label label{name_of(e.kind), name_of(e.kind), e.bytes, 0};
    e.run->trace->add(
        {trace_span::collective, group_->here(), stream_kind::compute, &label, e.begin, e.run->trace->now(), {}, 0});
  }

  void abandon() noexcept {
    for (const entry& e : open_) e.work->abandon();
    open_.clear();
  }

  static constexpr std::uint64_t tags = 1 << 20;
  static constexpr int first_tag = 2 + (1 << 20);  // behind those of messages, and within what every MPI allows

  ref<cluster_group> group_;
  message_memory memory_;
  std::deque<entry> open_;
  std::vector<std::uint64_t> begun_;  // per task, those that it has a part in
  std::uint64_t started_ = 0;
  direct_collectives direct_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
