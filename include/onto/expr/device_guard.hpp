// SPDX-License-Identifier: BSL-1.0
// `device_guard`: a placement scope as an object, known at run time.
#pragma once

#include <onto/core/mutex.hpp>
#include <onto/device/device_name.hpp>
#include <onto/device/task.hpp>
#include <onto/expr/state.hpp>

#include <string_view>
#include <type_traits>

namespace onto {

struct no_device_t {
  explicit no_device_t() = default;
};

/// Cuts a guard off from the scopes outside it: `device_guard g{no_device}`.
inline constexpr no_device_t no_device{};

namespace detail {

/// A guard with its name.
struct named_guard : guard_scope {
  device_name name;
  bool cut = false;
  bool ended = false;  // its `device_guard` is gone; only its thread asks
};

/// Ends a guard of this thread. Guards end in the opposite order of their beginning but where a program keeps them
/// itself: one inside goes on, and after it none that has ended.
ONTO_COLD inline void end_guard(named_guard* g) {
  g->ended = true;
  const guard_scope*& innermost = innermost_guard();
  while (innermost && static_cast<const named_guard*>(innermost)->ended) innermost = innermost->outer;
  release(g);
}

/// Whether two guards, with those outside them, ask for the same.
ONTO_COLD inline bool equal_guards(const guard_scope* a, const guard_scope* b) {
  for (; a && b && a != b; a = a->outer, b = b->outer) {
    const auto* x = static_cast<const named_guard*>(a);
    const auto* y = static_cast<const named_guard*>(b);
    if (x->cut != y->cut || !(x->name == y->name)) return false;
    if (x->cut) return true;
  }
  return a == b;
}

/// Whether no process can ever have the device.
ONTO_COLD inline bool is_foreign(const device_name& d) { return d.replica() > 0 || !d.has_place(); }

/// A task by name, one for all who ask; kept until the program ends.
ONTO_COLD ONTO_NOINLINE inline const task_name* find_task_name(const std::string& job, int task) {
  struct known {
    std::string job;
    task_name name;
    known* next;
  };
  static mutex all;
  static known* first = nullptr;
  const mutex_lock lock(all);
  known* k = first;
  while (k && !(k->job == job && k->name.task == task)) k = k->next;
  if (!k) {
    k = first = new known{job, {}, first};
    k->name = {k->job, task, task_id(k->job, task)};
  }
  return &k->name;
}

/// What a name asks for, its task included.
ONTO_COLD inline place requested_place(const device_name& d) {
  place p = d.to_place();
  p.in_task = !d.job().empty() || d.task() >= 0;
  if (p.in_task) p.task = find_task_name(d.job(), d.task());
  return p;
}

/// Scopes from the outermost in. A guard brings the guards outside it, those that have not had their say yet.
class scope_combiner {
 public:
  ONTO_COLD static void run(const scope_step* steps, int count, scope_request& out) {
    scope_combiner c{steps};
    for (int k = 0; k < count; ++k) {
      if (steps[k].guard) c.apply(steps[k].guard, k);
      if (steps[k].where.is_set()) c.name_ = c.name_.merge(device_name(steps[k].where));
    }
    out.foreign = is_foreign(c.name_);
    out.where = out.foreign ? place{} : requested_place(c.name_);
    out.text = c.name_.to_string();
  }

 private:
  explicit scope_combiner(const scope_step* steps) : steps_(steps) {}

  bool had_its_say(const guard_scope* g, int before) const {
    for (int k = 0; k < before; ++k)
      for (const guard_scope* s = steps_[k].guard; s; s = s->outer)
        if (s == g) return true;
    return false;
  }

  void apply(const guard_scope* g, int step) {
    if (!g || had_its_say(g, step)) return;
    apply(g->outer, step);
    const auto* n = static_cast<const named_guard*>(g);
    name_ = n->cut ? device_name{} : name_.merge(n->name);
  }

  const scope_step* steps_;
  device_name name_;
};

template <class Number>
struct number_names_no_device {
  using reported = void;
  static constexpr bool ok = sizeof(Number) == 0;
  static_assert(ok == true,
                "[onto.device] a number names no device; write gpu<1>{}, or \"/gpu:\" + std::to_string(k) for one that "
                "the run knows");
};
}  // namespace detail

#define ONTO_NEEDS_A_NAME \
  [[nodiscard("[onto.device] a guard without a name is gone at once; write device_guard scope{\"/gpu:0\"}")]]
/// Places the operations that are written while it lives, on its thread. Guards and `on` scopes nest; the inner one
/// wins field by field.
class device_guard {
 public:
  template <place_type Device>
  ONTO_NEEDS_A_NAME explicit device_guard(Device) : device_guard(device_name(Device{}), false) {}
  /// *Throws* `invalid_argument_error` where `name` is not a device name.
  ONTO_NEEDS_A_NAME explicit device_guard(std::string_view name) : device_guard(device_name::parse(name), false) {}
  ONTO_NEEDS_A_NAME explicit device_guard(const device_name& name) : device_guard(name, false) {}
  ONTO_NEEDS_A_NAME explicit device_guard(no_device_t) : device_guard(device_name{}, true) {}

  /// 0 would be a pointer to no name.
  template <class Number>
    requires(std::is_integral_v<Number> || std::is_null_pointer_v<Number>)
  explicit device_guard(Number) : device_guard(no_device_t{}) {
    static_cast<void>(static_cast<typename detail::number_names_no_device<Number>::reported*>(nullptr));
  }

  device_guard() = delete;  // a guard names a device: device_guard scope{gpu<1>{}}
  device_guard(const device_guard&) = delete;
  device_guard(device_guard&&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  device_guard& operator=(device_guard&&) = delete;

  ~device_guard() { detail::end_guard(scope_); }

 private:
  device_guard(const device_name& name, bool cut) : scope_(new detail::named_guard) {
    scope_->outer = detail::innermost_guard();
    detail::retain(scope_->outer);
    scope_->name = name;
    scope_->cut = cut;
    scope_->combine = &detail::scope_combiner::run;
    scope_->equal = &detail::equal_guards;
    scope_->destroy = [](const detail::guard_scope* g) { delete static_cast<const detail::named_guard*>(g); };
    detail::innermost_guard() = scope_;
  }

  detail::named_guard* scope_;
};
#undef ONTO_NEEDS_A_NAME

}  // namespace onto
