// SPDX-License-Identifier: BSL-1.0
// Whether a program can run as it is placed, asked of the compiler: `static_assert(placeable<world<cpu<0>>>(e))`.
#pragma once

#include <onto/plan/plan.hpp>

namespace onto {

namespace detail {

template <class Operation, class Device>
struct operation_cannot_run_there {
  static constexpr bool ok = Operation::value.size() > 1000000;
  static_assert(ok == true,
                "[onto.placement] the operation has no kernel on that device, or the world has no such device; place "
                "it elsewhere");
};

template <device_kind Kind, int Index>
struct place_as_type {
  using type = cpu<Index>;
};
template <int Index>
struct place_as_type<device_kind::gpu, Index> {
  using type = gpu<Index>;
};
/// No device was asked for, and none has a kernel.
struct any_device {};
template <int Index>
struct place_as_type<device_kind::none, Index> {
  using type = any_device;
};

template <class Graph, class World>
struct misplaced {
  static constexpr int find() {
    const auto& placed = placed_in<Graph, World, false>::value;
    for (int n = 0; n < Graph::view.count; ++n)
      if (is_error(placed.out[n].reason) && Graph::view[n].kind() != op_kind::scalar) return n;
    return -1;
  }
  static constexpr int node = find();
};

template <class Graph, class World>
struct misplaced_operation {
  static constexpr graph_node node = Graph::view[misplaced<Graph, World>::node];
  static constexpr std::string_view name = node.op->name;
  using operation = decltype(spell_name<name>(std::make_index_sequence<name.size()>{}));
  using where = typename place_as_type<node.request.kind, node.request.index>::type;
};

template <class Graph, class World>
constexpr bool report_misplaced() {
  if constexpr (Graph::well_formed && misplaced<Graph, World>::node >= 0)
    (void)operation_cannot_run_there<typename misplaced_operation<Graph, World>::operation,
                                     typename misplaced_operation<Graph, World>::where>::ok;
  return true;
}

}  // namespace detail

/// Whether every operation of `e` can run where it is put (or, where nothing is asked for, anywhere) in this world,
/// without soft placement.
template <class World, expression E>
constexpr bool placeable(const E&) {
  return detail::placed_in<detail::graph_of<E>, World, false>::value.all;
}
template <class World, expression... E>
constexpr bool placeable(const fetch_list<E...>&) {
  return detail::placed_in<detail::graph_of<E...>, World, false>::value.all;
}

/// As `placeable`, but a program that cannot run is a compile error that names the operation and the device:
/// `expect_placeable<world<cpu<0>, gpu<0>>>(e);`
/// *Returns* true.
template <class World, expression E>
constexpr bool expect_placeable(const E&) {
  return detail::report_misplaced<detail::graph_of<E>, World>();
}
template <class World, expression... E>
constexpr bool expect_placeable(const fetch_list<E...>&) {
  return detail::report_misplaced<detail::graph_of<E...>, World>();
}

}  // namespace onto
