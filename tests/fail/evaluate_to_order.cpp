// SPDX-License-Identifier: BSL-1.0
// What a result goes into is first, without a session too.
// FAIL: \[onto\.run\] what the result goes into is first: .* and evaluate_to\(out, e, x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4>;
const tensor<float, 4> t{1, 2, 3, 4};

void f(tensor<float, 4>& out) {
#ifdef ONTO_TWIN
  evaluate_to(out, x * 2, x = t);
#else
  evaluate_to(x * 2, out, x = t);
#endif
}
