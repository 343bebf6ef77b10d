// SPDX-License-Identifier: BSL-1.0
// A number is no device.
// FAIL: \[onto\.device\] a number names no device; write gpu<1>\{\}
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 4>;
const tensor<float, 4> t{1, 2, 3, 4};

void f(session& sess, tensor<float, 4>& out) {
#ifdef ONTO_TWIN
  out(0) = static_cast<float>(sess.memory(cpu<0>{}).in_use);
#else
  out(0) = static_cast<float>(sess.memory(0).in_use);
#endif
}
