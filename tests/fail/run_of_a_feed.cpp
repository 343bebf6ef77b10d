// SPDX-License-Identifier: BSL-1.0
// What runs comes before what is fed.
// FAIL: \[onto\.run\] what runs comes first, and what is fed after it
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 3, 4>;
#ifdef ONTO_TWIN
auto result(session& sess) { return sess.run(x + 1, x = tensor<float, 3, 4>()); }
#else
auto result(session& sess) { return sess.run(x = tensor<float, 3, 4>()); }
#endif
