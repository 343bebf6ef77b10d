// SPDX-License-Identifier: BSL-1.0
// There are no zeros of text.
// FAIL: text_is_no_number<.*onto::op::zeros<.*onto::text
// FAIL: \[onto\.text\] text is no number
#include <onto/ops/generate.hpp>

#ifdef ONTO_TWIN
#define ELEMENT float
#else
#define ELEMENT onto::text
#endif

constexpr auto bad = onto::zeros<ELEMENT, 2>();
