// SPDX-License-Identifier: BSL-1.0
// An operation is on one device.
// FAIL: \[onto\.device\] an operation is on one device: on<gpu<0>>\(x\)
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

using namespace onto;

#ifdef ONTO_TWIN
const auto y = on<gpu<0>>(exp(x));
#else
const auto y = on<gpu<0>, gpu<1>>(exp(x));
#endif
