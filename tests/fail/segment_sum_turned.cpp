// SPDX-License-Identifier: BSL-1.0
// The numbers of rows before the rows.
// FAIL: \[onto\.element\] numbers of elements, and where slices begin, are integers: .*segment_sum<10>\(rows, numbers\)
#include <onto/indexing.hpp>
#include <onto/onto.hpp>

using namespace onto;

constexpr auto numbers = placeholder<"numbers", int, dyn>;
constexpr auto rows = placeholder<"rows", float, dyn>;
#ifdef ONTO_TWIN
constexpr auto bad = segment_sum<4>(rows, numbers);
#else
constexpr auto bad = segment_sum<4>(numbers, rows);
#endif
