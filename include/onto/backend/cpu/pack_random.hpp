// SPDX-License-Identifier: BSL-1.0
// The numbers of a pack's elements, and random numbers by them: Philox with an element in each lane of 64 bits, and
// what is made of its words, the same numbers as element by element.
#pragma once

#include <onto/backend/cpu/pack_angles.hpp>
#include <onto/backend/cpu/pack_columns.hpp>
#include <onto/backend/cpu/pack_integers.hpp>
#include <onto/backend/cpu/pack_log.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <cstring>

#if ONTO_PACKS
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

inline constexpr std::uint64_t counting_numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/// The products of the lower halves of lanes.
ONTO_INLINE void multiply_halves(bits_of<double, 16>& r, const bits_of<double, 16>& a, const bits_of<double, 16>& b) {
#if defined(__x86_64__) && defined(__AVX__)
  asm("vpmuludq %2, %1, %0" : "=x"(r) : "x"(a), "x"(b));
#elif defined(__x86_64__)
  r = a;
  asm("pmuludq %1, %0" : "+x"(r) : "x"(b));
#else
  r = (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}
#if defined(__x86_64__)
ONTO_WITHIN_32 inline void multiply_halves(bits_of<double, 32>& r, const bits_of<double, 32>& a,
                                           const bits_of<double, 32>& b) {
  asm("vpmuludq %2, %1, %0" : "=x"(r) : "x"(a), "x"(b));
}
ONTO_WITHIN_64 inline void multiply_halves(bits_of<double, 64>& r, const bits_of<double, 64>& a,
                                           const bits_of<double, 64>& b) {
  asm("vpmuludq %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));
}
#endif

/// Philox 4x32, as ops/random.hpp has it: four words of each element, in the lower halves of lanes. The upper halves
/// hold anything.
template <int Bytes>
struct philox_lanes {
  using words = pack_bits<double, Bytes>;
  using lanes = pack<double, Bytes>;
  words a, b, c, d;

  static ONTO_INLINE words low(const words& x) { return x & words(0xffffffffu); }
  static ONTO_INLINE words product(const words& x, std::uint64_t by) {
    words r;
    multiply_halves(r.data, x.data, words(by).data);
    return r;
  }
  static ONTO_INLINE void round(words& a, words& b, words& c, words& d, const words& key0, const words& key1) {
    const words p = product(a, 0xD2511F53u), q = product(c, 0xCD9E8D57u);
    a = (q >> 32) ^ b ^ key0;
    b = q;
    c = (p >> 32) ^ d ^ key1;
    d = p;
  }
  /// The words of a pack of counters, and those of another where that is given, side by side. In variables of their
  /// own: g++ keeps members of a struct in memory.
  template <class... Other>
  static ONTO_INLINE philox_lanes of(std::int64_t seed, const words& counter, const words& other, Other&... others) {
    words key0 = words::spread(static_cast<std::uint64_t>(seed)), key1 = key0 >> 32;
    // The first round, of words of which two are 0.
    words a = (counter >> 32) ^ key0, b{std::uint64_t{0}}, d = product(counter, 0xD2511F53u), c = (d >> 32) ^ key1;
    words e = (other >> 32) ^ key0, f = b, h = product(other, 0xD2511F53u), g = (h >> 32) ^ key1;
    for (int k = 1; k < 10; ++k) {
      key0 = key0 + words(0x9E3779B9u);
      key1 = key1 + words(0xBB67AE85u);
      round(a, b, c, d, key0, key1);
      if constexpr (sizeof...(Other) != 0) round(e, f, g, h, key0, key1);
    }
    ((others = {e, f, g, h}), ...);
    return {a, b, c, d};
  }

  /// 53 bits of two words, as a number.
  static ONTO_INLINE lanes number53(const words& lower, const words& upper) {
    // Each part as the last bits of a number with a great exponent, which goes when they are added: exact.
    const words all = ((upper << 32) | low(lower)) >> 11;
    const lanes high = from_bits((all >> 32) | words(0x4530000000000000u));  // 2^84
    const lanes rest = from_bits(low(all) | words(0x4330000000000000u));     // 2^52
    return in_order(high - lanes(0x1p84 + 0x1p52)) + rest;
  }
  /// Evenly in [0, 1).
  ONTO_INLINE lanes uniform() const { return number53(a, b) * lanes(0x1p-53); }
  /// By Box and Muller.
  ONTO_INLINE lanes normal() const {
    const lanes radius = (number53(a, b) + lanes(1.0)) * lanes(0x1p-53), turn = number53(c, d) * lanes(0x1p-53);
    const power_and_fraction<double, Bytes> parts(radius);
    return sqrt(lanes(-2.0) * log_of(parts, lanes{})) * cos(lanes(6.283185307179586) * turn);
  }
};

/// The numbers of a pack's elements in their tensor: the first, and those behind it.
template <class T, int Bytes>
struct pack_index {
  std::int64_t first;

  /// As many as there are lanes of 64 bits: `first + begin`, and 1 or 2 more each.
  ONTO_INLINE pack_bits<double, Bytes> from(int begin, bool doubled) const {
    pack_bits<double, Bytes> numbers;
    std::memcpy(&numbers.data, counting_numbers, sizeof numbers.data);
    return (numbers << (doubled ? 1 : 0)) + numbers.spread(static_cast<std::uint64_t>(first + begin));
  }
  /// The numbers themselves, as floats, doubles or integers.
  template <class Pack>
  ONTO_INLINE Pack numbers() const {
    using number = typename Pack::value_type;
    constexpr int lanes = static_cast<int>(Pack::size);
    if constexpr (sizeof(typename Pack::bits::word) == 4) {
      using words = pack_bits<float, Bytes>;
      words counted;
      std::memcpy(&counted.data, columns_in_order<lanes, 0>.of, sizeof counted.data);
      counted = counted + words::spread(static_cast<std::uint32_t>(first));
      if constexpr (std::is_integral_v<number>) {
        return Pack::low_bits(counted.data);
      } else if (first <= 0x7fffffff - lanes) {
        Pack r;
        conversions<Bytes>::to_floats(r.data, counted.data);
        return r;
      }
    }
    number all[lanes];
    for (int k = 0; k < lanes; ++k) all[k] = static_cast<number>(first + k);
    return Pack::load_unaligned(all);
  }
  ONTO_INLINE pack<T, Bytes> uniform(std::int64_t seed) const {
    using philox = philox_lanes<Bytes>;
    if constexpr (sizeof(T) == 8) {
      return philox::of(seed, from(0, false), from(0, false)).uniform();
    } else {  // of two elements in lanes of 64 bits each, the second's word goes to the upper half
      philox odd;
      const philox even = philox::of(seed, from(0, true), from(1, true), odd);
      const auto words = philox::low(even.a) | (odd.a << 32);
      pack<T, Bytes> r;
      conversions<Bytes>::to_floats(r.data, (bits_of<T, Bytes>)words.data >> 8);
      return r * pack<T, Bytes>(0x1p-24f);
    }
  }
  /// In double for float too.
  ONTO_INLINE pack<T, Bytes> normal(std::int64_t seed) const {
    using philox = philox_lanes<Bytes>;
    if constexpr (sizeof(T) == 8) {
      return philox::of(seed, from(0, false), from(0, false)).normal();
    } else {
      philox high;
      const philox low = philox::of(seed, from(0, false), from(Bytes / 8, false), high);
      pack<T, Bytes> r;
      narrow(r.data, low.normal().data, high.normal().data);
      return r;
    }
  }
};

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
