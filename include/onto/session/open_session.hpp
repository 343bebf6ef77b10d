// SPDX-License-Identifier: BSL-1.0
// Opens sessions, and passes on what they are asked to what knows no expression type.
#pragma once

#include <onto/session/checkpoint.hpp>
#include <onto/session/core.hpp>
#include <onto/session/devices.hpp>
#include <onto/session/environment.hpp>
#include <onto/session/placement_report_definitions.hpp>

#if ONTO_DEFINITIONS
ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

ONTO_RUNTIME ref<session_runtime> open_session(session_options& options, const gpu_finder* finders) {
  apply_environment(options);
  return ref<session_core>(new session_core(find_devices(options, finders), options));
}

ONTO_RUNTIME session_runtime& host_runtime() {
  static const ref<session_core> core = [] {
    device_list devices;
    devices.add(new cpu_device(0, ref<shared_threads>(new shared_threads(0)), cost_model{}));
    return ref<session_core>(new session_core(static_cast<device_list&&>(devices), session_options{}));
  }();
  return *core;
}

inline session_core& core_of(session_runtime& s) { return static_cast<session_core&>(s); }

/// *Throws* `not_found_error` where there is none.
ONTO_COLD inline const device& device_by(const session_runtime& s, const device_name& name) {
  const device_list& all = static_cast<const session_core&>(s).devices();
  for (int k = 0; k < all.count(); ++k)
    if (name.matches(device_name::local(all[k].where()))) return all[k];
  throw not_found_error("[onto.device] no device '" + name.to_string() + "' in this session; devices() lists them");
}

ONTO_RUNTIME void repeated_run::push(queued_run& r) { static_cast<prepared_program*>(this)->its_queue().push(r); }

ONTO_RUNTIME void session_runtime::run(const run_request& r) { core_of(*this).run(r); }

ONTO_RUNTIME void session_runtime::run(repeated_run& program, const run_request& r) {
  core_of(*this).run(static_cast<prepared_program&>(program), r);
}

ONTO_RUNTIME ref<repeated_run> session_runtime::prepare(const compiled_program& program, const state* const* states) {
  return core_of(*this).prepare(program, states);
}

ONTO_RUNTIME void session_runtime::pin_variables(const compiled_program& program, const state* const* states) {
  core_of(*this).pin_variables(program, states);
}

ONTO_RUNTIME void session_runtime::expect_initialized(const graph_view& g) { core_of(*this).expect_initialized(g); }

ONTO_RUNTIME placement_report session_runtime::report(const compiled_program& program, const state* const* states) {
  placed_program placed;
  core_of(*this).place_program(program, states, placed);
  return make_report(placed.of, placed.where);
}

ONTO_RUNTIME std::vector<device_info> session_runtime::list_devices() const {
  std::vector<device_info> list;
  const device_list& all = static_cast<const session_core*>(this)->devices();
  for (int group = 0; group < 2; ++group)
    for (int k = 0; k < all.count(); ++k)
      if ((all[k].where().kind == device_kind::cpu) == (group == 0))
        list.push_back({device_name::local(all[k].where()), all[k].description()});
  return list;
}

ONTO_RUNTIME device_statistics session_runtime::statistics(const device_name& name) const {
  const device_counters& c = device_by(*this, name).counters;
  return {c.kernels.load(), c.transfers.load(), c.transfer_bytes.load()};
}

ONTO_RUNTIME memory_info session_runtime::memory(const device_name& name) const {
  return device_by(*this, name).memory();
}

ONTO_RUNTIME void session_runtime::save(const std::string& path, const graph_view* const* graphs, int count) {
  checkpoint::with(core_of(*this), {graphs, count}, [&](checkpoint& c) { c.save(path); });
}

ONTO_RUNTIME void session_runtime::restore(const std::string& path, const graph_view* const* graphs, int count) {
  checkpoint::with(core_of(*this), {graphs, count}, [&](checkpoint& c) { c.restore(path); });
}

ONTO_RUNTIME void session_runtime::trim() { core_of(*this).trim(); }

ONTO_RUNTIME double session_runtime::simulated_seconds() { return core_of(*this).simulated_seconds(); }

ONTO_RUNTIME const state* variable_state(const graph_view& g, const state* fetched, std::uint64_t id) {
  arena memory;
  const state* const list[] = {fetched};
  const state* const* const at = refinement::find_states(g, list, memory);
  for (int v = 0; v < g.visit_count; ++v) {
    const graph_visit& visit = g.visits[v];
    if (visit.node < 0 || !at[v] || g[visit.node].id != id) continue;
    if (g[visit.node].visit == v || visit.same_as == g[visit.node].visit) return at[v];
  }
  return nullptr;
}

ONTO_RUNTIME refined_program* rewrite_program(const compiled_program& typed, const refinement& nodes) {
  return new refined_program(typed, nodes);
}

ONTO_RUNTIME void session_runtime::inject(const fault_hook& hook) {
  const device_list& all = core_of(*this).devices();
  for (int k = 0; k < all.count(); ++k) all[k].fault = hook;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
#endif
