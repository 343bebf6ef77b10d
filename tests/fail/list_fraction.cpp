// SPDX-License-Identifier: BSL-1.0
// A list of fractions for a placeholder of integers.
// FAIL(g++): \[onto\.tensor\] a fraction is no integer
// FAIL(clang++): \[onto\.tensor\] a fraction is no integer
// FAIL(nvcc): deleted
#include <onto/onto.hpp>

using namespace onto;

constexpr auto k = placeholder<"k", int, 3>;
#ifdef ONTO_TWIN
auto result(session& sess) { return sess.run(k + 1, k = {1, 2, 3}); }
#else
auto result(session& sess) { return sess.run(k + 1, k = {1.5, 2, 3}); }
#endif
