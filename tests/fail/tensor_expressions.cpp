// SPDX-License-Identifier: BSL-1.0
// A tensor holds values: several expressions are fetched, or stacked.
// FAIL: deleted
// FAIL(g++): \[onto\.tensor\] it holds values; expressions are run by fetches\(a, b\), or stack\(a, b\)
// FAIL(clang++): \[onto\.tensor\] it holds values; expressions are run by fetches\(a, b\), or stack\(a, b\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto a = placeholder<"a", float, 3>;
constexpr auto b = placeholder<"b", float, 3>;

#ifdef ONTO_TWIN
auto f(session& sess) { return sess.run(stack(a, b), a = {1, 2, 3}, b = {4, 5, 6}); }
#else
auto f(session& sess) { return sess.run(tensor{a, b}, a = {1, 2, 3}, b = {4, 5, 6}); }
#endif
