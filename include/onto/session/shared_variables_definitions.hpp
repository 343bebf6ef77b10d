// SPDX-License-Identifier: BSL-1.0
// How sessions share variables: runs read values of one moment, and an update is made of what they are then, by one run
// at a time.
#pragma once

#include <onto/session/core.hpp>
#include <onto/session/shared_variables.hpp>

#include <vector>

#if ONTO_DEFINITIONS
ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class shared_store final : public variable_store {
 public:
  ~shared_store() override { clear(); }
  void clear() noexcept override {
    const mutex_lock lock(guard);
    for (const variable& v : all) v.value->drop();
    all.clear();
    for (session_core* s : sessions) let_go(*s);
    sessions.clear();
  }

  /// *Preconditions* these are called by who has `guard`.
  variable* find(std::uint64_t id) {
    for (variable& v : all)
      if (v.id == id) return &v;
    return nullptr;
  }
  /// The value becomes that of the variable, which has this shape and place.
  void set(const variable& v, device_block* value) {
    value->retain();
    if (variable* const mine = find(v.id)) {
      mine->value->drop();
      mine->value = value;
      mine->shape = v.shape;
      mine->where = v.where;
      return;
    }
    all.push_back(v);
    all.back().value = value;
  }

  /// A session's variables may have values on the devices of another.
  static void let_go(session_core& s) noexcept;

  mutex guard;
  std::vector<variable> all;            // each with a value
  std::vector<session_core*> sessions;  // that share them
  int restores = 0;                     // how many of each session's calls have counted
};

/// What a run writes is its own until all steps in a row are done that write variables or are needed for that alone,
/// the *update*: only then others read it, and until then none of them begins an update. So what an update reads is
/// what it replaces, and nobody sees a half of it. Nothing waits for another task meanwhile.
class stored_variables final : public shared_variables {
 public:
  explicit stored_variables(const ref<shared_store>& store) : store_(store) {}

  void attach(session_core& s) override {
    session_ = &s;
    here_ = s.devices_.here();
    const mutex_lock others(store_->guard);
    store_->sessions.push_back(&s);
  }

  static void let_go(session_core& s) noexcept {
    const mutex_lock lock(s.mutex_);
    for (variable* v = s.variables_.first(); v; v = v->next) {
      if (v->value) v->value->drop();
      v->value = nullptr;
    }
  }

  void refresh() override {
    const mutex_lock others(store_->guard);
    const mutex_lock lock(session_->mutex_);
    for (variable* v = session_->variables_.first(); v; v = v->next)
      if (const variable* const now = v->value && is_mine(v->where) ? store_->find(v->id) : nullptr)
        if (same_form(*now, *v)) set(*v, now->value);
  }

  void expect_shapes() override {
    const mutex_lock others(store_->guard);
    const mutex_lock lock(session_->mutex_);
    for (variable* v = session_->variables_.first(); v; v = v->next)
      if (const variable* const now = v->value && is_mine(v->where) ? store_->find(v->id) : nullptr)
        expect_form(v->name, v->type, *now, v->shape, v->where);
  }

  void initialize(bool on) override { initializes_ = on; }

  /// Each worker's first call of `restore` is one of all workers', and so is each next one: the values of the one that
  /// comes first count, so that who is late takes nothing back.
  void keep_restored(bool by_restore) override {
    const mutex_lock others(store_->guard);
    const mutex_lock lock(session_->mutex_);
    bool counts = false;
    if (by_restore && ++restores_ > store_->restores) {
      store_->restores = restores_;
      counts = true;
    }
    for (variable* v = session_->variables_.first(); v; v = v->next) {
      if (!v->restored) continue;
      v->restored = false;
      if (!v->value || !is_mine(v->where)) continue;
      const variable* const now = store_->find(v->id);
      if (now && !counts && now->where == v->where) {
        v->shape = now->shape;
        set(*v, now->value);
      } else {
        store_->set(*v, v->value);
      }
    }
  }

  void begin(bound_program& b) override {
    written_.clear();
    const mutex_lock others(store_->guard);
    read(b);
  }

  void enter(bound_program& b, const bound_step& s) override {
    if (!is_update(s) || b.progress.failed()) return;
    if (!updates_) {
      first_ = static_cast<int>(&s - b.steps);
      wait_for_messages(b);
      rest(b);  // what is under way reads by the addresses that change
      if (b.progress.failed()) return;
      store_->guard.lock();
      updates_ = true;
      try {
        read(b);
      } catch (...) {
        stop();
        throw;
      }
    }
    if (writes(b, s)) steps_.push_back(&s);
  }

  void leave(bound_program& b, const bound_step* next) noexcept override {
    if (!updates_ || (next && goes_on(b, static_cast<int>(next - b.steps)))) return;
    try {
      rest(b);
      if (!b.progress.failed()) publish(b);
    } catch (...) {
      b.progress.fail(std::current_exception());
    }
    stop();
  }

  void end() noexcept override {
    // Messages of a process that was given up may still be under way from there.
    const bool is_broken = session_->group_->is_broken();
    for (const device_block* b : held_)
      if (!is_broken) b->drop();
    held_.clear();
  }

 private:
  bool is_mine(const place& p) const { return same_task(p, here_); }

  static bool same_form(const variable& a, const variable& b) { return a.shape == b.shape && a.where == b.where; }

  static void set(variable& v, device_block* value) {
    value->retain();
    if (v.value) v.value->drop();
    v.value = value;
  }

