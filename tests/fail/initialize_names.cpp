// SPDX-License-Identifier: BSL-1.0
// Two variables of one name with two first values.
// FAIL: variable_has_two_first_values<.*'w'
// FAIL: \[onto\.name\] two variables of one name have different initial values
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2>(zeros<float, 2>());
#ifdef ONTO_TWIN
constexpr auto w2 = variable<"w2", float, 2>(ones<float, 2>());
#else
constexpr auto w2 = variable<"w", float, 2>(ones<float, 2>());
#endif

int main() {
  session sess;
  sess.initialize(w, w2);
  sess.initialize(w + w2);
}
