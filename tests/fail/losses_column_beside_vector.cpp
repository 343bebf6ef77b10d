// SPDX-License-Identifier: BSL-1.0
// Scores of one column beside a vector of targets would be all pairs.
// FAIL: \[onto\.shape\] one operand of the loss is \(n, 1\), the other \(n\).* squeeze<-1>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto scores = placeholder<"scores", float, dyn, 1>;
constexpr auto targets = placeholder<"targets", float, dyn>;

#ifdef ONTO_TWIN
const auto loss = mean_squared_error(squeeze<-1>(scores), targets);
#else
const auto loss = mean_squared_error(scores, targets);
#endif
