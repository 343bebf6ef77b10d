// SPDX-License-Identifier: BSL-1.0
// Worlds: the devices that are there, as a type, so that the compiler can place a program as if on that machine.
#pragma once

#include <onto/device/place.hpp>

#include <array>

namespace onto {

namespace detail {

/// Whether `a` comes before `b` where the placer is free to choose: GPU before CPU, then the lowest index.
constexpr bool preferred_place(place a, place b) { return a.kind != b.kind ? a.kind > b.kind : a.index < b.index; }

/// Puts places in order of preference, by insertion: worlds are small. Tasks stay in the order in which they are named.
constexpr void order_places(place* places, int size) {
  for (int n = 1; n < size; ++n) {
    const place moved = places[n];
    int k = n;
    while (k > 0 && !same_task(places[k - 1], moved)) --k;
    if (k == 0) k = n;  // the first of its task
    while (k > 0 && same_task(places[k - 1], moved) && preferred_place(moved, places[k - 1])) --k;
    for (int j = n; j > k; --j) places[j] = places[j - 1];
    places[k] = moved;
  }
}

/// A place of a world: a task alone stands for its CPU.
constexpr place device_named(const place& p) { return p.kind == device_kind::none ? host_of(p) : p; }

/// Whether no two neighbours are equal.
constexpr bool places_all_differ(const place* ordered, int size) {
  for (int k = 1; k < size; ++k)
    if (ordered[k] == ordered[k - 1]) return false;
  return true;
}

}  // namespace detail

/// The devices that are there: `world<cpu<0>, gpu<0>>`. A set, so the order they are written in means nothing, but for
/// that of tasks: what names no task goes to the first one that has it. `task<"worker", 1>` is its CPU.
/// A world needs no CPU and may be empty: a program is then placeable as far as its operations have kernels on what is
/// there. The worlds that a session finds always have `cpu<0>`.
/// *Mandates* that no place is named twice.
template <place_type... D>
struct world {
  /// How many devices there are.
  static constexpr int size = int{sizeof...(D)};

  /// The devices in the order the placer prefers them: GPU before CPU, then the lowest index.
  static constexpr auto places = [] {
    std::array<place, sizeof...(D)> all{detail::device_named(D::value)...};
    detail::order_places(all.data(), size);
    return all;
  }();

 private:
  static constexpr bool places_differ = detail::places_all_differ(places.data(), size);
  static_assert(places_differ, "[onto.device] a world names one place twice; write each place once");

 public:
  /// How many devices of a kind there are.
  static constexpr int count(device_kind kind) {
    int n = 0;
    for (const place& p : places) n += p.kind == kind ? 1 : 0;
    return n;
  }

  /// Whether this place is there.
  static constexpr bool contains(place wanted) {
    for (const place& p : places)
      if (p == wanted) return true;
    return false;
  }

  friend constexpr bool operator==(world, world) { return true; }
};

namespace detail {

template <class T>
inline constexpr bool is_world = false;
template <class... D>
inline constexpr bool is_world<world<D...>> = true;

/// The place an item of a list names: the item itself, or its member `type`.
template <class Item>
struct place_named {};
template <place_type Item>
struct place_named<Item> {
  using type = Item;
};
template <class Item>
  requires place_type<typename Item::type>
struct place_named<Item> {
  using type = typename Item::type;
};

template <class Item>
concept names_place = requires {
  typename place_named<Item>::type;
};

}  // namespace detail

/// `world<...>` of any places.
template <class W>
concept world_type = detail::is_world<W>;

/// The world of a list of types: `world_of(hana::tuple_t<gpu<0>, gpu<1>>)` is `world<gpu<0>, gpu<1>>`. The items of the
/// list are places, or have a member `type` that is one, as `hana::type` and `std::type_identity` do; Boost.Hana's
/// headers are not needed here, so they cost nothing to whoever does not use them.
template <template <class...> class List, detail::names_place... Item>
constexpr auto world_of(const List<Item...>&) -> world<typename detail::place_named<Item>::type...> {
  return {};
}

}  // namespace onto
