// SPDX-License-Identifier: BSL-1.0
// Checkpoints: the variables of a session in a safetensors file, saved and restored.
#pragma once

#include <onto/session/core.hpp>
#include <onto/tensor/safetensors_file.hpp>

#include <cstdlib>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Values from files that wait, on the host, for a program that reads a variable of their name.
struct restored_values : waiting_values {
  struct value {
    std::string name, file;
    element type = element::float32;
    extents shape{};
    device_block* block = nullptr;
    value* next = nullptr;
  };

  restored_values();
  restored_values(const restored_values&) = delete;
  restored_values& operator=(const restored_values&) = delete;
  ~restored_values() { delete_all(first); }

  static void delete_all(value* v) {
    while (v) {
      value* next = v->next;
      if (v->block) v->block->drop();
      delete v;
      v = next;
    }
  }
  value* find(std::string_view name) const {
    value* v = first;
    while (v && v->name != name) v = v->next;
    return v;
  }
  void remove(value* gone) {
    value** at = &first;
    while (*at && *at != gone) at = &(*at)->next;
    if (!*at) return;
    *at = gone->next;
    gone->next = nullptr;
    delete_all(gone);
  }

  mutex busy;  // one program at a time is handed values; nothing is added meanwhile
  value* first = nullptr;
};

/// The graphs whose variables are meant; none means all variables.
struct variable_filter {
  const graph_view* const* graphs;
  int count;

  /// Whether `name`, and of a known variable its `id`, is of a variable in the graphs.
  bool has(std::string_view name, const std::uint64_t* id) const {
    bool found = count == 0;
    each([&](const graph_node& n) { found = found || (n.name == name && (!id || n.id == *id)); });
    return found;
  }
  template <class Function>
  void each(const Function& f) const {
    for (int k = 0; k < count; ++k)
      for (int n = 0; n < graphs[k]->count; ++n)
        if ((*graphs[k])[n].kind() == op_kind::variable) f((*graphs[k])[n]);
  }
};

/// What is done with the variables of a session and a file.
class checkpoint {
 public:
  checkpoint(session_core& core, variable_filter filter) : core_(core), filter_(filter) {}
  checkpoint(const checkpoint&) = delete;
  checkpoint& operator=(const checkpoint&) = delete;
  ~checkpoint() {
    for (const stored_tensor* s = saved_; s; s = s->next) static_cast<const saved*>(s)->block->drop();
    for (restored* r = restored_; r; r = r->next)
      if (r->block) r->block->drop();
    restored_values::delete_all(kept_);
    std::free(staging_);
  }

  ONTO_COLD void save(const std::string& path) {
    collect(path);
    write_safetensors(
        path, saved_,
        [](void* self, const tensor_to_store& t) {
          return static_cast<checkpoint*>(self)->on_host(*static_cast<const saved&>(t).block, t);
        },
        this);
  }

  ONTO_COLD void restore(const std::string& path) {
    const stored_tensors file(path);
    const mutex_lock no_writes(core_.writers_);
    find_targets(file);
    for (restored* r = restored_; r; r = r->next) read(file, *r);
    commit();
  }

  /// Gives waiting values to a program's variables, on the devices where it has them.
  ONTO_COLD bool hand_over(restored_values& waiting, const meaning& m) {
    const mutex_lock one(waiting.busy);
    const graph_view& g = m.program->graph;
    auto* pinned = memory_.make<place>(g.count);
    auto* where = memory_.make<node_placement>(g.count);
    core_.pinned_places(g, pinned);
    core_.place_nodes_or_throw(*m.program, m.state, pinned, where);
    bool any = false;
    for (int n = 0; n < g.count; ++n) {
      if (g[n].kind() != op_kind::variable || !is_read(g, n)) continue;
      restored_values::value* const from = waiting.find(g[n].name);
      if (!from || has_value(g[n])) continue;
      expect_fit(g[n], *from);
      device& to = device_at(where[n].where);
      const ref<device_block> block = moved(from->block, from->shape.size() * size_of(from->type), to, g[n].name);
      const mutex_lock lock(core_.mutex_);
      variable& v = core_.variables_.of(g[n]);
      if (v.value) continue;
      set(v, block.get(), from->shape, to.where());
      waiting.remove(from);
      any = true;
    }
    return any;
  }

 private:
  struct saved : tensor_to_store {
    const device_block* block = nullptr;
  };
  /// A tensor that a variable gets, or, where it is null, that waits for one.
  struct restored {
    const stored_tensor* from = nullptr;
    variable* to = nullptr;
    place where{};  // of that variable
    extents shape{};
    device_block* block = nullptr;
    restored* next = nullptr;
  };

  // ---- saving ---------------------------------------------------------------------------------------------

