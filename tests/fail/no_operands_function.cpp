// SPDX-License-Identifier: BSL-1.0
// A function that was not called, where its result belongs.
// FAIL: \[onto\.operands\] this word does not take these arguments
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;
constexpr auto f = [] { return x * x; };
#ifdef ONTO_TWIN
constexpr auto e = log_softmax<1>(f());
#else
constexpr auto e = log_softmax<1>(f);
#endif
