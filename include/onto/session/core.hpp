// SPDX-License-Identifier: BSL-1.0
// The part of a session that knows no expression type: devices, variables, programs that are bound, the log. Plain
// arrays and lists throughout, since this is compiled in every program that has a session.
#pragma once

#include <onto/expr/symbol.hpp>
#include <onto/session/execute.hpp>
#include <onto/session/infer.hpp>
#include <onto/session/options.hpp>
#include <onto/session/placement_text.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// A program to run, without its types.
struct run_request {
  const compiled_program* program = nullptr;
  const state* const* states = nullptr;  // per fetch
  const feed_ref* const* feeds = nullptr;
  int feed_count = 0;
  void* (*allocate)(void* context, int fetch, const extents& shape) = nullptr;  // memory for a result
  void* context = nullptr;
};

/// A program with its placement, before anything is known of its data.
struct placed_program {
  program_state state;
  place* pinned = nullptr;
  node_placement* where = nullptr;
  arena memory;
};

class session_core {
 public:
  session_core(device_list&& devices, const session_options& options)
      : devices_(static_cast<device_list&&>(devices)), options_(options) {}
  session_core(const session_core&) = delete;
  session_core& operator=(const session_core&) = delete;
  ~session_core() {
    while (idle_) {
      bound_program* next = idle_->next;
      delete idle_;
      idle_ = next;
    }
    while (variables_) {
      variable* next = variables_->next;
      if (variables_->value) variables_->value->release();
      delete variables_;
      variables_ = next;
    }
    while (logged_) {
      logged* next = logged_->next;
      delete logged_;
      logged_ = next;
    }
  }

  const device_list& devices() const { return devices_; }

  /// *Throws* `invalid_argument_error` where operations cannot be placed.
  ONTO_COLD void place_program(const compiled_program& p, const state* const* states, placed_program& out) {
    out.state = resolve_state(p.graph, states, out.memory);
    out.pinned = pinned_places(p.graph, out.memory);
    out.where = out.memory.make<node_placement>(p.graph.count);
    place_nodes_or_throw(p.graph, out.state, out.pinned, out.where);
  }

  /// Fixes the variables of a program to the devices where its placement has them, as far as they are new.
  ONTO_COLD void pin_variables(const compiled_program& p, const state* const* states) {
    placed_program placed;
    place_program(p, states, placed);
    for (int n = 0; n < p.graph.count; ++n) {
      if (p.graph[n].kind() != op_kind::variable) continue;
      if (options_.log_device_placement && is_move(placed.where[n].reason)) {
        message m;
        write_placement(m, p.graph, placed.state, n, placed.where[n]);
        options_.log.write(m.text());
      }
      mutex_lock lock(mutex_);
      slot_of(p.graph[n]).where = placed.where[n].where;
    }
  }

  /// *Throws* `failed_precondition_error` for a variable of the program that has no value.
  ONTO_COLD void expect_initialized(const graph_view& g) {
    mutex_lock lock(mutex_);
    for (int n = 0; n < g.count; ++n)
      if (g[n].kind() == op_kind::variable && !slot_of(g[n]).value)
        fail<failed_precondition_error>(message("[onto.variable] variable '")
                                        << g[n].name
                                        << "' has no initial value; write variable<...>(value), or assign to it");
  }

  ONTO_NOINLINE void run(const run_request& r) {
    const graph_view& g = r.program->graph;
    arena memory;
    const program_state s = resolve_state(g, r.states, memory);
    bool writes = false;
    for (int n = 0; n < g.count; ++n) writes = writes || g[n].kind() == op_kind::assign;
    // Runs that write variables come one after the other, so no update is lost; others read the last complete values.
    const mutex_lock writer(writers_, writes);

    run_data d;
    d.values = s.values;
    d.results = memory.make<void*>(g.fetch_count);
    const extents* shapes = leaves(r, s, d, memory);
    const place* pinned = pinned_places(g, memory);
    bound_program* b = take(r.program, shapes, s, pinned);
    if (!b) b = bind(*r.program, s, shapes, pinned);
    try {
      for (int k = 0; k < g.fetch_count; ++k) d.results[k] = r.allocate(r.context, k, b->shapes[g.fetches[k]]);
      execution e(*b, devices_, d, memory);
      e.run();
      if (writes) commit(g, *b, e.written);
    } catch (...) {
      delete b;
      throw;
    }
    give_back(b);
  }

