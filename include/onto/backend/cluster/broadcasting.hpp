// SPDX-License-Identifier: BSL-1.0
// A broadcast under way, by messages along a tree: who has the value sends it on, so that no task sends it more often
// than the tree is deep. Or, to many tasks, by what the system has of its own.
#pragma once

#include <onto/backend/cluster/collective.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class broadcasting final : public collective {
 public:
  broadcasting(transport& ways, message_memory& memory, run_state& run, const collective_part& part,
               collective_tasks&& tasks)
      : collective(ways, memory, run, part, static_cast<collective_tasks&&>(tasks)) {
    // Task k has it from the one whose number is k without the last 1 of its binary digits.
    const int own = tasks_.own;
    if (are_many()) own_way_ = ways_.broadcast(tasks_.ranks[0], data(), bytes());
    if (own_way_) return;
    if (own > 0)
      receive(0, own & (own - 1), 0, data(), bytes());
    else
      send_on();
  }

 private:
  char* data() const {
    return static_cast<char*>(values_[0].to ? values_[0].to : const_cast<void*>(values_[0].from));  // is only read then
  }
  std::int64_t bytes() const { return values_[0].count * size(); }

  void send_on() {
    sent_ = true;
    int step = 1;
    while (tasks_.own + step < count() && (tasks_.own & step) == 0) step *= 2;
    // The greatest part of the tree first.
    for (step /= 2; step > 0; step /= 2)
      if (tasks_.own + step < count()) send(tasks_.own + step, 0, data(), bytes());
  }

  bool advance() override {
    if (!have_come(0)) return false;
    if (!sent_) send_on();
    return have_left();
  }
  bool deliver() override { return true; }

  bool sent_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
