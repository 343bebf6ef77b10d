// SPDX-License-Identifier: BSL-1.0
// A tensor of a type that is no element.
// FAIL: elements_are_float_double_half_bfloat16_bool_text_std_int8_t_to_uint64_t_no_complex
#include <onto/onto.hpp>

#include <cstdint>

#ifdef ONTO_TWIN
const onto::tensor<std::int64_t, 3> t;
#else
const onto::tensor<long long, 3> t;
#endif
