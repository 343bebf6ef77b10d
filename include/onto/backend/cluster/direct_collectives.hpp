// SPDX-License-Identifier: BSL-1.0
// Collectives and messages that devices of the tasks do among themselves: the host issues them, and looks whether they
// go on.
#pragma once

#include <onto/backend/cluster/collective.hpp>
#include <onto/backend/cluster/group.hpp>
#include <onto/runtime/communicator.hpp>

#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// From two numbers below 2^20, as processes say them.
inline std::uint64_t hardware_number(int high, int low) {
  return static_cast<std::uint64_t>(high) << 44 | static_cast<std::uint64_t>(low) << 24;
}

/// A number for a device's hardware that differs between any two, of this machine or another; 0: it does nothing with
/// others. *Source* proc(5): boot_id is one for each start of a kernel, containers have their host's.
ONTO_COLD inline std::uint64_t shared_hardware_of(const device& d) {
  const communicators* const library = d.direct_communicators();
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

class direct_collectives {
 public:
  explicit direct_collectives(cluster_group& group) : group_(group) {}

  /// *Throws* `failed_precondition_error`, in all processes, where the devices' library fails or a task does not come.
  void begin(const work& w, device& at, const collective_part& part, const collective_tasks& tasks) {
    try {
      const std::vector<int> ranks = ranks_of(part, tasks);
      communicator& c = among(at, part, tasks, ranks);
      checked([&] { c.begin(w, {part, ranks.data(), tasks.own}); });
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
  /// Of one set of devices.
  struct member {
    std::vector<place> devices;  // by rank
    ref<communicator> all;
  };

  /// The ranks of a part's tasks in their communicator: in the order of the processes, whoever is the first here.
  static std::vector<int> ranks_of(const collective_part& part, const collective_tasks& tasks) {
    std::vector<int> ranks;
    for (int t = 0; t < part.task_count; ++t)
      ranks.push_back(static_cast<int>(std::count_if(tasks.ranks.begin(), tasks.ranks.end(), [&](int process) {
        return process < tasks.ranks[static_cast<std::size_t>(t)];
      })));
    return ranks;
  }

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
  communicator& among(device& at, const collective_part& part, const collective_tasks& tasks,
                      const std::vector<int>& ranks) {
    std::vector<place> devices(ranks.size());
    std::size_t first = 0;
    for (std::size_t t = 0; t < ranks.size(); ++t) {
      devices[static_cast<std::size_t>(ranks[t])] = part.tasks[t];
      if (ranks[t] == 0) first = t;
    }
    for (const member& m : all_)
      if (m.devices == devices) return *m.all;
    settle();  // making one may take memory, for which a GPU waits until it is idle
    const communicators& library = *at.direct_communicators();
    std::string id(static_cast<std::size_t>(library.id_bytes), '\0');
    const int own = ranks[static_cast<std::size_t>(tasks.own)];
    if (own == 0) checked([&] { id = library.make_id(at); });
    std::vector<ref<pending_message>> notes;
    for (std::size_t t = 0; t < ranks.size() && own == 0; ++t)
      if (t != first) notes.push_back(group_.ways().send(tasks.ranks[t], tasks.tags[t], id.data(), library.id_bytes));
    if (own != 0)
      notes.push_back(group_.ways().receive(tasks.ranks[first], tasks.tags[first], id.data(), library.id_bytes));
    wait_for(notes, own != 0 ? tasks.ranks[first] : cluster_group::all_of_them);
    ref<communicator> made;
    checked([&] { made = library.join(at, id, static_cast<int>(ranks.size()), own); });
    all_.push_back({devices, made});
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
