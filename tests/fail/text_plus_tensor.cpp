// SPDX-License-Identifier: BSL-1.0
// A result behind a string, as for a line of output.
// FAIL: \[onto\.text\]
#include <onto/onto.hpp>

#include <string>

using namespace onto;

std::string line(const tensor<float>& loss) {
#ifdef ONTO_TWIN
  return "loss " + std::to_string(float(loss));
#else
  return "loss " + loss;
#endif
}
