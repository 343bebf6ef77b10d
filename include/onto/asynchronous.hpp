// SPDX-License-Identifier: BSL-1.0
// Training by workers that do not wait for each other, with a parameter server: each worker has a session with the
// server's tasks alone, and the variables there are shared by all. Include `<onto/cluster.hpp>` too where the tasks are
// processes.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/simulated_cluster.hpp>

#include <onto/backend/cluster/worker_group.hpp>
#include <onto/session/run_queue.hpp>
#include <onto/session/shared_variables.hpp>
#include <onto/session/together.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

namespace detail {

using cluster_groups = std::vector<ref<cluster_group>>;

/// What is asked of a server and of a specification.
struct workers_of_server {
  template <class Server>
  static cluster_groups join(Server& node, std::string_view job, double timeout) {
    return node.join_workers(job, timeout);
  }

  /// Of each worker the groups of all its tasks, which are threads.
  static std::vector<cluster_groups> simulate(const cluster_spec& spec, std::string_view job, double timeout) {
    expect_timeout(timeout);
    std::vector<cluster_groups> workers(static_cast<std::size_t>(expect_workers(*spec.tasks_, job)));
    for (std::size_t k = 0; k < workers.size(); ++k) {
      const worker_group group(*spec.tasks_, job, static_cast<int>(k));
      group.tasks->simulate();
      const ref<memory_network> network(new memory_network(group.tasks->count()));
      for (int t = 0; t < group.tasks->count(); ++t)
        workers[k].emplace_back(new cluster_group(ref<memory_transport>(new memory_transport(network, t)), group.tasks,
                                                  ref<cluster_end>(new cluster_end), timeout));
    }
    return workers;
  }
};

/// Opens the session of a worker, with the groups of those of its tasks that are in this process.
class worker_opener final : public session_opener {
 public:
  worker_opener(const cluster_groups& groups, bool simulated) : groups_(groups), simulated_(simulated) {}

  session_runtime* open(session_options& options, const gpu_finder* finders) const override {
    session_options of_tasks = options;
    of_tasks.simulated_tasks = {};
    std::vector<process_group*> adopted;
    for (const ref<cluster_group>& g : groups_) {
      g->retain();
      adopted.push_back(g.get());
    }
    if (simulated_) return open_simulated(of_tasks, finders, adopted.data(), static_cast<int>(adopted.size()));
    return open_together(of_tasks, finders, adopted[0]).release();
  }

 private:
  cluster_groups groups_;
  bool simulated_;
};

/// One after the other, whoever writes.
struct shared_log : counted {
  explicit shared_log(const log_sink& sink) : to(sink) {}
  void write(std::string_view line) {
    const mutex_lock one(guard);
    to.write(line);
  }
  log_sink to;
  mutex guard;
};

/// The workers' sessions in this process. In a worker's there is one; where the variables are there is one for each
/// worker, each in a thread of its own, and none is gone before all are over: values lie on their devices.
class asynchronous_sessions {
 public:
  /// *Throws* `invalid_argument_error` for options that are for one session.
  explicit asynchronous_sessions(const session_options& options)
      : options_(options), log_(new shared_log(options.log)) {
    if (options.simulated_tasks.opener())
      fail<invalid_argument_error>(
          message("[onto.option] simulated_tasks is a cluster of its own; leave it out of run_asynchronously, and give "
                  "that a cluster_spec in place of the server"));
    if (!options.trace.empty())
      fail<invalid_argument_error>(
          message("[onto.option] trace is a file of one session, and each worker has its own; leave it out of "
                  "run_asynchronously"));
    options_.log = [log = log_](std::string_view line) { log->write(line); };
  }
  asynchronous_sessions(const asynchronous_sessions&) = delete;
  asynchronous_sessions& operator=(const asynchronous_sessions&) = delete;
  ~asynchronous_sessions() {
    for (const stored& s : stores_) s.values->clear();
  }

  /// `groups`: of those of the worker's tasks that are in this process.
  void add(int number, const cluster_groups& groups, bool simulated) {
    for (const ref<cluster_group>& g : groups) {
      g->updates_last = true;
      if (g->rank() + 1 < g->ways().size()) g->shared = share_variables(store_of(g->here().task->id));
    }
    workers_.push_back({number, groups, simulated, {}});
  }

  /// `body(session, number)` for each worker. *Throws* what one of them has thrown, the first by number, when all are
  /// over.
  template <class Body>
  void run(const Body& body) {
    constexpr bool is_body = std::invocable<const Body&, session&, int>;
    static_assert(
        is_body,
        "[onto.cluster] run_asynchronously calls what each worker does with its session and its number; write "
        "[&](session& sess, int worker) { ... }");
    if constexpr (is_body) run_each(body);
  }

