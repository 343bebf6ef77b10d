// SPDX-License-Identifier: BSL-1.0
// A session for a function that takes one by value.
// FAIL: session\(const onto::abi_host::session&\)|call to deleted constructor|cannot be referenced
// FAIL(g++): \[onto\.run\] a session is passed by reference
// FAIL(clang++): \[onto\.run\] a session is passed by reference
#include <onto/onto.hpp>

using namespace onto;

inline constexpr auto x = placeholder<"x", float>;

#ifdef ONTO_TWIN
float next(session& sess) { return sess.run(x + 1.f, x = 2.f); }
#else
float next(session sess) { return sess.run(x + 1.f, x = 2.f); }
#endif
float twice(session& sess) { return next(sess) + next(sess); }
