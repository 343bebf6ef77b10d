// SPDX-License-Identifier: BSL-1.0
// The exponential function of packs and what is made of it: expm1, sinh, cosh, tanh, and erf of floats. Over the whole
// range, and no reordering by -ffast-math makes them wrong.
#pragma once

#include <onto/backend/cpu/pack.hpp>
#include <onto/core/config.hpp>

#include <type_traits>

#if ONTO_PACKS
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

/// `x`, or what is nearest to it from `low` to `high`. A NaN stays: the first operand is what gives way to it.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> clamp(T low, const pack<T, Bytes>& x, T high) {
  return min(pack<T, Bytes>(high), max(pack<T, Bytes>(low), x));
}

/// c[0] + x * (c[1] + ...)
template <class T, int Bytes, class... C>
ONTO_INLINE pack<T, Bytes> polynomial(const pack<T, Bytes>& x, T first, C... rest) {
  if constexpr (sizeof...(C) == 0)
    return pack<T, Bytes>(first);
  else
    return fma(polynomial(x, rest...), x, pack<T, Bytes>(first));
}

/// How numbers are laid out: the bits behind the exponent's, what is added to an exponent, and what is added to a
/// number for its last bits to be those of the nearest whole one.
template <class T>
struct number_layout;
template <>
struct number_layout<float> {
  static constexpr int fraction = 23, bias = 127;
  static constexpr float shift = 12582912.0f;
};
template <>
struct number_layout<double> {
  static constexpr int fraction = 52, bias = 1023;
  static constexpr double shift = 6755399441055744.0;
};

/// 2 to the power of a whole number, of which the bits are given, that is a normal exponent.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> power_of_two(const pack_bits<T, Bytes>& n) {
  using layout = number_layout<T>;
  using bits = pack_bits<T, Bytes>;
  return from_bits(bits((n + bits(typename bits::word{layout::bias})) << layout::fraction));
}

/// A number as a whole number of logarithms of 2, and the rest, at most half of one.
template <class T, int Bytes>
struct in_powers_of_two {
  using lanes = pack<T, Bytes>;
  lanes n, rest;
  pack_bits<T, Bytes> bits;  // of n

  ONTO_INLINE explicit in_powers_of_two(const lanes& x) {
    const lanes shift(number_layout<T>::shift);
    const lanes sum = in_order(fma(x, lanes(T(1.4426950408889634)), shift));
    n = sum - shift;
    bits = to_bits(sum) - to_bits(shift);
    // The first part has few enough bits for its products with n to be exact.
    if constexpr (sizeof(T) == 4)
      rest = fnma(n, lanes(-2.12194440e-4f), in_order(fnma(n, lanes(0.693359375f), x)));
    else
      rest = fnma(n, lanes(1.90821492927058770002e-10), in_order(fnma(n, lanes(6.93147180369123816490e-01), x)));
  }
};

/// exp(r) - 1 for |r| of at most log(2) / 2.
/// *Source* for float Cephes' polynomial (expf.c), for double the series.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> expm1_near_0(const pack<T, Bytes>& r) {
  if constexpr (sizeof(T) == 4)
    return fma(polynomial(r, 5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f, 8.3334519073e-3f, 1.3981999507e-3f,
                          1.9875691500e-4f),
               r * r, r);
  else
    return fma(polynomial(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                          1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0),
               r * r, r);
}

/// Where `x` is at least `low`, or NaN.
template <class T, int Bytes>
ONTO_INLINE pack_mask<T, Bytes> at_least(const pack<T, Bytes>& x, T low) {
  return pack<T, Bytes>::template compare<comparison::not_less>(x, pack<T, Bytes>(low));
}

/// e to the power of `x`. Below the least normal number, too.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> exp(const pack<T, Bytes>& given) {
  using lanes = pack<T, Bytes>;
  // A result below the least normal number takes processors 150 cycles, one that is 0 from the first factor on none: so
  // far down `x` is let go, or, with masks, nothing is multiplied where the result is 0.
  constexpr T least = sizeof(T) == 4 ? T(-104) : T(-746), far = sizeof(T) == 4 ? T(-175.8) : T(-1417.9),
              most = sizeof(T) == 4 ? T(89) : T(710);
  const lanes x = Bytes == 64 ? min(lanes(most), given) : clamp(far, given, most);
#if defined(__x86_64__)
  if constexpr (Bytes == 64 && sizeof(T) == 4) {
    // 2^n 2^(j/16) 2^r, with the middle one from a table in a register and |r| at most 1/32.
    typedef float vector __attribute__((vector_size(64)));
    const vector numbers = {1.0f,       1.0442737f, 1.0905077f, 1.1387886f, 1.1892071f, 1.2418578f,
                            1.2968396f, 1.3542556f, 1.4142135f, 1.4768262f, 1.5422108f, 1.6104903f,
                            1.6817929f, 1.7562522f, 1.8340081f, 1.9152066f};
    const lanes high(1.44269504f), shift(786432.0f);  // 1.5 * 2^19
    const lanes sum = in_order(fma(x, high, shift));
    const lanes n = in_order(sum - shift);
    lanes r;
    instructions<float, 64>::fused_difference(r.data, x.data, high.data, n.data);
    r = fma(x, lanes(1.92596300e-8f), r);
    const lanes p = polynomial(r, 0.69314718f, 0.24022651f, 0.0555041f) * r;
    lanes step;
    instructions<float, 64>::look_up(step.data, sum.data, numbers);
    step = fma(step, p, step);
    lanes result;
    instructions<float, 64>::scale(result.data, at_least(given, least).data, step.data, n.data);
    return result;
  }
