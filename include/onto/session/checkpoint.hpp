// SPDX-License-Identifier: BSL-1.0
// Checkpoints: the variables of a session in a safetensors file, saved and restored. Where there are several processes
// the first one has the file, and what others have goes to it or comes from it as messages.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/session/carry_values.hpp>
#include <onto/session/core.hpp>
#include <onto/session/replica_names.hpp>
#include <onto/session/restored_values.hpp>
#include <onto/tensor/safetensors_file.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What is done with the variables of a session and a file. All processes do it together: first each looks whether it
/// can, then values go from one to the other, then it is so in all of them or in none.
class checkpoint : value_carrier {
 public:
  checkpoint(session_core& core, variable_filter filter) : value_carrier(core.devices_), core_(core), filter_(filter) {}
  checkpoint(const checkpoint&) = delete;
  checkpoint& operator=(const checkpoint&) = delete;
  ~checkpoint() {
    for (const stored_tensor* s = saved_; s; s = s->next)
      if (const device_block* b = static_cast<const saved*>(s)->block) b->drop();
    for (restored* r = restored_; r; r = r->next)
      if (r->block) r->block->drop();
    restored_values::delete_all(kept_);
    delete file_;
  }

  /// Uses a checkpoint. Where a process was given up meanwhile, its memory stays: messages may still be under way
  /// there.
  template <class F>
  ONTO_COLD static void with(session_core& core, variable_filter filter, const F& use) {
    static atomic<checkpoint*> left{nullptr};
    auto* c = new checkpoint(core, filter);
    try {
      use(*c);
    } catch (...) {
      if (core.group_ && core.group_->is_broken())
        c->next_left_ = left.exchange(c);
      else
        delete c;
      throw;
    }
    delete c;
  }

  ONTO_COLD void save(const std::string& path) {
    if (core_.group_) core_.group_->programs->take_turn(core_);
    agreed_run together(core_.group_.get());
    together.of(identity("save to '", path));
    try {
      if (core_.group_ && core_.group_->shared) core_.group_->shared->expect_shapes();
      find_values(path);
      sort_to_store(path, saved_);
      next_ = saved_;
      for (const stored_tensor* s = saved_; s; s = s->next) {
        const device& owner = owner_of(static_cast<const saved&>(*s));
        if (is_first_ ? !owner.is_host() : is_mine(owner) && !owner.is_host()) want_staging(bytes_of(*s));
      }
      make_staging();
    } catch (...) {
      together.fail();
    }
    together.agree(nullptr);
    if (is_first_) try {
        write_safetensors(
            path, saved_,
            [](void* self, const tensor_to_store& t) {
              auto* c = static_cast<checkpoint*>(self);
              const void* values = c->collect_values(static_cast<const saved&>(t));
              if (c->progress_.failed()) c->progress_.rethrow();
              return values;
            },
            this);
      } catch (...) {
        progress_.fail(std::current_exception());
      }
    // Elsewhere all; and in the first process, after a failure, what still comes.
    while (next_) collect_values(static_cast<const saved&>(*next_));
    finish(together);
  }

  ONTO_COLD void restore(const std::string& path) {
    if (core_.group_) core_.group_->programs->take_turn(core_);
    agreed_run together(core_.group_.get());
    together.of(identity("restore of '", path));
    const mutex_lock no_writes(core_.writers_);
    try {
      if (is_first_) file_ = new stored_tensors(path);
      if (core_.group_) {
        const std::string header = together.agree(nullptr, is_first_ ? file_->header_text() : std::string());
        if (!is_first_) file_ = new stored_tensors(stored_tensors::elsewhere{}, path, header);
      }
      find_targets(*file_);
      for (restored* r = restored_; r; r = r->next) reserve(*r);
      make_staging();
    } catch (...) {
      together.fail();
    }
    together.agree(nullptr);
    for (restored* r = restored_; r; r = r->next) read(*r);
    finish(together);
    commit();
    if (core_.group_ && core_.group_->shared) core_.group_->shared->keep_restored(true);
  }

