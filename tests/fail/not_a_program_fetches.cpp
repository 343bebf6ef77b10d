// SPDX-License-Identifier: BSL-1.0
// Those that are fetched stand in no braces.
// FAIL: \[onto\.run\] several results are one list: sess.run\(fetches\(x, y\), name = data\)
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;
constexpr auto y = placeholder<"y", float, 2>;
const tensor<float, 2> X{1, 2};

#ifdef ONTO_TWIN
const auto several = fetches(x + y, x - y);
#else
const auto several = fetches({x + y, x - y});
#endif
