// SPDX-License-Identifier: BSL-1.0
// How long a plan takes on devices that need not be there: when each of its steps begins and ends by a cost model, with
// nothing allocated and nothing run.
#pragma once

#include <onto/graph/stream_assignment.hpp>
#include <onto/plan/cost_model.hpp>
#include <onto/plan/text.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// When a step of a plan runs, in seconds since the run began.
struct timed_step {
  plan_step step{};
  int stream = 0;  ///< 0: the host; 1 + 3 d: kernels of device d of the plan, 2 + 3 d: copies in, 3 + 3 d: copies out
  double begin = 0;
  double end = 0;
};

/// What a device does in a timeline, in seconds.
struct device_time {
  place where{};
  double busy = 0;     ///< its kernels
  double copying = 0;  ///< its copies, in and out, which run beside them
};

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

[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void estimate_needs_one_process() {
  fail<invalid_argument_error>(
      message("[onto.estimate] the plan is over tasks of a cluster, and what messages take is not in the model; "
              "estimate the part of one process"));
}

/// Does what a session and simulated GPUs do, in thought: a stream does one thing after the other, work for a device
/// is issued at the host's present time, and the host waits for what its own steps read.
class step_timer {
 public:
  constexpr step_timer(const order_input& in, const extents* shapes, const cost_model& model)
      : in_(in), costs_(in, shapes), model_(model) {}

  /// Fills `steps` and the times of `devices`. *Returns* the seconds of all.
  constexpr double run(timed_step* steps, device_time* devices) const {
    const int count = in_.step_count;
    const int streams = stream_count(in_.device_count);
    const scratch_array<step_order> orders(count);
    const scratch_array<int> waits(count * streams);
    stream_assigner(in_, orders.get(), waits.get()).run();

    const scratch_array<double> clock(streams);  // of the host: what it has come to
    double* const time = clock.get();
    for (int k = 0; k < count; ++k) {
      const step_order& o = orders.get()[k];
      double begin = time[o.stream] > time[0] ? time[o.stream] : time[0];
      for (int w = 0; w < o.count; ++w)
        if (const double then = steps[waits.get()[o.first + w]].end; then > begin) begin = then;
      const double end = begin + seconds_of(k);
      time[o.stream] = end;
      steps[k] = {in_.steps[k], o.stream, begin, end};
      if (device_time* d = device_of(devices, o.stream, in_.steps[k]))
        (in_.steps[k].kind == step_kind::transfer ? d->copying : d->busy) += end - begin;
    }
    double last = 0;
    for (int q = 0; q < streams; ++q)
      if (time[q] > last) last = time[q];
    return last;
  }

 private:
  constexpr double seconds_of(int step) const {
    const plan_step& s = in_.steps[step];
    const step_cost c = costs_.of(step);
    const bool on_host = s.at.kind == device_kind::cpu;
    if (s.kind != step_kind::transfer)
      return on_host ? model_.host_kernel(c.flops, c.bytes) : model_.kernel(c.flops, c.bytes);
    const bool from_host = s.from.kind == device_kind::cpu;
    if (on_host && from_host) return model_.host_kernel(0, 2 * c.bytes);
    return on_host || from_host ? model_.host_copy(c.bytes) : model_.link(c.bytes);
  }

  constexpr device_time* device_of(device_time* devices, int stream, const plan_step& s) const {
    if (stream > 0) return devices + (stream - 1) / 3;
    for (int d = 0; d < in_.device_count; ++d)
      if (devices[d].where == s.at) return devices + d;
    return nullptr;
  }

  const order_input& in_;
  step_costs costs_;
  const cost_model& model_;
};

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

/// When each step of a plan begins and ends on hardware of a cost model: exactly what a session with simulated GPUs of
/// that model measures, without running anything. *Returns* a constant where it is asked for one:
/// `static_assert(estimate(plan_of(e), h200).seconds < 1e-3)`.
/// *Throws* `invalid_argument_error` where an extent is not known, or an operation has no device.
/// *Complexity* as of the order of the steps: steps * streams^2 and edges.
template <int Nodes, int Steps, int Values, int Devices>
constexpr timeline<Steps, Devices> estimate(const plan<Nodes, Steps, Values, Devices>& p, const cost_model& model) {
  if (!p.placeable) detail::estimate_needs_a_placeable_plan();
  timeline<Steps, Devices> t;
  t.graph = p.graph;
  t.step_count = p.step_count;
  extents shapes[Nodes > 0 ? Nodes : 1]{};
  for (int n = 0; n < Nodes; ++n) {
    shapes[n] = p.graph[n].shape;
    if (!shapes[n].is_static()) detail::estimate_needs_known_extents(p.graph, n);
  }
  for (int d = 0; d < Devices; ++d) {
    if (p.devices[d].in_task) detail::estimate_needs_one_process();
    t.devices[d].where = p.devices[d];
  }
  const detail::order_input in{p.graph,  p.units.view(), p.steps,   p.step_count,
                               p.values, p.value_count,  p.devices, Devices};
  t.seconds = detail::step_timer(in, shapes, model).run(t.steps, t.devices);
  return t;
}

}  // namespace onto

ONTO_END_RUNS_ONCE
