// SPDX-License-Identifier: BSL-1.0
// How a session of threads runs programs: every task does the same, each in its thread, and who asked waits for all.
#pragma once

#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/core/text_value.hpp>
#include <onto/session/open_session.hpp>
#include <onto/session/simulated_session.hpp>
#include <onto/session/together.hpp>

#include <memory>

#if ONTO_DEFINITIONS
ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Where the results of a run go: each to the caller, from the first task that has it. What other tasks get of it is
/// thrown away.
class collected_results {
 public:
  explicit collected_results(const run_request& r) : of_(r), taken_(fetches()) {}
  collected_results(const collected_results&) = delete;
  collected_results& operator=(const collected_results&) = delete;
  ~collected_results() {
    while (copies_) {
      copy* const next = copies_->next;
      delete copies_;
      copies_ = next;
    }
  }

  /// What a task is asked to run.
  run_request request() {
    run_request r = of_;
    r.allocate = &collected_results::allocate;
    r.context = this;
    return r;
  }

  /// What is wrong with the caller's memory, in which no task has a part; or null.
  std::exception_ptr failure() const { return failure_; }

 private:
  struct taken {
    bool is = false;
    const char* data = nullptr;
    std::int64_t bytes = 0;
  };
  struct copy {
    explicit copy(copy* n) : next(n) {}
    ~copy() { std::free(data); }
    copy* next;
    void* data = nullptr;
    std::vector<text> texts;
  };

  const graph_view& graph() const { return of_.program->graph; }
  std::size_t fetches() const { return static_cast<std::size_t>(graph().fetch_count); }

  static void* allocate(void* context, int fetch, const extents& shape) {
    if (shape.rank < 0) return nullptr;  // it is in another task
    auto& all = *static_cast<collected_results*>(context);
    const mutex_lock one(all.mutex_);
    const element type = all.graph()[all.graph().fetches[fetch]].type;
    taken& t = all.taken_[static_cast<std::size_t>(fetch)];
    if (t.is) return all.throw_away(type, shape.size());
    t.is = true;
    try {
      void* const data = all.of_.allocate(all.of_.context, fetch, shape);
      t.data = static_cast<const char*>(data);
      t.bytes = shape.size() * size_of(type);
      if (all.of_.into_outputs) all.expect_apart(t);
      return data;
    } catch (...) {
      all.failure_ = std::current_exception();
      throw;
    }
  }

  /// Two tasks do not know of each other's outputs.
  void expect_apart(const taken& t) const {
    for (const taken& o : taken_)
      if (&o != &t && o.bytes > 0 && t.bytes > 0 && o.data < t.data + t.bytes && t.data < o.data + o.bytes)
        throw_shared_outputs();
  }

  void* throw_away(element type, std::int64_t size) {
    copies_ = new copy(copies_);
    if (is_text(type)) {
      copies_->texts.resize(static_cast<std::size_t>(size));
      return copies_->texts.data();
    }
    const auto bytes = static_cast<std::size_t>((size * size_of(type) + 63) / 64 * 64);
    copies_->data = std::aligned_alloc(64, bytes > 0 ? bytes : 64);
    if (!copies_->data) throw std::bad_alloc();
    return copies_->data;
  }

  const run_request& of_;
  mutex mutex_;
  std::vector<taken> taken_;  // per fetch
  copy* copies_ = nullptr;
  std::exception_ptr failure_;
};

/// What the tasks have logged of one program, as one log: first the devices of all.
class task_log {
 public:
  /// Takes the lines of the next task.
  void take(std::vector<std::string>& lines) {
    bool in_mapping = false;
    for (std::string& line : lines) {
      if (line == heading) {
        in_mapping = true;
        continue;
      }
      in_mapping = in_mapping && line.find(" -> ") != std::string::npos;
      (in_mapping ? devices_ : rest_).push_back(static_cast<std::string&&>(line));
    }
    lines.clear();
  }
  bool any() const { return !devices_.empty() || !rest_.empty(); }
  void write(const log_sink& to) const {
    if (!devices_.empty()) to.write(heading);
    for (const std::string& line : devices_) to.write(line);
    for (const std::string& line : rest_) to.write(line);
  }

 private:
  static constexpr std::string_view heading = "Device mapping:";
  std::vector<std::string> devices_, rest_;
};

class simulated_session final : public session_runtime {
 public:
  simulated_session(const session_options& options, const gpu_finder* finders, process_group* const* adopted, int count)
      : sink_(options.log), count_(count), tasks_(new task[static_cast<std::size_t>(count)]) {
    simulated = &functions;
    std::vector<ref<process_group>> groups;
    for (int t = 0; t < count; ++t) groups.emplace_back(adopted[t]);
    begin_threads();
    session_options of_task = options;
    of_task.simulated_tasks = {};
    if (options.cpu_threads == 0) {
      const int share = processor_count() / count;
      of_task.cpu_threads = share > 1 ? share : 1;
    }
    in_each([&](int t) {
      task& mine = at(t);
      session_options o = of_task;
      o.log = [&mine](std::string_view line) { mine.lines.emplace_back(line); };
      mine.session = open_together(o, finders, groups[static_cast<std::size_t>(t)].release());
      if (t > 0) mine.lines.clear();  // what the environment says is said once
    });
  }
  /// The tasks end as processes do, at the same time: some of what they do then they do together.
  ~simulated_session() override {
    queue_.finish();
    try {
      in_each([&](int t) { at(t).session = {}; });
    } catch (...) {  // then they end one after the other
    }
  }

