// SPDX-License-Identifier: BSL-1.0
// The plan of a program as a constexpr value: kernels, transfers, bytes, memory. `plan_of(e)` can be asserted on.
#pragma once

#include <onto/core/hana.hpp>
#include <onto/core/plain_tuple.hpp>
#include <onto/device/world.hpp>
#include <onto/expr/not_a_feed.hpp>
#include <onto/graph/device_routes.hpp>
#include <onto/graph/lowering.hpp>
#include <onto/graph/memory.hpp>
#include <onto/graph/passes.hpp>
#include <onto/graph/schedule.hpp>
#include <onto/graph/task_sums.hpp>
#include <onto/plan/workspace.hpp>

#include <string>
#include <tuple>

namespace onto {

/// A plan: what runs where, in which order, and what is copied. Counts are exact, but where `depends_on_values`; bytes
/// and operations are -1 while an extent is not known.
template <int Nodes, int Steps, int Values, int Devices>
struct plan {
  int nodes = 0;                    ///< operations, symbols and constants; scalars are part of kernels
  int kernels = 0;                  ///< launches, fused
  int transfers = 0;                ///< copies between devices, feeds and fetches among them
  std::int64_t transfer_bytes = 0;  ///< in all transfers
  int messages = 0;                 ///< of the transfers, those from one process to another
  std::int64_t message_bytes = 0;   ///< in all messages
  int all_reduces = 0;              ///< calls that add up values of several tasks on all of them; of small ones buckets
  std::int64_t all_reduce_bytes = 0;      ///< of the sums, as one task has them
  int reduce_scatters = 0;                ///< calls that add up values of several tasks, of which each gets its rows
  std::int64_t reduce_scatter_bytes = 0;  ///< of the whole sums
  int all_gathers = 0;                    ///< calls that put values of several tasks side by side, on all of them
  std::int64_t all_gather_bytes = 0;      ///< of the results, as one task has them
  int broadcasts = 0;                     ///< values that go from one task to three others or more
  std::int64_t broadcast_bytes = 0;       ///< of these values, once
  int direct = 0;  ///< of messages and these calls, those that GPUs do among themselves, not by the hosts
  std::int64_t direct_bytes = 0;  ///< their bytes
  std::int64_t flops = 0;         ///< floating-point operations
  bool placeable = true;          ///< whether every operation has a device, softly placed where need be
  /// Whether expressions of equal types hold unnamed scalars or constants: they are counted as one, and are more where
  /// these differ. `session::placement` tells.
  bool depends_on_values = false;

  /// The most bytes that a run takes in the memory of a device, beside what variables hold before it: one block for all
  /// intermediate values and what kernels work in, and the variables' new values. -1 while an extent is not known.
  constexpr std::int64_t peak_bytes(place where) const {
    for (int d = 0; d < Devices; ++d)
      if (devices[d] == where) return peaks[d];
    return 0;
  }
  template <place_type Device>
  constexpr std::int64_t peak_bytes(Device) const {
    return peak_bytes(Device::value);
  }
  /// Of these bytes, those that kernels on a GPU need to work in: partial results of reductions and of long rows,
  /// copies of a product's operands, what scans keep. On some GPUs a kernel needs less.
  constexpr std::int64_t workspace_bytes(place where) const {
    for (int d = 0; d < Devices; ++d)
      if (devices[d] == where) return workspaces[d];
    return 0;
  }
  template <place_type Device>
  constexpr std::int64_t workspace_bytes(Device) const {
    return workspace_bytes(Device::value);
  }

  /// The steps in order, a line each.
  std::string text() const;
  /// The steps in Graphviz' language: a box per kernel, coloured by device; a dashed arrow per transfer.
  std::string dot() const;

