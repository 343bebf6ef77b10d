// SPDX-License-Identifier: BSL-1.0
// The tasks of a cluster by number: their names, and how programs and people write them.
#pragma once

#include <onto/core/message.hpp>
#include <onto/core/ref.hpp>
#include <onto/device/task.hpp>

#include <string>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Job by job, in the order of the specification; shared by the server and its sessions, whose devices' places point
/// into it.
class cluster_tasks : public counted {
 public:
  /// *Preconditions* before the first `name` is asked for.
  void add(const std::string& job, int tasks) {
    jobs_.push_back(new std::string(job));
    for (int t = 0; t < tasks; ++t) names_.push_back({*jobs_.back(), t, task_id(*jobs_.back(), t)});
  }
  /// A task of a job that is the first one to the programs of its group.
  void add_replica(std::string_view job, int number) {
    jobs_.push_back(new std::string(job));
    names_.push_back({*jobs_.back(), number, task_id(*jobs_.back(), 0), false, number});
  }
  /// They are threads of one process. *Preconditions* as `add`, and all are there.
  void simulate() {
    for (task_name& n : names_) n.is_simulated = true;
  }
  ~cluster_tasks() override {
    for (const std::string* job : jobs_) delete job;
  }

  int count() const { return static_cast<int>(names_.size()); }
  const task_name& name(int rank) const { return names_[static_cast<std::size_t>(rank)]; }
  /// The number of a task that is there.
  int rank_of(const task_name& name) const {
    int r = 0;
    while (names_[static_cast<std::size_t>(r)].id != name.id) ++r;
    return r;
  }
  /// `/job:worker/task:1`.
  message& write(message& m, int rank) const { return m << "/job:" << name(rank).job << "/task:" << name(rank).task; }
  std::string text(int rank) const {
    message m;
    return write(m, rank).text();
  }

 private:
  std::vector<const std::string*> jobs_;
  std::vector<task_name> names_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
