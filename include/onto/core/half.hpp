// SPDX-License-Identifier: BSL-1.0
// Floating-point numbers of 16 bits, `half` and `bfloat16`: what is stored in them is computed in float.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace onto {

struct half;
struct bfloat16;

namespace detail {

ONTO_HD constexpr std::int32_t float_to_bits(float x) { return __builtin_bit_cast(std::int32_t, x); }
ONTO_HD constexpr float float_from_bits(std::int32_t bits) { return __builtin_bit_cast(float, bits); }

// Floats are computed with on every way through these conversions, and only integers chosen among: so g++ vectorizes a
// loop over them (for AVX2 and later), which it does not where a float operation, which could trap, has a condition.

/// *Source* IEEE 754-2019, 3.4 and 5.4.2.
ONTO_HD constexpr float widen_half(std::int32_t h) {
  const std::int32_t magnitude = h & 0x7fff;
  const bool subnormal = magnitude < 0x400, special = magnitude >= 0x7c00;
  // A subnormal number gets the leading 1 it has not, and loses it again.
  const std::int32_t leading = subnormal ? 113 << 23 : 0;
  const std::int32_t scaled = (magnitude << 13) + (112 << 23) + (subnormal ? 1 << 23 : 0);
  const std::int32_t bits =
      float_to_bits(float_from_bits(scaled) - float_from_bits(leading)) + (special ? 112 << 23 : 0);
  const std::int32_t sign = static_cast<std::int32_t>(static_cast<std::uint32_t>(h & 0x8000) << 16);
  return float_from_bits(sign | bits | (magnitude > 0x7c00 ? 0x400000 : 0));
}

ONTO_HD constexpr std::int32_t narrow_to_half(float x) {
  constexpr std::int32_t too_large = 143 << 23, one_half = 126 << 23;
  const std::int32_t bits = float_to_bits(x), given = bits & 0x7fffffff;
  const std::int32_t magnitude = given < too_large ? given : too_large;
  const bool subnormal = magnitude < (113 << 23);
  // The last place of 0.5f is that of a subnormal half: the addition rounds.
  const std::int32_t sum = float_to_bits(float_from_bits(magnitude) + float_from_bits(subnormal ? one_half : 0));
  const std::int32_t normal = (sum - (112 << 23) + 0xfff + (sum >> 13 & 1)) >> 13;
  const std::int32_t nan = given > 0x7f800000 ? 0x200 | (given >> 13 & 0x3ff) : 0;
  return (bits >> 16 & 0x8000) | (subnormal ? sum - one_half : normal) | nan;
}

ONTO_HD constexpr float widen_bfloat16(std::int32_t b) {
  return float_from_bits(static_cast<std::int32_t>(static_cast<std::uint32_t>(b) << 16));
}

ONTO_HD constexpr std::int32_t narrow_to_bfloat16(float x) {
  const std::int32_t bits = float_to_bits(x), magnitude = bits & 0x7fffffff;
  // Unsigned: a NaN, whose sum is not used, may be above what an int holds.
  const auto rounded =
      static_cast<std::int32_t>((static_cast<std::uint32_t>(magnitude) + 0x7fff + (magnitude >> 16 & 1)) >> 16);
  return (bits >> 16 & 0x8000) | (magnitude > 0x7f800000 ? magnitude >> 16 | 0x40 : rounded);
}

/// A number as a float that is odd in its last place where it is not exact, and so rounds to a shorter format as if the
/// number itself had been rounded.
template <class T>
ONTO_HD constexpr float round_to_odd(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (sizeof(T) <= 2) {
      return static_cast<float>(value);
    } else {
      const bool negative = value < T(0);
      std::uint64_t magnitude = static_cast<std::uint64_t>(value);
      if (negative) magnitude = 0 - magnitude;
      float scale = negative ? -1.0f : 1.0f;
      while (magnitude >> 24 != 0) {
        magnitude = magnitude >> 1 | (magnitude & 1u);
        scale *= 2;
      }
      return static_cast<float>(static_cast<std::uint32_t>(magnitude)) * scale;
    }
  } else {
    constexpr T most = static_cast<T>(0x1.fffffep127f);
    if (value > most) return float_from_bits(0x7f800000);
    if (value < -most) return -float_from_bits(0x7f800000);
    const float nearest = static_cast<float>(value);
    const T back = static_cast<T>(nearest);
    if (back == value || value != value || (float_to_bits(nearest) & 1) != 0) return nearest;
    const bool too_far = (back < T(0) ? -back : back) > (value < T(0) ? -value : value);
    return float_from_bits(float_to_bits(nearest) + (too_far ? -1 : 1));
  }
}

