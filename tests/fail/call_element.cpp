// SPDX-License-Identifier: BSL-1.0
// An operation of one's own over an element type it does not accept.
// FAIL: element_type_not_supported<.*cube.*bool
#include <onto/ops/call.hpp>

#ifdef ONTO_TWIN
#define ELEMENT double
#else
#define ELEMENT bool
#endif

struct cube : onto::elementwise<> {
  static constexpr std::string_view name = "Cube";
  template <class T>
  static T apply(T x) {
    return x * x * x;
  }
};

constexpr auto a = onto::placeholder<"a", ELEMENT, 2>;
constexpr auto bad = onto::call<cube>(a);
