// SPDX-License-Identifier: BSL-1.0
// Numbers with fractions are no places.
// FAIL: \[onto\.element\] the operation has no kernel
#include <onto/ops/matrix.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto a = placeholder<"a", int, 3>;
#else
constexpr auto a = placeholder<"a", float, 3>;
#endif
constexpr auto bad = one_hot<4>(a);
