// SPDX-License-Identifier: BSL-1.0
// Arc sine, arc cosine and arc tangent of packs.
#pragma once

#include <onto/backend/cpu/pack.hpp>
#include <onto/backend/cpu/pack_exp.hpp>
#include <onto/core/config.hpp>

#if ONTO_PACKS
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

/// pi/2 in two parts, as near as two numbers are.
template <class T>
struct quarter_turn {
  static constexpr T high = sizeof(T) == 4 ? T(1.57079637050628662109375f) : T(1.57079632679489655800e+00);
  static constexpr T low = sizeof(T) == 4 ? T(-4.37113900018624283e-8f) : T(6.12323399573676603587e-17);
};

/// (asin(x) - x) / x of z = x * x, at most 1/4.
/// *Source* for float Cephes' asinf.c, for double fdlibm's e_asin.c.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> arc_excess(const pack<T, Bytes>& z) {
  if constexpr (sizeof(T) == 4)
    return polynomial(z, 1.6666752422e-1f, 7.4953002686e-2f, 4.5470025998e-2f, 2.4181311049e-2f, 4.2163199048e-2f) * z;
  else
    return polynomial(z, 1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01,
                      -4.00555345006794114027e-02, 7.91534994289814532176e-04, 3.47933107596021167570e-05) *
           z /
           polynomial(z, 1.0, -2.40339491173441421878e+00, 2.02094576023350569471e+00, -6.88283971605453293030e-01,
                      7.70381505559019352791e-02);
}

template <class T, int Bytes>
struct arc_parts {
  using lanes = pack<T, Bytes>;
  pack_mask<T, Bytes> far;  // where |x| is above 1/2: the arc is then that of the root of (1 - |x|) / 2
  lanes root, excess;

  ONTO_INLINE explicit arc_parts(const lanes& size) : far(size > lanes(T(0.5))) {
    const lanes z = select(far, fnma(lanes(T(0.5)), size, lanes(T(0.5))), size * size);
    root = select(far, sqrt(z), size);
    excess = arc_excess(z);
  }
};

template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> asin(const pack<T, Bytes>& x) {
  using lanes = pack<T, Bytes>;
  const lanes high(quarter_turn<T>::high), low(quarter_turn<T>::low);
  const arc_parts<T, Bytes> p(abs(x));
  const lanes near = fma(p.root, p.excess, p.root);
  return turn_sign(select(p.far, high - (lanes(T{2}) * near - low), near), sign_of(x));
}

template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> acos(const pack<T, Bytes>& x) {
  using lanes = pack<T, Bytes>;
  const lanes high(quarter_turn<T>::high), low(quarter_turn<T>::low), two(T{2});
  const arc_parts<T, Bytes> p(abs(x));
  const lanes part = p.root * p.excess;
  const lanes far = two * (p.root + part);
  const lanes right = select(x < lanes{}, two * high - (far - two * low), far);
  const lanes middle = high - (turn_sign(p.root, sign_of(x)) - (low - turn_sign(part, sign_of(x))));
  return select(p.far, right, middle);
}

/// *Source* Cephes' atanf.c and atan.c.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> atan(const pack<T, Bytes>& x) {
  using lanes = pack<T, Bytes>;
  const lanes size = abs(x), one(T{1}), none{};
  const auto far = size > lanes(T(2.414213562373095));
  const auto beyond = size > lanes(sizeof(T) == 4 ? T(0.4142135623730950) : T(0.66));
  const lanes above = select(far, lanes(T{-1}), select(beyond, size - one, size));
  const lanes below = select(far, size, select(beyond, size + one, one));
  const lanes t = above / below, z = t * t;
  const lanes high = select(far, lanes(quarter_turn<T>::high), select(beyond, lanes(quarter_turn<T>::high / 2), none));
  const lanes low = select(far, lanes(quarter_turn<T>::low), select(beyond, lanes(quarter_turn<T>::low / 2), none));
  lanes p;
  if constexpr (sizeof(T) == 4)
    p = polynomial(z, -3.33329491539e-1f, 1.99777106478e-1f, -1.38776856032e-1f, 8.05374449538e-2f);
  else
    p = polynomial(z, -6.485021904942025371773e1, -1.228866684490136173410e2, -7.500855792314704667340e1,
                   -1.615753718733365076637e1, -8.750608600031904122785e-1) /
        polynomial(z, 1.945506571482613964425e2, 4.853903996359136964868e2, 4.328810604912902668951e2,
                   1.650270098316988542046e2, 2.485846490142306297962e1, 1.0);
  return turn_sign(high + (fma(z * p, t, low) + t), sign_of(x));
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
