// SPDX-License-Identifier: BSL-1.0
// A variable is assigned to, not fed.
// FAIL: \[onto\.variable\] a variable is not fed; write sess\.run\(assign\(w, value\)\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2>;
const tensor<float, 2> data{1, 2};

void set(session& sess) {
#ifdef ONTO_TWIN
  sess.run(assign(w, constant(data)));
#else
  sess.run(assign(w, w), w = data);
#endif
}
