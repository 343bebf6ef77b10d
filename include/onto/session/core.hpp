// SPDX-License-Identifier: BSL-1.0
// The part of a session that knows no expression type: devices, variables, programs that are bound, the log. Compiled once.
#pragma once

#include <onto/session/execute.hpp>
#include <onto/session/infer.hpp>
#include <onto/session/options.hpp>
#include <onto/session/placement_report.hpp>

#include <map>
#include <mutex>

namespace onto::detail {

/// A feed without its type.
struct feed_ref {
  std::uint64_t id = 0;
  const void* data = nullptr;
  extents shape{};
};

/// A program to run, without its types.
struct run_request {
  const compiled_program* program = nullptr;
  const state* const* states = nullptr;  // per fetch
  const feed_ref* feeds = nullptr;
  int feed_count = 0;
  void* (*allocate)(void* context, int fetch, const extents& shape) = nullptr;  // memory for a result
  void* context = nullptr;
};

struct variable_slot {
  std::string name;
  element type = element::float32;
  extents shape{};
  place where{};
  std::shared_ptr<device_block> value;  // null until initialized
};

class session_core {
 public:
  /// `devices` in order of preference, the CPU last.
  session_core(std::vector<std::unique_ptr<device>> devices, const session_options& options, const kernel_entry& copy)
      : devices_(static_cast<std::vector<std::unique_ptr<device>>&&>(devices)), options_(options), copy_(copy) {
    for (const auto& d : devices_) places_.push_back(d->where());
  }

  const std::vector<std::unique_ptr<device>>& devices() const { return devices_; }
  const session_options& options() const { return options_; }

  placement_report placement(const compiled_program& p, const state* const* states) {
    const program_state s = resolve_state(p.graph, states);
    std::vector<node_placement> where;
    place_program(p, s, pinned_places(p.graph), where);
    return make_report(p.graph, s, where.data());
  }

  /// Fixes the variables of a program to the devices where its placement has them, as far as they are new.
  void pin_variables(const compiled_program& p, const state* const* states) {
    const program_state s = resolve_state(p.graph, states);
    std::vector<node_placement> where;
    place_program(p, s, pinned_places(p.graph), where);
    log_placement(p, s, where);
    std::lock_guard lock(mutex_);
    for (int n = 0; n < p.graph.count; ++n)
      if (p.graph[n].kind() == op_kind::variable) slot_of(p.graph[n]).where = where[static_cast<std::size_t>(n)].where;
  }

  bool is_initialized(std::uint64_t id) {
    std::lock_guard lock(mutex_);
    const auto v = variables_.find(id);
    return v != variables_.end() && v->second.value;
  }

  void run(const run_request& r) {
    const graph_view& g = r.program->graph;
    const program_state s = resolve_state(g, r.states);
    bool writes = false;
    for (int n = 0; n < g.count; ++n) writes = writes || g[n].kind() == op_kind::assign;
    // Runs that write variables come one after the other, so no update is lost; others read the last complete values.
    std::unique_lock<std::mutex> writer(writers_, std::defer_lock);
    if (writes) writer.lock();

    run_data d;
    d.values = s.values;
    std::vector<extents> shapes = leaves(g, s, r, d);
    const std::vector<place> pinned = pinned_places(g);
    std::unique_ptr<bound_program> b = take(r.program, shapes, s.places, pinned);
    if (!b || s.guarded) b = bind(*r.program, s, shapes, pinned);

    d.results.resize(static_cast<std::size_t>(g.fetch_count));
    for (int k = 0; k < g.fetch_count; ++k)
      d.results[static_cast<std::size_t>(k)] = r.allocate(r.context, k, b->shapes[static_cast<std::size_t>(g.fetches[k])]);

    execution e(*b, g, devices_, copy_, d);
    e.run();
    if (writes) commit(g, *b, e);
    if (!s.guarded) give_back(r.program, static_cast<std::unique_ptr<bound_program>&&>(b));
  }

 private:
  variable_slot& slot_of(const graph_node& n) {
    variable_slot& v = variables_[n.id];
    if (v.name.empty()) {
      v.name = std::string(n.name);
      v.type = n.type;
      v.shape = n.shape;
    }
    return v;
  }

