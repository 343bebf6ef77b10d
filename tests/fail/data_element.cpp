// SPDX-License-Identifier: BSL-1.0
// Data in an expression has an element type as everything else.
// FAIL: \[onto\.element\] the operands' element types differ; convert one with cast<T>\(x\)
#include <onto/onto.hpp>

#include <vector>

constexpr auto x = onto::placeholder<"x", float, onto::dyn>;
#ifdef ONTO_TWIN
const std::vector<float> data(3);
#else
const std::vector<double> data(3);
#endif

const auto y = x + data;
