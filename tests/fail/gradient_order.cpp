// SPDX-License-Identifier: BSL-1.0
// What is derived comes before what it is derived by.
// FAIL: \[onto\.gradient\] the loss comes first, then what it is derived by: gradient\(loss, w\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = placeholder<"w", float, 4>;
constexpr auto loss = sum(w * w);

#ifdef ONTO_TWIN
constexpr auto derivative = gradient(loss, w);
#else
constexpr auto derivative = gradient(w, loss);
#endif
