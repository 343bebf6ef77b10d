// SPDX-License-Identifier: BSL-1.0
// Sine, cosine and tangent of packs. In xsimd all lanes are reduced as the greatest of them needs, so that an element's
// value depends on its neighbours, and near multiples of pi/2 digits are lost.
#pragma once

#include <onto/core/config.hpp>
#include <onto/ops/math.hpp>

#include <cmath>
#include <cstdint>

#if defined(ONTO_PACKS)  // set by packs.hpp, which this is a part of
namespace onto::math {

/// Keeps -ffast-math from computing a sum in another order.
template <class Lanes>
ONTO_INLINE Lanes in_order(Lanes x) {
#if defined(__FAST_MATH__) && defined(__x86_64__)
  asm("" : "+x"(x.data));
#endif
  return x;
}

/// The parts of pi/2, whose products with the turns of an angle up to `limit` are exact but for the last; of what is
/// left, squared, the polynomials of (sin(x) - x) / x^3 and (cos(x) - 1 + x^2 / 2) / x^4; and what a number is added to
/// for its last bits to be those of the nearest whole one.
template <class Lanes>
struct angle_terms;

/// *Source* the polynomials and the parts of pi/2: fdlibm's, of 33 bits each.
template <class Arch>
struct angle_terms<xsimd::batch<double, Arch>> {
  using lanes = xsimd::batch<double, Arch>;
  using bits = xsimd::batch<std::int64_t, Arch>;
  static constexpr double shift = 6755399441055744.0;
  static constexpr double limit = 1647099.0;  // 2^20 quarter turns
  static constexpr double turns = 0.63661977236758134308;
  static constexpr double parts[4] = {1.57079632673412561417e+00, 6.07710050630396597660e-11,
                                      2.02226624871116645580e-21, 8.47842766036889956997e-32};

  static ONTO_INLINE lanes sine(const lanes& z) {
    lanes p = xsimd::fma(lanes(1.58969099521155010221e-10), z, lanes(-2.50507602534068634195e-08));
    p = xsimd::fma(p, z, lanes(2.75573137070700676789e-06));
    p = xsimd::fma(p, z, lanes(-1.98412698298579493134e-04));
    p = xsimd::fma(p, z, lanes(8.33333333332248946124e-03));
    return xsimd::fma(p, z, lanes(-1.66666666666666324348e-01));
  }
  static ONTO_INLINE lanes cosine(const lanes& z) {
    lanes p = xsimd::fma(lanes(-1.13596475577881948265e-11), z, lanes(2.08757232129817482790e-09));
    p = xsimd::fma(p, z, lanes(-2.75573143513906633035e-07));
    p = xsimd::fma(p, z, lanes(2.48015872894767294178e-05));
    p = xsimd::fma(p, z, lanes(-1.38888888888741095749e-03));
    return xsimd::fma(p, z, lanes(4.16666666666666019037e-02));
  }
};

/// *Source* the polynomials: Cephes'. The parts of pi/2 have 11 bits each, but for the last.
template <class Arch>
struct angle_terms<xsimd::batch<float, Arch>> {
  using lanes = xsimd::batch<float, Arch>;
  using bits = xsimd::batch<std::int32_t, Arch>;
  static constexpr float shift = 12582912.0f;
  static constexpr float limit = 12867.0f;  // 2^13 quarter turns
  static constexpr float turns = 0.636619772f;
  static constexpr float parts[4] = {1.5703125f, 4.837512969970703e-4f, 7.549533620476723e-8f, 2.5633441515971907e-12f};

  static ONTO_INLINE lanes sine(const lanes& z) {
    const lanes p = xsimd::fma(lanes(-1.9515295891e-4f), z, lanes(8.3321608736e-3f));
    return xsimd::fma(p, z, lanes(-1.6666654611e-1f));
  }
  static ONTO_INLINE lanes cosine(const lanes& z) {
    const lanes p = xsimd::fma(lanes(2.443315711809948e-5f), z, lanes(-1.388731625493765e-3f));
    return xsimd::fma(p, z, lanes(4.166664568298827e-2f));
  }
};

/// Angles above the limit go through the C library one by one, whatever is beside them.
template <class T, class Arch>
struct pack_angles<xsimd::batch<T, Arch>> {
  using lanes = xsimd::batch<T, Arch>;
  using terms = angle_terms<lanes>;
  using bits = typename terms::bits;
  static constexpr bool known = true;

  static ONTO_INLINE lanes sin(const lanes& x) {
    const lanes size = xsimd::abs(x);
    if (small(size)) return sine(unturned(size)) ^ sign_of(x);
    const reduced r = reduce(size);
    const lanes y = choose(r.turns, sine(r), cosine(r)) ^ half_turn(r.turns) ^ sign_of(x);
    return checked([](T v) { return std::sin(v); }, x, size, y);
  }

