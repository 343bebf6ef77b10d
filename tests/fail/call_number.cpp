// SPDX-License-Identifier: BSL-1.0
// An operation of one's own is called with an expression.
// FAIL: \[onto\.operands\] an operation is called with expressions or data, and numbers beside them: call<my>\(x\)
#include <onto/onto.hpp>

using namespace onto;

struct twice : elementwise<> {
  static constexpr std::string_view name = "Twice";
  template <class T>
  ONTO_HD static T apply(T x) {
    return x + x;
  }
};
constexpr auto v = placeholder<"v", float, 3>;

#ifdef ONTO_TWIN
const auto y = call<twice>(v);
#else
const auto y = call<twice>(2.0);
#endif