  /// Gives waiting values to a program's variables, on the devices where it has them.
  ONTO_COLD bool hand_over(restored_values& waiting, const meaning& m, agreed_run& together) {
    const mutex_lock one(waiting.busy);
    const graph_view& g = m.program->graph;
    auto* pinned = memory_.make<place>(g.count);
    auto* where = memory_.make<node_placement>(g.count);
    core_.pinned_places(g, pinned);
    core_.place_nodes_or_throw(*m.program, m.state, pinned, where);
    for (int n = 0; n < g.count; ++n) {
      if (g[n].kind() != op_kind::variable || !is_read(g, n)) continue;
      restored_values::value* const from = waiting.find(g[n].name);
      if (!from || has_value(g[n])) continue;
      expect_fit(g[n], *from);
      auto* r = memory_.make<restored>(1);
      r->node = n;
      r->waiting = from;
      r->shape = from->shape;
      r->next = restored_;
      restored_ = r;
      device& to = device_at(where[n].where);
      if (from->block && &from->block->owner() == &to) {
        from->block->retain();
        r->block = from->block;
      } else {
        r->block = to.reserve({bytes_of(*from), "variable", g[n].name}).release();
        if (is_mine(to) && !to.is_host() && !is_first_) want_staging(bytes_of(*from));
      }
    }
    if (!restored_) return false;
    make_staging();
    together.agree(nullptr);
    for (restored* r = restored_; r; r = r->next)
      deliver(r->waiting->block ? r->waiting->block->data() : nullptr, *r->block, bytes_of(*r->waiting),
              g[r->node].name);
    if (progress_.failed()) progress_.rethrow();
    together.agree(nullptr);
    const mutex_lock lock(core_.mutex_);
    for (restored* r = restored_; r; r = r->next) {
      variable& v = core_.variables_.of(g[r->node]);
      if (!v.value) set(v, r->block, r->shape, r->block->owner().where());
      waiting.remove(r->waiting);
    }
    return true;
  }

 private:
  struct saved : tensor_to_store {
    const device_block* block = nullptr;  // null where it waits in another process
  };
  /// A value that a variable gets, or that waits for one.
  struct restored {
    const stored_tensor* from = nullptr;
    variable* to = nullptr;
    int node = 0;  // of a program that it is handed to
    restored_values::value* waiting = nullptr;
    extents shape{};
    device_block* block = nullptr;  // of the variable
    bool is_copy = false;           // of the tensor of which the variable is a replica
    restored* next = nullptr;
  };

  // ---- saving ---------------------------------------------------------------------------------------------

  /// The values of one moment: a run that writes several variables is seen whole or not at all.
  void find_values(const std::string& path) {
    {
      const mutex_lock lock(core_.mutex_);
      for (const variable* v = core_.variables_.first(); v; v = v->next)
        if (v->value && filter_.has(v->name, &v->id)) {
          if (const saved* other = find_saved(v->name))
            fail<invalid_argument_error>(message("[onto.checkpoint] ")
                                         << path << ": two variables of the session are named '" << v->name << "', "
                                         << name_of(v->type) << v->declared << " and "
                                         << name_of(static_cast<element>(stored_types[other->type].type))
                                         << other->shape << "; give each a name of its own, or save one alone");
          add(v->name, v->type, v->shape, v->value);
        }
      // Not those of a tower that this session does not have: they would be older than the tower that it has.
      if (auto* waiting = static_cast<restored_values*>(core_.variables_.waiting))
        for (const restored_values::value* v = waiting->first; v; v = v->next)
          if (filter_.has(v->name, nullptr) && !find_saved(v->name) && !has_original(core_.variables_.first(), v->name))
            add(kept_text(v->name, memory_), v->type, v->shape, v->block);
    }
    filter_.expect_values(path, saved_ != nullptr, [&](std::string_view name) { return find_saved(name) != nullptr; });
  }

