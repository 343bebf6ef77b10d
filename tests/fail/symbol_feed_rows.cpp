// SPDX-License-Identifier: BSL-1.0
// Rows in braces.
// FAIL: \[onto\.feed\] ranges in a range need not lie in one piece
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, dyn, 3>;

#ifdef ONTO_TWIN
auto run(session& s, const std::vector<float>& row) { return s.run(x + 1, x = tensor<float, 1, 3>(row)); }
#else
auto run(session& s, const std::vector<float>& row) { return s.run(x + 1, x = {row, row}); }
#endif
