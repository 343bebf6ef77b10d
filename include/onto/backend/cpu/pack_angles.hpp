// SPDX-License-Identifier: BSL-1.0
// Sine, cosine and tangent of packs. Every lane is reduced alike, so that an element's value does not depend on its
// neighbours.
#pragma once

#include <onto/backend/cpu/pack.hpp>
#include <onto/backend/cpu/pack_exp.hpp>
#include <onto/core/config.hpp>

#include <cmath>
#include <cstdint>

#if ONTO_PACKS
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

/// The parts of pi/2, whose products with the turns of an angle up to `limit` are exact but for the last; of what is
/// left, squared, the polynomials of (sin(x) - x) / x^3 and (cos(x) - 1 + x^2 / 2) / x^4; and what a number is added to
/// for its last bits to be those of the nearest whole one.
template <class T, int Bytes>
struct angle_terms;

/// *Source* the polynomials and the parts of pi/2: fdlibm's, of 33 bits each.
template <int Bytes>
struct angle_terms<double, Bytes> {
  using lanes = pack<double, Bytes>;
  static constexpr double shift = 6755399441055744.0;
  static constexpr double limit = 1647099.0;  // 2^20 quarter turns
  static constexpr double turns = 0.63661977236758134308;
  static constexpr double parts[4] = {1.57079632673412561417e+00, 6.07710050630396597660e-11,
                                      2.02226624871116645580e-21, 8.47842766036889956997e-32};

  static ONTO_INLINE lanes sine(const lanes& z) {
    lanes p = fma(lanes(1.58969099521155010221e-10), z, lanes(-2.50507602534068634195e-08));
    p = fma(p, z, lanes(2.75573137070700676789e-06));
    p = fma(p, z, lanes(-1.98412698298579493134e-04));
    p = fma(p, z, lanes(8.33333333332248946124e-03));
    return fma(p, z, lanes(-1.66666666666666324348e-01));
  }
  static ONTO_INLINE lanes cosine(const lanes& z) {
    lanes p = fma(lanes(-1.13596475577881948265e-11), z, lanes(2.08757232129817482790e-09));
    p = fma(p, z, lanes(-2.75573143513906633035e-07));
    p = fma(p, z, lanes(2.48015872894767294178e-05));
    p = fma(p, z, lanes(-1.38888888888741095749e-03));
    return fma(p, z, lanes(4.16666666666666019037e-02));
  }
};

/// *Source* the polynomials: Cephes'. The parts of pi/2 have 11 bits each, but for the last.
template <int Bytes>
struct angle_terms<float, Bytes> {
  using lanes = pack<float, Bytes>;
  static constexpr float shift = 12582912.0f;
  static constexpr float limit = 12867.0f;  // 2^13 quarter turns
  static constexpr float turns = 0.636619772f;
  static constexpr float parts[4] = {1.5703125f, 4.837512969970703e-4f, 7.549533620476723e-8f, 2.5633441515971907e-12f};

  static ONTO_INLINE lanes sine(const lanes& z) {
    const lanes p = fma(lanes(-1.9515295891e-4f), z, lanes(8.3321608736e-3f));
    return fma(p, z, lanes(-1.6666654611e-1f));
  }
  static ONTO_INLINE lanes cosine(const lanes& z) {
    const lanes p = fma(lanes(2.443315711809948e-5f), z, lanes(-1.388731625493765e-3f));
    return fma(p, z, lanes(4.166664568298827e-2f));
  }
};

/// Angles above the limit go through the C library one by one, whatever is beside them.
template <class T, int Bytes>
struct pack_angles {
  using lanes = pack<T, Bytes>;
  using terms = angle_terms<T, Bytes>;
  using bits = pack_bits<T, Bytes>;
  using word = typename bits::word;

  static ONTO_INLINE lanes sin(const lanes& x) {
    const lanes size = abs(x);
    if (small(size)) return turn_sign(sine(unturned(size)), sign_of(x));
    const reduced r = reduce(size);
    const lanes y = turn_sign(choose(r.turns, sine(r), cosine(r)), half_turn(r.turns) ^ sign_of(x));
    return checked([](T v) { return std::sin(v); }, size <= lanes(terms::limit), y, x);
  }