 private:
  /// A task: its session, and the thread that does all with it.
  struct task {
    ref<session_runtime> session;
    std::vector<std::string> lines;  // for the log, when all tasks are done
    run_queue thread;
  };

  /// A prepared program, and those of the tasks.
  struct program final : prepared_program {
    ~program() override {
      if (queue_of_all) finish_queue(*queue_of_all);
    }
    std::vector<ref<repeated_run>> of_task;
  };

  template <class F>
  struct job final : queued_run {
    job(const F& f, int number) : act(f), task(number) {}
    void perform() override { act(task); }
    const F& act;
    int task;
  };

  /// All of them, before anything waits for another one.
  void begin_threads() {
    const auto begin = [](int) {};
    using start = job<decltype(begin)>;
    try {
      for (int t = 0; t < count_; ++t) {
        const ref<start> s(new start(begin, t));
        at(t).thread.push(*s);
        s->wait();
      }
    } catch (const internal_error&) {
      fail<internal_error>(message("[onto.cluster] the system has no thread for each of ")
                           << count_ << " simulated tasks; use fewer");
    }
  }

  /// Has every task do it, all at the same time, and waits for them. *Throws* what the first of them has thrown.
  template <class F>
  void in_each(const F& act) {
    std::vector<ref<job<F>>> jobs;
    task_log lines;
    std::exception_ptr failure;
    for (int t = 0; t < count_; ++t) jobs.emplace_back(new job<F>(act, t));
    {
      const mutex_lock one(turn_);
      for (int t = 0; t < count_; ++t) at(t).thread.push(*jobs[static_cast<std::size_t>(t)]);
      for (int t = 0; t < count_; ++t) {
        try {
          jobs[static_cast<std::size_t>(t)]->wait_and_check();
        } catch (...) {
          if (!failure) failure = std::current_exception();
        }
        lines.take(at(t).lines);
      }
    }
    {
      const mutex_lock one(log_, lines.any());
      lines.write(sink_);
    }
    if (failure) std::rethrow_exception(failure);
  }

  /// What was started before and not waited for is done first, as in every cluster.
  void take_turn() {
    if (!queue_.is_here()) queue_.wait_for_all();
  }

  task& at(int number) const { return tasks_[static_cast<std::size_t>(number)]; }
  static simulated_session& of(session_runtime& s) { return static_cast<simulated_session&>(s); }
  session_runtime& session_of(int t) { return *at(t).session; }

  static void run(session_runtime& s, repeated_run* repeated, const run_request& r) {
    simulated_session& all = of(s);
    all.take_turn();
    collected_results results(r);
    try {
      all.in_each([&](int t) {
        const run_request mine = results.request();
        if (repeated)
          all.session_of(t).run(*static_cast<program&>(*repeated).of_task[static_cast<std::size_t>(t)], mine);
        else
          all.session_of(t).run(mine);
      });
    } catch (...) {
      if (results.failure()) std::rethrow_exception(results.failure());
      throw;
    }
  }

  static ref<repeated_run> prepare(session_runtime& s, const compiled_program& p, const state* const* states) {
    simulated_session& all = of(s);
    all.take_turn();
    ref<program> made(new program);
    made->of_task.resize(static_cast<std::size_t>(all.count_));
    made->queue_of_all = &all.queue_;
    made->finish_queue = [](run_queue& queue) { queue.wait_for_all(); };
    all.in_each([&](int t) { made->of_task[static_cast<std::size_t>(t)] = all.session_of(t).prepare(p, states); });
    return made;
  }

  static void pin_variables(session_runtime& s, const compiled_program& p, const state* const* states) {
    simulated_session& all = of(s);
    all.in_each([&](int t) { all.session_of(t).pin_variables(p, states); });
  }
  static void save(session_runtime& s, const std::string& path, const graph_view* const* graphs, int count) {
    simulated_session& all = of(s);
    all.take_turn();
    all.in_each([&](int t) { all.session_of(t).save(path, graphs, count); });
  }
  static void restore(session_runtime& s, const std::string& path, const graph_view* const* graphs, int count) {
    simulated_session& all = of(s);
    all.take_turn();
    all.in_each([&](int t) { all.session_of(t).restore(path, graphs, count); });
  }
  static session_runtime* task_of(const session_runtime& s, int number) {
    const auto& all = static_cast<const simulated_session&>(s);
    return number < all.count_ ? all.at(number).session.get() : nullptr;
  }

  static constexpr simulated_functions functions{&run, &prepare, &pin_variables, &save, &restore, &task_of};

  log_sink sink_;
  int count_;
  mutex turn_;  // one thing at a time, in all tasks the same
  mutex log_;
  std::unique_ptr<task[]> tasks_;
  run_queue queue_;  // of runs that are not waited for
};

ONTO_RUNTIME session_runtime* open_simulated(const session_options& options, const gpu_finder* finders,
                                             process_group* const* adopted, int count) {
  return new simulated_session(options, finders, adopted, count);
}

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
#endif
