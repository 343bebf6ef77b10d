// SPDX-License-Identifier: BSL-1.0
// All-reduces that devices of the tasks do among themselves: the host issues them, and looks whether they go on.
#pragma once

#include <onto/backend/cluster/collective.hpp>
#include <onto/backend/cluster/group.hpp>
#include <onto/runtime/communicator.hpp>

#include <unistd.h>
#include <fstream>
#include <string>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// From two numbers below 2^20, as processes say them.
inline std::uint64_t hardware_number(int high, int low) {
  return static_cast<std::uint64_t>(high) << 44 | static_cast<std::uint64_t>(low) << 24;
}

/// A number for a device's hardware that differs between any two, of this machine or another; 0: it does not add up
/// with others. *Source* proc(5): boot_id is one for each start of a kernel, containers have their host's.
ONTO_COLD inline std::uint64_t shared_hardware_of(const device& d) {
  const communicators* const library = d.sums_with_others();
  if (!library) return 0;
  std::string machine;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> machine;
  if (machine.empty()) {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) == 0) machine = name;
  }
  const std::uint64_t hash = hash_mix(hash_text(machine), hash_text(library->hardware(d)));
  return hardware_number(static_cast<int>(hash >> 44), static_cast<int>(hash >> 24 & 0xfffff) | 1);
}

class direct_reductions {
 public:
  explicit direct_reductions(cluster_group& group) : group_(group) {}

  /// *Throws* `failed_precondition_error`, in all processes, where the devices' library fails or a task does not come.
  void begin(const work& w, device& at, const collective_part& part, const collective_tasks& tasks) {
    try {
      communicator& c = among(at, tasks);
      checked([&] { c.all_reduce(w, part.type, part.values, part.count); });
      get_ready(c);
      checked([&] { c.mark(); });
      under_way_ = true;
    } catch (...) {
      abort();
      throw;
    }
  }

  void settle() {
    if (!under_way_) return;
    try {
      group_.wait_for(cluster_group::all_of_them, [&] {
        return checked([&] {
          for (const member& m : all_)
            if (!m.all->is_done()) return false;
          return true;
        });
      });
      under_way_ = false;
    } catch (...) {
      abort();
      throw;
    }
  }

  void abort() noexcept {
    for (const member& m : all_) m.all->abort();
    all_.clear();
    under_way_ = false;
  }

 private:
  struct member {
    const device* at;
    std::vector<int> ranks;
    ref<communicator> all;
  };

  /// What fails here fails the others, too, who would wait.
  template <class F>
  auto checked(const F& f) -> decltype(f()) {
    std::string why;
    try {
      return f();
    } catch (const error& e) {
      why = e.what();
    }
    group_.end_session(why);
  }
  void get_ready(communicator& c) {
    group_.wait_for(cluster_group::all_of_them, [&] { return checked([&] { return c.is_ready(); }); });
  }

  /// Made when it is first asked for: the first task has an id, which the others are told.
  communicator& among(device& at, const collective_tasks& tasks) {
    for (const member& m : all_)
      if (m.at == &at && m.ranks == tasks.ranks) return *m.all;
    settle();  // making one may take memory, for which a GPU waits until it is idle
    const communicators& library = *at.sums_with_others();
    std::string id(static_cast<std::size_t>(library.id_bytes), '\0');
    if (tasks.own == 0) checked([&] { id = library.make_id(at); });
    std::vector<ref<pending_message>> notes;
    for (std::size_t t = 1; t < tasks.ranks.size() && tasks.own == 0; ++t)
      notes.push_back(group_.ways().send(tasks.ranks[t], tasks.tags[t], id.data(), library.id_bytes));
    if (tasks.own != 0)
      notes.push_back(group_.ways().receive(tasks.ranks[0], tasks.tags[0], id.data(), library.id_bytes));
    wait_for(notes, tasks.own != 0 ? tasks.ranks[0] : cluster_group::all_of_them);
    ref<communicator> made;
    checked([&] { made = library.join(at, id, static_cast<int>(tasks.ranks.size()), tasks.own); });
    all_.push_back({&at, tasks.ranks, made});
    get_ready(*made);
    return *all_.back().all;
  }

  void wait_for(std::vector<ref<pending_message>>& notes, int from) {
    try {
      group_.wait_for(from, [&] {
        std::int64_t bytes = 0;
        while (!notes.empty() && notes.back()->is_done(bytes)) notes.pop_back();
        return notes.empty();
      });
    } catch (...) {
      for (const auto& n : notes) n->cancel();
      throw;
    }
  }

  cluster_group& group_;
  std::vector<member> all_;
  bool under_way_ = false;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
