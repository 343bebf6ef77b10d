// SPDX-License-Identifier: BSL-1.0
// How many distinct values there are is data: the capacity is in the type.
// FAIL: \[onto\.shape\] unique: there is no room for a value; unique<10>\(x\) has room for ten
#include <onto/ops/sort.hpp>

#ifdef ONTO_TWIN
#define CAPACITY 1
#else
#define CAPACITY 0
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 4, 5>;
constexpr auto bad = unique<CAPACITY>(a);
