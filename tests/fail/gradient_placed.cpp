// SPDX-License-Identifier: BSL-1.0
// An expression that the loss has under a scope of its own: alone it is another value.
// FAIL: \[onto\.gradient\] the loss does not depend on .* of a loss under on<\.\.\.> derive by on<\.\.\.>\(x\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3>;
constexpr auto squares = square(x);
constexpr auto loss = on<gpu<0>>(sum(squares * squares));

#ifdef ONTO_TWIN
constexpr auto g = gradient(loss, on<gpu<0>>(squares));
#else
constexpr auto g = gradient(loss, squares);
#endif

tensor<float, 3> run(session& sess, const tensor<float, 3>& values) { return sess.run(g, x = values); }
