// SPDX-License-Identifier: BSL-1.0
// The path of a file is first.
// FAIL: \[onto\.npy\] the path is first: save_npy
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
void save(const tensor<float, 2>& t) { save_npy("a.npy", t); }
#else
void save(const tensor<float, 2>& t) { save_npy(t, "a.npy"); }
#endif