#if defined(__CUDA_ARCH__)
// The processor's own conversions, which constant evaluation does not know.
ONTO_HD inline float convert_half(std::uint16_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
ONTO_HD inline std::uint16_t convert_to_half(float x) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#if __CUDA_ARCH__ >= 800
ONTO_HD inline std::uint16_t convert_to_bfloat16(float x) {
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif
#endif

}  // namespace detail

/// A number of IEEE 754's binary16: 11 bits of precision, up to 65504. It converts to float by itself, and is computed
/// with as that; conversions to it are written, round to the nearest (of two, the even one) and become infinite beyond
/// the range. In CUDA sources that name `::half` as well, write `onto::half`.
struct half {
  half() = default;

  /// The nearest half. *Complexity* a few instructions.
  template <class Number>
  requires std::is_arithmetic_v<Number> ONTO_HD explicit constexpr half(Number value)
      : bits_(narrow(detail::round_to_odd(value))) {}
  ONTO_HD explicit constexpr half(bfloat16 value);

  ONTO_HD constexpr operator float() const {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return detail::convert_half(bits_);
#endif
    return detail::widen_half(bits_);
  }

  /// The number with these bits: a sign, 5 of exponent, 10 of fraction.
  ONTO_HD static constexpr half from_bits(std::uint16_t bits) {
    half h{};
    h.bits_ = bits;
    return h;
  }
  ONTO_HD constexpr std::uint16_t bits() const { return bits_; }

 private:
  ONTO_HD static constexpr std::uint16_t narrow(float x) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return detail::convert_to_half(x);
#endif
    return static_cast<std::uint16_t>(detail::narrow_to_half(x));
  }

  std::uint16_t bits_;
};

/// The upper half of a float: its range, with 8 bits of precision. Converts as `half` does.
struct bfloat16 {
  bfloat16() = default;

  /// The nearest bfloat16. *Complexity* a few instructions.
  template <class Number>
  requires std::is_arithmetic_v<Number> ONTO_HD explicit constexpr bfloat16(Number value)
      : bits_(narrow(detail::round_to_odd(value))) {}
  ONTO_HD explicit constexpr bfloat16(half value) : bits_(narrow(value)) {}

  ONTO_HD constexpr operator float() const { return detail::widen_bfloat16(bits_); }

  /// The number with these bits: a sign, 8 of exponent, 7 of fraction.
  ONTO_HD static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 b{};
    b.bits_ = bits;
    return b;
  }
  ONTO_HD constexpr std::uint16_t bits() const { return bits_; }

 private:
  ONTO_HD static constexpr std::uint16_t narrow(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (!__builtin_is_constant_evaluated()) return detail::convert_to_bfloat16(x);
#endif
    return static_cast<std::uint16_t>(detail::narrow_to_bfloat16(x));
  }

  std::uint16_t bits_;
};

ONTO_HD constexpr half::half(bfloat16 value) : bits_(narrow(value)) {}

static_assert(sizeof(half) == 2 && std::is_trivially_copyable_v<half> &&
              std::is_trivially_default_constructible_v<half>);
static_assert(sizeof(bfloat16) == 2 && std::is_trivially_copyable_v<bfloat16>);

namespace detail {

/// A type with numbers as values: C++'s own and those of 16 bits.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

/// What numeric_limits says of both formats. `Digits`: bits of precision; `Exponent`: of the numbers below 1, and
/// beyond the largest.
template <class T, int Digits, int Exponent, int Unit, std::uint16_t Infinity>
struct half_limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int radix = 2;
  static constexpr int digits = Digits;
  static constexpr int digits10 = (Digits - 1) * 30103 / 100000;
  static constexpr int max_digits10 = Digits * 30103 / 100000 + 2;
  static constexpr int max_exponent = Exponent;
  static constexpr int min_exponent = 3 - Exponent;
  static constexpr int max_exponent10 = Exponent * 30103 / 100000;
  static constexpr int min_exponent10 = -((Exponent - 2) * 30103 / 100000);

  static constexpr T min() noexcept { return T::from_bits(1u << (Digits - 1)); }
  static constexpr T max() noexcept { return T::from_bits(Infinity - 1); }
  static constexpr T lowest() noexcept { return T::from_bits(0x8000u | (Infinity - 1)); }
  static constexpr T epsilon() noexcept { return T::from_bits(Unit); }
  static constexpr T round_error() noexcept { return T(0.5f); }
  static constexpr T infinity() noexcept { return T::from_bits(Infinity); }
  static constexpr T quiet_NaN() noexcept { return T::from_bits(Infinity | 1u << (Digits - 2)); }
  static constexpr T signaling_NaN() noexcept { return T::from_bits(Infinity | 1u << (Digits - 3)); }
  static constexpr T denorm_min() noexcept { return T::from_bits(1); }
};

}  // namespace detail

}  // namespace onto

template <>
class std::numeric_limits<onto::half> : public onto::detail::half_limits<onto::half, 11, 16, 0x1400, 0x7c00> {};
template <>
class std::numeric_limits<onto::bfloat16> : public onto::detail::half_limits<onto::bfloat16, 8, 128, 0x3c00, 0x7f80> {};
