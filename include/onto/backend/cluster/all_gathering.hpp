// SPDX-License-Identifier: BSL-1.0
// An all-gather under way, by messages: each task sends what it has to each other one, to where it belongs there.
#pragma once

#include <onto/backend/cluster/collective.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class all_gathering final : public collective {
 public:
  all_gathering(transport& ways, message_memory& memory, run_state& run, const collective_part& part,
                collective_tasks&& tasks)
      : collective(ways, memory, run, part, static_cast<collective_tasks&&>(tasks)) {
    places_.resize(static_cast<std::size_t>(count()));
    // Of one value without rows before it, all is where it belongs at once.
    const bool in_place = values_.size() == 1 && values_[0].rows == 1 && !are_many();
    if (in_place) {
      for (int t = 0; t < count(); ++t) place_of(t) = {values_[0].ranges[t].begin * size(), bytes_of(t)};
      data_ = static_cast<char*>(values_[0].to);
      copy_own(data_ + place_of(tasks_.own).at);
    } else {
      std::vector<std::int64_t> bytes;  // in the order of the processes
      std::int64_t all = 0;
      for (int r = 0; r < ways_.size(); ++r) {
        bytes.push_back(0);
        for (int t = 0; t < count(); ++t) {
          if (tasks_.ranks[static_cast<std::size_t>(t)] != r) continue;
          place_of(t) = {all, bytes_of(t)};
          bytes.back() = bytes_of(t);
          all += bytes_of(t);
        }
      }
      room_ = memory_.take(all);
      data_ = room_.data;
      copy_own(data_ + place_of(tasks_.own).at);
      if (are_many()) own_way_ = ways_.all_gather(data_, bytes);
    }
    if (own_way_) return;
    const piece& own = place_of(tasks_.own);
    for (int t = 0; t < count(); ++t) {
      if (t == tasks_.own) continue;
      receive(0, t, 0, data_ + place_of(t).at, place_of(t).bytes);
      send(t, 0, data_ + own.at, own.bytes);
    }
  }

 private:
  struct piece {
    std::int64_t at = 0, bytes = 0;
  };
  piece& place_of(int task) { return places_[static_cast<std::size_t>(task)]; }
  std::int64_t bytes_of(int task) const {
    std::int64_t bytes = 0;
    for (const shared_value& v : values_) bytes += v.rows * v.ranges[task].size() * size();
    return bytes;
  }

  void copy_own(char* to) const {
    for (const shared_value& v : values_) {
      const std::int64_t bytes = v.rows * v.ranges[tasks_.own].size() * size();
      if (bytes > 0) std::memcpy(to, v.from, static_cast<std::size_t>(bytes));
      to += bytes;
    }
  }

  bool advance() override {
    const bool all = have_come(0);
    return have_left() && all;
  }

  bool deliver() override {
    for (int t = 0; t < count() && room_.data; ++t) {
      const char* from = data_ + place_of(t).at;
      for (const shared_value& v : values_) {
        const std::int64_t bytes = v.ranges[t].size() * size();
        for (std::int64_t row = 0; row < v.rows && bytes > 0; ++row, from += bytes)
          std::memcpy(static_cast<char*>(v.to) + (v.count / v.rows * row + v.ranges[t].begin) * size(), from,
                      static_cast<std::size_t>(bytes));
      }
    }
    memory_.give(room_);
    return true;
  }

  std::vector<piece> places_;
  message_memory::block room_;
  char* data_ = nullptr;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
