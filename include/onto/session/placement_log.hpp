// SPDX-License-Identifier: BSL-1.0
// The placement log: once per program and placement, the devices and then a line a node.
#pragma once

#include <onto/runtime/compiled_program.hpp>
#include <onto/runtime/device.hpp>
#include <onto/session/options.hpp>
#include <onto/session/placement_text.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class placement_log {
 public:
  placement_log() = default;
  placement_log(const placement_log&) = delete;
  placement_log& operator=(const placement_log&) = delete;
  ~placement_log() {
    while (logged_) {
      logged* next = logged_->next;
      delete logged_;
      logged_ = next;
    }
  }

  /// While it is on, programs of one assignment, as those of first values are, have one heading together.
  ONTO_INLINE void first_values(bool on) {
    mutex_lock lock(mutex_);
    first_values_ = on ? heading::due : heading::of_each;
  }

  /// *Throws* what the log's callback throws.
  ONTO_COLD ONTO_NOINLINE void write(const log_sink& log, const device_list& devices, const compiled_program& p,
                                     const program_state& s, const node_placement* where, int told_apart) {
    std::uint64_t key = 0;
    for (int n = 0; n < p.graph.count; ++n) {
      const place& w = where[n].where;
      key = hash_mix(hash_mix(key, key_of(w)), key_of(s.places[n]));
    }
    mutex_lock lock(mutex_);
    for (const logged* l = logged_; l; l = l->next)
      if (l->program == &p && l->placement == key) return;
    logged_ = new logged{&p, key, logged_};
    const bool assigns = p.graph.fetch_count == 1 && p.graph[p.graph.fetches[0]].kind() == op_kind::assign;
    const bool is_headed = assigns && first_values_ == heading::written;
    if (assigns && first_values_ == heading::due) first_values_ = heading::written;
    bool any = is_headed;
    message m;
    for (int d = 0; !is_headed && d < devices.count(); ++d) {
      const std::string description = devices[d].description();
      if (description.empty() || !same_task(devices[d].where(), devices.here())) continue;
      if (!any) log.write("Device mapping:");
      any = true;
      m.clear();
      write_device(m, devices[d].where()) << " -> " << description;
      log.write(m.text());
    }
    if (!any) log.write("Device mapping: no known devices.");
    const node_names names(p.graph);
    for (int n = 0; n < p.graph.count; ++n) {
      if (p.graph[n].kind() == op_kind::scalar || !same_task(where[n].where, devices.here())) continue;
      m.clear();
      write_placement(m, p.graph, names, s, n, where[n]);
      log.write(m.text());
    }
    if (told_apart > 0) log.write(told_apart_line(told_apart));
  }

 private:
  enum class heading { of_each, due, written };

  struct logged {
    const compiled_program* program;
    std::uint64_t placement;
    logged* next;
  };
  mutex mutex_;
  heading first_values_ = heading::of_each;
  logged* logged_ = nullptr;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
