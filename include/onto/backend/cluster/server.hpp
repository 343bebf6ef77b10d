// SPDX-License-Identifier: BSL-1.0
// `server`: this process as a task of a cluster.
#pragma once

#include <onto/backend/cluster/device.hpp>
#include <onto/backend/cluster/mpi.hpp>
#include <onto/backend/cluster/serialized_transport.hpp>
#include <onto/backend/cluster/spec.hpp>
#include <onto/backend/cluster/worker_group.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {

struct workers_of_server;

/// The only process of a cluster.
class lone_transport final : public transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  ref<pending_message> send(int, int, const void*, std::int64_t) override { return {}; }
  ref<pending_message> receive(int, int, void*, std::int64_t) override { return {}; }
  bool probe(int, int, int&, std::int64_t&) override { return false; }
};

/// How many processes a launcher says that it has started; 0 where none says so.
ONTO_COLD inline int launched_processes(const char*& by) {
  for (const auto& [variable, name] :
       {std::pair("OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"), std::pair("PMI_SIZE", "MPICH's mpirun")})
    if (const char* value = std::getenv(variable)) {
      by = name;
      return std::atoi(value);
    }
  return 0;
}

}  // namespace detail

/// This process as a task of a cluster. It lives as long as its sessions; one process has one.
class server {
 public:
  /// The task that `mpirun` has made this process. MPI is begun where the program has not begun it, and then ended with
  /// the server.
  /// *Throws* `failed_precondition_error`, in every process, where there are not as many processes as tasks.
  server(int& argc, char**& argv, const cluster_spec& spec) : tasks_(spec.tasks_) {
    int begun = 0;
    detail::check_mpi(MPI_Initialized(&begun), "MPI_Initialized");
    if (!begun) {
      int provided = 0;
      detail::check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
      owns_mpi_ = true;
    }
    try {
      join_world();
    } catch (...) {
      end_mpi();
      throw;
    }
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Waits for the other processes to end theirs, too. Where one of them was given up this ends all.
  ~server() {
    if (world_ == MPI_COMM_NULL) return;
    if (end_->has_come) {
      // The others have a moment to say what they know; then who was given up is ended, too.
      detail::patience p(0.5);
      while (!p.is_over()) p.pause();
      MPI_Abort(world_, 1);
    }
    end_mpi();
  }

  /// The name of this task's job, and its number there.
  std::string_view job() const { return tasks_->name(rank()).job; }
  int task_index() const { return tasks_->name(rank()).task; }
  /// This task among all, job by job, from 0.
  int rank() const { return rank_; }
  /// How many tasks there are.
  int size() const { return tasks_->count(); }

 private:
  friend class ::onto::session;
  friend struct detail::workers_of_server;
  friend server local_server();

  explicit server(const char* job) : tasks_(new detail::cluster_tasks) { tasks_->add(job, 1); }

  void join_world() {
    int provided = MPI_THREAD_SINGLE, processes = 0;
    detail::check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
    if (provided < MPI_THREAD_SERIALIZED)
      fail(
          "MPI was begun for one thread, and prepared runs have their own; begin it with MPI_Init_thread and "
          "MPI_THREAD_MULTIPLE, or leave that to onto::server");
    detail::check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &processes), "MPI_Comm_size");
    detail::check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    const char* by = "";
    const int launched = detail::launched_processes(by);
    if (processes == 1 && launched > 1)
      fail(std::string(by) + " has started " + std::to_string(launched) +
           " processes, and the program was built with another MPI, to which each of them is alone; use the mpirun of "
           "the mpicxx that built it");
    if (processes != size())
      fail("the cluster has " + std::to_string(size()) + (size() == 1 ? " task" : " tasks") + ", and there " +
           (processes == 1 ? "is 1 process" : "are " + std::to_string(processes) + " processes") +
           "; start it with mpirun -n " + std::to_string(size()));
    if (provided < MPI_THREAD_MULTIPLE) one_ = detail::ref<detail::one_thread>(new detail::one_thread);
    world_ = duplicate(30);
  }

  /// A session's own ways between the processes, which all make it. *Throws* where they do not in time.
  MPI_Comm duplicate(double timeout) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    detail::check_mpi(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request), "MPI_Comm_idup");
    detail::patience p(timeout);
    for (int done = 0;;) {
      detail::check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done) return made;
      if (p.is_over()) {
        end_->has_come = true;
        fail("not every process makes a session; every process is to make the same ones in the same order");
      }
      p.pause();
    }
  }

  /// What a new session runs its programs with; its reference goes to the caller.
  detail::process_group* join(double timeout) {
    detail::expect_timeout(timeout);
    return new detail::cluster_group(ways_between_all(timeout), tasks_, end_, timeout);
  }

  /// What sessions of a worker and those that all workers share run their programs with, worker by worker: one of each
  /// of a job's tasks. Null for other workers than this task, if it is one. All processes call it.
  std::vector<detail::ref<detail::cluster_group>> join_workers(std::string_view job, double timeout) {
    detail::expect_timeout(timeout);
    std::vector<detail::ref<detail::cluster_group>> groups(
        static_cast<std::size_t>(detail::expect_workers(*tasks_, job)));
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const detail::worker_group group(*tasks_, job, static_cast<int>(k));
      const detail::ref<detail::transport> all = ways_between_all(timeout);
      if (group.number_of(rank_) < 0) continue;
      groups[k] = detail::ref<detail::cluster_group>(
          new detail::cluster_group(detail::ref<detail::members_transport>(new detail::members_transport(all, group)),
                                    group.tasks, end_, timeout));
      groups[k]->leave_the_end_to_the_first();
    }
    return groups;
  }

  /// A session's own.
  detail::ref<detail::transport> ways_between_all(double timeout) {
    detail::ref<detail::transport> ways;
    if (world_ == MPI_COMM_NULL)
      ways = detail::ref<detail::lone_transport>(new detail::lone_transport);
    else
      ways = detail::ref<detail::mpi_transport>(new detail::mpi_transport(duplicate(timeout)));
    if (one_) ways = detail::ref<detail::serialized_transport>(new detail::serialized_transport(one_, ways));
    ways_.push_back(ways);
    return ways;
  }

  /// Ends MPI as others do; nobody sits inside of it while they do not.
  void end_mpi() noexcept {
    std::fflush(stdout);  // who is ended by others meanwhile prints nothing any more
    if (!owns_mpi_) return;
    MPI_Request request = MPI_REQUEST_NULL;
    int done = MPI_Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS ? 0 : 1;
    detail::patience p(0);
    while (!done) {
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) done = 1;
      hear_the_last();
      p.pause();
    }
    hear_the_last();
    MPI_Finalize();
  }

  /// Takes what others said when their sessions ended.
  void hear_the_last() noexcept {
    try {
      for (const auto& ways : ways_) {
        int from = 0;
        std::int64_t bytes = 0, came = 0;
        for (const int tag : {detail::cluster_group::note_tag, detail::cluster_group::verdict_tag,
                              detail::cluster_traces::lines_tag, detail::cluster_traces::end_tag}) {
          while (ways->probe(-1, tag, from, bytes)) {
            std::string note(static_cast<std::size_t>(bytes), '\0');
            const detail::ref<detail::pending_message> m = ways->receive(from, tag, note.data(), bytes);
            detail::patience p(0);
            while (!m->is_done(came)) p.pause();
          }
        }
      }
    } catch (...) {  // then MPI ends with words of its own
    }
  }

  [[noreturn]] static void fail(const std::string& what) { throw failed_precondition_error("[onto.cluster] " + what); }

  detail::ref<detail::cluster_tasks> tasks_;
  std::vector<detail::ref<detail::transport>> ways_;  // of all sessions
  detail::ref<detail::cluster_end> end_{new detail::cluster_end};
  detail::ref<detail::one_thread> one_;  // where MPI lets in but one
  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0;
  bool owns_mpi_ = false;
};

/// A cluster of this process alone, `/job:local/task:0`, without `mpirun` and without a call of MPI's.
inline server local_server() { return server("local"); }

}  // namespace onto

ONTO_END_RUNS_ONCE