  const saved* find_saved(std::string_view name) const {
    const stored_tensor* s = saved_;
    while (s && s->name != name) s = s->next;
    return static_cast<const saved*>(s);
  }

  void add(std::string_view name, element type, const extents& shape, const device_block* block) {
    auto* s = memory_.make<saved>(1);
    s->set(name, type, shape, nullptr);
    s->block = block;
    if (block) block->retain();
    s->next = saved_;
    saved_ = s;
  }

  const device& owner_of(const saved& s) const { return s.block ? s.block->owner() : device_at(first_); }

  /// In the first process the values of a tensor, where the host can read them until the next call; another one sends
  /// those that it has. The tensors come one after the other, in all processes.
  const void* collect_values(const saved& s) {
    next_ = s.next;
    return collect(device_at(owner_of(s).where()), s.block ? s.block->data() : nullptr, bytes_of(s), s.name);
  }

  // ---- restoring ------------------------------------------------------------------------------------------

  /// Which tensors go where. *Throws* where they do not fit.
  void find_targets(const stored_tensors& file) {
    const safetensors_header& header = file.header();
    message missing;
    const auto expect = [&](std::string_view name, element type, const extents& declared) {
      const stored_tensor* t = header.find(name);
      if (!t) t = header.find(original_of(name));
      if (t)
        header.expect(*t, type, declared, "the variable of that name is");
      else
        write_quoted(missing << (missing.empty() ? "" : ", "), name);
    };
    filter_.each([&](const graph_node& n) { expect(n.name, n.type, n.shape); });
    const mutex_lock lock(core_.mutex_);
    for (const stored_tensor* t = header.first(); t; t = t->next) {
      if (!filter_.has(t->name, nullptr)) continue;
      auto* r = memory_.make<restored>(1);
      r->from = t;
      r->shape = header.shape_of(*t);
      r->next = restored_;
      restored_ = r;
    }
    for (variable* v = core_.variables_.first(); v; v = v->next) {
      if (!v->value || !filter_.has(v->name, &v->id)) continue;
      if (filter_.count == 0) expect(v->name, v->type, v->declared);  // else it was, above
      const stored_tensor* const own = header.find(v->name);
      if (const stored_tensor* t = own ? nullptr : header.find(original_of(v->name))) {
        add_copy(*v, *t, header.shape_of(*t));
        continue;
      }
      for (restored* r = restored_; r; r = r->next)
        if (!r->is_copy && r->from->name == v->name) {
          if (r->to)
            fail<invalid_argument_error>(message("[onto.checkpoint] ")
                                         << file.path() << ": two variables of the session are named '" << v->name
                                         << "'; restore one alone: restore(path, variable)");
          r->to = v;
        }
    }
    if (!missing.empty())
      fail<invalid_argument_error>(message("[onto.checkpoint] ")
                                   << file.path() << ": it has no tensor for the session's " << missing.text()
                                   << "; restore the variables that it has alone: restore(path, variables...)");
  }

  /// A session has more towers than the one that has saved.
  void add_copy(variable& v, const stored_tensor& original, const extents& shape) {
    auto* r = memory_.make<restored>(1);
    r->from = &original;
    r->shape = shape;
    r->to = &v;
    r->is_copy = true;
    restored** at = &restored_;  // by name: all processes have one order
    while (*at && (*at)->is_copy && (*at)->to->name < v.name) at = &(*at)->next;
    r->next = *at;
    *at = r;
  }

