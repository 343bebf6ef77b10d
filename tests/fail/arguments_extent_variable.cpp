// SPDX-License-Identifier: BSL-1.0
// Extents in <> are constants; the line of the first overload that compilers list says what has those of the run.
// LINES: 20
// FAIL(g++): not usable in a constant expression
// FAIL(g++): \[onto\.shape\] constants; those that the run knows: zeros_like\(x\)
// FAIL(clang++): \[onto\.shape\] constants; those that the run knows: zeros_like\(x\)
// FAIL(nvcc): constant
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
constexpr int n = 1;
#else
int n = 1;
#endif

const auto start = onto::zeros<float, 4, n>();
