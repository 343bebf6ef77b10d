// SPDX-License-Identifier: BSL-1.0
// Each tower trains variables of its own.
// FAIL: \[onto\.optimizer\] towers train a variable that is not theirs alone
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
#ifdef ONTO_TWIN
constexpr auto tower = [](auto place) { return sum(replica(place, w)); };
#else
constexpr auto tower = [](auto) { return sum(w); };
#endif
constexpr auto step = minimize<sgd{.rate = 0.1}>(towers(boost::hana::tuple_t<gpu<0>, gpu<1>>, tower));
