// SPDX-License-Identifier: BSL-1.0
// The same beside an expression.
// FAIL: \[onto\.element\] the elements of the vector, array or span, as long long or a text
#include <onto/onto.hpp>

#include <cstdint>
#include <vector>

using namespace onto;

constexpr auto v = placeholder<"v", std::int64_t, dyn>;
#ifdef ONTO_TWIN
using number = std::int64_t;
#else
using number = long long;
#endif

auto f(const std::vector<number>& d) { return v + d; }
