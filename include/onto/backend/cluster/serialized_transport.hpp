// SPDX-License-Identifier: BSL-1.0
// Messages of a system that lets one thread in at a time, for the threads of several sessions.
#pragma once

#include <onto/backend/cluster/transport.hpp>
#include <onto/core/mutex.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// One for all ways of a process.
struct one_thread : counted {
  mutex guard;
};

class serialized_message final : public pending_message {
 public:
  serialized_message(const ref<one_thread>& one, ref<pending_message> m)
      : one_(one), message_(static_cast<ref<pending_message>&&>(m)) {}
  bool is_done(std::int64_t& bytes) override {
    const mutex_lock lock(one_->guard);
    return message_->is_done(bytes);
  }
  void cancel() noexcept override {
    const mutex_lock lock(one_->guard);
    message_->cancel();
  }

 private:
  ref<one_thread> one_;
  ref<pending_message> message_;
};

/// No call of the ways below waits, so nobody waits for long.
class serialized_transport final : public transport {
 public:
  serialized_transport(const ref<one_thread>& one, ref<transport> ways)
      : one_(one), ways_(static_cast<ref<transport>&&>(ways)) {}

  int rank() const override { return ways_->rank(); }
  int size() const override { return ways_->size(); }
  bool takes_cuda_memory() const override { return ways_->takes_cuda_memory(); }
  ref<pending_message> send(int to, int tag, const void* data, std::int64_t bytes) override {
    const mutex_lock lock(one_->guard);
    return wrapped(ways_->send(to, tag, data, bytes));
  }
  ref<pending_message> receive(int from, int tag, void* data, std::int64_t most) override {
    const mutex_lock lock(one_->guard);
    return wrapped(ways_->receive(from, tag, data, most));
  }
  bool probe(int from, int tag, int& source, std::int64_t& bytes) override {
    const mutex_lock lock(one_->guard);
    return ways_->probe(from, tag, source, bytes);
  }
  ref<pending_message> all_reduce(element type, const void* from, void* to, std::int64_t count) override {
    const mutex_lock lock(one_->guard);
    return wrapped(ways_->all_reduce(type, from, to, count));
  }
  ref<pending_message> reduce_scatter(element type, const void* from, void* to,
                                      const std::vector<std::int64_t>& counts) override {
    const mutex_lock lock(one_->guard);
    return wrapped(ways_->reduce_scatter(type, from, to, counts));
  }
  ref<pending_message> all_gather(void* data, const std::vector<std::int64_t>& bytes) override {
    const mutex_lock lock(one_->guard);
    return wrapped(ways_->all_gather(data, bytes));
  }
  ref<pending_message> broadcast(int root, void* data, std::int64_t bytes) override {
    const mutex_lock lock(one_->guard);
    return wrapped(ways_->broadcast(root, data, bytes));
  }

 private:
  ref<pending_message> wrapped(ref<pending_message> m) const {
    if (!m) return m;
    return ref<serialized_message>(new serialized_message(one_, static_cast<ref<pending_message>&&>(m)));
  }

  ref<one_thread> one_;
  ref<transport> ways_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
