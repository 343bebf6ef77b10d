// SPDX-License-Identifier: BSL-1.0
// What several tasks do together, under way: its messages come and go, one after the other where one is the reply to
// others, while the process does something else.
#pragma once

#include <onto/backend/cluster/note.hpp>
#include <onto/backend/cluster/transport.hpp>
#include <onto/runtime/process_group.hpp>

#include <cstdlib>
#include <cstring>
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
struct collective_tasks {
  std::vector<int> ranks;  // in the order of the part
  std::vector<int> tags;   // the first of two; per task
  int own = 0;             // which of them is this one
};

class collective : public counted {
 public:
  /// Up to so many tasks messages are as fast as MPI's own or faster, with both MPIs: docs/measurements/all_reduce.md.
  /// Beyond, each task has a message from and to each other one.
  static constexpr int most_by_messages = 8;

  /// Goes on as far as that can be without waiting. *Returns* whether all is done.
  bool is_done() {
    if (!done_) done_ = own_way_ ? has_come(own_way_) && deliver() : advance() && deliver();
    return done_;
  }

  /// Gives up what is to come. What was begun stays in memory: it may still be written to.
  void abandon() noexcept {
    for (const std::vector<arriving>& list : coming_)
      for (const arriving& a : list) a.message->cancel();
    retain();
  }

 protected:
  struct arriving {
    ref<pending_message> message;
    std::int64_t bytes = 0;
    bool came = false;
  };

  collective(transport& ways, message_memory& memory, run_state& run, const collective_part& part,
             collective_tasks&& tasks)
      : ways_(ways),
        memory_(memory),
        run_(run),
        type_(part.type),
        values_(part.values, part.values + part.count),
        tasks_(static_cast<collective_tasks&&>(tasks)) {
    for (const shared_value& v : values_)
      if (v.ranges) ranges_.insert(ranges_.end(), v.ranges, v.ranges + part.task_count);
    const element_range* own = ranges_.data();
    for (shared_value& v : values_) {
      if (!v.ranges) continue;
      v.ranges = own;
      own += part.task_count;
    }
  }

  /// Lets messages go on. *Returns* whether all have come and gone.
  virtual bool advance() = 0;
  /// All is there: puts it where it belongs. *Returns* true.
  virtual bool deliver() = 0;

  int count() const { return static_cast<int>(tasks_.ranks.size()); }
  std::int64_t size() const { return size_of(type_); }
  /// Whether the system's own way may be asked for: it is for all processes.
  bool are_many() const { return count() > most_by_messages && count() == ways_.size(); }

  void receive(int list, int task, int tag, char* data, std::int64_t bytes) {
    const auto k = static_cast<std::size_t>(task);
    coming_[list].push_back({ways_.receive(tasks_.ranks[k], tasks_.tags[k] + tag, data, bytes), bytes});
  }
  /// After a failure nothing is sent, which the others understand.
  void send(int task, int tag, const char* data, std::int64_t bytes) {
    const auto k = static_cast<std::size_t>(task);
    const bool failed = run_.failed();
    leaving_.push_back(ways_.send(tasks_.ranks[k], tasks_.tags[k] + tag, failed ? nullptr : data, failed ? 0 : bytes));
  }

  bool have_come(int list) {
    bool all = true;
    for (arriving& a : coming_[list]) {
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

  transport& ways_;
  message_memory& memory_;
  run_state& run_;
  element type_;
  std::vector<shared_value> values_;
  collective_tasks tasks_;
  ref<pending_message> own_way_;

 private:
  static bool has_come(const ref<pending_message>& m) {
    std::int64_t bytes = 0;
    return m->is_done(bytes);
  }

  std::vector<element_range> ranges_;  // of the values
  std::vector<arriving> coming_[2];
  std::vector<ref<pending_message>> leaving_;
  bool done_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