 private:
  struct variable {
    std::uint64_t id = 0;
    extents shape{};
    place where{};
    device_block* value = nullptr;  // null until initialized
    variable* next = nullptr;
  };
  struct logged {
    const compiled_program* program;
    std::uint64_t placement;
    logged* next;
  };

  variable* find_variable(std::uint64_t id) const {
    variable* v = variables_;
    while (v && v->id != id) v = v->next;
    return v;
  }

  variable& slot_of(const graph_node& n) {
    if (variable* v = find_variable(n.id)) return *v;
    auto* v = new variable;
    v->id = n.id;
    v->shape = n.shape;
    v->next = variables_;
    variables_ = v;
    return *v;
  }

  place* pinned_places(const graph_view& g, arena& memory) {
    auto* pinned = memory.make<place>(g.count);
    mutex_lock lock(mutex_);
    for (int n = 0; n < g.count; ++n)
      if (g[n].kind() == op_kind::variable)
        if (const variable* v = find_variable(g[n].id)) pinned[n] = v->where;
    return pinned;
  }

  void place_nodes_or_throw(const graph_view& g, const program_state& s, const place* pinned,
                            node_placement* where) const {
    placer_input in;
    in.requests = s.places;
    in.foreign = s.foreign;
    in.pinned = pinned;
    in.devices = devices_.places();
    in.device_count = devices_.count();
    in.soft = options_.allow_soft_placement;
    if (!place_nodes(g, in, where)) throw_unplaceable(g, s, where, devices_.places(), devices_.count());
  }

  /// Shapes and data of the leaves. *Throws* for a missing feed, a feed of another shape, a variable without a value.
  const extents* leaves(const run_request& r, const program_state& s, run_data& d, arena& memory) {
    const graph_view& g = r.program->graph;
    auto* shapes = memory.make<extents>(g.count);
    d.leaf = memory.make<const void*>(g.count);
    d.variable = memory.make<const device_block*>(g.count);
    d.nodes = g.count;
    message unset;
    for (int n = 0; n < g.count; ++n) {
      const op_kind kind = g[n].kind();
      if (!g[n].is_leaf()) continue;
      shapes[n] = g[n].shape;
      if (kind == op_kind::placeholder) {
        const feed_ref& feed = feed_for(g[n], r);
        shapes[n] = feed.shape;
        d.leaf[n] = feed.data;
      } else if (kind == op_kind::constant) {
        shapes[n] = s.values[n]->shape;
        d.leaf[n] = s.values[n]->values;
      } else if (kind == op_kind::variable) {
        mutex_lock lock(mutex_);
        const variable& v = slot_of(g[n]);
        if (v.value) {
          v.value->retain();
          d.variable[n] = v.value;
          shapes[n] = v.shape;
        } else if (is_read(g, n)) {
          unset << (unset.empty() ? "'" : ", '") << g[n].name << "'";
        }
      }
    }
    if (!unset.empty())
      fail<failed_precondition_error>(message("[onto.variable] variable ")
                                      << unset.text()
                                      << " has no value yet; call session.initialize(e) or run(initialize(w)) first");
    return shapes;
  }

  static const feed_ref& feed_for(const graph_node& n, const run_request& r) {
    int f = 0;
    while (f < r.feed_count && r.feeds[f]->id != n.id) ++f;
    if (f == r.feed_count)
      fail<invalid_argument_error>(message("[onto.feed] placeholder '")
                                   << n.name << "' is not fed; give run a value: " << n.name << " = data");
    const feed_ref& feed = *r.feeds[f];
    bool fits = n.shape.rank == feed.shape.rank;
    for (int k = 0; fits && k < n.shape.rank; ++k)
      fits = n.shape.dims[k] == dyn || n.shape.dims[k] == feed.shape.dims[k];
    if (!fits)
      fail<invalid_argument_error>(message("[onto.feed] placeholder '")
                                   << n.name << "' has shape " << n.shape << " and was fed " << feed.shape
                                   << "; feed data of that shape");
    return feed;
  }

  /// Whether a run needs the variable's old value.
  static bool is_read(const graph_view& g, int v) {
    for (int k = 0; k < g.fetch_count; ++k)
      if (g.fetches[k] == v) return true;
    for (int n = 0; n < g.count; ++n)
      for (int k = 0; k < g[n].count; ++k)
        if (g.operand(n, k) == v && !(k == 0 && is_operation<op::assign>(g[n].op))) return true;
    return false;
  }

