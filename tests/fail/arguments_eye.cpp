// SPDX-License-Identifier: BSL-1.0
// The extents of an identity matrix are in its type.
// FAIL: \[onto\.shape\] extents are known to the compiler: .*eye<float, 3>\(\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 2>;

#ifdef ONTO_TWIN
const auto y = matmul(eye<float, 3>(), x);
#else
const auto y = matmul(eye(3), x);
#endif
