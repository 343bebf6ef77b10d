// SPDX-License-Identifier: BSL-1.0
// A reduce-scatter under way, by messages: each task sends to each other one the elements that are to be that one's,
// and adds up its own in the order of the tasks.
#pragma once

#include <onto/backend/cluster/add_elements.hpp>
#include <onto/backend/cluster/collective.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class scattered_reduction final : public collective {
 public:
  scattered_reduction(transport& ways, message_memory& memory, run_state& run, const collective_part& part,
                      collective_tasks&& tasks, bool in_order)
      : collective(ways, memory, run, part, static_cast<collective_tasks&&>(tasks)) {
    for (const shared_value& v : values_) own_ += v.ranges[tasks_.own].size();
    const bool by_system = !in_order && are_many();
    if (values_.size() > 1 || by_system) collect();
    to_ = values_.size() > 1 ? (result_ = memory_.take(own_ * size())).data : static_cast<char*>(values_[0].to);
    if (by_system) own_way_ = ways_.reduce_scatter(type_, given_.data, to_, counts_);
    if (own_way_) return;
    room_ = memory_.take(own_ * size() * (count() - 1));
    char* room = room_.data;
    for (int t = 0; t < count(); ++t) {
      if (t == tasks_.own) continue;
      receive(0, t, 0, room, own_ * size());
      room += own_ * size();
      send(t, 0, given_to(t), elements_of(t) * size());
    }
  }

 private:
  std::int64_t elements_of(int task) const {
    std::int64_t elements = 0;
    for (const shared_value& v : values_) elements += v.ranges[task].size();
    return elements;
  }
  /// What this task gives to the sum of another one.
  const char* given_to(int task) const {
    if (given_.data) return given_.data + at_[static_cast<std::size_t>(task)];
    return static_cast<const char*>(values_[0].from) + values_[0].ranges[task].begin * size();
  }

  /// Brings together what goes to one task, in the order of the processes.
  void collect() {
    at_.resize(static_cast<std::size_t>(count()));
    std::int64_t all = 0;
    for (int t = 0; t < count(); ++t) all += elements_of(t);
    given_ = memory_.take(all * size());
    char* to = given_.data;
    for (int r = 0; r < ways_.size(); ++r) {
      counts_.push_back(0);
      for (int t = 0; t < count(); ++t) {
        if (tasks_.ranks[static_cast<std::size_t>(t)] != r) continue;
        at_[static_cast<std::size_t>(t)] = to - given_.data;
        counts_.back() = elements_of(t);
        for (const shared_value& v : values_) {
          const std::int64_t bytes = v.ranges[t].size() * size();
          if (bytes > 0)
            std::memcpy(to, static_cast<const char*>(v.from) + v.ranges[t].begin * size(),
                        static_cast<std::size_t>(bytes));
          to += bytes;
        }
      }
    }
  }

  bool advance() override {
    const bool all = have_come(0);
    return have_left() && all;
  }

  bool deliver() override {
    if (!own_way_ && !run_.failed()) add();
    const char* from = to_;
    for (const shared_value& v : values_) {
      const std::int64_t bytes = v.ranges[tasks_.own].size() * size();
      if (values_.size() > 1 && bytes > 0) std::memcpy(v.to, from, static_cast<std::size_t>(bytes));
      from += bytes;
    }
    for (const auto& b : {given_, result_, room_}) memory_.give(b);
    return true;
  }
  void add() {
    std::vector<const void*> terms;
    const char* room = room_.data;
    for (int t = 0; t < count(); ++t) {
      terms.push_back(t == tasks_.own ? given_to(t) : room);
      if (t != tasks_.own) room += own_ * size();
    }
    add_elements(type_, to_, terms.data(), count(), own_);
  }

  std::int64_t own_ = 0;  // elements
  std::vector<std::int64_t> at_, counts_;
  message_memory::block given_, result_, room_;
  char* to_ = nullptr;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