  static ONTO_INLINE lanes cos(const lanes& x) {
    const lanes size = abs(x);
    if (small(size)) return cosine(unturned(size));
    const reduced r = reduce(size);
    const lanes y = turn_sign(choose(r.turns, cosine(r), sine(r)), half_turn(r.turns + bits(word{1})));
    return checked([](T v) { return std::cos(v); }, size <= lanes(terms::limit), y, x);
  }

  static ONTO_INLINE lanes tan(const lanes& x) {
    const lanes size = abs(x);
    if (small(size)) {
      const reduced r = unturned(size);
      return turn_sign(sine(r) / cosine(r), sign_of(x));
    }
    const reduced r = reduce(size);
    const lanes s = sine(r), c = cosine(r);
    const lanes y = turn_sign(choose(r.turns, s, -c) / choose(r.turns, c, s), sign_of(x));
    return checked([](T v) { return std::tan(v); }, size <= lanes(terms::limit), y, x);
  }

 private:
  /// An angle less a number of quarter turns: what is left, in two parts, and of the number the last two bits.
  struct reduced {
    lanes high, low;
    bits turns;
  };

  static ONTO_INLINE reduced reduce(const lanes& x) {
    const lanes sum = in_order(fma(x, lanes(terms::turns), lanes(terms::shift)));
    const lanes n = sum - lanes(terms::shift);
    const lanes a(terms::parts[0]), b(terms::parts[1]), c(terms::parts[2]), d(terms::parts[3]);
    const lanes first = in_order(fnma(n, a, x));  // exact; what the next two differences round off is exact too
    const lanes second = in_order(fnma(n, b, first));
    const lanes lost = in_order(fnma(n, b, in_order(first - second)));
    const lanes high = in_order(fnma(n, c, second));
    const lanes more = in_order(fnma(n, c, in_order(second - high)));
    return {high, fnma(n, d, lost + more), to_bits(sum)};
  }

  static ONTO_INLINE lanes sine(const reduced& r) {
    const lanes x = r.high, z = x * x;
    return x + fma(z * x, terms::sine(z), r.low * fnma(lanes(T(0.5)), z, lanes(T{1})));
  }
  static ONTO_INLINE lanes cosine(const reduced& r) {
    const lanes x = r.high, z = x * x, half = lanes(T(0.5)) * z;
    const lanes w = in_order(lanes(T{1}) - half);
    const lanes rest = in_order(lanes(T{1}) - w) - half;
    return w + fma(z * z, terms::cosine(z), fnma(x, r.low, rest));
  }

  static constexpr int sign_bit = 8 * static_cast<int>(sizeof(T)) - 1;

  /// Whether all angles are less than half a quarter turn: then the same comes of them in half the time.
  static ONTO_INLINE bool small(const lanes& size) { return all(size <= lanes(T(0.785))); }
  static ONTO_INLINE reduced unturned(const lanes& size) { return {size, lanes{}, bits(word{0})}; }
  /// The sign bit where the second last bit is set.
  static ONTO_INLINE bits half_turn(const bits& turns) { return (turns << (sign_bit - 1)) & bits(word{1} << sign_bit); }
  /// By the last bit.
  static ONTO_INLINE lanes choose(const bits& turns, const lanes& even, const lanes& odd) {
    // Of a number with the exponent of 1, as which zeros and signs compare whatever the flags.
    const lanes sign = from_bits((turns << sign_bit) | to_bits(lanes(T{1})));
    return select(sign < lanes{}, odd, even);
  }
};

template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> sin(const pack<T, Bytes>& x) {
  return pack_angles<T, Bytes>::sin(x);
}
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> cos(const pack<T, Bytes>& x) {
  return pack_angles<T, Bytes>::cos(x);
}
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> tan(const pack<T, Bytes>& x) {
  return pack_angles<T, Bytes>::tan(x);
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
