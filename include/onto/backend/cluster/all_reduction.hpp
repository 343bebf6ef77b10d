// SPDX-License-Identifier: BSL-1.0
// An all-reduce under way, by messages: each task adds up its share of the elements, in the order of the tasks, and
// sends the sums to the others. Or, of many tasks where no order is asked for, by what the system has of its own.
#pragma once

#include <onto/backend/cluster/add_elements.hpp>
#include <onto/backend/cluster/collective.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class all_reduction final : public collective {
 public:
  /// All below this size goes to all tasks at once, and each adds up all: one way instead of two.
  static constexpr std::int64_t small = std::int64_t{1} << 14;

  all_reduction(transport& ways, message_memory& memory, run_state& run, const collective_part& part,
                collective_tasks&& tasks, bool in_order)
      : collective(ways, memory, run, part, static_cast<collective_tasks&&>(tasks)) {
    for (const shared_value& v : values_) total_ += v.count;
    from_ = static_cast<const char*>(values_[0].from);
    to_ = static_cast<char*>(values_[0].to);
    if (values_.size() > 1) collect();
    if (!in_order && are_many()) own_way_ = ways_.all_reduce(type_, from_, to_, total_);
    if (!own_way_) exchange();
  }

 private:
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
    for (const shared_value& v : values_) {
      const std::int64_t bytes = v.count * size();
      if (bytes > 0) std::memcpy(given_.data + at, v.from, static_cast<std::size_t>(bytes));
      at += bytes;
    }
  }
  bool advance() override {
    if (!added_ && !have_come(terms)) return false;
    if (!added_) add();
    return have_come(sums) && have_left();
  }
  bool deliver() override {
    std::int64_t at = 0;
    for (const shared_value& v : values_) {
      const std::int64_t bytes = v.count * size();
      if (values_.size() > 1 && bytes > 0) std::memcpy(v.to, result_.data + at, static_cast<std::size_t>(bytes));
      at += bytes;
    }
    for (const auto& b : {given_, result_, room_}) memory_.give(b);
    return true;
  }

  void exchange() {
    const std::int64_t own = bytes_of(tasks_.own);
    room_ = memory_.take(own * (count() - 1));
    char* room = room_.data;
    for (int t = 0; t < count(); ++t) {
      if (t == tasks_.own) continue;
      receive(terms, t, 0, room, own);
      room += own;
      if (!is_small()) receive(sums, t, 1, to_ + begin_of(t) * size(), bytes_of(t));
      send(t, 0, from_ + begin_of(t) * size(), bytes_of(t));
    }
  }
  /// All terms of this task's share are here.
  void add() {
    added_ = true;
    const std::int64_t first = begin_of(tasks_.own) * size(), own = bytes_of(tasks_.own);
    std::vector<const void*> all;
    const char* room = room_.data;
    for (int t = 0; t < count(); ++t) {
      all.push_back(t == tasks_.own ? from_ + first : room);
      if (t != tasks_.own) room += own;
    }
    if (!run_.failed()) add_elements(type_, to_ + first, all.data(), count(), own / size());
    for (int t = 0; t < count() && !is_small(); ++t)
      if (t != tasks_.own) send(t, 1, to_ + first, own);
  }

  static constexpr int terms = 0;
  static constexpr int sums = 1;

  std::int64_t total_ = 0;
  const char* from_ = nullptr;
  char* to_ = nullptr;
  message_memory::block given_, result_, room_;
  bool added_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
