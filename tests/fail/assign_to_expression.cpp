// SPDX-License-Identifier: BSL-1.0
// Only variables can be assigned to.
// FAIL: not_a_variable<.*onto::op::assign_add.*onto::placeholder_node
// FAIL: \[onto\.variable\] only a variable, or on<D>\(variable\), can be assigned to
#include <onto/ops/assign.hpp>

#ifdef ONTO_TWIN
#define SYMBOL variable
#else
#define SYMBOL placeholder
#endif

using namespace onto;

constexpr auto w = SYMBOL<"w", float, 2, 2>;
constexpr auto x = placeholder<"x", float, 2, 2>;
constexpr auto bad = assign_add(w, x);
