// SPDX-License-Identifier: BSL-1.0
// An all-reduce under way, by messages: each task adds up its share of the elements, in the order of the tasks, and
// sends the sums to the others. Or, of many tasks where no order is asked for, by what the system has of its own.
#pragma once

#include <onto/backend/cluster/add_elements.hpp>
#include <onto/backend/cluster/note.hpp>
#include <onto/backend/cluster/transport.hpp>
#include <onto/runtime/process_group.hpp>

#include <cstdlib>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Memory for messages that is used again.
class message_memory {
 public:
  message_memory() = default;
  message_memory(const message_memory&) = delete;
  message_memory& operator=(const message_memory&) = delete;
  ~message_memory() {
    for (const block& b : free_) std::free(b.data);
  }
  struct block {
    char* data = nullptr;
    std::int64_t bytes = 0;
  };

  /// *Throws* `std::bad_alloc`.
  block take(std::int64_t bytes) {
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const block b = free_[k];
      if (b.bytes < bytes || b.bytes > 4 * bytes + 4096) continue;
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(k));
      return b;
    }
    auto* const data = static_cast<char*>(std::malloc(static_cast<std::size_t>(bytes > 0 ? bytes : 1)));
    if (!data) throw std::bad_alloc();
    return {data, bytes};
  }
  void give(const block& b) {
    if (b.data) free_.push_back(b);
  }

 private:
  std::vector<block> free_;
};

/// Which tasks, and what tags their messages have.
struct reduction_tasks {
  std::vector<int> ranks;  // in the order of the sum
  std::vector<int> tags;   // the first of two; per task
  int own = 0;             // which of them is this one
};

class all_reduction : public counted {
 public:
  /// All below this size goes to all tasks at once, and each adds up all: one way instead of two.
  static constexpr std::int64_t small = std::int64_t{1} << 14;
  /// Up to so many tasks messages are as fast as MPI's own or faster, with both MPIs:
  /// docs/measurements/all_reduce.md. Beyond, each task has a message from and to each other one.
  static constexpr int most_by_messages = 8;

  all_reduction(transport& ways, message_memory& memory, run_state& run, element type, const reduced_value* values,
                int count, reduction_tasks&& tasks, bool in_order)
      : ways_(ways),
        memory_(memory),
        run_(run),
        type_(type),
        values_(values, values + count),
        tasks_(static_cast<reduction_tasks&&>(tasks)) {
    for (const reduced_value& v : values_) total_ += v.count;
    from_ = static_cast<const char*>(values_[0].from);
    to_ = static_cast<char*>(values_[0].to);
    if (values_.size() > 1) collect();
    if (!in_order && this->count() > most_by_messages && this->count() == ways_.size())
      own_way_ = ways_.all_reduce(type_, from_, to_, total_);
    if (!own_way_) exchange();
  }

  /// Goes on as far as that can be without waiting. *Returns* whether all is done.
  bool is_done() {
    if (done_) return true;
    if (own_way_) {
      std::int64_t bytes = 0;
      if (!own_way_->is_done(bytes)) return false;
    } else {
      if (!added_ && !have_come(terms_)) return false;
      if (!added_) add();
      if (!have_come(sums_) || !have_left()) return false;
    }
    deliver();
    return done_ = true;
  }

  /// Gives up what is to come. What was begun stays in memory: it may still be written to.
  void abandon() noexcept {
    for (const arriving& a : terms_) a.message->cancel();
    for (const arriving& a : sums_) a.message->cancel();
    retain();
  }

 private:
  struct arriving {
    ref<pending_message> message;
    std::int64_t bytes = 0;
    bool came = false;
  };

  int count() const { return static_cast<int>(tasks_.ranks.size()); }
  std::int64_t size() const { return size_of(type_); }
  bool is_small() const { return total_ * size() <= small; }