  /// Takes the memory that a tensor of the file needs in this process.
  void reserve(restored& r) {
    const std::int64_t bytes = bytes_of(*r.from);
    if (r.to) {
      device& to = device_at(r.to->where);
      r.block = to.reserve({bytes, "variable", r.to->name}).release();
      if (!to.is_host() && (is_first_ || is_mine(to))) want_staging(bytes);
      return;
    }
    auto* v = new restored_values::value;
    v->next = kept_;
    kept_ = v;
    r.waiting = v;
    v->name = r.from->name;
    v->file = file_->path();
    v->type = safetensors_header::type_of(*r.from);
    v->shape = r.shape;
    if (is_first_) v->block = device_at(first_).reserve({bytes, "restored variable", {}}).release();
  }

  /// Fills that memory.
  void read(const restored& r) {
    void* const into = !is_first_                         ? nullptr
                       : r.waiting                        ? r.waiting->block->data()
                       : device_at(r.to->where).is_host() ? r.block->data()
                                                          : staging_;
    if (is_first_ && !progress_.failed()) try {
        file_->read(*r.from, into);
      } catch (...) {
        progress_.fail(std::current_exception());
      }
    if (r.to) deliver(into, *r.block, bytes_of(*r.from), r.to->name);
  }

  /// Everything is there: all of it becomes the session's in one moment.
  void commit() {
    if (kept_ && !core_.variables_.waiting) {
      auto* const made = new restored_values;
      const mutex_lock lock(core_.mutex_);
      core_.variables_.waiting = made;
    }
    auto* const waiting = static_cast<restored_values*>(core_.variables_.waiting);
    mutex none;
    const mutex_lock one(waiting ? waiting->busy : none);
    const mutex_lock lock(core_.mutex_);
    for (restored* r = restored_; r; r = r->next) {
      if (r->to) set(*r->to, r->block, r->shape, r->to->where);
      if (waiting) waiting->remove(waiting->find(r->to ? r->to->name : r->from->name));
    }
    while (kept_) {
      restored_values::value* const v = kept_;
      kept_ = v->next;
      v->next = waiting->first;
      waiting->first = v;
    }
  }

  bool has_value(const graph_node& n) const {
    const mutex_lock lock(core_.mutex_);
    const variable* v = core_.variables_.find(n.id);
    return v && v->value;
  }

  static void set(variable& v, device_block* value, const extents& shape, const place& where) {
    value->retain();
    if (v.value) v.value->drop();
    v.value = value;
    v.shape = shape;
    v.where = where;
    v.restored = true;
  }

  // ---- both -----------------------------------------------------------------------------------------------

  /// What other processes must do, too.
  program_identity identity(std::string_view what, const std::string& path) {
    program_identity p;
    if (!core_.group_) return p;
    p.operation = kept_text((message(what) << path << "'").text(), memory_);
    p.hash = hash_text(p.operation);
    filter_.each([&](const graph_node& n) {
      p.hash = hash_mix(p.hash, n.id);
      ++p.nodes;
    });
    return p;
  }

  static std::int64_t bytes_of(const stored_tensor& t) { return static_cast<std::int64_t>(t.end - t.begin); }
  static std::int64_t bytes_of(const restored_values::value& v) { return v.shape.size() * size_of(v.type); }

  session_core& core_;
  variable_filter filter_;
  arena memory_;
  stored_tensors* file_ = nullptr;
  stored_tensor* saved_ = nullptr;       // each a `saved`
  const stored_tensor* next_ = nullptr;  // the first of them whose values have not come or gone
  restored* restored_ = nullptr;
  restored_values::value* kept_ = nullptr;  // new ones, not the session's yet
  checkpoint* next_left_ = nullptr;
};

inline restored_values::restored_values() {
  hand_over = [](waiting_values& from, session_core& to, const meaning& program, agreed_run& together) {
    bool any = false;
    checkpoint::with(to, {nullptr, 0},
                     [&](checkpoint& c) { any = c.hand_over(static_cast<restored_values&>(from), program, together); });
    if (any && together.group() && together.group()->shared) together.group()->shared->keep_restored(false);
    return any;
  };
  destroy = [](waiting_values* all) { delete static_cast<restored_values*>(all); };
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
