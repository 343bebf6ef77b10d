// SPDX-License-Identifier: BSL-1.0
// Scaled losses are of one loss.
// FAIL: \[onto\.optimizer\] loss_scaling is for one loss
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 3>(zeros<float, 3>());
constexpr auto losses = towers(boost::hana::tuple_t<gpu<0>, gpu<1>>, [](auto place) { return sum(replica(place, w)); });
#ifdef ONTO_TWIN
constexpr auto step = minimize<sgd{.rate = 0.1}>(losses);
#else
constexpr auto step = minimize<sgd{.rate = 0.1}>(loss_scaling{}, losses);
#endif
