// SPDX-License-Identifier: BSL-1.0
// The function of towers is called with a place.
// FAIL: tower_takes_no_place<
// FAIL: \[onto\.towers\] the function takes no place
#include <onto/ops/towers.hpp>

#ifdef ONTO_TWIN
#define PARAMETER auto
#else
#define PARAMETER int
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 4>;
constexpr auto bad = concat<0>(towers(boost::hana::tuple_t<gpu<0>, gpu<1>>, [](PARAMETER) { return a + a; }));
