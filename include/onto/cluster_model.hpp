// SPDX-License-Identifier: BSL-1.0
// How long a plan over the tasks of a cluster takes on machines that need not be there. Names no MPI: a program that
// only plans, or asks while it is compiled, includes this beside <onto/onto.hpp>.
#pragma once

#include <onto/core/config.hpp>

ONTO_BEGIN_HEADER

#include <onto/device/task.hpp>
#include <onto/plan/cluster_timer.hpp>
#include <onto/plan/estimate.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// When each step of a plan begins and ends on the machines of a model, where each task runs its own steps.
/// `estimate(plan_of(e), h200_nodes)`. A message is in the stream of copies of who receives it; `copying` of a task's
/// CPU is what its messages and sums take. *Returns* a constant where it is asked for one. A plan of one process takes
/// what `estimate(p, model.device)` says.
/// `towers`: the all-reduces and the agreement of the processes are those of so many tasks, at least as many as the
/// plan has: where all tasks do the same, as in data-parallel training by `replica`, a plan of two stands for any
/// number. Messages are those of the plan.
/// *Throws* `invalid_argument_error` where an extent is not known, an operation has no device, a node has no task, or
/// `towers` are fewer than the plan's tasks.
/// *Complexity* for each task, as of the order of the steps: steps * streams^2 and edges.
template <int Nodes, int Steps, int Values, int Devices>
constexpr timeline<Steps, Devices> estimate(const plan<Nodes, Steps, Values, Devices>& p, const cluster_model& model,
                                            int towers = 0) {
  timeline<Steps, Devices> t;
  extents shapes[Nodes > 0 ? Nodes : 1]{};
  const detail::order_input in = detail::begin_timeline(p, shapes, t);
  detail::expect_tasks_on_nodes(model, towers, p.devices, Devices);
  t.seconds = detail::cluster_timer(in, shapes, model, towers).run(t.steps, t.devices);
  return t;
}

}  // namespace onto
ONTO_END_RUNS_ONCE

ONTO_END_HEADER