#endif
  const in_powers_of_two<T, Bytes> parts(x);
  const lanes p = expm1_near_0(parts.rest) + lanes(T{1});
#if defined(__x86_64__)
  if constexpr (Bytes == 64) {
    lanes result;
    instructions<T, 64>::scale(result.data, at_least(given, least).data, p.data, parts.n.data);
    return result;
  }
#endif
  // In two steps, of which each has an exponent of its own; that of `far` is 0's.
  using bits = pack_bits<T, Bytes>;
  using word = typename bits::word;
  constexpr word positive = 2048;
  const bits half = ((parts.bits + bits(positive)) >> 1) - bits(positive / 2);
  return p * power_of_two<T, Bytes>(half) * power_of_two<T, Bytes>(parts.bits - half);
}

/// A quarter of expm1: not infinite before sinh is.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> quarter_expm1(const pack<T, Bytes>& given) {
  using lanes = pack<T, Bytes>;
  using bits = pack_bits<T, Bytes>;
  // Beyond these all is -1, and infinite when it is doubled.
  const lanes x = sizeof(T) == 4 ? clamp(T(-30), given, T(89.7)) : clamp(T(-60), given, T(710.8));
  const in_powers_of_two<T, Bytes> parts(x);
  const lanes q = expm1_near_0(parts.rest);
  const lanes s = power_of_two<T, Bytes>(parts.bits - bits(typename bits::word{2}));
  return fma(s, q, s - lanes(T(0.25)));
}

template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> expm1(const pack<T, Bytes>& x) {
  using lanes = pack<T, Bytes>;
  const lanes e = quarter_expm1(x) * lanes(T{4});
  return select(abs(x) < lanes(sizeof(T) == 4 ? T(1.0e-9) : T(1.0e-17)), x, e);
}

template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> sinh(const pack<T, Bytes>& x) {
  using lanes = pack<T, Bytes>;
  const lanes size = abs(x), e = quarter_expm1(size);
  const lanes y = (e + e / fma(lanes(T{4}), e, lanes(T{1}))) * lanes(T{2});
  return turn_sign(select(size < lanes(T(1.0e-9)), size, y), sign_of(x));
}

template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> cosh(const pack<T, Bytes>& x) {
  using lanes = pack<T, Bytes>;
  const lanes e = quarter_expm1(abs(x)) + lanes(T(0.25));
  return fma(lanes(T{2}), e, lanes(T(0.125)) / e);
}

/// *Source* for float a quotient of polynomials in x * x, fitted to 2.1e-8 on [-9.02, 9.02] (Lawson's algorithm).
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> tanh(const pack<T, Bytes>& given) {
  using lanes = pack<T, Bytes>;
  if constexpr (sizeof(T) == 4) {
    const lanes x = clamp(-9.02f, given, 9.02f);
    const lanes s = x * x;
    const lanes p = polynomial(s, 1.0f, 0.13379706456310103f, 0.003494020865437766f, 2.0583257196102827e-05f,
                               1.3318769837747813e-08f);
    const lanes q =
        polynomial(s, 1.0f, 0.4671302170772955f, 0.025871021200606255f, 0.0003283070456455491f, 7.761893736972734e-07f);
    return clamp(-1.0f, x * p / q, 1.0f);  // whose rounding would else leave where acos and log1p are defined
  } else {
    const lanes size = clamp(0.0, abs(given), 20.0), e = quarter_expm1(size + size);
    const lanes y = e / (e + lanes(0.5));
    return turn_sign(select(size < lanes(1.0e-9), size, y), sign_of(given));
  }
}

/// Of floats. *Source* N. Juffa, https://stackoverflow.com/questions/35148198: x and a polynomial in x * x; from 0.93
/// on 1 less an exponential function.
template <int Bytes>
ONTO_INLINE pack<float, Bytes> erf(const pack<float, Bytes>& x) {
  using lanes = pack<float, Bytes>;
  const lanes t = clamp(0.0f, abs(x), 4.0f);
  const lanes far = lanes(1.0f) - exp(fma(polynomial(t, -1.28717512e-1f, -6.34846687e-1f, -1.06777877e-1f,
                                                     2.42546219e-2f, -3.88396438e-3f, 3.83197126e-4f, -1.72853470e-5f),
                                          t, -t));
  const lanes near = fma(polynomial(t * t, 1.28379166e-1f, -3.76125336e-1f, 1.12819925e-1f, -2.67681349e-2f,
                                    4.99119423e-3f, -5.96761703e-4f),
                         t, t);
  return turn_sign(select(t > lanes(0.927734375f), far, near), sign_of(x));
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
