// SPDX-License-Identifier: BSL-1.0
// An operation of one's own without a name.
// FAIL: operation_has_no_name<.*cube
// FAIL: \[onto\.operation\] the operation has no name
#include <onto/ops/call.hpp>

struct cube : onto::elementwise<> {
#ifdef ONTO_TWIN
  static constexpr std::string_view name = "Cube";
#endif
  template <class T>
  static T apply(T x) {
    return x * x * x;
  }
};

constexpr auto a = onto::placeholder<"a", float, 2>;
constexpr auto bad = onto::call<cube>(a);
