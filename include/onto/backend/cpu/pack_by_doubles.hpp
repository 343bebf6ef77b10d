// SPDX-License-Identifier: BSL-1.0
// Functions of two floats in each lane that are computed in doubles: powers and remainders.
#pragma once

#include <onto/backend/cpu/pack.hpp>
#include <onto/backend/cpu/pack_exp.hpp>
#include <onto/backend/cpu/pack_log.hpp>
#include <onto/core/config.hpp>

#include <limits>

#if ONTO_PACKS
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

/// `x` to the power of `y`, for a positive `x`; 2 to the power of `y` times its logarithm.
/// *Source* polynomials by Chebyshev interpolation: of 2 atanh(s) / (s log(2)) by s^2 for |s| of at most 0.172, to
/// 4e-12 of it, and of (2^r - 1) / r for |r| of at most 1/2, to 2e-10.
struct power_in_doubles {
  template <int Bytes>
  static ONTO_INLINE pack<double, Bytes> of(const pack<double, Bytes>& x, const pack<double, Bytes>& y) {
    using lanes = pack<double, Bytes>;
    const power_and_fraction<double, Bytes> parts(x);
    const lanes s = parts.f / (lanes(2.0) + parts.f);
    const lanes logarithm = fma(s,
                                polynomial(s * s, 2.8853900817899931572, 0.96179667344322825542, 0.577083567703489245,
                                           0.41167365840081596267, 0.34071413665191199365),
                                parts.n);
    // What is beyond is 0 or infinite as a float, and not yet as a double.
    const lanes exponent = clamp(-200.0, y * logarithm, 200.0), shift(number_layout<double>::shift);
    const lanes sum = in_order(exponent + shift);
    const lanes rest = exponent - in_order(sum - shift);
    const lanes p = fma(rest,
                        polynomial(rest, 0.69314718055994530942, 0.24022650922288758071, 0.055504108839096183929,
                                   0.0096180566785246380754, 0.0013333502386162770741, 0.00015461444698569129083,
                                   0.000015297323760701074108),
                        lanes(1.0));
    return p * power_of_two<double, Bytes>(to_bits(sum) - to_bits(shift));
  }
};

/// What is left of `x` by `y`, with the sign of `x`, as `std::fmod` gives it. *Preconditions* a quotient of less than
/// 2^29, whose product with `y` is then exact.
struct remainder_in_doubles {
  template <int Bytes>
  static ONTO_INLINE pack<double, Bytes> of(const pack<double, Bytes>& x, const pack<double, Bytes>& y) {
    using lanes = pack<double, Bytes>;
    const lanes size = abs(x), by = abs(y);
    const lanes left = in_order(size - in_order(by * floor(in_order(size / by))));
    // A quotient that was rounded up to a whole number is one too large.
    return turn_sign(select(left < lanes{}, left + by, left), sign_of(x));
  }
};

/// `F` of floats by doubles, half a pack of them at a time.
template <class F, int Bytes>
ONTO_INLINE pack<float, Bytes> by_doubles(const pack<float, Bytes>& x, const pack<float, Bytes>& y) {
  using doubles = pack<double, Bytes>;
  constexpr int whole = pack<float, Bytes>::size, half = doubles::size;
  float in[2][whole], out[whole];
  x.store_unaligned(in[0]);
  y.store_unaligned(in[1]);
  for (int k = 0; k < whole; k += half) {
    doubles a, b;
    conversions<Bytes>::widen(a.data, in[0] + k);
    conversions<Bytes>::widen(b.data, in[1] + k);
    conversions<Bytes>::narrow(out + k, F::template of<Bytes>(a, b).data);
  }
  return pack<float, Bytes>::load_unaligned(out);
}

/// `x` to the power of `y`: to 0.51 units of the last place of a positive number; `f` gives those of others.
template <int Bytes>
ONTO_INLINE pack<float, Bytes> power(const pack<float, Bytes>& x, const pack<float, Bytes>& y,
                                     float (*f)(float, float)) {
  using lanes = pack<float, Bytes>;
  const lanes none{}, infinity(std::numeric_limits<float>::infinity());
  const auto plain = (none < x) & (x < infinity) & (abs(y) < infinity);
  // Zero without a sign, as a picture is full of.
  const auto zero = (x == none) & (none < turn_sign(lanes(1.0f), sign_of(x))) & (none < y);
  const lanes r = select(y == lanes(2.0f), x * x, by_doubles<power_in_doubles>(x, y));
  return checked(f, plain | zero, select(zero, none, r), x, y);
}

/// The remainder with the sign of the divisor: that of `f`, to the bit.
template <int Bytes>
ONTO_INLINE pack<float, Bytes> floor_remainder(const pack<float, Bytes>& x, const pack<float, Bytes>& y,
                                               float (*f)(float, float)) {
  using lanes = pack<float, Bytes>;
  const lanes none{}, infinity(std::numeric_limits<float>::infinity());
  const auto plain = (abs(x / y) < lanes(268435456.0f)) & (abs(y) < infinity);
  const lanes r = by_doubles<remainder_in_doubles>(x, y);
  const lanes turned = select((r < none) ^ (y < none), r + y, r);
  return checked(f, plain, select(r == none, turn_sign(none, sign_of(y)), turned), x, y);
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
