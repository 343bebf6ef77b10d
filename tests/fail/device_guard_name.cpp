// SPDX-License-Identifier: BSL-1.0
// A guard without a name is gone before anything is written.
// FAIL: \[onto\.device\] a guard without a name is gone at once
// ONLY: g++ clang++
// FLAGS: -Werror
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
auto on_gpu() {
  device_guard scope{"/gpu:0"};
  return x + 1;
}
#else
auto on_gpu() {
  device_guard("/gpu:0");
  return x + 1;
}
#endif
