// SPDX-License-Identifier: BSL-1.0
// Placement scopes: `on<gpu<0>>(e)` as a type around an expression.
#pragma once

#include <onto/expr/expression.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>

namespace onto {

/// An expression inside a placement scope.
template <class Device, class E>
struct placed_node : detail::stateful_expression {
  using element_type = typename E::element_type;
  using ops = typename E::ops;
  static constexpr element type = E::facts.type;

  static constexpr detail::node_facts make_facts() {
    detail::node_facts f = E::facts;
    f.nodes = f.nodes < detail::node_limit ? f.nodes + 1 : f.nodes;
    f.id = detail::hash_mix(detail::hash_mix(f.id, static_cast<std::uint64_t>(Device::value.kind) + 77),
                            static_cast<std::uint64_t>(Device::value.index));
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  constexpr explicit placed_node(detail::state_ref s)
      : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  template <class Builder>
  static constexpr int put(Builder& b, place, bool, int parent, int child) {
    const int visit = b.visit_scope(parent, child, Device::value);
    return b.leave(visit, E::put(b, Device::value, true, visit, 0));
  }
};

/// Computes `e` on `Device`: every operation of `e` that has no device yet gets it. A symbol or a constant is placed
/// where `on` is around it alone.
template <place_type Device, expression E>
constexpr auto on(const E& e) {
  if constexpr (std::same_as<E, ill_formed>)
    return e;
  else
    return placed_node<Device, E>{detail::join_states(e.state.get())};
}

namespace detail {
template <place_type Device, class... E>
constexpr auto place_each(const std::tuple<E...>& results) {
  return std::apply([](const auto&... e) { return std::tuple{on<Device>(e)...}; }, results);
}
}  // namespace detail

/// Calls `f(args...)` and computes what it returns, an expression or a `std::tuple` of them, on `Device`.
template <place_type Device, class F, class... Args>
  requires(!expression<F> && std::invocable<const F&, const Args&...>)
constexpr auto on(const F& f, const Args&... args) {
  using result = std::remove_cvref_t<decltype(f(args...))>;
  if constexpr (expression<result>) {
    return on<Device>(f(args...));
  } else {
    return detail::place_each<Device>(f(args...));
  }
}

}  // namespace onto
