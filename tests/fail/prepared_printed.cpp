// SPDX-License-Identifier: BSL-1.0
// A run that was started has a result when it is over.
// FAIL: \[onto\.run\] a run that was started has its result by get\(\)
#include <onto/onto.hpp>

#include <iostream>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
const onto::tensor<float, 2, 3> t;

#ifdef ONTO_TWIN
void print(onto::session& sess) { std::cout << sess.prepare(x + x).async(x = t).get(); }
#else
void print(onto::session& sess) { std::cout << sess.prepare(x + x).async(x = t); }
#endif
