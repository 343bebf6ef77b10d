// SPDX-License-Identifier: BSL-1.0
// A prepared program has a result when it is called.
// FAIL: \[onto\.run\] a prepared program is called: step\(x = data\)
#include <onto/onto.hpp>

#include <iostream>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
const onto::tensor<float, 2, 3> t;

#ifdef ONTO_TWIN
void print(onto::session& sess) { std::cout << sess.prepare(x + x)(x = t); }
#else
void print(onto::session& sess) { std::cout << sess.prepare(x + x); }
#endif
