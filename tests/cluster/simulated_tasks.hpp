// SPDX-License-Identifier: BSL-1.0
// A cluster inside one process: every task is a thread with a server and sessions of its own. Messages go through the
// library's memory, by ways that are as unkind as MPI may be: what comes is taken late, and what has left is known
// late.
#pragma once

#include <onto/simulated_cluster.hpp>

#include <onto/session/together.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace onto_test {

using namespace onto;

/// What the ways take beside the host's memory, as an MPI does that knows GPUs.
struct memory_of_gpus {
  bool (*has)(const void* data);
  void (*copy)(void* to, const void* from, std::int64_t bytes);
  std::atomic<int> sent{0}, received{0};
};
inline memory_of_gpus* taken_memory = nullptr;

/// A way from a task to the others on which everything is late. What is to come is asked for later, whichever message
/// the task looks at: so two tasks that each wait until their own message has left do not wait for ever.
class unkind_transport final : public detail::transport {
 public:
  unkind_transport(detail::ref<detail::memory_network> network, int rank, unsigned seed)
      : way_(std::move(network), rank), random_(seed + static_cast<unsigned>(rank)) {}

  int rank() const override { return way_.rank(); }
  int size() const override { return way_.size(); }
  bool takes_cuda_memory() const override { return taken_memory != nullptr; }
  detail::ref<detail::pending_message> send(int to, int tag, const void* data, std::int64_t bytes) override {
    if (!is_of_gpu(data)) return detail::ref<message>(new message(*this, way_.send(to, tag, data, bytes)));
    ++taken_memory->sent;
    // It is read some time before the message has left.
    return later([this, to, tag, data, bytes](message& m) {
      m.staged.resize(static_cast<std::size_t>(bytes));
      taken_memory->copy(m.staged.data(), data, bytes);
      return way_.send(to, tag, m.staged.data(), bytes);
    });
  }
  detail::ref<detail::pending_message> receive(int from, int tag, void* data, std::int64_t most) override {
    const bool of_gpu = is_of_gpu(data);
    if (of_gpu) ++taken_memory->received;
    return later([this, from, tag, data, most, of_gpu](message& m) {
      if (!of_gpu) return way_.receive(from, tag, data, most);
      m.staged.resize(static_cast<std::size_t>(most));
      m.to = data;
      return way_.receive(from, tag, m.staged.data(), most);
    });
  }
  bool probe(int from, int tag, int& source, std::int64_t& bytes) override {
    return way_.probe(from, tag, source, bytes);
  }
  detail::ref<detail::pending_message> all_reduce(element type, const void* from, void* to,
                                                  std::int64_t count) override {
    return detail::ref<message>(new message(*this, way_.all_reduce(type, from, to, count)));
  }

 private:
  struct message final : detail::pending_message {
    message(unkind_transport& w, detail::ref<detail::pending_message> m) : ways(w), under_way(std::move(m)) {}
    bool is_done(std::int64_t& bytes) override {
      ways.go_on();
      if (!under_way || ways.is_late() || !under_way->is_done(bytes)) return false;
      if (to && bytes > 0) taken_memory->copy(to, staged.data(), bytes);
      to = nullptr;
      return true;
    }
    void cancel() noexcept override {
      ask = {};
      if (under_way) under_way->cancel();
    }
    unkind_transport& ways;
    detail::ref<detail::pending_message> under_way;
    std::function<detail::ref<detail::pending_message>(message&)> ask;  // until it was asked for
    std::vector<char> staged;                                           // of a message from or to a GPU
    void* to = nullptr;                                                 // where it is to be
  };

  static bool is_of_gpu(const void* data) { return taken_memory && data && taken_memory->has(data); }
  template <class Ask>
  detail::ref<detail::pending_message> later(const Ask& ask) {
    const detail::ref<message> m(new message(*this, {}));
    m->ask = ask;
    to_ask_.push_back(m);
    m->retain();
    return detail::ref<message>(m.get());
  }

  bool is_late() { return random_() % 3 != 0; }

  /// Asks for some of what is to come: in any order, since each tensor has a tag of its own, and notes are there when
  /// they are asked for.
  void go_on() {
    std::vector<detail::ref<message>> kept;
    for (const detail::ref<message>& m : to_ask_) {
      if (m->ask && is_late()) {
        kept.push_back(m);
      } else if (m->ask) {
        m->under_way = m->ask(*m);
        m->ask = {};
      }
    }
    to_ask_ = std::move(kept);
  }

