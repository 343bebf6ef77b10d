// SPDX-License-Identifier: BSL-1.0
// A loss of many numbers.
// FAIL: loss_is_not_one_number<.*onto::shape<4, 5>
// FAIL: \[onto\.gradient\] the loss is not a single number
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define LOSS mean
#else
#define LOSS exp
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 4, 5>;
constexpr auto bad = gradient(LOSS(a), a);
