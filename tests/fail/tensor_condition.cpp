// SPDX-License-Identifier: BSL-1.0
// Several elements are no condition: all or any of them is.
// FAIL: \[onto\.tensor\] several elements are no condition; reduce them in the program, evaluate\(all\(x < y\)\)
#include <onto/onto.hpp>

using namespace onto;

int main() {
  const tensor<float, 2> a{1, 2}, b{2, 3};
#ifdef ONTO_TWIN
  if (evaluate(all(a < b))) return 1;
#else
  if (evaluate(a < b)) return 1;
#endif
}
