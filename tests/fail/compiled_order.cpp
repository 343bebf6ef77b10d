// SPDX-License-Identifier: BSL-1.0
// The file that holds the compiled runtime includes it first: what comes before it had declarations only.
// FAIL: \[onto\.compiled\] include <onto/compiled.hpp> before every other header of onto
// ONLY: g++ clang++
// LINES: 4
#define ONTO_COMPILED
#ifndef ONTO_TWIN
#include <onto/tensor/tensor.hpp>
#endif
#include <onto/compiled.hpp>
