// SPDX-License-Identifier: BSL-1.0
// Elements that are none of onto's, beside no expression.
// FAIL: \[onto\.element\] the elements of the vector, array or span, as long long or a text
#include <onto/indexing.hpp>

#include <cstdint>
#include <vector>

using namespace onto;

#ifdef ONTO_TWIN
using number = std::int64_t;
#else
using number = long long;
#endif

auto f(const std::vector<number>& v) { return bincount<5>(v); }
