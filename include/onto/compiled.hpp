// SPDX-License-Identifier: BSL-1.0
// The compiled runtime: what knows no type of a program's, for one source file to compile. All files of the program are
// compiled with ONTO_COMPILED, as CMake's onto::compiled sees to.
#pragma once

#if !defined(ONTO_COMPILED)
#error "[onto.compiled] compile every file of the program with -DONTO_COMPILED, or leave this header out"
#elif defined(ONTO_DEFINITIONS)
#error "[onto.compiled] include <onto/compiled.hpp> before every other header of onto"
#else

#define ONTO_COMPILED_HERE
#include <onto/onto.hpp>

#include <onto/session/shared_variables.hpp>
#include <onto/session/simulated_session.hpp>
#include <onto/session/together.hpp>

#endif
