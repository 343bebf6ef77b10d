// SPDX-License-Identifier: BSL-1.0
// Labels of another number of examples.
// FAIL: \[onto\.shape\] softmax_cross_entropy: labels are numbers of classes
#include <onto/onto.hpp>

using namespace onto;

constexpr auto scores = placeholder<"scores", float, 4, 10>;
#ifdef ONTO_TWIN
constexpr auto labels = placeholder<"labels", int, 4>;
#else
constexpr auto labels = placeholder<"labels", int, 5>;
#endif
constexpr auto bad = softmax_cross_entropy(scores, labels);
