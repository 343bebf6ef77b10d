// SPDX-License-Identifier: BSL-1.0
// A cluster inside one process: every task is a thread with a server and sessions of its own. Messages go through a
// network that is as unkind as MPI may be: a message leaves only when its receiver takes it, and late.
#pragma once

#include <onto/backend/cluster/device.hpp>
#include <onto/onto.hpp>
#include <onto/session/together.hpp>

#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

namespace onto_test {

using namespace onto;

/// All messages that have not been taken.
class network {
 public:
  struct parcel {
    std::string copy;  // of a note; tensors stay where they are until they are taken
    const void* data = nullptr;
    std::int64_t bytes = 0;
    bool taken = false;
  };

  explicit network(unsigned seed) : random_(seed) {}

  std::shared_ptr<parcel> send(int from, int to, int tag, const void* data, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    auto p = std::make_shared<parcel>();
    p->data = data;
    p->bytes = bytes;
    if (tag < 2) {
      p->copy.assign(static_cast<const char*>(data), static_cast<std::size_t>(bytes));
      p->data = p->copy.data();
      p->taken = true;
    }
    on_their_way_[{from, to, tag}].push_back(p);
    return p;
  }

  /// A message that is to come. It comes whichever message its receiver asks for, as MPI has it: two tasks that each
  /// wait until their own message has left do not wait for ever.
  struct room {
    std::tuple<int, int, int> way;
    void* data;
    std::int64_t most;
    std::int64_t came = 0;
    bool done = false;
  };
  std::shared_ptr<room> receive(int from, int to, int tag, void* data, std::int64_t most) {
    const std::lock_guard lock(mutex_);
    rooms_.push_back(std::make_shared<room>(room{{from, to, tag}, data, most}));
    return rooms_.back();
  }
  bool has_come(int to, const room& r, std::int64_t& bytes) {
    const std::lock_guard lock(mutex_);
    go_on(to);
    bytes = r.came;
    return r.done;
  }
  void cancel(room& r) {
    const std::lock_guard lock(mutex_);
    r.done = true;
  }

  bool has_left(int from, const parcel& p) {
    const std::lock_guard lock(mutex_);
    go_on(from);
    return p.taken && !is_late();
  }

  bool probe(int from, int to, int tag, int size, int& source, std::int64_t& bytes) {
    const std::lock_guard lock(mutex_);
    for (int r = from < 0 ? 0 : from; r < (from < 0 ? size : from + 1); ++r) {
      const auto found = on_their_way_.find({r, to, tag});
      if (found == on_their_way_.end() || found->second.empty()) continue;
      source = r;
      bytes = found->second.front()->bytes;
      return true;
    }
    return false;
  }

  /// Tensors that nobody has taken.
  int left_over() {
    const std::lock_guard lock(mutex_);
    int n = 0;
    for (const auto& [way, queue] : on_their_way_)
      if (std::get<2>(way) >= 2) n += static_cast<int>(queue.size());
    return n;
  }

  bool overrun = false;  // a message was longer than its receiver thought

 private:
  bool is_late() { return random_() % 3 != 0; }

  /// Takes what is there for a task, and in the mood to arrive.
  void go_on(int to) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < rooms_.size(); ++k) {
      const std::shared_ptr<room> r = rooms_[k];
      auto& queue = on_their_way_[r->way];
      if (std::get<1>(r->way) == to && !r->done && !queue.empty() && !is_late()) {
        parcel& p = *queue.front();
        r->came = p.bytes < r->most ? p.bytes : r->most;
        if (r->came > 0) std::memcpy(r->data, p.data, static_cast<std::size_t>(r->came));
        if (p.bytes > r->most) overrun = true;
        p.taken = true;
        queue.pop_front();
        r->done = true;
      }
      if (!r->done) rooms_[kept++] = r;
    }
    rooms_.resize(kept);
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<room>> rooms_;
  std::mt19937 random_;
  std::map<std::tuple<int, int, int>, std::deque<std::shared_ptr<parcel>>> on_their_way_;
};

/// One for each session, as each has a communicator of its own.
class networks {
 public:
  explicit networks(unsigned seed) : seed_(seed) {}

  network& of_session(std::size_t number) {
    const std::lock_guard lock(mutex_);
    while (all_.size() <= number) all_.push_back(std::make_unique<network>(seed_ + static_cast<unsigned>(all_.size())));
    return *all_[number];
  }
  template <class F>
  void for_each(const F& f) const {
    for (const auto& n : all_) f(*n);
  }

 private:
  unsigned seed_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<network>> all_;
};

class network_message final : public detail::pending_message {
 public:
  network_message(network& n, int from, std::shared_ptr<network::parcel> sent)
      : net_(n), rank_(from), sent_(std::move(sent)) {}
  network_message(network& n, int to, std::shared_ptr<network::room> room)
      : net_(n), rank_(to), room_(std::move(room)) {}

  bool is_done(std::int64_t& bytes) override {
    if (room_) return net_.has_come(rank_, *room_, bytes);
    bytes = sent_->bytes;
    return net_.has_left(rank_, *sent_);
  }
  void cancel() noexcept override {
    if (room_) net_.cancel(*room_);
  }

 private:
  network& net_;
  int rank_;
  std::shared_ptr<network::parcel> sent_;
  std::shared_ptr<network::room> room_;
};

class network_transport final : public detail::transport {
 public:
  network_transport(network& n, int rank, int size) : net_(n), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  detail::ref<detail::pending_message> send(int to, int tag, const void* data, std::int64_t bytes) override {
    return detail::ref<network_message>(new network_message(net_, rank_, net_.send(rank_, to, tag, data, bytes)));
  }
  detail::ref<detail::pending_message> receive(int from, int tag, void* data, std::int64_t most) override {
    return detail::ref<network_message>(new network_message(net_, rank_, net_.receive(from, rank_, tag, data, most)));
  }
  bool probe(int from, int tag, int& source, std::int64_t& bytes) override {
    return net_.probe(from, rank_, tag, size_, source, bytes);
  }

 private:
  network& net_;
  int rank_;
  int size_;
};

}  // namespace onto_test

namespace onto {

/// A thread that is a task.
class server {
 public:
  server(onto_test::networks& n, detail::ref<detail::cluster_tasks> tasks, int rank)
      : nets_(n), tasks_(std::move(tasks)), rank_(rank) {}

  detail::process_group* join(double timeout) {
    return new detail::cluster_group(detail::ref<onto_test::network_transport>(new onto_test::network_transport(
                                         nets_.of_session(sessions_++), rank_, tasks_->count())),
                                     tasks_, detail::ref<detail::cluster_end>(new detail::cluster_end), timeout);
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

struct job {
  const char* name;
  int tasks;
};

/// What became of each task: what it threw, in words, or nothing.
struct outcome {
  std::vector<std::string> thrown;
  int left_over = 0;
  bool overrun = false;
};

/// Runs `task(server)` in a thread for each task.
template <class F>
outcome run_tasks(std::initializer_list<job> jobs, unsigned seed, const F& task) {
  const detail::ref<detail::cluster_tasks> tasks(new detail::cluster_tasks);
  for (const job& j : jobs) tasks->add(j.name, j.tasks);
  networks net(seed);
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
  net.for_each([&](network& n) {
    o.left_over += n.left_over();
    o.overrun = o.overrun || n.overrun;
  });
  return o;
}

}  // namespace onto_test
