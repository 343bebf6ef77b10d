// SPDX-License-Identifier: BSL-1.0
// What a place is, as assertions the compiler checks.
#include <onto/device/place.hpp>

#include <type_traits>

using namespace onto;

// A place asks for nothing until it is given a kind.
static_assert(!place{}.is_set());
static_assert(place{} == place{device_kind::none, -1});
static_assert(place{device_kind::gpu, 0}.is_set());
static_assert(place{device_kind::cpu, -1}.is_set());

// Two places are equal when kind and index are.
static_assert(place{device_kind::gpu, 1} == place{device_kind::gpu, 1});
static_assert(place{device_kind::gpu, 1} != place{device_kind::gpu, 2});
static_assert(place{device_kind::gpu, 1} != place{device_kind::cpu, 1});

// A place is plain data, so that the passes can keep arrays of them.
static_assert(std::is_aggregate_v<place>);
static_assert(std::is_trivially_copyable_v<place>);
static_assert(sizeof(place) <= 24);
