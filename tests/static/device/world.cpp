// SPDX-License-Identifier: BSL-1.0
// What a world is, as assertions the compiler checks.
#include <onto/device/world.hpp>

#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>

#include <tuple>
#include <type_traits>

using namespace onto;
namespace hana = boost::hana;

using workstation = world<cpu<0>, gpu<1>, cpu<1>, gpu<0>>;

// A world is an empty type that says how many devices there are.
static_assert(std::is_empty_v<workstation>);
static_assert(workstation::size == 4);
static_assert(workstation::count(device_kind::gpu) == 2);
static_assert(workstation::count(device_kind::cpu) == 2);
static_assert(workstation::count(device_kind::none) == 0);

// Its devices come in the order the placer prefers: GPU before CPU, then the lowest index.
static_assert(workstation::places.size() == 4);
static_assert(workstation::places[0] == gpu<0>::value);
static_assert(workstation::places[1] == gpu<1>::value);
static_assert(workstation::places[2] == cpu<0>::value);
static_assert(workstation::places[3] == cpu<1>::value);

// Indices are ordered as numbers: 2 comes before 10.
static_assert(world<gpu<10>, gpu<2>>::places[0] == gpu<2>::value);

// The order it is written in means nothing.
static_assert(world<cpu<0>, gpu<0>>::places == world<gpu<0>, cpu<0>>::places);

// It contains the places it names and no other.
static_assert(workstation::contains(gpu<1>::value));
static_assert(!workstation::contains(gpu<2>::value));
static_assert(!workstation::contains(cpu<2>::value));
static_assert(!workstation::contains(place{}));

// No CPU is required, nor anything else.
static_assert(world<gpu<0>>::count(device_kind::cpu) == 0);
static_assert(world<>::size == 0);
static_assert(world<>::places.empty());
static_assert(!world<>::contains(cpu<0>::value));

// A list of Boost.Hana types makes a world, and so does a list of places.
static_assert(std::is_same_v<decltype(world_of(hana::tuple_t<gpu<0>, gpu<1>>)), world<gpu<0>, gpu<1>>>);
static_assert(std::is_same_v<decltype(world_of(hana::make_tuple(cpu<0>{}, gpu<1>{}))), world<cpu<0>, gpu<1>>>);
static_assert(std::is_same_v<decltype(world_of(hana::tuple_t<>)), world<>>);
static_assert(
    std::is_same_v<decltype(world_of(std::tuple<gpu<3>, std::type_identity<cpu<0>>>{})), world<gpu<3>, cpu<0>>>);
static_assert(world_of(hana::tuple_t<gpu<0>>).size == 1);

// A list of anything else does not.
template <class List>
concept makes_a_world = requires(List list) {
  world_of(list);
};
static_assert(makes_a_world<std::tuple<gpu<0>>>);
static_assert(!makes_a_world<std::tuple<gpu<0>, int>>);
static_assert(!makes_a_world<decltype(hana::tuple_t<int>)>);
static_assert(!makes_a_world<gpu<0>>);

// Worlds are told from other types.
static_assert(world_type<workstation>);
static_assert(world_type<world<>>);
static_assert(!world_type<gpu<0>>);
static_assert(!world_type<std::tuple<gpu<0>>>);
