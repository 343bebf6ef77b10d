// SPDX-License-Identifier: BSL-1.0
// A placeholder is fed data of its element type and rank.
// FAIL: elements_are_of_another_type<
// FAIL: \[onto\.feed\] the data's elements are of another type than the placeholder's
#include <onto/onto.hpp>

#include <vector>

constexpr auto x = onto::placeholder<"x", float, onto::dyn>;
#ifdef ONTO_TWIN
const std::vector<float> data(3);
#else
const std::vector<double> data(3);
#endif

const auto fed = x = data;
