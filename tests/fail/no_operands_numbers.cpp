// SPDX-License-Identifier: BSL-1.0
// A word of several of numbers alone.
// FAIL: \[onto\.operands\] this word does not take these arguments
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
auto share(const tensor<double, 3>& total) { return evaluate(clip(total, 0, 1)); }
#else
auto share(double total) { return clip(total, 0, 1); }
#endif
