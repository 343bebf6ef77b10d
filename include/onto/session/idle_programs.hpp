// SPDX-License-Identifier: BSL-1.0
// What a session has bound for programs that are not prepared, until they are run again.
#pragma once

#include <onto/session/host_run.hpp>
#include <onto/session/run_memory.hpp>
#include <onto/session/visit_states.hpp>

namespace onto::detail {

/// The latest first. Whoever has them clears them before their devices go.
class idle_programs {
 public:
  void clear() {
    bound_program* all = nullptr;
    {
      const mutex_lock lock(mutex_);
      all = first_;
      first_ = nullptr;
      count_ = 0;
    }
    prepared_program::delete_all(all);
  }

  /// One that `fits`, which is the caller's then; or null.
  bound_program* take(bool (*fits)(const void* run, bound_program& b), const void* run) {
    const mutex_lock lock(mutex_);
    bound_program** at = &first_;
    while (*at && !fits(run, **at)) at = &(*at)->next;
    bound_program* const b = *at;
    if (b) {
      *at = b->next;
      --count_;
    }
    return b;
  }

  void give_back(bound_program* b) {
    bound_program* dropped = nullptr;
    {
      const mutex_lock lock(mutex_);
      b->next = first_;
      first_ = b;
      if (++count_ > remembered) {
        bound_program** last = &first_;
        while ((*last)->next) last = &(*last)->next;
        dropped = *last;
        *last = nullptr;
        --count_;
      }
    }
    delete dropped;
  }

  /// Runs a program whose values tell nothing apart. *Returns* false, having done nothing, where it is not bound for
  /// what is fed.
  bool run_on_host(const run_request& r, const device_list& devices) {
    alignas(16) char first[2048];
    arena memory(first, sizeof first);
    const visit_states states(r.program->graph, r.states, memory);
    return states.one && !states.guarded && run_on_host(r, r.program, states.values, devices);
  }

  /// The same of what the program comes to, with the values per node of that.
  bool run_on_host(const run_request& r, const compiled_program* program, const state* const* values,
                   const device_list& devices) {
    const plain_run run{r, program, values};
    bound_program* const b = take(&plain_run::fits, &run);
    if (!b) return false;
    try {
      run_memory(*b, devices).reserve();
      detail::run_on_host(*b, r, devices[0]);
    } catch (...) {
      delete b;
      throw;
    }
    b->end_run();
    give_back(b);
    return true;
  }

 private:
  struct plain_run {
    const run_request& r;
    const compiled_program* program;
    const state* const* values;
    static bool fits(const void* self, bound_program& b) {
      const plain_run& run = *static_cast<const plain_run*>(self);
      return b.plain && b.placed_by_types && b.program == run.program && take_leaves(b, run.r, run.values);
    }
  };

  static constexpr int remembered = 64;

  mutex mutex_;
  bound_program* first_ = nullptr;
  int count_ = 0;
};

}  // namespace onto::detail
