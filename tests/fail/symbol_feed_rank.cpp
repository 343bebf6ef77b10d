// SPDX-License-Identifier: BSL-1.0
// A vector has no shape of rank 2.
// FAIL: \[onto\.feed\] the data has another rank than the placeholder, or no shape of its own
#include <onto/onto.hpp>

#include <vector>

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn, dyn>;
const std::vector<float> data(6);

#ifdef ONTO_TWIN
const auto fed = x = tensor_ref<float, dyn, dyn>(data, {2, 3});
#else
const auto fed = x = data;
#endif
