// SPDX-License-Identifier: BSL-1.0
// half and bfloat16 as types, and as elements.
#include <onto/core/element.hpp>

#include <type_traits>

using namespace onto;

namespace {

// Two bytes, copied as bytes.
static_assert(sizeof(half) == 2 && alignof(half) == 2 && std::is_trivially_copyable_v<half>);
static_assert(sizeof(bfloat16) == 2 && std::is_trivially_default_constructible_v<bfloat16>);

// They become float by themselves; to become one of them has to be said.
static_assert(std::is_convertible_v<half, float> && std::is_convertible_v<bfloat16, double>);
static_assert(!std::is_convertible_v<float, half> && !std::is_convertible_v<int, bfloat16>);
static_assert(!std::is_convertible_v<half, bfloat16> && std::is_constructible_v<half, bfloat16>);

// What is computed with them is float, and they compare as numbers.
static_assert(std::is_same_v<decltype(half() + half()), float> && std::is_same_v<decltype(-bfloat16()), float>);
static_assert(half(0.5) == 0.5f && half(1) < 2 && bfloat16(3) == half(3) && half(-0.0) == half(0.0));

// The compiler converts them.
static_assert(half(1).bits() == 0x3c00 && half(0.1).bits() == 0x2e66 && half::from_bits(0x7bff) == 65504);
static_assert(bfloat16(1).bits() == 0x3f80 && bfloat16(0.1f).bits() == 0x3dcd);
static_assert(half(1e6) == std::numeric_limits<half>::infinity() && bfloat16(1e6) < 1e6);

// Their limits.
static_assert(std::numeric_limits<half>::max() == 65504 && std::numeric_limits<half>::lowest() == -65504);
static_assert(std::numeric_limits<half>::min() == 0x1p-14f && std::numeric_limits<half>::denorm_min() == 0x1p-24f);
static_assert(std::numeric_limits<half>::epsilon() == 0x1p-10f && std::numeric_limits<half>::digits10 == 3);
static_assert(std::numeric_limits<bfloat16>::epsilon() == 0x1p-7f && std::numeric_limits<bfloat16>::digits10 == 2);
static_assert(std::numeric_limits<bfloat16>::min() == std::numeric_limits<float>::min());
static_assert(std::numeric_limits<bfloat16>::max() == 0x1.fep127f);
static_assert(std::numeric_limits<half>::quiet_NaN() != std::numeric_limits<half>::quiet_NaN());

// Elements of tensors, of two bytes, computed in float.
static_assert(tensor_element<half> && tensor_element<bfloat16>);
static_assert(element_of<half> == element::float16 && std::is_same_v<element_t<element::bfloat16>, bfloat16>);
static_assert(size_of(element::float16) == 2 && size_of(element::bfloat16) == 2);
static_assert(name_of(element::float16) == "half" && name_of(element::bfloat16) == "bfloat16");
static_assert(is_floating(element::float16) && is_half_precision(element::bfloat16) &&
              !is_half_precision(element::float32));
static_assert(std::is_same_v<computed_of<half>, float> && std::is_same_v<computed_of<double>, double>);

}  // namespace
