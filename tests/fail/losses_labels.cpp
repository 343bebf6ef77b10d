// SPDX-License-Identifier: BSL-1.0
// Labels are numbers of classes, or shares of the shape of the scores.
// FAIL: \[onto\.shape\] softmax_cross_entropy: labels are
#include <onto/onto.hpp>

using namespace onto;

constexpr auto scores = placeholder<"scores", float, 8, 5>;
#ifdef ONTO_TWIN
constexpr auto labels = placeholder<"labels", int, 8>;
#else
constexpr auto labels = placeholder<"labels", float, 8>;
#endif
constexpr auto loss = softmax_cross_entropy(scores, labels);
