// SPDX-License-Identifier: BSL-1.0
// An operation of one's own with more operands than a kernel's instruction has.
// FAIL: operation_takes_too_many<.*mix
// FAIL: \[onto\.operands\] an operation of your own takes at most 4 operands
#include <onto/ops/call.hpp>

struct mix : onto::elementwise<> {
  static constexpr std::string_view name = "Mix";
  template <class... T>
  static auto apply(T... x) {
    return (x + ...);
  }
};

constexpr auto a = onto::placeholder<"a", float, 2>;
#ifdef ONTO_TWIN
constexpr auto good = onto::call<mix>(a, a, a, a);
#else
constexpr auto bad = onto::call<mix>(a, a, a, a, a);
#endif
