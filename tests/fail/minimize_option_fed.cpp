// SPDX-License-Identifier: BSL-1.0
// What is fed is no option of an optimizer.
// FAIL: \[onto\.optimizer\] an option is a number; a rate that is computed or fed has a word of its own: minimize\(adam\{\}, learning_rate\(e\), loss\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto rate = placeholder<"rate", float>;

#ifdef ONTO_TWIN
const auto optimizer = adam{.rate = 0.1};
#else
const auto optimizer = adam{.rate = rate};
#endif
