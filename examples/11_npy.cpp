// SPDX-License-Identifier: BSL-1.0
// NumPy's files: a matrix is written, read, fed to a program, and the result is written.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto m = placeholder<"m", float, dyn, 3>;  // any number of rows

int main() {
  // [files]
  save_npy("m.npy", tensor<float, 2, 3>{{3, 4, 0}, {6, 8, 0}});

  const auto rows = load_npy<float, dyn, 3>("m.npy");  // the element type and 3 are checked, the rest is as in the file
  const auto length = sqrt(sum<1>(square(m), keep_extents));

  session sess;
  save_npy("unit.npy", sess.run(m / length, m = rows));
  std::cout << load_npy<float, dyn, dyn>("unit.npy") << '\n';
  // [files]

  // [wrong]
  try {
    load_npy<double, dyn, dyn>("m.npy");
  } catch (const invalid_argument_error& e) {
    std::cout << e.what() << '\n';
  }
  // [wrong]
}
