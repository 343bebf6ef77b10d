// SPDX-License-Identifier: BSL-1.0
// The compiled runtime is for programs whose files are all compiled with ONTO_COMPILED.
// FAIL: \[onto\.compiled\] compile every file of the program with -DONTO_COMPILED
// ONLY: g++ clang++
// LINES: 4
#ifdef ONTO_TWIN
#define ONTO_COMPILED
#endif
#include <onto/compiled.hpp>
