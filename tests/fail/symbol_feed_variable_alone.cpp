// SPDX-License-Identifier: BSL-1.0
// Who feeds a variable in place of a placeholder reads that alone, and not that the placeholder is not fed.
// FAIL: ^(?![\s\S]*\[onto\.feed\])[\s\S]*\[onto\.variable\] a variable is not fed; write sess\.run\(assign\(w, value\)\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2>;
constexpr auto x = placeholder<"x", float, 2>;
const tensor<float, 2> data{1, 2};

void set(session& sess) {
#ifdef ONTO_TWIN
  sess.run(w * x, x = data);
#else
  sess.run(w * x, w = data);
#endif
}
