// SPDX-License-Identifier: BSL-1.0
// An operation of one's own with a number of operands its apply does not take.
// FAIL: apply_does_not_take<.*cube.*float.*float
// FAIL: \[onto\.operation\] the operation's apply cannot be called with one element of each operand
#include <onto/ops/call.hpp>

struct cube : onto::elementwise<> {
  static constexpr std::string_view name = "Cube";
  template <class T>
  static T apply(T x) {
    return x * x * x;
  }
};

constexpr auto a = onto::placeholder<"a", float, 2>;
#ifdef ONTO_TWIN
constexpr auto bad = onto::call<cube>(a);
#else
constexpr auto bad = onto::call<cube>(a, a);
#endif