  detail::memory_transport way_;
  std::mt19937 random_;
  std::vector<detail::ref<message>> to_ask_;
};

/// One for each session, as each has a communicator of its own.
class networks {
 public:
  explicit networks(unsigned seed, int tasks) : seed_(seed), tasks_(tasks) {}

  detail::ref<detail::transport> of_session(std::size_t number, int rank) {
    const std::lock_guard lock(mutex_);
    while (all_.size() <= number) all_.emplace_back(new detail::memory_network(tasks_));
    return detail::ref<unkind_transport>(
        new unkind_transport(all_[number], rank, seed_ + 100 * static_cast<unsigned>(number)));
  }
  /// Tensors that nobody has taken.
  int left_over() const {
    int n = 0;
    for (const auto& network : all_) n += network->left_over(2);
    return n;
  }

 private:
  unsigned seed_;
  int tasks_;
  std::mutex mutex_;
  std::vector<detail::ref<detail::memory_network>> all_;
};

}  // namespace onto_test

namespace onto {

/// A thread that is a task.
class server {
 public:
  server(onto_test::networks& n, detail::ref<detail::cluster_tasks> tasks, int rank)
      : nets_(n), tasks_(std::move(tasks)), rank_(rank) {}

  detail::process_group* join(double timeout) {
    return new detail::cluster_group(nets_.of_session(sessions_++, rank_), tasks_,
                                     detail::ref<detail::cluster_end>(new detail::cluster_end), timeout);
  }
  int rank() const { return rank_; }

 private:
  onto_test::networks& nets_;
  std::size_t sessions_ = 0;
  detail::ref<detail::cluster_tasks> tasks_;
  int rank_;
};

inline namespace ONTO_ABI {
inline session::session(server& node, session_options options)
    : core_(detail::open_together(options, detail::gpu_finders, node.join(options.timeout))) {}
}  // namespace ONTO_ABI

}  // namespace onto

namespace onto_test {

using job = cluster_job;

/// What became of each task: what it threw, in words, or nothing.
struct outcome {
  std::vector<std::string> thrown;
  int left_over = 0;
};

/// Runs `task(server)` in a thread for each task.
template <class F>
outcome run_tasks(std::initializer_list<job> jobs, unsigned seed, const F& task) {
  const detail::ref<detail::cluster_tasks> tasks(new detail::cluster_tasks);
  for (const job& j : jobs) tasks->add(std::string(j.name), j.tasks);
  networks net(seed, tasks->count());
  outcome o;
  o.thrown.resize(static_cast<std::size_t>(tasks->count()));
  std::vector<std::thread> threads;
  for (int r = 0; r < tasks->count(); ++r) {
    threads.emplace_back([&, r] {
      try {
        server node(net, tasks, r);
        task(node);
      } catch (const std::exception& e) {
        o.thrown[static_cast<std::size_t>(r)] = e.what();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  o.left_over = net.left_over();
  return o;
}

/// Three tasks do `run(session)` after `before(session)`, and one of them stops in a kernel of it until the others have
/// given it up. *Returns* what those have thrown that do not name it; nothing.
template <class Before, class Run>
std::string unnamed_stop(int stopped, const Before& before, const Run& run) {
  static std::atomic<int> waiting;
  waiting = 2;
  const outcome o = run_tasks({{"worker", 3}}, 1, [&](server& node) {
    session sess{node, {.timeout = 1.5}};
    before(sess);
    if (node.rank() == stopped)
      sess.inject({[](void*, const char* what) {
                     while (waiting > 0 && std::string_view(what) == "kernel")
                       std::this_thread::sleep_for(std::chrono::milliseconds(1));
                   },
                   nullptr});
    try {
      run(sess);
    } catch (...) {
      --waiting;
      throw;
    }
  });
  const std::string words = "/job:worker/task:" + std::to_string(stopped) + " did not answer within 1.5 s";
  std::string others;
  for (int r = 0; r < 3; ++r) {
    const std::string& thrown = o.thrown[static_cast<std::size_t>(r)];
    if (r != stopped && thrown.find(words) == std::string::npos) others += std::to_string(r) + ": " + thrown + "\n";
  }
  return others;
}

}  // namespace onto_test
