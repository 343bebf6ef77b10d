// SPDX-License-Identifier: BSL-1.0
// Numbers in braces are an operand as a constant.
// FAIL: \[onto\.operands\] numbers in braces are written as a constant: exp\(constant\({1\.0, 2\.5}\)\)
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto y = sqrt(constant({1.0, 2.5}));
#else
const auto y = sqrt({1.0, 2.5});
#endif
