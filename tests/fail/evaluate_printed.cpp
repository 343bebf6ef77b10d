// SPDX-License-Identifier: BSL-1.0
// What needs a session is said once, and has a result to be printed.
// FAIL: \[onto\.run\] evaluate has no variables, which live in a session
#include <onto/onto.hpp>

#include <iostream>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;
constexpr auto w = onto::variable<"w", float, 2, 3>(onto::zeros<float, 2, 3>());
const onto::tensor<float, 2, 3> t;

#ifdef ONTO_TWIN
void print(onto::session& sess) { std::cout << sess.run(x + w, x = t); }
#else
void print(onto::session&) { std::cout << onto::evaluate(x + w, x = t); }
#endif
