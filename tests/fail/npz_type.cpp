// SPDX-License-Identifier: BSL-1.0
// An archive has a tensor for each name, whose type is said.
// FAIL: \[onto\.npy\] element type and extents of a file .* load_npz<float, dyn>
#include <onto/npz.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const auto x = load_npz<float, dyn>("x.npz", "x");
#else
const auto x = load_npz("x.npz");
#endif
