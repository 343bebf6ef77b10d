// SPDX-License-Identifier: BSL-1.0
// Towers on no devices at all.
// FAIL: towers_of_no_places<
// FAIL: \[onto\.towers\] the list of places is empty
#include <onto/ops/towers.hpp>

#ifdef ONTO_TWIN
constexpr auto devices = boost::hana::tuple_t<onto::gpu<0>>;
#else
constexpr auto devices = boost::hana::tuple_t<>;
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;
constexpr auto bad = add_n(towers(devices, [](auto) { return a + a; }));
