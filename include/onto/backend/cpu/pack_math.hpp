// SPDX-License-Identifier: BSL-1.0
// Functions of packs of floats where xsimd's cost more than they must: a third to a half of its time, over the whole
// range of float, and no reordering by -ffast-math makes them wrong.
#pragma once

#include <onto/core/config.hpp>
#include <onto/ops/math.hpp>

#include <type_traits>

#if defined(ONTO_PACKS)  // set by packs.hpp, which this is a part of
namespace onto::math {

/// *Source* for tanh a quotient of polynomials in x * x, fitted to 2.1e-8 on [-9.02, 9.02] (Lawson's algorithm).
template <class Arch>
struct pack_functions<xsimd::batch<float, Arch>> {
  using lanes = xsimd::batch<float, Arch>;
  static constexpr bool known = true;

#if defined(__AVX512F__)
  static constexpr bool wide = std::is_base_of_v<xsimd::avx512f, Arch>;
#else
  static constexpr bool wide = false;
#endif

  /// `x`, or what is nearest to it from `low` to `high`. A NaN stays: the first operand is what gives way to it.
  static ONTO_INLINE lanes clamp(const lanes& low, const lanes& x, const lanes& high) {
    return xsimd::min(high, xsimd::max(low, x));
  }

  /// e to the power of `x`. Below the least normal number, too.
  static ONTO_INLINE lanes exp(const lanes& given) {
    const lanes x = clamp(lanes(-104.0f), given, lanes(89.0f));
#if defined(__AVX512F__)
    if constexpr (wide) {
      // 2^n 2^(j/16) 2^r, with the middle one from a table in a register and |r| at most 1/32.
      const __m512 steps =
          _mm512_set_ps(1.9152066f, 1.8340081f, 1.7562522f, 1.6817929f, 1.6104903f, 1.5422108f, 1.4768262f, 1.4142135f,
                        1.3542556f, 1.2968396f, 1.2418578f, 1.1892071f, 1.1387886f, 1.0905077f, 1.0442737f, 1.0f);
      const __m512 high = _mm512_set1_ps(1.44269504f), shift = _mm512_set1_ps(786432.0f);  // 1.5 * 2^19
      __m512 sum = _mm512_fmadd_ps(x, high, shift);
      asm("" : "+v"(sum));  // the subtraction is not to be left out
      const __m512 n = _mm512_sub_ps(sum, shift);
      __m512 r = _mm512_fmsub_ps(x, high, n);
      r = _mm512_fmadd_ps(x, _mm512_set1_ps(1.92596300e-8f), r);
      __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(0.0555041f), r, _mm512_set1_ps(0.24022651f));
      p = _mm512_mul_ps(_mm512_fmadd_ps(p, r, _mm512_set1_ps(0.69314718f)), r);
      const __m512 step = _mm512_permutexvar_ps(_mm512_castps_si512(sum), steps);
      return lanes(_mm512_scalef_ps(_mm512_fmadd_ps(step, p, step), n));
    }
#endif
    const lanes n = xsimd::nearbyint(x * lanes(1.44269504f));
    lanes r = xsimd::fnma(n, lanes(0.693359375f), x);
    r = xsimd::fnma(n, lanes(-2.12194440e-4f), r);
    lanes p = xsimd::fma(lanes(1.9875691500e-4f), r, lanes(1.3981999507e-3f));
    p = xsimd::fma(p, r, lanes(8.3334519073e-3f));
    p = xsimd::fma(p, r, lanes(4.1665795894e-2f));
    p = xsimd::fma(p, r, lanes(1.6666665459e-1f));
    p = xsimd::fma(p, r, lanes(5.0000001201e-1f));
    p = xsimd::fma(p, r * r, r) + lanes(1.0f);
    // In two steps, of which each has an exponent of its own.
    const auto whole = xsimd::to_int(n);
    const auto half = whole >> 1;
    return xsimd::ldexp(xsimd::ldexp(p, half), whole - half);
  }

  static ONTO_INLINE lanes tanh(const lanes& given) {
    const lanes x = clamp(lanes(-9.02f), given, lanes(9.02f));
    const lanes s = x * x;
    lanes p = xsimd::fma(lanes(1.3318769837747813e-08f), s, lanes(2.0583257196102827e-05f));
    lanes q = xsimd::fma(lanes(7.761893736972734e-07f), s, lanes(0.0003283070456505491f));
    p = xsimd::fma(p, s, lanes(0.003494020865437766f));
    q = xsimd::fma(q, s, lanes(0.025871021200606255f));
    p = xsimd::fma(p, s, lanes(0.13379706456310103f));
    q = xsimd::fma(q, s, lanes(0.4671302170772955f));
    p = xsimd::fma(p, s, lanes(1.0f));
    q = xsimd::fma(q, s, lanes(1.0f));
    return x * p / q;
  }
};

}  // namespace onto::math
#endif
