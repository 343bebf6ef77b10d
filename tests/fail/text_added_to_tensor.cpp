// SPDX-License-Identifier: BSL-1.0
// A line of output is no sum, not even of a result that is one number.
// FAIL: \[onto\.text\] text is no number.* std::cout << t or std::to_string\(float\(t\)\)
#include <onto/onto.hpp>

const onto::tensor<int> loss(3);

#ifdef ONTO_TWIN
const auto line = "loss " + std::to_string(int(loss));
#else
const auto line = "loss " + loss;
#endif
