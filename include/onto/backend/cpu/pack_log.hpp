// SPDX-License-Identifier: BSL-1.0
// Logarithms of packs.
#pragma once

#include <onto/backend/cpu/pack.hpp>
#include <onto/backend/cpu/pack_exp.hpp>
#include <onto/core/config.hpp>

#include <limits>

#if ONTO_PACKS
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

/// A positive normal number as 2^n (1 + f), with 1 + f from the root of 1/2 to that of 2.
template <class T, int Bytes>
struct power_and_fraction {
  pack<T, Bytes> n, f;

  ONTO_INLINE explicit power_and_fraction(const pack<T, Bytes>& x) {
    using lanes = pack<T, Bytes>;
    using bits = pack_bits<T, Bytes>;
    using word = typename bits::word;
    using layout = number_layout<T>;
    const bits one = to_bits(lanes(T{1})), root = to_bits(lanes(T(0.70710678118654752)));
    const bits moved = to_bits(x) + (one - root);
    // A whole number below a power of two is its last bits.
    constexpr T power = sizeof(T) == 4 ? T(8388608.0) : T(4503599627370496.0);
    n = from_bits(bits((moved >> layout::fraction) | to_bits(lanes(power)))) - lanes(power + T(layout::bias));
    constexpr word fraction = (word{1} << layout::fraction) - 1;
    f = from_bits(bits((moved & bits(fraction)) + root)) - lanes(T{1});
  }
};

/// n * log(2) + log(1 + f) + c, for a small `c`.
/// *Source* fdlibm's e_log.c, and its polynomial for float in FreeBSD's e_logf.c.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> log_of(const power_and_fraction<T, Bytes>& x, const pack<T, Bytes>& c) {
  using lanes = pack<T, Bytes>;
  const lanes f = x.f, s = f / (lanes(T{2}) + f), z = s * s, half = lanes(T(0.5)) * f * f;
  lanes r;
  if constexpr (sizeof(T) == 4)
    r = polynomial(z, 0.66666662693f, 0.40000972152f, 0.28498786688f, 0.24279078841f) * z;
  else
    r = polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                   2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                   1.479819860511658591e-01) *
        z;
  const lanes high(sizeof(T) == 4 ? T(6.9313812256e-01) : T(6.93147180369123816490e-01));
  const lanes low(sizeof(T) == 4 ? T(9.0580006145e-06) : T(1.90821492927058770002e-10));
  return fma(x.n, high, f - (half - fma(s, half + r, fma(x.n, low, c))));
}

/// The logarithm `y` of what was no positive number: `x` is what it is of.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> at_the_ends(const pack<T, Bytes>& x, const pack<T, Bytes>& y) {
  using lanes = pack<T, Bytes>;
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const lanes none{};
  lanes r = select(x < lanes(infinity), y, x);  // NaN as well
  r = select(x == none, lanes(-infinity), r);
  return select(x < none, lanes(nan), r);
}

template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> log(const pack<T, Bytes>& x) {
  using lanes = pack<T, Bytes>;
  constexpr T more = sizeof(T) == 4 ? T(33554432.0) : T(18014398509481984.0);  // 2^25, 2^54
  const auto low = x < lanes(std::numeric_limits<T>::min());
  power_and_fraction<T, Bytes> parts(select(low, x * lanes(more), x));
  parts.n -= select(low, lanes(sizeof(T) == 4 ? T(25) : T(54)), lanes{});
  return at_the_ends(x, log_of(parts, lanes{}));
}

template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> log1p(const pack<T, Bytes>& x) {
  using lanes = pack<T, Bytes>;
  // What rounding has taken from 1 + x comes back as a share of it.
  const lanes one(T{1}), u = in_order(one + x);
  const lanes greater = max(x, one), less = min(one, x);
  const lanes lost = in_order(less - in_order(u - greater));
  const power_and_fraction<T, Bytes> parts(u);
  const lanes y = at_the_ends(u, log_of(parts, lost / u));
  return select(abs(x) < lanes(T(1.0e-18)), x, y);
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
