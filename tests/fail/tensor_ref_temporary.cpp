// SPDX-License-Identifier: BSL-1.0
// A reference to a temporary would outlive it.
// FAIL: temporary
// FLAGS: -Werror
// ONLY: clang++
#include <onto/onto.hpp>

using namespace onto;

tensor<float, dyn> made();

float first() {
#ifdef ONTO_TWIN
  const tensor<float, dyn> values = made();
  const tensor_ref<float, dyn> r(values);
#else
  const tensor_ref<float, dyn> r(made());
#endif
  return r(0);
}
