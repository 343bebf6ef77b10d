// SPDX-License-Identifier: BSL-1.0
// The number of its elements, as a container has it: an expression has it when it is run.
// FAIL: \[onto\.run\] an expression has no shape before it is run; .* extent<0>\(x\)
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn>;

#ifdef ONTO_TWIN
const auto average = sum(x) / cast<float>(extent<0>(x));
#else
const auto average = sum(x) / x.size();
#endif
