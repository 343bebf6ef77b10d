// SPDX-License-Identifier: BSL-1.0
// Names of <cmath> which onto writes otherwise.
// FAIL: \[onto\.operands\] log2 is written log\(x\) / 0\.69
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
#ifdef ONTO_TWIN
const auto good = log(x) / 0.6931471805599453;
#else
const auto bad = log2(x);
#endif
