// SPDX-License-Identifier: BSL-1.0
// A tensor holds the result of a run, not an expression.
// FAIL: \[onto\.run\] an expression has no value before it is run; take that of sess\.run\(e\)
#include <onto/onto.hpp>

using namespace onto;

const tensor<float, 2> a{1, 2}, b{3, 4};
session sess;
#ifdef ONTO_TWIN
const tensor<float, 2> c = sess.run(a + b);
#else
const tensor<float, 2> c = a + b;
#endif
