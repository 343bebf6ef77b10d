// SPDX-License-Identifier: BSL-1.0
// What `gpu<I>` is, as assertions the compiler checks.
#include <onto/device/place.hpp>

#include <type_traits>

using namespace onto;

// gpu<I> is the place of kind GPU and index I.
static_assert(gpu<0>::value == place{device_kind::gpu, 0});
static_assert(gpu<7>::value == place{device_kind::gpu, 7});
static_assert(gpu<2147483647>::value.index == 2147483647);

// Different indices are different types and different places.
static_assert(!std::is_same_v<gpu<0>, gpu<1>>);
static_assert(gpu<0>::value != gpu<1>::value);

// It is a place type and costs nothing to carry.
static_assert(place_type<gpu<0>>);
static_assert(std::is_empty_v<gpu<0>>);
static_assert(std::is_trivial_v<gpu<0>>);

// References, constant places, numbers and place values are not place types.
static_assert(!place_type<gpu<0>&>);
static_assert(!place_type<const gpu<0>>);
static_assert(!place_type<int>);
static_assert(!place_type<place>);
