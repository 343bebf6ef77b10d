// SPDX-License-Identifier: BSL-1.0
// The list of visible GPUs is text: of numbers in braces it would have the characters.
// FAIL: \[onto\.option\] GPUs are listed as text, numbers with commas
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
const session_options one{.gpu = {.visible_device_list = "1,0"}};
#else
const session_options one{.gpu = {.visible_device_list = {1, 0}}};
#endif
