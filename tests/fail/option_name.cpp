// SPDX-License-Identifier: BSL-1.0
// An option that there is not.
// FAIL(g++): \[onto\.option\] \{\{\.name = value\}\}, spelled and in the order of session_options
// FAIL(clang++): \[onto\.option\] \{\{\.name = value\}\}, spelled and in the order of session_options
// FAIL(nvcc): session_options options = \{\}
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
session sess{{.allow_soft_placement = true}};
#else
session sess{{.allow_soft_placment = true}};
#endif
