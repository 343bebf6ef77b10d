// SPDX-License-Identifier: BSL-1.0
// `cluster_spec`: which jobs a cluster has, and how many tasks each.
#pragma once

#include <onto/backend/cluster/tasks.hpp>
#include <onto/core/error.hpp>
#include <onto/device/device_name.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {
class simulated_cluster;
struct workers_of_server;

}  // namespace detail

/// The jobs of a cluster and how many tasks each has: `cluster_spec{{"ps", 1}, {"worker", 2}}`. The processes that
/// `mpirun` starts are the tasks, job by job: here process 0 is `/job:ps/task:0` and process 2 `/job:worker/task:1`.
class cluster_spec {
 public:
  using job = cluster_job;

  /// *Throws* `invalid_argument_error` for a job without tasks, a name that is none or stands there twice, and where
  /// there is no job.
  cluster_spec(std::initializer_list<job> jobs) : tasks_(new detail::cluster_tasks) {
    if (jobs.size() == 0) fail("the cluster has no job; write cluster_spec{{\"worker\", 2}}");
    for (const job& j : jobs) {
      // What a device name takes for a job's.
      bool good = !j.name.empty() && j.name.find_first_of("/:") == std::string_view::npos;
      try {
        good = good && device_name::parse("/job:" + std::string(j.name)).job() == j.name;
      } catch (const invalid_argument_error&) {
        good = false;
      }
      if (!good)
        fail("'" + std::string(j.name) + "' is no name of a job; begin with a letter and write letters, digits and _");
      if (j.tasks < 1) fail("job '" + std::string(j.name) + "' has no tasks; give it one or more, or leave it out");
      for (const job& other : jobs) {
        if (&other == &j) break;
        if (other.name == j.name)
          fail("job '" + std::string(j.name) + "' is there twice; give it all its tasks at once");
      }
      tasks_->add(std::string(j.name), j.tasks);
    }
  }

  /// How many processes it takes.
  int size() const { return tasks_->count(); }

 private:
  friend class server;
  friend class detail::simulated_cluster;
  friend struct detail::workers_of_server;
  [[noreturn]] static void fail(const std::string& what) { throw invalid_argument_error("[onto.cluster] " + what); }

  detail::ref<detail::cluster_tasks> tasks_;
};

}  // namespace onto

ONTO_END_RUNS_ONCE
