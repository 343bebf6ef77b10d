// SPDX-License-Identifier: BSL-1.0
// An axis of extent 3 cannot be left out.
// FAIL: squeezed_extent_is_not_one<.*onto::shape<2, 3>
// FAIL: \[onto\.shape\] squeeze leaves an axis of extent 1 out
#include <onto/ops/view.hpp>

#ifdef ONTO_TWIN
#define EXTENT 1
#else
#define EXTENT 3
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2, EXTENT>;
constexpr auto bad = squeeze<-1>(a);
