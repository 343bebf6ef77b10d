// SPDX-License-Identifier: BSL-1.0
// An operation of one's own whose apply returns another type than its elements'.
// FAIL: apply_returns_another_type<.*half.*double.*float
// FAIL: \[onto\.operation\] the operation's apply must return the element type of its result
#include <onto/ops/call.hpp>

#ifdef ONTO_TWIN
#define HALF T(0.5)
#else
#define HALF 0.5
#endif

struct half : onto::elementwise<> {
  static constexpr std::string_view name = "Half";
  template <class T>
  static auto apply(T x) {
    return x * HALF;
  }
};

constexpr auto a = onto::placeholder<"a", float, 2>;
constexpr auto bad = onto::call<half>(a);
