// SPDX-License-Identifier: BSL-1.0
// A cluster inside one process, without MPI: `session sess{{.simulated_tasks = {{"ps", 1}, {"worker", 2}}}}`. Each task
// is a thread with devices, variables and memory of its own, and what goes between them are messages.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/backend/cluster/device.hpp>
#include <onto/backend/cluster/memory_transport.hpp>
#include <onto/backend/cluster/spec.hpp>
#include <onto/session/simulated_session.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The tasks of such a cluster; its sessions know nothing of each other.
class simulated_cluster final : public session_opener {
 public:
  static constexpr int most_tasks = 256;

  /// *Throws* `invalid_argument_error`.
  explicit simulated_cluster(std::initializer_list<cluster_job> jobs) : simulated_cluster(cluster_spec(jobs)) {}
  explicit simulated_cluster(const cluster_spec& spec) : tasks_(new cluster_tasks) {
    const cluster_tasks& all = *spec.tasks_;
    for (int r = 0, tasks = 0; r < all.count(); r += tasks) {
      for (tasks = 0; r + tasks < all.count() && all.name(r + tasks).job == all.name(r).job;) ++tasks;
      tasks_->add(std::string(all.name(r).job), tasks);
    }
    if (tasks_->count() > most_tasks)
      fail<invalid_argument_error>(message("[onto.option] simulated_tasks has ")
                                   << tasks_->count() << " tasks; each is a thread, up to " << most_tasks);
    tasks_->simulate();
  }

  session_runtime* open(session_options& options, const gpu_finder* finders) const override {
    expect_timeout(options.timeout);
    const ref<memory_network> network(new memory_network(tasks_->count()));
    std::vector<process_group*> groups;
    for (int t = 0; t < tasks_->count(); ++t)
      groups.push_back(new cluster_group(ref<memory_transport>(new memory_transport(network, t)), tasks_,
                                         ref<cluster_end>(new cluster_end), options.timeout));
    return open_simulated(options, finders, groups.data(), tasks_->count());
  }

 private:
  ref<cluster_tasks> tasks_;
};

}  // namespace onto::detail
ONTO_END_RUNS_ONCE

ONTO_END_HEADER
