// SPDX-License-Identifier: BSL-1.0
// A loss that does not depend on what it is derived by.
// FAIL: \[onto\.gradient\] the loss does not depend on what it is derived by
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define BY a
#else
#define BY w
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 4>;
constexpr auto w = variable<"w", float, 4>;
constexpr auto loss = sum(exp(a));

tensor<float, 4> run(session& sess, const tensor<float, 4>& values) { return sess.run(gradient(loss, BY), a = values); }
