// SPDX-License-Identifier: BSL-1.0
// What `cpu<I>` is, as assertions the compiler checks.
#include <onto/device/place.hpp>

#include <type_traits>

using namespace onto;

// cpu<I> is the place of kind CPU and index I.
static_assert(cpu<0>::value == place{device_kind::cpu, 0});
static_assert(cpu<3>::value == place{device_kind::cpu, 3});

// A CPU is never a GPU, whatever the index.
static_assert(!std::is_same_v<cpu<0>, gpu<0>>);
static_assert(cpu<0>::value != gpu<0>::value);
static_assert(cpu<0>::value != cpu<1>::value);

// It is a place type and costs nothing to carry.
static_assert(place_type<cpu<0>>);
static_assert(std::is_empty_v<cpu<0>>);
static_assert(!place_type<const cpu<0>&>);