  static ONTO_INLINE lanes cos(const lanes& x) {
    const lanes size = xsimd::abs(x);
    if (small(size)) return cosine(unturned(size));
    const reduced r = reduce(size);
    const lanes y = choose(r.turns, cosine(r), sine(r)) ^ half_turn(r.turns + bits(1));
    return checked([](T v) { return std::cos(v); }, x, size, y);
  }

  static ONTO_INLINE lanes tan(const lanes& x) {
    const lanes size = xsimd::abs(x);
    if (small(size)) {
      const reduced r = unturned(size);
      return sine(r) / cosine(r) ^ sign_of(x);
    }
    const reduced r = reduce(size);
    const lanes s = sine(r), c = cosine(r);
    const lanes y = choose(r.turns, s, -c) / choose(r.turns, c, s) ^ sign_of(x);
    return checked([](T v) { return std::tan(v); }, x, size, y);
  }

 private:
  /// An angle less a number of quarter turns: what is left, in two parts, and of the number the last two bits.
  struct reduced {
    lanes high, low;
    bits turns;
  };

  static ONTO_INLINE reduced reduce(const lanes& x) {
    const lanes sum = in_order(xsimd::fma(x, lanes(terms::turns), lanes(terms::shift)));
    const lanes n = sum - lanes(terms::shift);
    const lanes a(terms::parts[0]), b(terms::parts[1]), c(terms::parts[2]), d(terms::parts[3]);
    const lanes first = in_order(xsimd::fnma(n, a, x));  // exact; what the next two differences round off is exact too
    const lanes second = in_order(xsimd::fnma(n, b, first));
    const lanes lost = in_order(xsimd::fnma(n, b, in_order(first - second)));
    const lanes high = in_order(xsimd::fnma(n, c, second));
    const lanes more = in_order(xsimd::fnma(n, c, in_order(second - high)));
    return {high, xsimd::fnma(n, d, lost + more), xsimd::bitwise_cast<bits>(sum)};
  }

  static ONTO_INLINE lanes sine(const reduced& r) {
    const lanes x = r.high, z = x * x;
    return x + xsimd::fma(z * x, terms::sine(z), r.low * xsimd::fnma(lanes(T(0.5)), z, lanes(T{1})));
  }
  static ONTO_INLINE lanes cosine(const reduced& r) {
    const lanes x = r.high, z = x * x, half = lanes(T(0.5)) * z;
    const lanes w = in_order(lanes(T{1}) - half);
    const lanes rest = in_order(lanes(T{1}) - w) - half;
    return w + xsimd::fma(z * z, terms::cosine(z), xsimd::fnma(x, r.low, rest));
  }

  static constexpr int sign_bit = 8 * static_cast<int>(sizeof(T)) - 1;

  /// Whether all angles are less than half a quarter turn: then the same comes of them in half the time.
  static ONTO_INLINE bool small(const lanes& size) { return xsimd::all(size <= lanes(T(0.785))); }
  static ONTO_INLINE reduced unturned(const lanes& size) { return {size, lanes(T{0}), bits(0)}; }
  static ONTO_INLINE lanes sign_of(const lanes& x) { return x & lanes(T{-0.0}); }
  /// -0 where the second last bit is set, else 0.
  static ONTO_INLINE lanes half_turn(const bits& turns) {
    return sign_of(xsimd::bitwise_cast<lanes>(turns << (sign_bit - 1)));
  }
  /// By the last bit.
  static ONTO_INLINE lanes choose(const bits& turns, const lanes& even, const lanes& odd) {
    const lanes sign = xsimd::bitwise_cast<lanes>(turns << sign_bit) | lanes(T{1});
    return xsimd::select(sign < lanes(T{0}), odd, even);
  }

  template <class F>
  static ONTO_INLINE lanes checked(const F& f, const lanes& x, const lanes& size, const lanes& y) {
    if (xsimd::all(size <= lanes(terms::limit))) return y;
    return one_by_one(f, x, y);
  }
  template <class F>
  static ONTO_COLD ONTO_NOINLINE lanes one_by_one(const F& f, const lanes& x, const lanes& y) {
    constexpr std::size_t width = lanes::size;
    T in[width], out[width];
    x.store_unaligned(in);
    y.store_unaligned(out);
    for (std::size_t k = 0; k < width; ++k)
      if (!(std::fabs(in[k]) <= terms::limit)) out[k] = f(in[k]);
    return lanes::load_unaligned(out);
  }
};

}  // namespace onto::math
#endif