  std::vector<place> pinned_places(const graph_view& g) {
    std::vector<place> pinned(static_cast<std::size_t>(g.count));
    std::lock_guard lock(mutex_);
    for (int n = 0; n < g.count; ++n) {
      if (g[n].kind() != op_kind::variable) continue;
      const auto v = variables_.find(g[n].id);
      if (v != variables_.end()) pinned[static_cast<std::size_t>(n)] = v->second.where;
    }
    return pinned;
  }

  void place_program(const compiled_program& p, const program_state& s, const std::vector<place>& pinned,
                     std::vector<node_placement>& where) const {
    const auto count = static_cast<std::size_t>(p.graph.count);
    where.resize(count);
    std::unique_ptr<bool[]> foreign;
    if (!s.foreign.empty()) {
      foreign.reset(new bool[count]);
      for (std::size_t n = 0; n < count; ++n) foreign[n] = s.foreign[n] != 0;
    }
    placer_input in;
    in.requests = s.places.data();
    in.foreign = foreign.get();
    in.pinned = pinned.data();
    in.devices = places_.data();
    in.device_count = static_cast<int>(places_.size());
    in.soft = options_.allow_soft_placement;
    if (!place_nodes(p.graph, in, where.data())) throw_unplaceable(p.graph, s, where.data(), places_);
  }

