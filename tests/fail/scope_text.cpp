// SPDX-License-Identifier: BSL-1.0
// One that has a name at run time is a guard.
// FAIL: \[onto\.device\] .* device_guard g\{name\}
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
const auto y = [] {
  device_guard g{"/gpu:0"};
  return x + x;
}();
#else
const auto y = on("/gpu:0", x + x);
#endif
