// SPDX-License-Identifier: BSL-1.0
// More elements than the axis has room for.
// FAIL: \[onto\.shape\] the axis has fewer elements than are asked for, or than go into it
#include <onto/indexing.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto x = update_slice(constant({1, 2, 3}), constant({7, 8}), constant({0}));
#else
const auto x = update_slice(constant({1, 2, 3}), constant({7, 8, 9, 10}), constant({0}));
#endif