 private:
  template <class Body>
  void run_each(const Body& body) {
    struct job final : queued_run {
      job(asynchronous_sessions& s, const Body& b, worker& w) : all(s), act(b), of(w) {}
      void perform() override { all.run_one(of, act); }
      asynchronous_sessions& all;
      const Body& act;
      worker& of;
    };
    int tasks = 0;
    for (const worker& w : workers_) tasks += static_cast<int>(w.groups.size());
    if (options_.cpu_threads == 0 && workers_.size() > 1)
      options_.cpu_threads = processor_count() > tasks ? processor_count() / tasks : 1;
    if (workers_.size() == 1) return run_one(workers_[0], body);
    const std::unique_ptr<run_queue[]> threads(new run_queue[workers_.size()]);
    std::vector<ref<job>> jobs;
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      jobs.emplace_back(new job(*this, body, workers_[k]));
      threads[k].push(*jobs.back());
    }
    std::exception_ptr failure;
    for (const ref<job>& j : jobs) {
      try {
        j->wait_and_check();
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
  }

  struct worker {
    int number;
    cluster_groups groups;
    bool simulated;
    std::unique_ptr<session> its_session;
  };
  struct stored {
    std::uint64_t task;
    ref<variable_store> values;
  };

  const ref<variable_store>& store_of(std::uint64_t task) {
    for (const stored& s : stores_)
      if (s.task == task) return s.values;
    stores_.push_back({task, make_variable_store()});
    return stores_.back().values;
  }

  template <class Body>
  void run_one(worker& w, const Body& body) {
    try {
      session_options o = options_;
      o.simulated_tasks = simulated_jobs(ref<const session_opener>(new worker_opener(w.groups, w.simulated)));
      w.its_session.reset(new session(o));
      body(*w.its_session, w.number);
    } catch (...) {
      say_what_failed(w);
      throw;
    }
  }

  /// The others are told now, and who watches the log: the session ends later.
  void say_what_failed(const worker& w) {
    process_note n;
    describe_failure(std::current_exception(), n);
    if (workers_.size() > 1) {
      const cluster_group& g = *w.groups[0];
      log_->write(g.tasks().text(g.tasks().count() - 1) + " is lost, and the other workers go on: " + n.text);
    }
    for (const ref<cluster_group>& g : w.groups) g->leave();
  }

  session_options options_;
  ref<shared_log> log_;
  std::vector<stored> stores_;
  std::vector<worker> workers_;  // their sessions go first
};

}  // namespace detail

/// Training with a parameter server whose workers do not wait for each other. `body(session& sess, int worker)` is
/// written for one worker: its session has the tasks of all other jobs of the cluster, and one task of `job`, worker
/// `worker` itself, as `task<"worker", 0>`. A worker's process calls it once; the others, which have the variables,
/// call it once for each worker, in a thread of its own, where it does its part of what the worker runs. So both must
/// run the same programs in the same order, and what `body` has in common with other calls of it is read alone.
///
/// Variables on the other jobs' tasks are shared by all workers. A run reads their values of one moment, when its tasks
/// are ready; its updates are made of the values that they replace, by one run at a time, when all that they need has
/// come, and are seen together or not at all on each task. So between a worker's reading and its update others may have
/// made theirs. `initialize` gives values to variables that have none; of the workers' first calls of `restore` one
/// counts, and so of the next ones. `save` writes what is there at one moment between updates of a task.
///
/// *Mandates* `body` is called so.
/// *Throws* what `body` throws, where the variables are when all other workers are done: who is lost is named in the
/// log at once. `invalid_argument_error` for a job that the cluster has not, or that has all its tasks, and for `trace`
/// or `simulated_tasks` among the options. What an update has changed stays, also where its run fails later. Example:
/// `examples/cluster/asynchronous_server.cpp`.
template <class Server, class Body>
  requires requires(Server& node) { node.rank(); }
void run_asynchronously(Server& node, std::string_view job, const session_options& options, const Body& body) {
  detail::asynchronous_sessions all(options);
  const detail::cluster_groups groups = detail::workers_of_server::join(node, job, options.timeout);
  for (std::size_t k = 0; k < groups.size(); ++k)
    if (groups[k]) all.add(static_cast<int>(k), {groups[k]}, false);
  all.run(body);
}
template <class Server, class Body>
  requires requires(Server& node) { node.rank(); }
void run_asynchronously(Server& node, std::string_view job, const Body& body) {
  run_asynchronously(node, job, session_options{}, body);
}

/// The same in this process, without MPI: all tasks are threads. `body` is called once for each worker, and the
/// session's results arrive there.
template <class Body>
void run_asynchronously(const cluster_spec& spec, std::string_view job, const session_options& options,
                        const Body& body) {
  detail::asynchronous_sessions all(options);
  int number = 0;
  for (const detail::cluster_groups& groups : detail::workers_of_server::simulate(spec, job, options.timeout))
    all.add(number++, groups, true);
  all.run(body);
}
template <class Body>
void run_asynchronously(const cluster_spec& spec, std::string_view job, const Body& body) {
  run_asynchronously(spec, job, session_options{}, body);
}

}  // namespace onto
ONTO_END_RUNS_ONCE

ONTO_END_HEADER
