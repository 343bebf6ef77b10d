// SPDX-License-Identifier: BSL-1.0
// A matrix of another library is fed.
// FAIL: \[onto\.operands\] .* a matrix of another library is fed to a placeholder, x = m, or x = row_major\(m\)
#include <onto/onto.hpp>

struct matrix {  // says of itself what Eigen says of its own
  enum { IsRowMajor = 1, IsVectorAtCompileTime = 0, InnerStrideAtCompileTime = 1 };
  float values[4] = {1, 2, 3, 4};
  const float* data() const { return values; }
  int size() const { return 4; }
  int rows() const { return 2; }
  int cols() const { return 2; }
  int outerStride() const { return 2; }
  int innerStride() const { return 1; }
};

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 2>;
const matrix m;

#ifdef ONTO_TWIN
const auto y = evaluate(x * 2, x = m);
#else
const auto y = m * x;
#endif
