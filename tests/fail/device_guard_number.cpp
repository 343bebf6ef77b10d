// SPDX-License-Identifier: BSL-1.0
// A number is no name of a device, and 0 was a pointer to none.
// FAIL: \[onto\.device\] a number names no device; write gpu<1>\{\}
#include <onto/onto.hpp>

#include <string>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

auto on_gpu(int k) {
#ifdef ONTO_TWIN
  device_guard scope{"/gpu:" + std::to_string(k)};
#else
  device_guard scope(k);
#endif
  return x + 1;
}
auto on_first() {
#ifdef ONTO_TWIN
  device_guard scope{gpu<0>{}};
#else
  device_guard scope(0);
#endif
  return x + 1;
}
