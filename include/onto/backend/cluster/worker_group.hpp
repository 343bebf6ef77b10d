// SPDX-License-Identifier: BSL-1.0
// A worker that goes at its own pace, with the tasks that all workers share: which tasks these are, and their ways.
#pragma once

#include <onto/backend/cluster/tasks.hpp>
#include <onto/backend/cluster/transport.hpp>
#include <onto/core/error.hpp>

#include <string>
#include <string_view>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// How many tasks a job has. *Throws* `invalid_argument_error` where it has none, or all that there are.
ONTO_COLD inline int expect_workers(const cluster_tasks& all, std::string_view job) {
  int workers = 0;
  for (int r = 0; r < all.count(); ++r) workers += all.name(r).job == job;
  const std::string name(job);
  if (workers == 0)
    throw invalid_argument_error("[onto.cluster] the cluster has no job '" + name +
                                 "' whose tasks could go at their own pace; name one of the specification's");
  if (workers == all.count())
    throw invalid_argument_error("[onto.cluster] all tasks are of the job '" + name +
                                 "', and none is left to keep their variables; add one: cluster_spec{{\"ps\", 1}, {\"" +
                                 name + "\", " + std::to_string(workers) + "}}");
  return workers;
}

/// The tasks of worker number `worker` of a job: those of all other jobs, in the order of the specification, and behind
/// them the worker, as task 0 of its job.
struct worker_group {
  worker_group(const cluster_tasks& all, std::string_view job, int worker) : tasks(new cluster_tasks) {
    int self = -1;
    for (int r = 0; r < all.count(); ++r) {
      const task_name& n = all.name(r);
      if (n.job == job) {
        if (n.task == worker) self = r;
        continue;
      }
      members.push_back(r);
      if (n.task == 0) tasks->add(std::string(n.job), tasks_of(all, n.job));
    }
    members.push_back(self);
    tasks->add_replica(job, worker);
  }

  /// The number in the group of task `rank` of all; -1 where it is another worker.
  int number_of(int rank) const {
    for (std::size_t k = 0; k < members.size(); ++k)
      if (members[k] == rank) return static_cast<int>(k);
    return -1;
  }

  ref<cluster_tasks> tasks;
  std::vector<int> members;  // their numbers among all

 private:
  static int tasks_of(const cluster_tasks& all, std::string_view job) {
    int tasks = 0;
    for (int r = 0; r < all.count(); ++r) tasks += all.name(r).job == job;
    return tasks;
  }
};

/// The ways between some tasks, on ways between all that nobody else uses. Collectives are made of messages.
class members_transport final : public transport {
 public:
  /// *Preconditions* this task is a member.
  members_transport(const ref<transport>& all, const worker_group& group)
      : all_(all), members_(group.members), rank_(group.number_of(all->rank())) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  ref<pending_message> send(int to, int tag, const void* data, std::int64_t bytes) override {
    return all_->send(member(to), tag, data, bytes);
  }
  ref<pending_message> receive(int from, int tag, void* data, std::int64_t most) override {
    return all_->receive(member(from), tag, data, most);
  }
  bool probe(int from, int tag, int& source, std::int64_t& bytes) override {
    if (!all_->probe(from < 0 ? from : member(from), tag, source, bytes)) return false;
    const int sender = source;
    source = 0;
    while (member(source) != sender) ++source;
    return true;
  }

 private:
  int member(int number) const { return members_[static_cast<std::size_t>(number)]; }

  ref<transport> all_;
  std::vector<int> members_;
  int rank_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
