// SPDX-License-Identifier: BSL-1.0
// A vector has no shape of its own: where the type knows none either, it must be given.
// FAIL: deleted
#include <onto/tensor/tensor_ref.hpp>

#include <vector>

std::vector<float> values{1, 2, 3, 4};

#ifdef ONTO_TWIN
onto::tensor_ref<float, onto::dyn, onto::dyn> t(values, {2, 2});
#else
onto::tensor_ref<float, onto::dyn, onto::dyn> t(values);
#endif