  /// The values of one moment: a run that writes several variables is seen whole or not at all.
  void collect(const std::string& path) {
    message unset;
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
      if (auto* waiting = static_cast<restored_values*>(core_.variables_.waiting))
        for (const restored_values::value* v = waiting->first; v; v = v->next)
          if (filter_.has(v->name, nullptr) && !find_saved(v->name))
            add(kept_text(v->name, memory_), v->type, v->shape, v->block);
    }
    filter_.each([&](const graph_node& n) {
      if (!find_saved(n.name)) unset << (unset.empty() ? "'" : ", '") << n.name << "'";
    });
    if (!unset.empty())
      fail<failed_precondition_error>(message("[onto.checkpoint] ") << path << ": variable " << unset.text()
                                                                    << " has no value yet; initialize it first");
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
    block->retain();
    s->next = saved_;
    saved_ = s;
  }

  /// The values of a block, where the host can read them until the next call.
  const void* on_host(const device_block& block, const stored_tensor& t) {
    device& from = device_at(block.owner().where());
    const auto bytes = static_cast<std::int64_t>(t.end - t.begin);
    if (from.is_host() || bytes == 0) return block.data();
    std::free(staging_);
    staging_ = std::malloc(static_cast<std::size_t>(bytes));
    if (!staging_) throw_no_host_memory();
    copy(from, stream_kind::out, block.data(), staging_, bytes, t.name);
    return staging_;
  }

  // ---- restoring ------------------------------------------------------------------------------------------

  /// Which tensors go where. *Throws* where they do not fit.
  void find_targets(const stored_tensors& file) {
    const safetensors_header& header = file.header();
    message missing;
    const auto expect = [&](std::string_view name, element type, const extents& declared) {
      if (const stored_tensor* t = header.find(name))
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
      expect(v->name, v->type, v->declared);
      for (restored* r = restored_; r; r = r->next)
        if (r->from->name == v->name) {
          if (r->to)
            fail<invalid_argument_error>(message("[onto.checkpoint] ")
                                         << file.path() << ": two variables of the session are named '" << v->name
                                         << "'; restore one alone: restore(path, variable)");
          r->to = v;
          r->where = v->where;
        }
    }
    if (!missing.empty())
      fail<invalid_argument_error>(message("[onto.checkpoint] ")
                                   << file.path() << ": it has no tensor for the session's " << missing.text()
                                   << "; restore the variables that it has alone: restore(path, variables...)");
  }

  void read(const stored_tensors& file, restored& r) {
    const auto bytes = static_cast<std::int64_t>(r.from->end - r.from->begin);
    device* reader = r.to ? &device_at(r.where) : nullptr;
    for (int d = 0; !reader || !reader->is_host(); ++d) reader = &core_.devices_[d];
    ref<device_block> block = reader->reserve({bytes, "restored variable", r.to ? r.to->name : std::string_view{}});
    file.read(*r.from, block->data());
    if (r.to) {
      r.block = moved(block.get(), bytes, device_at(r.where), r.to->name).release();
      return;
    }
    auto* v = new restored_values::value;
    v->next = kept_;
    kept_ = v;
    v->name = r.from->name;
    v->file = file.path();
    v->type = safetensors_header::type_of(*r.from);
    v->shape = r.shape;
    v->block = block.release();
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
      if (r->to) set(*r->to, r->block, r->shape, r->where);
      if (waiting) waiting->remove(waiting->find(r->from->name));
    }
    while (kept_) {
      restored_values::value* const v = kept_;
      kept_ = v->next;
      v->next = waiting->first;
      waiting->first = v;
    }
  }

  void expect_fit(const graph_node& n, const restored_values::value& from) const {
    bool fits = n.type == from.type && n.shape.rank == from.shape.rank;
    for (int k = 0; fits && k < n.shape.rank; ++k) fits = n.shape[k] == dyn || n.shape[k] == from.shape[k];
    if (!fits)
      fail<invalid_argument_error>(message("[onto.checkpoint] variable '")
                                   << n.name << "' is " << name_of(n.type) << n.shape << ", and the tensor '" << n.name
                                   << "' of " << from.file << ", which was restored, is " << name_of(from.type)
                                   << from.shape << "; use that type and shape, or initialize the variable");
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
  }

  // ---- both -----------------------------------------------------------------------------------------------

  device& device_at(const place& p) const { return core_.devices_[core_.devices_.index_of(p)]; }

  /// A block of the host's, or its copy on another device.
  ref<device_block> moved(device_block* block, std::int64_t bytes, device& to, std::string_view name) const {
    block->retain();
    ref<device_block> here(block);
    if (&here->owner() == &to) return here;
    ref<device_block> there = to.reserve({bytes, "variable", name});
    copy(to, stream_kind::in, here->data(), there->data(), bytes, name);
    return there;
  }

  /// Copies between the host and a device, and waits.
  static void copy(device& d, stream_kind stream, const void* from, void* to, std::int64_t bytes,
                   std::string_view name) {
    if (bytes == 0) return;
    run_state progress;
    const work_label label{name, "checkpoint", bytes, 0};
    host_slot slot{stream == stream_kind::in ? const_cast<void*>(from) : to};
    try {
      const ref<device_event> end = d.make_event();
      if (stream == stream_kind::in)
        d.copy_in({progress, label}, to, slot, bytes);
      else
        d.copy_out({progress, label}, slot, from, bytes);
      if (end) {
        d.record(progress, stream, *end);
        end->wait();
      }
    } catch (...) {
      progress.fail(named_failure(label, d.where()));
    }
    if (!progress.failed()) return;
    d.finish(stream);
    progress.rethrow();
  }

  session_core& core_;
  variable_filter filter_;
  arena memory_;
  stored_tensor* saved_ = nullptr;  // each a `saved`
  restored* restored_ = nullptr;
  restored_values::value* kept_ = nullptr;  // new ones, not the session's yet
  void* staging_ = nullptr;
};

inline restored_values::restored_values() {
  hand_over = [](waiting_values& from, session_core& to, const meaning& program) {
    return checkpoint(to, {nullptr, 0}).hand_over(static_cast<restored_values&>(from), program);
  };
  destroy = [](waiting_values* all) { delete static_cast<restored_values*>(all); };
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