  graph_view graph{};
  node_placement placement[Nodes > 0 ? Nodes : 1]{};
  detail::stored_kernels<(Nodes > 0 ? Nodes : 1)> units{};  ///< which nodes run together
  plan_step steps[Steps]{};
  int step_count = 0;
  plan_value values[Values]{};
  int value_count = 0;
  place devices[Devices > 0 ? Devices : 1]{};
  std::int64_t peaks[Devices > 0 ? Devices : 1]{};
  std::int64_t workspaces[Devices > 0 ? Devices : 1]{};
};

namespace detail {

/// Fusion of a lowered graph; the same in every world.
template <class Graph>
struct fused {
  static constexpr int count = Graph::view.count;
  static constexpr int array_size = count > 0 ? count : 1;
  static constexpr int products = count_products(Graph::view);
  using data = stored_kernels<array_size, products>;

  /// The arrays of `d`, with what the passes are told of sums over tasks, for which there is room.
  static constexpr kernel_arrays arrays(data& d, char (&sums)[array_size]) {
    kernel_arrays k = d.arrays();
    if (find_task_sums(Graph::view, sums)) k.task_sums = sums;
    return k;
  }

  static constexpr data fuse() {
    data d;
    char sums[array_size]{};
    fusion_passes::run(Graph::view, arrays(d, sums));
    return d;
  }
  static constexpr data before = fuse();
  /// Before merging: what runs as one kernel where a merged one is on several devices.
  static constexpr kernel_partition parts = before.view();

  static constexpr data merge() {
    data d = before;
    char sums[array_size]{};
    merging_passes::run(Graph::view, arrays(d, sums));
    return d;
  }
  static constexpr data merged = merge();
  static constexpr kernel_partition value = merged.view();
};

/// The devices a program names, and the CPU: the world in which it runs as it is written. Where it names tasks, those
/// and the CPU of each.
template <class Graph>
struct named_world {
  static constexpr int capacity = 2 * Graph::view.count + 1;
  place list[capacity]{};
  int count = 0;

  constexpr void add(const place& p) {
    for (int k = 0; k < count; ++k)
      if (list[k] == p) return;
    list[count++] = p;
  }
  static constexpr named_world find() {
    named_world w;
    bool tasks = false;
    for (int n = 0; n < Graph::view.count; ++n) tasks = tasks || Graph::view[n].request.in_task;
    if (!tasks) w.add(host);
    for (int n = 0; n < Graph::view.count; ++n) {
      const place& p = Graph::view[n].request;
      if (!p.is_set() || (tasks && !p.in_task)) continue;
      w.add(device_named(p));
    }
    const int named = w.count;
    for (int d = 0; d < named && tasks; ++d) w.add(host_of(w.list[d]));
    order_places(w.list, w.count);
    return w;
  }
};

template <class Graph, class World>
struct devices_of {
  static constexpr int count = World::size;
  static constexpr void copy(place* out) {
    for (int k = 0; k < count; ++k) out[k] = World::places[static_cast<std::size_t>(k)];
  }
};
template <class Graph>
struct devices_of<Graph, void> {
  static constexpr named_world<Graph> found = named_world<Graph>::find();
  static constexpr int count = found.count;
  static constexpr void copy(place* out) {
    const auto& w = found;
    for (int k = 0; k < count; ++k) out[k] = w.list[k];
  }
};

/// Placement of a lowered graph in a world, by `on` alone (guards are known at run time only).
template <class Graph, class World, bool Soft>
struct placed_in {
  static constexpr int count = Graph::view.count;
  struct data {
    node_placement out[count > 0 ? count : 1]{};
    bool all = true;
  };
  static constexpr data run() {
    data d;
    place requests[count > 0 ? count : 1]{};
    for (int n = 0; n < count; ++n) requests[n] = Graph::view[n].request;
    place devices[devices_of<Graph, World>::count + 1]{};
    devices_of<Graph, World>::copy(devices);
    d.all =
        place_nodes(Graph::view, {requests, nullptr, nullptr, devices, devices_of<Graph, World>::count, Soft}, d.out);
    return d;
  }
  static constexpr data value = run();
};

inline constexpr plan<0, 1, 1, 0> nothing{};

template <class Graph, class World>
struct planned {
  static constexpr int nodes = Graph::view.count;
  static constexpr int edges = Graph::lowered::sizes.operands;
  static constexpr int device_count = devices_of<Graph, World>::count;
  static constexpr int count_tasks() {
    place devices[device_count + 1]{};
    devices_of<Graph, World>::copy(devices);
    return task_count(devices, device_count);
  }
  static constexpr int tasks = count_tasks();
  static constexpr int array_size =
      schedule_capacity(nodes, edges, Graph::view.fetch_count, tasks, tasks > 1 ? count_repeated(Graph::view) : 0);
  using type = plan<nodes, array_size, array_size, device_count>;

