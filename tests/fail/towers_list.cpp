// SPDX-License-Identifier: BSL-1.0
// A place is no list of places.
// FAIL: not_a_list_of_places<.*gpu<0>
// FAIL: \[onto\.towers\] the first argument is no list of places
#include <onto/ops/towers.hpp>

#ifdef ONTO_TWIN
constexpr auto devices = boost::hana::tuple_t<onto::gpu<0>>;
#else
constexpr auto devices = onto::gpu<0>{};
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
constexpr auto bad = add_n(towers(devices, [](auto) { return a + a; }));