  ONTO_NOINLINE bound_program* bind(const compiled_program& p, const program_state& s, const extents* leaf_shapes,
                                    const place* pinned) {
    auto* b = new bound_program;
    try {
      b->program = &p;
      b->leaf_shapes = b->memory.copy(leaf_shapes, p.graph.count);
      b->places = b->memory.copy(s.places, p.graph.count);
      b->pinned = b->memory.copy(pinned, p.graph.count);
      b->shapes = b->memory.copy(leaf_shapes, p.graph.count);
      b->where = b->memory.make<node_placement>(p.graph.count);
      infer_shapes(p.graph, b->shapes);
      place_nodes_or_throw(p.graph, s, pinned, b->where);
      log_placement(p, s, b->where);
      binder(devices_, *b).run();
    } catch (...) {
      delete b;
      throw;
    }
    return b;
  }

  /// A bound program that is not in use and fits, or null.
  bound_program* take(const compiled_program* p, const extents* shapes, const program_state& s, const place* pinned) {
    mutex_lock lock(mutex_);
    for (bound_program** at = &idle_; *at; at = &(*at)->next) {
      bound_program* b = *at;
      if (b->program != p) continue;
      bool same = true;
      for (int n = 0; same && n < p->graph.count; ++n)
        same = b->leaf_shapes[n] == shapes[n] && b->places[n] == s.places[n] && b->pinned[n] == pinned[n];
      if (!same) continue;
      *at = b->next;
      --idle_count_;
      return b;
    }
    return nullptr;
  }

  void give_back(bound_program* b) {
    bound_program* dropped = nullptr;
    {
      mutex_lock lock(mutex_);
      b->next = idle_;
      idle_ = b;
      if (++idle_count_ > remembered) {
        bound_program** last = &idle_;
        while ((*last)->next) last = &(*last)->next;
        dropped = *last;
        *last = nullptr;
        --idle_count_;
      }
    }
    delete dropped;
  }

  void commit(const graph_view& g, const bound_program& b, device_block** written) {
    mutex_lock lock(mutex_);
    for (int v = 0; v < b.counts.values; ++v) {
      if (!b.values[v].variable) continue;
      const int n = g.operand(b.values[v].node, 0);
      variable& slot = slot_of(g[n]);  // was made when the run began
      if (slot.value) slot.value->release();
      slot.value = written[v];
      slot.where = b.values[v].at;
      slot.shape = b.shapes[n];
      written[v] = nullptr;
    }
  }

  /// Once per program and placement: the devices, then a line a node.
  ONTO_COLD ONTO_NOINLINE void log_placement(const compiled_program& p, const program_state& s,
                                             const node_placement* where) {
    if (!options_.log_device_placement) return;
    std::uint64_t key = 0;
    for (int n = 0; n < p.graph.count; ++n) {
      const place& w = where[n].where;
      key = hash_mix(key, static_cast<std::uint64_t>(w.kind) * 65536 + static_cast<std::uint64_t>(w.index + 1));
      key = hash_mix(key, static_cast<std::uint64_t>(s.places[n].kind) * 65536 +
                              static_cast<std::uint64_t>(s.places[n].index + 1));
    }
    mutex_lock lock(log_mutex_);
    for (const logged* l = logged_; l; l = l->next)
      if (l->program == &p && l->placement == key) return;
    logged_ = new logged{&p, key, logged_};
    bool any = false;
    message m;
    for (int d = 0; d < devices_.count(); ++d) {
      const std::string description = devices_[d].description();
      if (description.empty()) continue;
      if (!any) options_.log.write("Device mapping:");
      any = true;
      m.clear();
      write_device(m, devices_[d].where()) << " -> " << description;
      options_.log.write(m.text());
    }
    if (!any) options_.log.write("Device mapping: no known devices.");
    for (int n = 0; n < p.graph.count; ++n) {
      if (p.graph[n].kind() == op_kind::scalar) continue;
      m.clear();
      write_placement(m, p.graph, s, n, where[n]);
      options_.log.write(m.text());
    }
  }

  static constexpr int remembered = 64;  // bound programs that wait for their next run

  device_list devices_;
  session_options options_;
  mutex mutex_;  // of variables_ and idle_
  mutex writers_;
  mutex log_mutex_;
  variable* variables_ = nullptr;
  bound_program* idle_ = nullptr;
  int idle_count_ = 0;
  logged* logged_ = nullptr;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