  /// The run reads what variables are now, but those that it has written: of them it reads what they were before.
  void read(bound_program& b) {
    const graph_view& g = b.program->graph;
    for (int k = 0; k < b.leaf_count; ++k) {
      const int n = b.leaves[k];
      if (!b.variable[n] || !is_mine(b.where[n].where) || has_written(g[n].id)) continue;
      const variable* const now = store_->find(g[n].id);
      if (!now || now->value == b.variable[n]) continue;
      expect_form(g[n].name, g[n].type, *now, b.shapes[n], b.where[n].where);
      held_.push_back(b.variable[n]);
      now->value->retain();
      b.variable[n] = now->value;
      b.leaf[n].data = now->value->data();
    }
  }

  /// *Throws* `failed_precondition_error` where a variable, which is `now`, is not what this session takes it for.
  ONTO_COLD static void expect_form(std::string_view name, element type, const variable& now, const extents& shape,
                                    const place& where) {
    if (now.shape == shape && now.where == where) return;
    message m("[onto.cluster] variable '");
    m << name << "' is shared by several workers and is now " << name_of(type) << now.shape << " on ";
    write_short(m, now.where) << "; to this one it is " << name_of(type) << shape;
    fail<failed_precondition_error>(m << "; a shared variable keeps its shape and its device, and has other extents "
                                         "only where each worker restores them");
  }

  bool has_written(std::uint64_t id) const {
    for (const std::uint64_t w : written_)
      if (w == id) return true;
    return false;
  }

  bool is_update(const bound_step& s) const { return s.step.in_update && !s.is_message && is_mine(s.step.at); }
  static bool writes(const bound_program& b, const bound_step& s) {
    bool any = false;
    for (int v = s.step.value; v >= 0 && s.step.kind == step_kind::kernel && v <= s.step.value + s.step.more; ++v)
      any = any || b.values[v].variable;
    return any;
  }

  /// Whether a step may wait for another task, though what was begun before the update has come.
  bool may_wait(const bound_program& b, const bound_step& s) const {
    bool any = s.is_message;
    for (int w = 0; w < s.wait_count; ++w) any = any || (s.waits[w] >= first_ && b.steps[s.waits[w]].is_message);
    return any;
  }

  /// Whether there is more of the update, from a step on, before one that may wait.
  bool goes_on(const bound_program& b, int next) const {
    for (int k = next; k < b.counts.steps; ++k) {
      if (b.steps[k].elsewhere) continue;
      if (may_wait(b, b.steps[k])) return false;
      if (is_update(b.steps[k])) return true;
    }
    return false;
  }

  /// Waits for all that the steps of the update read.
  void wait_for_messages(const bound_program& b) {
    session_->group_->settle();
    for (int k = first_; k < b.counts.steps && goes_on(b, k); ++k) {
      const bound_step& s = b.steps[k];
      for (int w = 0; w < s.wait_count && !s.elsewhere; ++w)
        if (const bound_step& from = b.steps[s.waits[w]]; from.is_message && from.event) from.event->wait();
    }
  }

  /// Waits for the kernels and copies of this task's GPUs.
  void rest(bound_program& b) {
    const device_list& devices = session_->devices_;
    for (int q = 1; q < stream_count(b.devices); ++q) {
      device& d = devices[(q - 1) / stream_kinds];
      if (!b.used[q] || d.is_host() || !is_mine(d.where())) continue;
      const ref<device_event> done = d.make_event();
      if (!done) continue;
      d.record(b.progress, static_cast<stream_kind>((q - 1) % stream_kinds), *done);
      done->wait();
    }
  }

  /// Calls `f(node, value)` for the variables that the update has written.
  template <class F>
  void for_each_written(const bound_program& b, const F& f) const {
    for (const bound_step* s : steps_)
      for (int v = s->step.value; v <= s->step.value + s->step.more; ++v)
        if (b.values[v].variable && b.written[v]) f(b.program->graph.operand(b.values[v].node, 0), v);
  }

  /// What was written becomes everyone's: all of it, or nothing where one has another shape or place by now.
  void publish(bound_program& b) {
    const graph_view& g = b.program->graph;
    const mutex_lock lock(session_->mutex_);
    for_each_written(b, [&](int n, int v) {
      if (const variable* const now = store_->find(g[n].id))
        expect_form(g[n].name, g[n].type, *now, b.shapes[n], b.values[v].at);
    });
    for_each_written(b, [&](int n, int v) {
      device_block* const value = b.written[v];
      variable& own = session_->variables_.of(g[n]);
      own.shape = b.shapes[n];
      own.where = b.values[v].at;
      if (!initializes_ || !store_->find(own.id)) store_->set(own, value);
      set(own, store_->find(own.id)->value);
      written_.push_back(own.id);
      held_.push_back(value);  // it may be on its way to a worker
      b.written[v] = nullptr;
    });
  }

  void stop() noexcept {
    steps_.clear();
    updates_ = false;
    store_->guard.unlock();
  }

  ref<shared_store> store_;
  session_core* session_ = nullptr;
  place here_{};
  bool initializes_ = false;
  int restores_ = 0;  // that this session was asked for
  // Of the present run.
  bool updates_ = false;                  // it has the store for itself
  int first_ = 0;                         // the step with which the update begins
  std::vector<const bound_step*> steps_;  // of this update that write variables
  std::vector<std::uint64_t> written_;    // variables that are written
  std::vector<const device_block*> held_;
};

inline void shared_store::let_go(session_core& s) noexcept { stored_variables::let_go(s); }

ONTO_RUNTIME ref<variable_store> make_variable_store() { return ref<shared_store>(new shared_store); }

ONTO_RUNTIME ref<shared_variables> share_variables(const ref<variable_store>& store) {
  store->retain();
  return ref<stored_variables>(new stored_variables(ref<shared_store>(static_cast<shared_store*>(store.get()))));
}

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
#endif
