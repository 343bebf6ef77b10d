// SPDX-License-Identifier: BSL-1.0
// Nothing multiplies matrices of 8 and 16 bits.
// FAIL: element_type_not_supported<.*onto::op::matmul.*(short|int16_t)
// FAIL: \[onto\.element\] the operation has no kernel for this element type; convert with cast<T>\(x\)
#include <onto/ops/matmul.hpp>

#ifdef ONTO_TWIN
#define ELEMENT std::uint32_t
#else
#define ELEMENT std::int16_t
#endif

using namespace onto;

constexpr auto a = placeholder<"a", ELEMENT, 2, 2>;
constexpr auto bad = matmul(a, a);
