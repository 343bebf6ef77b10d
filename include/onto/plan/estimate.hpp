// SPDX-License-Identifier: BSL-1.0
// How long a plan takes on devices that need not be there: when each of its steps begins and ends by a cost model, with
// nothing allocated and nothing run.
#pragma once

#include <onto/plan/step_timer.hpp>
#include <onto/plan/text.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// A plan in time: what `estimate` returns.
template <int Steps, int Devices>
struct timeline {
  double seconds = 0;  ///< from the first step's begin to the last one's end

  /// What a device does; nothing, where the plan has no such device.
  constexpr device_time at(place where) const {
    for (int d = 0; d < Devices; ++d)
      if (devices[d].where == where) return devices[d];
    return {where, 0, 0};
  }
  template <place_type Device>
  constexpr device_time at(Device) const {
    return at(Device::value);
  }

  /// The steps in order, a line each, with begin and end in microseconds; then what each device does.
  std::string text() const;

  timed_step steps[Steps]{};
  int step_count = 0;
  device_time devices[Devices > 0 ? Devices : 1]{};
  graph_view graph{};
};

namespace detail {

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void estimate_needs_known_extents(const graph_view& g, int node) {
  message m("[onto.estimate] the extents of ");
  write_value(m, g, node_names(g), node);
  fail<invalid_argument_error>(m << " are not known, and so not how long it takes; estimate the plan of the program "
                                    "with the extents in its types");
}
[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void estimate_needs_a_placeable_plan() {
  fail<invalid_argument_error>(
      message("[onto.estimate] the plan has no device for some operation; estimate it in a world that has one"));
}

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void estimate_needs_links() {
  fail<invalid_argument_error>(message(
      "[onto.estimate] the plan is over tasks of a cluster, and a cost_model has no links between them; include "
      "<onto/cluster_model.hpp> and estimate it with a cluster_model"));
}

/// Microseconds, to a tenth.
ONTO_COLD inline message& write_time(message& m, double seconds) {
  const auto tenths = static_cast<std::int64_t>(seconds * 1e7 + 0.5);
  return m << tenths / 10 << "." << tenths % 10;
}

struct timeline_view {
  const graph_view& graph;
  const timed_step* steps;
  int step_count;
  const device_time* devices;
  int device_count;
  double seconds;
};

ONTO_COLD ONTO_NOINLINE inline std::string timeline_text(const timeline_view& t) {
  message m;
  const node_names names(t.graph);
  for (int k = 0; k < t.step_count; ++k) {
    const timed_step& s = t.steps[k];
    write_time(write_time(m << (k + 1) << ". ", s.begin) << " to ", s.end) << " us, ";
    write_place(m, s.stream > 0 ? t.devices[(s.stream - 1) / 3].where : s.step.at);
    constexpr std::string_view streams[] = {" copies out: ", " kernel: ", " copies in: "};
    m << (s.stream > 0 ? streams[s.stream % 3] : ": ");
    if (is_collective(s.step.kind)) m << name_of(s.step.kind) << " of ";
    names.write(m, s.step.node);
    if (s.step.kind == step_kind::transfer) write_place(m << " to ", s.step.at);
    if (s.step.kind == step_kind::fetch_copy) m << ", result " << s.step.fetch;
    m << "\n";
  }
  for (int d = 0; d < t.device_count; ++d) {
    write_place(m, t.devices[d].where);
    write_time(write_time(m << ": kernels ", t.devices[d].busy) << " us, copies ", t.devices[d].copying) << " us\n";
  }
  write_time(m << "all: ", t.seconds) << " us\n";
  return m.text();
}

}  // namespace detail

template <int Steps, int Devices>
std::string timeline<Steps, Devices>::text() const {
  return detail::timeline_text({graph, steps, step_count, devices, Devices, seconds});
}

namespace detail {

/// Fills in what a timeline knows before it is timed. *Returns* the plan as it is ordered, for one process.
template <int Nodes, int Steps, int Values, int Devices>
constexpr order_input begin_timeline(const plan<Nodes, Steps, Values, Devices>& p, extents* shapes,
                                     timeline<Steps, Devices>& t) {
  if (!p.placeable) estimate_needs_a_placeable_plan();
  t.graph = p.graph;
  t.step_count = p.step_count;
  for (int n = 0; n < Nodes; ++n) {
    shapes[n] = p.graph[n].shape;
    if (!shapes[n].is_static()) estimate_needs_known_extents(p.graph, n);
  }
  for (int d = 0; d < Devices; ++d) t.devices[d].where = p.devices[d];
  return {p.graph, p.units.view(), p.steps, p.step_count, p.values, p.value_count, p.devices, Devices};
}

}  // namespace detail

/// When each step of a plan begins and ends on hardware of a cost model: exactly what a session with simulated GPUs of
/// that model measures, without running anything. *Returns* a constant where it is asked for one:
/// `static_assert(estimate(plan_of(e), h200).seconds < 1e-3)`.
/// *Throws* `invalid_argument_error` where an extent is not known, or an operation has no device.
/// *Complexity* as of the order of the steps: steps * streams^2 and edges.
template <int Nodes, int Steps, int Values, int Devices>
constexpr timeline<Steps, Devices> estimate(const plan<Nodes, Steps, Values, Devices>& p, const cost_model& model) {
  timeline<Steps, Devices> t;
  extents shapes[Nodes > 0 ? Nodes : 1]{};
  const detail::order_input in = detail::begin_timeline(p, shapes, t);
  for (int d = 0; d < Devices; ++d)
    if (p.devices[d].in_task) detail::estimate_needs_links();
  t.seconds = detail::step_timer(in, shapes, model).run(t.steps, t.devices);
  return t;
}

}  // namespace onto

ONTO_END_RUNS_ONCE