  /// Shapes and data of the leaves. *Throws* for a missing feed, a feed of another shape, a variable without a value.
  std::vector<extents> leaves(const graph_view& g, const program_state& s, const run_request& r, run_data& d) {
    const auto count = static_cast<std::size_t>(g.count);
    std::vector<extents> shapes(count);
    d.leaf.resize(count);
    d.variable.resize(count);
    std::string unset;
    for (int n = 0; n < g.count; ++n) {
      const auto k = static_cast<std::size_t>(n);
      if (!g[n].is_leaf()) continue;
      shapes[k] = g[n].shape;
      if (g[n].kind() == op_kind::placeholder) {
        const feed_ref* feed = nullptr;
        for (int f = 0; f < r.feed_count; ++f)
          if (r.feeds[f].id == g[n].id) feed = &r.feeds[f];
        if (!feed)
          throw invalid_argument_error("[onto.feed] placeholder '" + std::string(g[n].name) + "' is not fed; give run a value: " +
                                       std::string(g[n].name) + " = data");
        check_extents(g[n], feed->shape);
        shapes[k] = feed->shape;
        d.leaf[k] = feed->data;
      } else if (g[n].kind() == op_kind::constant) {
        shapes[k] = s.values[k]->shape;
        d.leaf[k] = s.values[k]->values.get();
      } else if (g[n].kind() == op_kind::variable) {
        std::lock_guard lock(mutex_);
        variable_slot& v = slot_of(g[n]);
        d.variable[k] = v.value;
        if (v.value) shapes[k] = v.shape;
        if (!v.value && is_read(g, n)) unset += (unset.empty() ? "'" : ", '") + std::string(g[n].name) + "'";
      }
    }
    if (!unset.empty())
      throw failed_precondition_error("[onto.variable] variable " + unset +
                                      " has no value yet; call session.initialize(e) or run(initialize(w)) first");
    return shapes;
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

  ONTO_COLD static void check_extents(const graph_node& n, const extents& given) {
    bool fits = n.shape.rank == given.rank;
    for (int k = 0; fits && k < given.rank; ++k) fits = n.shape.dims[k] == dyn || n.shape.dims[k] == given.dims[k];
    if (!fits)
      throw invalid_argument_error("[onto.feed] placeholder '" + std::string(n.name) + "' has shape " + to_string(n.shape) +
                                   " and was fed " + to_string(given) + "; feed data of that shape");
  }

  /// A variable of unknown extents takes those of the first value that is assigned to it.
  static void shape_new_variables(const graph_view& g, std::vector<extents>& shapes) {
    std::vector<extents> known = shapes;
    for (int n = 0; n < g.count; ++n) {
      if (g[n].is_leaf()) continue;
      if (is_operation<op::assign>(g[n].op)) {
        extents& v = shapes[static_cast<std::size_t>(g.operand(n, 0))];
        if (!v.is_static()) {
          const extents& value = known[static_cast<std::size_t>(g.operand(n, 1))];
          if (value.rank == v.rank) v = value;
          known[static_cast<std::size_t>(g.operand(n, 0))] = v;
        }
      }
      extents operands[64];
      for (int k = 0; k < g[n].count && k < 64; ++k) operands[k] = known[static_cast<std::size_t>(g.operand(n, k))];
      known[static_cast<std::size_t>(n)] = g[n].op->infer(operands, g[n].count).shape;
    }
  }

  std::unique_ptr<bound_program> bind(const compiled_program& p, const program_state& s, const std::vector<extents>& leaf_shapes,
                                      const std::vector<place>& pinned) {
    auto b = std::make_unique<bound_program>();
    b->leaf_shapes = leaf_shapes;
    b->places = s.places;
    b->pinned = pinned;
    b->shapes = leaf_shapes;
    for (int n = 0; n < p.graph.count; ++n)
      if (p.graph[n].kind() == op_kind::variable && !leaf_shapes[static_cast<std::size_t>(n)].is_static())
        shape_new_variables(p.graph, b->shapes);
    infer_shapes(p.graph, b->shapes);
    place_program(p, s, pinned, b->where);
    log_placement(p, s, b->where);
    binder(p, places_, *b).run();
    return b;
  }

  std::unique_ptr<bound_program> take(const compiled_program* p, const std::vector<extents>& shapes, const std::vector<place>& places,
                                      const std::vector<place>& pinned) {
    std::lock_guard lock(mutex_);
    std::vector<std::unique_ptr<bound_program>>& idle = idle_[p];
    for (std::size_t k = idle.size(); k-- > 0;) {
      if (!(idle[k]->leaf_shapes == shapes) || !(idle[k]->places == places) || !(idle[k]->pinned == pinned)) continue;
      std::unique_ptr<bound_program> b = static_cast<std::unique_ptr<bound_program>&&>(idle[k]);
      idle.erase(idle.begin() + static_cast<std::ptrdiff_t>(k));
      return b;
    }
    return nullptr;
  }

  void give_back(const compiled_program* p, std::unique_ptr<bound_program> b) {
    constexpr std::size_t kept = 16;  // shapes of one program that are remembered
    std::lock_guard lock(mutex_);
    std::vector<std::unique_ptr<bound_program>>& idle = idle_[p];
    if (idle.size() == kept) idle.erase(idle.begin());
    idle.push_back(static_cast<std::unique_ptr<bound_program>&&>(b));
  }

  void commit(const graph_view& g, const bound_program& b, execution& e) {
    std::lock_guard lock(mutex_);
    for (std::size_t v = 0; v < b.values.size(); ++v) {
      if (!b.values[v].variable) continue;
      const int n = g.operand(b.values[v].node, 0);
      variable_slot& slot = slot_of(g[n]);
      slot.value = e.written[v];
      slot.where = b.values[v].at;
      slot.shape = b.shapes[static_cast<std::size_t>(n)];
    }
  }

  /// Once per program and request: the devices, then a line a node.
  ONTO_COLD void log_placement(const compiled_program& p, const program_state& s, const std::vector<node_placement>& where) {
    if (!options_.log_device_placement) return;
    const placement_report report = make_report(p.graph, s, where.data());
    std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(&p)) + report.to_string();
    std::lock_guard lock(log_mutex_);
    for (const std::string& k : logged_)
      if (k == key) return;
    logged_.push_back(static_cast<std::string&&>(key));
    bool any = false;
    for (const auto& d : devices_) any = any || !d->description().empty();
    options_.log.write(any ? "Device mapping:" : "Device mapping: no known devices.");
    for (const auto& d : devices_)
      if (!d->description().empty()) options_.log.write(device_name::local(d->where()).to_string() + " -> " + d->description());
    for (const placement_entry& n : report.nodes) options_.log.write(n.to_string());
  }

  std::vector<std::unique_ptr<device>> devices_;
  std::vector<place> places_;
  session_options options_;
  kernel_entry copy_;
  std::mutex mutex_;  // of variables_ and idle_
  std::mutex writers_;
  std::mutex log_mutex_;
  std::map<std::uint64_t, variable_slot> variables_;
  std::map<const compiled_program*, std::vector<std::unique_ptr<bound_program>>> idle_;
  std::vector<std::string> logged_;
};

}  // namespace onto::detail

namespace onto {

ONTO_COLD inline void log_sink::write(std::string_view line) const {
  if (callback_) {
    callback_->call(line);
  } else if (stream_) {
    *stream_ << line << '\n';
    stream_->flush();
  } else if (standard_error_) {
    const std::string text = std::string(line) + "\n";
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

}  // namespace onto
