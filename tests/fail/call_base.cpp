// SPDX-License-Identifier: BSL-1.0
// An operation of one's own that derives from nothing.
// FAIL: not_an_elementwise_operation<.*cube
// FAIL: \[onto\.operation\] an operation of your own is a struct that derives from elementwise<>
#include <onto/ops/call.hpp>

#ifdef ONTO_TWIN
struct cube : onto::elementwise<> {
#else
struct cube {
#endif
  static constexpr std::string_view name = "Cube";
  template <class T>
  static T apply(T x) {
    return x * x * x;
  }
};

constexpr auto a = onto::placeholder<"a", float, 2>;
constexpr auto bad = onto::call<cube>(a);
