// SPDX-License-Identifier: BSL-1.0
// It is the prepared step that is fed.
// FAIL: \[onto\.feed\] what prepare makes is fed: auto step = sess\.prepare\(e\); step\(x = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
auto result(session& sess) { return sess.prepare(x)(x = X); }
#else
auto result(session& sess) { return sess.prepare(x, x = X); }
#endif
