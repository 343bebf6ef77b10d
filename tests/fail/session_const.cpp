// SPDX-License-Identifier: BSL-1.0
// A run changes the session.
// FAIL: \[onto\.run\] a session that runs is not const: it is passed on as session&
#include <onto/onto.hpp>

constexpr auto x = onto::placeholder<"x", float, 2, 3>;

#ifdef ONTO_TWIN
auto mean_of(onto::session& sess, const onto::tensor<float, 2, 3>& t) { return sess.run(mean(x), x = t); }
#else
auto mean_of(const onto::session& sess, const onto::tensor<float, 2, 3>& t) { return sess.run(mean(x), x = t); }
#endif
