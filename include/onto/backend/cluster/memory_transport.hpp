// SPDX-License-Identifier: BSL-1.0
// Messages between tasks that are threads of one process: from one's memory to the other's, when both have come.
#pragma once

#include <onto/backend/cluster/add_elements.hpp>
#include <onto/backend/cluster/transport.hpp>
#include <onto/core/atomic.hpp>
#include <onto/core/message.hpp>
#include <onto/core/mutex.hpp>

#include <cstring>
#include <string>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What one task sends, or what another one has room for.
class memory_message final : public pending_message {
 public:
  memory_message(mutex& box, int from, int tag, void* data, std::int64_t bytes)
      : box_(box), from_(from), tag_(tag), data_(data), bytes_(bytes) {}

  /// *Throws* `internal_error` where there is more than there is room for.
  bool is_done(std::int64_t& bytes) override {
    if (!done_.load(memory_order_acquire)) return false;
    if (came_ > bytes_)
      fail<internal_error>(message("[onto.cluster] a message of ")
                           << came_ << " bytes has come where there is room for " << bytes_);
    bytes = came_;
    return true;
  }
  void cancel() noexcept override {
    const mutex_lock lock(box_);
    is_cancelled_ = true;
  }

 private:
  friend class memory_network;

  bool is_of(int from, int tag) const { return from_ == from && tag_ == tag; }

  void finish(std::int64_t bytes) {
    came_ = bytes;
    done_.store(true, memory_order_release);
  }

  mutex& box_;
  int from_, tag_;
  void* data_;
  std::int64_t bytes_;
  std::string copy_;
  std::int64_t came_ = 0;
  bool is_cancelled_ = false;
  atomic<bool> done_{false};
};

/// A sum of what all tasks give. The last one to come adds up, in the order of the tasks.
class memory_sum final : public pending_message {
 public:
  explicit memory_sum(int tasks)
      : from_(static_cast<std::size_t>(tasks)), to_(static_cast<std::size_t>(tasks)), missing_(tasks) {}

  bool is_done(std::int64_t&) override { return done_.load(memory_order_acquire); }
  void cancel() noexcept override {}

 private:
  friend class memory_network;

  /// *Returns* whether it was the last one.
  bool give(int task, element type, const void* from, void* to, std::int64_t count) {
    const auto t = static_cast<std::size_t>(task);
    from_[t] = from;
    to_[t] = to;
    if (--missing_ > 0) return false;
    add_elements(type, to, from_.data(), static_cast<int>(from_.size()), count);
    for (void* const other : to_)
      if (other != to) std::memcpy(other, to, static_cast<std::size_t>(count * size_of(type)));
    done_.store(true, memory_order_release);
    return true;
  }

  std::vector<const void*> from_;
  std::vector<void*> to_;
  int missing_;
  atomic<bool> done_{false};
};

/// The messages of one session between its tasks, which are numbers.
class memory_network : public counted {
 public:
  explicit memory_network(int tasks) : sums_begun_(static_cast<std::size_t>(tasks)), tasks_(tasks) {
    for (int t = 0; t < tasks; ++t) boxes_.push_back(new box);
  }
  ~memory_network() override {
    for (const box* b : boxes_) delete b;
  }

  int size() const { return tasks_; }

  ref<pending_message> send(int from, int to, int tag, const void* data, std::int64_t bytes) {
    box& b = *boxes_[static_cast<std::size_t>(to)];
    const ref<memory_message> m(new memory_message(b.guard, from, tag, const_cast<void*>(data), bytes));
    const mutex_lock lock(b.guard);
    if (const ref<memory_message> room = b.wanted.take(from, tag)) {
      deliver(*m, *room);
    } else {
      if (bytes <= at_once) {
        m->copy_.assign(static_cast<const char*>(data), static_cast<std::size_t>(bytes));
        m->data_ = m->copy_.data();
        m->finish(bytes);
      }
      b.sent.all.push_back(m);
    }
    return shared(m);
  }

