// SPDX-License-Identifier: BSL-1.0
// An assignment that nobody runs.
// FAIL: an assignment is an expression: it assigns when it is run
// ONLY: g++ clang++
// FLAGS: -Werror=unused-result
#include <onto/onto.hpp>

using namespace onto;

const auto w = variable<"w", float, 2>;
void forget() { assign(w, 1); }
