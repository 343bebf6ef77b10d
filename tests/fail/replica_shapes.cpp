// SPDX-License-Identifier: BSL-1.0
// Towers have the same variables.
// FAIL: \[onto\.optimizer\] the towers train variables of different shapes or element types, or not as many
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto other = variable<"v", float, 3>(zeros<float, 3>());
#else
constexpr auto other = variable<"v", float, 4>(zeros<float, 4>());
#endif
constexpr auto tower = [](auto place) {
  if constexpr (place.index == 0)
    return sum(variable<"w", float, 3>(zeros<float, 3>()));
  else
    return sum(other);
};
constexpr auto step = minimize<sgd{.rate = 0.1}>(towers(boost::hana::tuple_t<gpu<0>, gpu<1>>, tower));
