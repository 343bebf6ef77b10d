// SPDX-License-Identifier: BSL-1.0
// Numbers are not compared with a text.
// FAIL: \[onto\.text\] text is no number: it is compared with == and !=
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
const onto::tensor<onto::text, 2> words{"a", "b"};
#else
const onto::tensor<float, 2> words{1, 2};
#endif

const auto is_a = words == "a";