  /// Of the task with this number among them.
  std::int64_t begin_of(int task) const {
    return is_small() ? 0 : total_ / count() * task + least(task, total_ % count());
  }
  std::int64_t end_of(int task) const { return is_small() ? total_ : begin_of(task + 1); }
  static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  std::int64_t bytes_of(int task) const { return (end_of(task) - begin_of(task)) * size(); }

  /// Several values go as one.
  void collect() {
    given_ = memory_.take(total_ * size());
    result_ = memory_.take(total_ * size());
    from_ = given_.data;
    to_ = result_.data;
    std::int64_t at = 0;
    for (const reduced_value& v : values_) {
      const std::int64_t bytes = v.count * size();
      if (bytes > 0) std::memcpy(given_.data + at, v.from, static_cast<std::size_t>(bytes));
      at += bytes;
    }
  }
  void deliver() {
    std::int64_t at = 0;
    for (const reduced_value& v : values_) {
      const std::int64_t bytes = v.count * size();
      if (values_.size() > 1 && bytes > 0) std::memcpy(v.to, result_.data + at, static_cast<std::size_t>(bytes));
      at += bytes;
    }
    for (const auto& b : {given_, result_, room_}) memory_.give(b);
  }

  void exchange() {
    const std::int64_t own = bytes_of(tasks_.own);
    room_ = memory_.take(own * (count() - 1));
    char* room = room_.data;
    for (int t = 0; t < count(); ++t) {
      if (t == tasks_.own) continue;
      const auto k = static_cast<std::size_t>(t);
      terms_.push_back({ways_.receive(tasks_.ranks[k], tasks_.tags[k], room, own), own});
      room += own;
      if (!is_small())
        sums_.push_back(
            {ways_.receive(tasks_.ranks[k], tasks_.tags[k] + 1, to_ + begin_of(t) * size(), bytes_of(t)), bytes_of(t)});
      send(t, 0, from_ + begin_of(t) * size(), bytes_of(t));
    }
  }
  /// After a failure nothing is sent, which the others understand.
  void send(int task, int tag, const char* data, std::int64_t bytes) {
    const auto k = static_cast<std::size_t>(task);
    const bool failed = run_.failed();
    leaving_.push_back(ways_.send(tasks_.ranks[k], tasks_.tags[k] + tag, failed ? nullptr : data, failed ? 0 : bytes));
  }

  bool have_come(std::vector<arriving>& list) {
    bool all = true;
    for (arriving& a : list) {
      std::int64_t bytes = a.bytes;
      if (a.came) continue;
      a.came = a.message->is_done(bytes);
      all = all && a.came;
      if (a.came && bytes != a.bytes) run_.fail(std::make_exception_ptr(other_process_failed()));
    }
    return all;
  }
  bool have_left() {
    std::int64_t bytes = 0;
    while (!leaving_.empty() && leaving_.back()->is_done(bytes)) leaving_.pop_back();
    return leaving_.empty();
  }

  /// All terms of this task's share are here.
  void add() {
    added_ = true;
    const std::int64_t first = begin_of(tasks_.own) * size(), own = bytes_of(tasks_.own);
    std::vector<const void*> terms;
    const char* room = room_.data;
    for (int t = 0; t < count(); ++t) {
      terms.push_back(t == tasks_.own ? from_ + first : room);
      if (t != tasks_.own) room += own;
    }
    if (!run_.failed()) add_elements(type_, to_ + first, terms.data(), count(), own / size());
    for (int t = 0; t < count() && !is_small(); ++t)
      if (t != tasks_.own) send(t, 1, to_ + first, own);
  }

  transport& ways_;
  message_memory& memory_;
  run_state& run_;
  element type_;
  std::vector<reduced_value> values_;
  reduction_tasks tasks_;
  std::int64_t total_ = 0;
  const char* from_ = nullptr;
  char* to_ = nullptr;
  message_memory::block given_, result_, room_;
  ref<pending_message> own_way_;
  std::vector<arriving> terms_, sums_;
  std::vector<ref<pending_message>> leaving_;
  bool added_ = false;
  bool done_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