  static constexpr type run() {
    type p;
    p.graph = Graph::view;
    devices_of<Graph, World>::copy(p.devices);
    const auto& where = placed_in<Graph, World, true>::value;
    p.placeable = where.all;
    p.depends_on_values = Graph::lowered::sizes.values_decide;
    for (int n = 0; n < nodes; ++n) {
      p.placement[n] = where.out[n];
      p.nodes += Graph::view[n].kind() != op_kind::scalar ? 1 : 0;
    }
    if (!p.placeable) return p;
    extents shapes[nodes > 0 ? nodes : 1]{};
    place requests[nodes > 0 ? nodes : 1]{};
    for (int n = 0; n < nodes; ++n) {
      shapes[n] = Graph::view[n].shape;
      requests[n] = Graph::view[n].request;
    }
    int value_of[nodes > 0 ? nodes : 1]{};
    bool done[nodes > 0 ? nodes : 1]{};
    bool broken[nodes > 0 ? nodes : 1]{};
    device_links links[device_count + 1]{};
    for (int d = 0; d < device_count && tasks > 1; ++d)
      if (p.devices[d].kind == device_kind::gpu) links[d] = {static_cast<std::uint64_t>(d) + 1, true, false};
    using scheduler_of_world = std::conditional_t<(tasks > 1), scheduler_over_tasks, scheduler>;
    scheduler_of_world s(schedule_input{Graph::view,
                                        fused<Graph>::value,
                                        fused<Graph>::parts,
                                        shapes,
                                        p.placement,
                                        {p.steps, p.values, p.units.arrays(), value_of, done, broken},
                                        {p.devices, tasks > 0 ? device_count : 0, requests},
                                        tasks > 1 && gpus_are_direct ? links : nullptr});
    const schedule_counts c = s.run(nullptr);
    p.step_count = c.steps;
    p.value_count = c.values;
    p.kernels = c.kernels;
    p.transfers = c.transfers;
    p.transfer_bytes = c.transfer_bytes;
    p.messages = c.messages;
    p.message_bytes = c.message_bytes;
    p.all_reduces = c.all_reduces.count;
    p.all_reduce_bytes = c.all_reduces.bytes;
    p.reduce_scatters = c.reduce_scatters.count;
    p.reduce_scatter_bytes = c.reduce_scatters.bytes;
    p.all_gathers = c.all_gathers.count;
    p.all_gather_bytes = c.all_gathers.bytes;
    p.broadcasts = c.broadcasts.count;
    p.broadcast_bytes = c.broadcasts.bytes;
    p.direct = c.direct;
    p.direct_bytes = c.direct_bytes;
    p.flops = c.flops;
    const kernel_partition units = p.units.view();
    const workspace_finder workspace(Graph::view, units, shapes);
    for (int d = 0; d < device_count; ++d) {
      const std::int64_t block = assign_offsets(p.values, p.value_count, p.devices[d]);
      const std::int64_t variables = variable_bytes(p.values, p.value_count, p.devices[d]);
      p.workspaces[d] = workspace.of(p.steps, p.step_count, p.devices[d]);
      p.peaks[d] = known_sum(known_sum(block, variables), p.workspaces[d]);
    }
    return p;
  }
  static constexpr type value = run();
};

/// The plan of a program in which the compiler has found a mistake: nothing.
template <class Graph, class World>
constexpr const auto& plan_or_nothing() {
  if constexpr (Graph::well_formed) {
    return planned<Graph, World>::value;
  } else {
    report_mistake<Graph>();
    return nothing;
  }
}

}  // namespace detail

/// Expressions that are fetched in one run: `sess.run(fetches(x, y), ...)`.
template <expression... E>
struct fetch_list {
  boost::hana::tuple<E...> expressions;
};

/// Names several expressions to be fetched in one run.
template <expression... E>
constexpr fetch_list<E...> fetches(const E&... e) {
  static_assert(sizeof...(E) > 0, "[onto.run] fetches() names nothing; give it at least one expression");
  return {boost::hana::tuple<E...>(e...)};
}
/// The same for a list of expressions: `fetches(towers(devices, f))`.
template <expression First, expression... More>
constexpr fetch_list<First, More...> fetches(const boost::hana::tuple<First, More...>& list) {
  return {list};
}
/// The same for what makes several: `fetches(gradients(loss, w, b))`.
template <expression First, expression... More>
constexpr fetch_list<First, More...> fetches(const std::tuple<First, More...>& several) {
  return {std::apply([](const auto&... e) { return boost::hana::tuple<First, More...>(e...); }, several)};
}

namespace detail {
/// What an argument of `fetches` adds to the list.
template <expression... E>
constexpr auto fetched(const std::tuple<E...>& several) {
  return std::apply([](const E&... e) { return plain(e...); }, several);
}
template <class X>
constexpr auto fetched(const X& x) {
  if constexpr (expression<X>) {
    return plain(x);
  } else if constexpr (makes_several<X>) {
    return fetched(x.each());
  } else {
    using wrong = typename decltype(program_mistake<X>())::type;
    static_cast<void>(static_cast<typename wrong::reported*>(nullptr));
    return plain(ill_formed{});
  }
}
template <expression... E>
constexpr auto fetched(const boost::hana::tuple<E...>& several) {
  return boost::hana::unpack(several, [](const E&... e) { return plain(e...); });
}
}  // namespace detail

/// Those of tuples stand among the others, in their order: `fetches(h, c, gradients(loss, w, b))` are four.
template <class... X>
  requires(sizeof...(X) > 0 && !(expression<X> && ...))
constexpr auto fetches(const X&... x) {
  return (detail::fetched(x) + ...).unpack([](const auto&... e) { return fetches(e...); });
}

/// Several to be fetched, each computed on `Device`.
template <place_type Device, expression... E>
constexpr auto on(const fetch_list<E...>& several) {
  return boost::hana::unpack(several.expressions, [](const E&... e) { return fetches(on<Device>(e)...); });
}

/// The plan of `e`, or of several, in a world: by default the devices that `e` names and a CPU. What the world lacks is
/// placed softly. *Returns* a constant: `static_assert(plan_of(e).kernels == 1)`.
template <class World = void, expression E>
constexpr const auto& plan_of(const E&) {
  return detail::plan_or_nothing<detail::graph_of<E>, World>();
}
template <class World = void, expression... E>
constexpr const auto& plan_of(const fetch_list<E...>&) {
  return detail::plan_or_nothing<detail::graph_of<E...>, World>();
}
template <class World = void, expression First, expression Second, expression... More>
constexpr const auto& plan_of(const First&, const Second&, const More&...) {
  return detail::plan_or_nothing<detail::graph_of<First, Second, More...>, World>();
}
template <class World = void, expression... E>
constexpr const auto& plan_of(const std::tuple<E...>&) {
  return detail::plan_or_nothing<detail::graph_of<E...>, World>();
}

}  // namespace onto