  ref<pending_message> receive(int from, int to, int tag, void* data, std::int64_t most) {
    box& b = *boxes_[static_cast<std::size_t>(to)];
    const ref<memory_message> m(new memory_message(b.guard, from, tag, data, most));
    const mutex_lock lock(b.guard);
    if (const ref<memory_message> sent = b.sent.take(from, tag))
      deliver(*sent, *m);
    else
      b.wanted.all.push_back(m);
    return shared(m);
  }

  bool probe(int from, int to, int tag, int& source, std::int64_t& bytes) {
    box& b = *boxes_[static_cast<std::size_t>(to)];
    const mutex_lock lock(b.guard);
    for (const ref<memory_message>& m : b.sent.all) {
      if (!m->is_of(from < 0 ? m->from_ : from, tag)) continue;
      source = m->from_;
      bytes = m->bytes_;
      return true;
    }
    return false;
  }

  ref<pending_message> all_reduce(int task, element type, const void* from, void* to, std::int64_t count) {
    const mutex_lock lock(sums_guard_);
    // All begin the same ones in the same order; `sums_` are those that not all have begun.
    const std::size_t at = sums_begun_[static_cast<std::size_t>(task)]++ - sums_done_;
    if (at == sums_.size()) sums_.push_back(ref<memory_sum>(new memory_sum(tasks_)));
    const ref<memory_sum> sum = sums_[at];
    if (sum->give(task, type, from, to, count)) {
      sums_.erase(sums_.begin());
      ++sums_done_;
    }
    sum->retain();
    return ref<pending_message>(sum.get());
  }

  /// How many messages of this tag or a larger one nobody has taken: for tests.
  int left_over(int tag) const {
    int n = 0;
    for (box* const b : boxes_) {
      const mutex_lock lock(b->guard);
      for (const ref<memory_message>& m : b->sent.all) n += m->tag_ >= tag;
    }
    return n;
  }

 private:
  /// So much does not wait for its receiver.
  static constexpr std::int64_t at_once = 4096;

  /// Of one tag between two tasks the first goes first.
  struct waiting {
    std::vector<ref<memory_message>> all;
    ref<memory_message> take(int from, int tag) {
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (!all[k]->is_of(from, tag)) continue;
        const ref<memory_message> found = all[k];
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(k--));
        if (!found->is_cancelled_) return found;
      }
      return {};
    }
  };
  /// What is on its way to a task.
  struct box {
    mutex guard;
    waiting sent, wanted;
  };

  static ref<pending_message> shared(const ref<memory_message>& m) {
    m->retain();
    return ref<pending_message>(m.get());
  }

  static void deliver(memory_message& sent, memory_message& room) {
    const std::int64_t bytes = sent.bytes_ < room.bytes_ ? sent.bytes_ : room.bytes_;
    if (bytes > 0) std::memcpy(room.data_, sent.data_, static_cast<std::size_t>(bytes));
    room.finish(sent.bytes_);
    if (!sent.done_.load(memory_order_relaxed)) sent.finish(sent.bytes_);  // its sender may look at it
  }

  std::vector<box*> boxes_;
  mutex sums_guard_;
  std::vector<ref<memory_sum>> sums_;
  std::size_t sums_done_ = 0;
  std::vector<std::size_t> sums_begun_;  // per task
  int tasks_;
};

class memory_transport final : public transport {
 public:
  memory_transport(const ref<memory_network>& network, int rank) : network_(network), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return network_->size(); }
  ref<pending_message> send(int to, int tag, const void* data, std::int64_t bytes) override {
    return network_->send(rank_, to, tag, data, bytes);
  }
  ref<pending_message> receive(int from, int tag, void* data, std::int64_t most) override {
    return network_->receive(from, rank_, tag, data, most);
  }
  bool probe(int from, int tag, int& source, std::int64_t& bytes) override {
    return network_->probe(from, rank_, tag, source, bytes);
  }
  ref<pending_message> all_reduce(element type, const void* from, void* to, std::int64_t count) override {
    return network_->all_reduce(rank_, type, from, to, count);
  }

 private:
  ref<memory_network> network_;
  int rank_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
