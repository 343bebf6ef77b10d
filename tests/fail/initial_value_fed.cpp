// SPDX-License-Identifier: BSL-1.0
// An initial value is made without feeds.
// FAIL: initial_value_is_fed<.*'w'
// FAIL: \[onto\.variable\] the initial value of a variable is made of a placeholder
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
constexpr auto w = variable<"w", float, 3, 4>(x * 2_c);
#ifdef ONTO_TWIN
void set(session& sess) { sess.run(assign(w, x * 2_c), x = tensor<float, 3, 4>()); }
#else
void set(session& sess) { sess.initialize(w); }
#endif
