// SPDX-License-Identifier: BSL-1.0
// The part of a session that knows no expression type: devices, variables, programs that are bound, the log. Plain
// arrays and lists throughout, since this is compiled in every program that has a session.
#pragma once

#include <onto/session/execute.hpp>
#include <onto/session/feeds.hpp>
#include <onto/session/idle_programs.hpp>
#include <onto/session/infer.hpp>
#include <onto/session/placement_log.hpp>
#include <onto/session/prepared_program.hpp>
#include <onto/session/session_runtime.hpp>
#include <onto/session/staged_results.hpp>
#include <onto/session/together_functions.hpp>
#include <onto/session/trace.hpp>
#include <onto/session/variables.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class session_core final : public session_runtime {
 public:
  /// `trace`: of several processes, which it takes over.
  session_core(device_list&& devices, const session_options& options, ref<process_group> group = {},
               trace_sink* trace = nullptr)
      : group_(static_cast<ref<process_group>&&>(group)),
        devices_(static_cast<device_list&&>(devices)),
        sink_(options.log),
        logs_placement_(options.log_device_placement),
        soft_(options.allow_soft_placement),
        products_{.tf32 = options.math == math_mode::tf32, .tune = options.tune_matmul},
        simulates_(options.simulation.is_set()),
        trace_(group_ || options.trace.empty() ? trace : options.trace.make(options.trace.path())) {
    const bool watched = group_ || trace_ || simulates_ || logs_placement_;
    if (devices_.count() == 1 && !watched) unwatched_kernels = &devices_[0].counters.kernels;
  }
  ~session_core() override {
    together_.finish();
    idle_.clear();
    delete trace_;
  }

  const device_list& devices() const { return devices_; }
  process_group* group() const { return group_.get(); }

  /// Simulated seconds that all runs have taken.
  double simulated_seconds() {
    mutex_lock lock(mutex_);
    return clock_;
  }

  /// Gives back what no variable and no prepared program holds.
  ONTO_COLD void trim() {
    idle_.clear();
    for (int d = 0; d < devices_.count(); ++d) devices_[d].trim();
    trim_storage();
  }

  /// *Throws* `invalid_argument_error` where operations cannot be placed.
  ONTO_COLD void place_program(const compiled_program& p, const state* const* states, placed_program& out) {
    out.of = refined_.resolve(p, states, out.memory);
    const graph_view& g = out.of.program->graph;
    out.pinned = out.memory.make<place>(g.count);
    pinned_places(g, out.pinned);
    out.where = out.memory.make<node_placement>(g.count);
    place_nodes_or_throw(*out.of.program, out.of.state, out.pinned, out.where);
  }

  /// Fixes the variables of a program to the devices where its placement has them, as far as they are new.
  ONTO_COLD void pin_variables(const compiled_program& p, const state* const* states) {
    placed_program placed;
    place_program(p, states, placed);
    const graph_view& g = placed.of.program->graph;
    for (int n = 0; n < g.count; ++n) {
      if (g[n].kind() != op_kind::variable) continue;
      if (logs_placement_ && is_move(placed.where[n].reason) && same_task(placed.where[n].where, devices_.here())) {
        message m;
        write_placement(m, g, node_names(g), placed.of.state, n, placed.where[n]);
        sink_.write(m.text());
      }
      mutex_lock lock(mutex_);
      variables_.of(g[n]).where = placed.where[n].where;
    }
  }

  /// Whether runs are those of `session::initialize`, whose first values are logged under one heading.
  ONTO_COLD void log_first_values(bool on) { log_.first_values(on); }

  /// *Throws* `failed_precondition_error` for a variable of the program that has no value.
  ONTO_COLD void expect_initialized(const graph_view& g) {
    mutex_lock lock(mutex_);
    for (int n = 0; n < g.count; ++n)
      if (g[n].kind() == op_kind::variable && !variables_.of(g[n]).value)
        fail<failed_precondition_error>(message("[onto.variable] variable '")
                                        << g[n].name
                                        << "' has no initial value; write variable<...>(value), or assign to it");
  }

  /// Resolves and places a program, and takes its memory where its shapes are known already.
  /// *Throws* `invalid_argument_error` where operations cannot be placed.
  ONTO_COLD ref<prepared_program> prepare(const compiled_program& program, const state* const* states) {
    if (group_) group_->programs->take_turn(*this);
    try {
      return group_ ? group_->programs->prepare(*this, program, states) : prepared(program, states);
    } catch (const std::bad_alloc&) {
      throw_no_host_memory();
    }
  }

  ONTO_NOINLINE void run(const run_request& r) {
    if (unwatched_kernels && idle_.run_on_host(r, devices_)) return;
    if (group_) group_->programs->take_turn(*this);
    try {
      alignas(16) char first[4096];
      arena memory(first, sizeof first);
      const meaning m = refined_.resolve(*r.program, r.states, memory);
      if (unwatched_kernels && m.refined && !m.state.text && idle_.run_on_host(r, m.program, m.state.values, devices_))
        return;
      run_leaves leaves(m.program->graph, memory);
      run_resolved(r, m, leaves, nullptr);
    } catch (const std::bad_alloc&) {
      throw_no_host_memory();
    }
  }

  ONTO_NOINLINE void run(prepared_program& p, const run_request& r) {
    if (unwatched_kernels && run_on_host(p, r, devices_[0])) return;
    if (group_) group_->programs->take_turn(*this);
    const mutex_lock one(p.busy);
    try {
      p.leaves.let_go();  // of a run that failed
      run_resolved(r, p.of, p.leaves, &p);
    } catch (const std::bad_alloc&) {
      throw_no_host_memory();
    }
  }

 private:
  friend class checkpoint;
  friend class stored_variables;
  friend class together;

  /// What the host keeps of the runs that set a program up would wait for nobody.
  ONTO_INLINE void trim_host() {
    for (int d = 0; d < devices_.count(); ++d)
      if (devices_[d].is_host()) devices_[d].trim();
    trim_storage();
  }

  ONTO_COLD ref<prepared_program> prepared(const compiled_program& program, const state* const* states) {
    trim_host();
    ref<prepared_program> p(new prepared_program);
    p->of = refined_.resolve(program, states, p->memory);
    const graph_view& g = p->of.program->graph;
    p->leaves.open(g, p->memory);
    run_leaves& leaves = p->leaves;
    arena memory;
    pinned_places(g, leaves.pinned);
    place_nodes_or_throw(*p->of.program, p->of.state, leaves.pinned, memory.make<node_placement>(g.count));
    bool known = true;
    p->is_of_host = asks_for_host(p->of);
    for (int n = 0; n < g.count; ++n) {
      if (!g[n].is_leaf()) continue;
      leaves.shapes[n] = g[n].kind() == op_kind::constant ? shape_of(*p->of.state.values[n]) : g[n].shape;
      known = known && leaves.shapes[n].is_static();
    }
    if (known) {
      p->bound = bind(p->of, leaves, true);
      execution(*p->bound, devices_).reserve();
    }
    return p;
  }

  ONTO_NOINLINE void run_resolved(const run_request& r, const meaning& m, run_leaves& leaves, prepared_program* p) {
    const graph_view& g = m.program->graph;
    const bool writes = leaves.writes;
    agreed_run together(group_.get());
    if (group_) together.of(group_->programs->identity_of(m));
    // Runs that write variables come one after the other, so no update is lost; others read the last complete values.
    const mutex_lock writer(writers_, writes);

    bound_program* b = nullptr;
    try {
      gather(r, m, leaves, together);
      if (group_) group_->programs->hear_shapes(*this, r, m, leaves, together);
      const wanted_program wanted{m.program, leaves, m.state};
      b = p ? p->take(leaves) : idle_.take(&wanted_program::fits, &wanted);
      if (!b) {
        b = bind(m, leaves, p != nullptr);
        if (p) p->make_room();
      }
    } catch (...) {
      together.fail();
    }
    try {
      for (int k = 0; k < leaves.count; ++k) {
        const int n = leaves.list[k];
        b->leaf[n] = leaves.data[n];
        b->variable[n] = leaves.variable[n];
        leaves.variable[n] = nullptr;
      }
      b->scalars = m.state.values;
      staged_results results(
          r, {g, b->shapes, b->bytes, b->leaf, b->leaves, b->leaf_count, b->results, b->variable, b->absent});
      begin(b->progress);
      // What is staged is not delivered yet when the updates run, and a trace is of all that runs.
      b->deferred = group_ || trace_ || results.any() ? 0 : b->counts.in_place;
      execution of_run(*b, devices_);
      of_run.run(together);
      if (b->deferred > 0) of_run.expect_updates();
      results.deliver();
      if (writes) commit(g, *b, leaves, of_run);
      end(b->progress);
    } catch (...) {
      if (group_ && group_->is_broken())
        group_->programs->keep(*this, b);
      else
        delete b;
      if (trace_) finish_trace();
      together.fail();
    }
    b->end_run();
    if (p) {
      b->next = p->bound;
      p->bound = b;
    } else {
      idle_.give_back(b);
    }
    if (trace_) finish_trace();
  }

  ONTO_COLD void finish_trace() {
    if (trace_->flush()) return;
    message m("The trace '");
    sink_.write((m << trace_->path() << "' could not be written to its end: " << std::strerror(errno)).text());
  }

  void begin(run_state& s) {
    s.trace = trace_;
    const mutex_lock lock(mutex_, simulates_);
    s.now = simulates_ ? clock_ : 0;
  }
  void end(const run_state& s) {
    const mutex_lock lock(mutex_, simulates_);
    if (s.now > clock_) clock_ = s.now;
  }

  void pinned_places(const graph_view& g, place* pinned) {
    mutex_lock lock(mutex_);
    for (int n = 0; n < g.count; ++n)
      if (g[n].kind() == op_kind::variable)
        if (const variable* v = variables_.find(g[n].id)) pinned[n] = v->where;
  }

  void place_nodes_or_throw(const compiled_program& p, const program_state& s, const place* pinned,
                            node_placement* where) const {
    placer_input in;
    in.requests = s.places;
    in.foreign = s.foreign;
    in.pinned = pinned;
    in.devices = devices_.places();
    in.device_count = devices_.count();
    in.soft = soft_;
    if (!place_nodes(p.graph, in, where)) throw_unplaceable(p.graph, s, where, devices_.places(), devices_.count());
    move_missing_kernels(p, s, devices_, soft_, where);
  }

  /// Shapes and data of the leaves, and where variables are: of one moment, so that a run that writes several is seen
  /// whole or not at all. *Throws* for a missing feed, a feed of another shape, a variable without a value.
  void gather(const run_request& r, const meaning& m, run_leaves& out, agreed_run& together) {
    const graph_view& g = m.program->graph;
    message unset;
    int unset_count = 0;
    {
      const mutex_lock lock(mutex_);
      for (int k = 0; k < out.count; ++k) {
        const int n = out.list[k];
        const op_kind kind = g[n].kind();
        if (kind == op_kind::placeholder) {
          out.shapes[n] = g[n].shape;
          out.data[n].data = nullptr;
          if (group_ && !group_->programs->is_fed_well(g[n], r)) continue;  // to another task, it may be
          const feed_ref& feed = feed_for(g[n], r);
          out.shapes[n] = feed.shape;
          out.data[n].data = const_cast<void*>(feed.data);
        } else if (kind == op_kind::constant) {
          out.shapes[n] = shape_of(*m.state.values[n]);
          out.data[n].data = const_cast<void*>(values_of(*m.state.values[n]));
        } else if (kind == op_kind::variable) {
          if (!out.known[n]) out.known[n] = &variables_.of(g[n]);
          const variable& v = *out.known[n];
          out.pinned[n] = v.where;
          out.shapes[n] = g[n].shape;
          if (v.value) {
            v.value->retain();
            out.variable[n] = v.value;
            out.shapes[n] = v.shape;
          } else if (is_read(g, n)) {
            unset << (unset_count++ == 0 ? "'" : ", '") << g[n].name << "'";
            if (g[n].name == "step" && g[n].type == element::int64 && g[n].shape.rank == 0)
              unset << " (the count of training steps, which dropout and schedules read)";
          }
        }
      }
    }
    if (unset_count == 0) return;
    if (variables_.waiting && variables_.waiting->hand_over(*variables_.waiting, *this, m, together)) {
      out.let_go();
      return gather(r, m, out, together);
    }
    fail<failed_precondition_error>(message("[onto.variable] variable")
                                    << (unset_count > 1 ? "s " : " ") << unset.text()
                                    << (unset_count > 1 ? " have" : " has")
                                    << " no value yet; call session.initialize(e) or run(initialize(w)) first");
  }

  ONTO_NOINLINE bound_program* bind(const meaning& m, const run_leaves& leaves, bool kept) {
    const compiled_program& p = *m.program;
    const program_state& s = m.state;
    auto* b = new bound_program;
    try {
      b->program = &p;
      b->refined = m.refined;
      b->kept = kept;
      b->leaf_shapes = b->memory.copy(leaves.shapes, p.graph.count);
      b->places = b->memory.copy(s.places, p.graph.count);
      b->pinned = b->memory.copy(leaves.pinned, p.graph.count);
      b->leaves = b->memory.copy(leaves.list, leaves.count);
      b->leaf_count = leaves.count;
      b->shapes = b->memory.copy(leaves.shapes, p.graph.count);
      b->where = b->memory.make<node_placement>(p.graph.count);
      infer_shapes(p.graph, b->shapes);
      b->bytes = b->memory.make<std::int64_t>(p.graph.count);
      for (int n = 0; n < p.graph.count; ++n) b->bytes[n] = b->shapes[n].size() * size_of(p.graph[n].type);
      place_nodes_or_throw(p, s, leaves.pinned, b->where);
      if (logs_placement_) log_.write(sink_, devices_, p, s, b->where, m.refined ? m.refined->told_apart() : 0);
      binder(devices_, products_, *b, group_ ? &group_->programs->scheduling : nullptr).run();
    } catch (...) {
      delete b;
      throw;
    }
    return b;
  }

  struct wanted_program {
    const compiled_program* program;
    const run_leaves& leaves;
    const program_state& state;

    static bool fits(const void* self, bound_program& b) {
      const wanted_program& w = *static_cast<const wanted_program*>(self);
      bool same = b.program == w.program && same_data(b, w.leaves);
      for (int n = 0; same && n < w.program->graph.count; ++n) same = b.places[n] == w.state.places[n];
      return same;
    }
  };

  /// Does the updates in place, and exchanges the values of other variables.
  void commit(const graph_view& g, bound_program& b, const run_leaves& leaves, execution& of_run) {
    mutex_lock lock(mutex_);
    if (b.deferred > 0) of_run.update_in_place(leaves.known);
    exchange_values(g, b, leaves.known);
  }

  ref<process_group> group_;  // null where there is but one process
  run_queue together_;        // of runs that are not waited for, where other processes do all in the same order
  device_list devices_;
  log_sink sink_;
  bool logs_placement_;
  bool soft_;
  matmul_form products_;  // what the options say of them all
  bool simulates_;        // whether runs take simulated time
  mutex mutex_;           // of variables_ and clock_
  mutex writers_;
  variable_list variables_;
  idle_programs idle_;
  refined_programs refined_;
  double clock_ = 0;
  trace_sink* trace_;
  placement_log log_;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
