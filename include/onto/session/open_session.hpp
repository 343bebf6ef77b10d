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
  if (const session_opener* opener = options.simulated_tasks.opener())
    return ref<session_runtime>(opener->open(options, finders));
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

/// The part of a session that a task has; null behind the last. A session of one process is one task.
inline session_core* task_of(const session_runtime& s, int number) {
  const session_runtime* const task = s.simulated ? s.simulated->task(s, number) : number == 0 ? &s : nullptr;
  return static_cast<session_core*>(const_cast<session_runtime*>(task));
}
inline session_core& first_task(const session_runtime& s) { return *task_of(s, 0); }
/// *Preconditions* its tasks are no threads.
inline session_core& core_of(session_runtime& s) { return static_cast<session_core&>(s); }

/// Whether runs are those of `session::initialize`.
inline void give_first_values(session_core& s, bool on) {
  s.log_first_values(on);
  if (s.group() && s.group()->shared) s.group()->shared->initialize(on);
}

/// The number of a device in the lists of all tasks. *Throws* `not_found_error` where there is none.
ONTO_COLD inline int device_by(const session_runtime& s, const device_name& name) {
  const device_list& all = first_task(s).devices();
  for (int k = 0; k < all.count(); ++k)
    if (name.matches(device_name::local(all[k].where()))) return k;
  throw not_found_error("[onto.device] no device '" + name.to_string() + "' in this session; devices() lists them");
}

ONTO_RUNTIME void repeated_run::push(queued_run& r) { static_cast<prepared_program*>(this)->its_queue().push(r); }

ONTO_RUNTIME void session_runtime::run(const run_request& r) {
  if (simulated) return simulated->run(*this, nullptr, r);
  core_of(*this).run(r);
}

ONTO_RUNTIME void session_runtime::run(repeated_run& program, const run_request& r) {
  if (simulated) return simulated->run(*this, &program, r);
  core_of(*this).run(static_cast<prepared_program&>(program), r);
}

ONTO_RUNTIME ref<repeated_run> session_runtime::prepare(const compiled_program& program, const state* const* states) {
  if (simulated) return simulated->prepare(*this, program, states);
  return core_of(*this).prepare(program, states);
}

ONTO_RUNTIME void session_runtime::pin_variables(const compiled_program& program, const state* const* states) {
  if (simulated) return simulated->pin_variables(*this, program, states);
  core_of(*this).pin_variables(program, states);
  give_first_values(core_of(*this), true);
}

ONTO_RUNTIME void session_runtime::expect_initialized(const graph_view& g) {
  for (int t = 0; session_core* s = task_of(*this, t); ++t) give_first_values(*s, false);
  first_task(*this).expect_initialized(g);
}

ONTO_RUNTIME placement_report session_runtime::report(const compiled_program& program, const state* const* states) {
  placed_program placed;
  first_task(*this).place_program(program, states, placed);
  return make_report(placed.of, placed.where);
}

ONTO_RUNTIME std::vector<device_info> session_runtime::list_devices() const {
  std::vector<device_info> list;
  const device_list& all = first_task(*this).devices();
  for (int group = 0; group < 2; ++group)
    for (int k = 0; k < all.count(); ++k)
      if ((all[k].where().kind == device_kind::cpu) == (group == 0))
        list.push_back({device_name::local(all[k].where()), all[k].description()});
  return list;
}

ONTO_RUNTIME device_statistics session_runtime::statistics(const device_name& name) const {
  const int k = device_by(*this, name);
  device_statistics all;  // a message is counted by the task at its other end
  for (int t = 0; const session_core* s = task_of(*this, t); ++t) {
    const device_counters& c = s->devices()[k].counters;
    all.kernels += c.kernels.load();
    all.transfers += c.transfers.load();
    all.transfer_bytes += c.transfer_bytes.load();
  }
  return all;
}

ONTO_RUNTIME memory_info session_runtime::memory(const device_name& name) const {
  const int k = device_by(*this, name);
  const device_list* has = &first_task(*this).devices();
  for (int t = 1; const session_core* s = task_of(*this, t); ++t)
    if (same_task(s->devices().here(), s->devices()[k].where())) has = &s->devices();
  return (*has)[k].memory();
}

ONTO_RUNTIME void session_runtime::save(const std::string& path, const graph_view* const* graphs, int count) {
  if (path.ends_with(".npz") || path.ends_with(".npy"))
    fail<invalid_argument_error>(message("[onto.checkpoint] ")
                                 << path << ": a checkpoint is a safetensors file; name it so, or write results with "
                                 << "save_npz(path, {{\"w\", w}})");
  if (simulated) return simulated->save(*this, path, graphs, count);
  checkpoint::with(core_of(*this), {graphs, count}, [&](checkpoint& c) { c.save(path); });
}

ONTO_RUNTIME void session_runtime::restore(const std::string& path, const graph_view* const* graphs, int count) {
  if (simulated) return simulated->restore(*this, path, graphs, count);
  checkpoint::with(core_of(*this), {graphs, count}, [&](checkpoint& c) { c.restore(path); });
}

ONTO_RUNTIME void session_runtime::trim() {
  for (int t = 0; session_core* s = task_of(*this, t); ++t) s->trim();
}

ONTO_RUNTIME double session_runtime::simulated_seconds() {
  double most = 0;
  for (int t = 0; session_core* s = task_of(*this, t); ++t)
    if (const double seconds = s->simulated_seconds(); seconds > most) most = seconds;
  return most;
}

ONTO_RUNTIME void session_runtime::inject(const fault_hook& hook) {
  unwatched_kernels = nullptr;
  for (int t = 0; const session_core* s = task_of(*this, t); ++t)
    for (int k = 0; k < s->devices().count(); ++k) s->devices()[k].fault = hook;
}

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

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
#endif
