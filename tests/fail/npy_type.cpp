// SPDX-License-Identifier: BSL-1.0
// What is in a file is known to the compiler.
// FAIL: \[onto\.npy\] element type and extents of a file are known to the compiler
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
auto load() { return load_npy<float, dyn, dyn>("a.npy"); }
#else
auto load() { return load_npy("a.npy"); }
#endif
