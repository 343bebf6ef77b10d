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
  using detail::not_a_value::operator=;
  using node = placed_node;
  using element_type = typename E::element_type;
  using ops = typename E::ops;
  static constexpr element type = E::facts.type;

  static constexpr std::uint64_t around(std::uint64_t id) {
    return detail::hash_mix(id, detail::key_of(Device::value) + 77);
  }
  static constexpr detail::node_facts make_facts() {
    detail::node_facts f = E::facts;
    f.id = around(f.id);
    f.spelling = around(f.spelling);
    ++f.spelled;
    f.is_leaf = false;
    return f;
  }
  static constexpr detail::node_facts facts = make_facts();

  constexpr explicit placed_node(detail::state_ref s)
      : detail::stateful_expression(static_cast<detail::state_ref&&>(s)) {}

  /// Whether scopes are around a symbol or a constant alone: what else is around it has no say.
  static constexpr bool is_around_leaf() {
    if constexpr (requires { E::is_around_leaf(); })
      return E::is_around_leaf();
    else
      return E::facts.is_leaf;
  }

  template <class Builder>
  static constexpr int put(Builder& b, place scope, bool alone, int parent, int child) {
    const int visit = b.visit(parent, child, Device::value);
    const place within = detail::merged(alone || !is_around_leaf() ? scope : place{}, Device::value);
    return b.leave(visit, E::node::put(b, within, true, visit, 0));
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
template <class Device>
struct device_is_an_argument {
  using reported = void;
  static constexpr bool ok = sizeof(Device) == 0;
  static_assert(
      ok == true,
      "[onto.device] a device is known to the compiler: on<gpu<0>>(x); where it is not, what is written after "
      "device_guard g{name} is there");
};
template <class... Device>
struct device_is_one {
  using reported = void;
  static constexpr bool ok = sizeof...(Device) > 99;
  static_assert(ok == true,
                "[onto.device] an operation is on one device: on<gpu<0>>(x); the same on several of them are "
                "towers(boost::hana::tuple_t<gpu<0>, gpu<1>>, f)");
};
}  // namespace detail

// Where the device is an argument.
template <class Device, expression E>
  requires(!expression<Device>)
constexpr ill_formed on(const Device&, const E&) {
  static_cast<void>(static_cast<typename detail::device_is_an_argument<Device>::reported*>(nullptr));
  return {};
}

// Where it is no place: `on<gpu>(x)`, `on<0>(x)`, `on<gpu(0)>(x)`, `on<"/gpu:0">(x)`.
template <template <int> class Kind, class X>
constexpr ill_formed on(const X&) {
  static_cast<void>(static_cast<typename detail::device_is_an_argument<Kind<0>>::reported*>(nullptr));
  return {};
}
template <int Index, class X>
constexpr ill_formed on(const X&) {
  static_cast<void>(static_cast<typename detail::device_is_an_argument<shape<Index>>::reported*>(nullptr));
  return {};
}
template <auto Device, class X>
  requires(place_type<std::remove_const_t<decltype(Device)>>)
constexpr ill_formed on(const X&) {
  return {};  // gpu(0) itself has told
}
template <place_type First, place_type Second, place_type... More, class X>
constexpr ill_formed on(const X&) {
  static_cast<void>(static_cast<typename detail::device_is_one<First, Second, More...>::reported*>(nullptr));
  return {};
}
template <fixed_string Name, class X>
constexpr ill_formed on(const X&) {
  static_cast<void>(static_cast<typename detail::device_is_an_argument<text_of<Name>>::reported*>(nullptr));
  return {};
}

/// Each of several, as `split` and `gradients` make them.
template <place_type Device, expression... E>
constexpr auto on(const std::tuple<E...>& several) {
  return std::apply([](const auto&... e) { return std::tuple{on<Device>(e)...}; }, several);
}

/// Calls `f(args...)` and computes what it returns, an expression or a `std::tuple` of them, on `Device`.
template <place_type Device, class F, class... Args>
  requires(!expression<F> && std::invocable<const F&, const Args&...>)
constexpr auto on(const F& f, const Args&... args) { return on<Device>(f(args...)); }

}  // namespace onto
