// SPDX-License-Identifier: BSL-1.0
// Integers and truth values beside packs of floats: as many lanes, whatever an element takes in memory, and casts.
#pragma once

#include <onto/backend/cpu/pack.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#if ONTO_PACKS
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

/// Integers of at most 32 bits, each in the 32 bits of a lane of `pack<float, Bytes>`.
template <class T, int Bytes>
struct pack_integers {
  using value_type = T;
  using mask = pack_mask<float, Bytes>;
  using bits = pack_bits<float, Bytes>;
  using numbers = pack<float, Bytes>;
  using type = typename bits::type;
  using ops = conversions<Bytes>;
  static constexpr int size = Bytes / 4;
  static constexpr bool has_sign = std::is_signed_v<T>;
  type data;

  pack_integers() = default;
  ONTO_INLINE pack_integers(const pack_integers& other) : data(other.data) {}
  pack_integers& operator=(const pack_integers&) = default;
  ONTO_INLINE explicit pack_integers(const bits& lanes) : data(lanes.data) {}
  ONTO_INLINE explicit pack_integers(T value) : data(bits::spread(static_cast<std::uint32_t>(value)).data) {}

  static ONTO_INLINE pack_integers load_unaligned(const T* from) {
    pack_integers p;
    ops::template load<sizeof(T), has_sign>(p.data, from);
    return p;
  }
  ONTO_INLINE void store_unaligned(T* to) const { ops::template store<sizeof(T), has_sign>(to, data); }

  ONTO_INLINE T first() const { return static_cast<T>(data[0]); }

  friend ONTO_INLINE mask operator==(const pack_integers& a, const pack_integers& b) {
    mask m;
    ops::equal(m.data, a.data, b.data);
    return m;
  }
  friend ONTO_INLINE mask operator<(const pack_integers& a, const pack_integers& b) {
    mask m;
    if constexpr (has_sign || sizeof(T) < 4) {
      ops::less(m.data, a.data, b.data);
    } else {  // in the order of integers with a sign
      const bits sign(0x80000000u);
      ops::less(m.data, a.data ^ sign.data, b.data ^ sign.data);
    }
    return m;
  }
  friend ONTO_INLINE mask operator>(const pack_integers& a, const pack_integers& b) { return b < a; }
  friend ONTO_INLINE mask operator<=(const pack_integers& a, const pack_integers& b) { return b >= a; }
  friend ONTO_INLINE mask operator>=(const pack_integers& a, const pack_integers& b) {
    mask m = a < b;
    m.data = static_cast<decltype(m.data)>(~m.data);
    return m;
  }

  friend ONTO_INLINE pack_integers operator+(const pack_integers& a, const pack_integers& b) {
    return low_bits(a.data + b.data);
  }
  friend ONTO_INLINE pack_integers operator-(const pack_integers& a, const pack_integers& b) {
    return low_bits(a.data - b.data);
  }
  friend ONTO_INLINE pack_integers operator*(const pack_integers& a, const pack_integers& b) {
    return low_bits(a.data * b.data);
  }
  ONTO_INLINE pack_integers operator-() const { return low_bits(-data); }
  friend ONTO_INLINE pack_integers operator&(const pack_integers& a, const pack_integers& b) {
    return pack_integers(bits(a.data & b.data));
  }
  friend ONTO_INLINE pack_integers operator|(const pack_integers& a, const pack_integers& b) {
    return pack_integers(bits(a.data | b.data));
  }
  friend ONTO_INLINE pack_integers operator^(const pack_integers& a, const pack_integers& b) {
    return pack_integers(bits(a.data ^ b.data));
  }
  ONTO_INLINE pack_integers operator~() const { return low_bits(~data); }
  friend ONTO_INLINE pack_integers abs(const pack_integers& x) {
    if constexpr (has_sign)
      return select(x < pack_integers(T{0}), -x, x);
    else
      return x;
  }

  /// Of wider integers: sums and products wrap around.
  static ONTO_INLINE pack_integers low_bits(const type& x) {
    typedef std::int32_t words __attribute__((vector_size(Bytes)));
    constexpr int rest = 32 - 8 * static_cast<int>(sizeof(T));
    if constexpr (has_sign)
      return pack_integers(bits((type)((words)(x << rest) >> rest)));
    else
      return pack_integers(bits((x << rest) >> rest));
  }
  /// As floats, rounded once.
  ONTO_INLINE numbers floats() const {
    numbers r;
    if constexpr (!has_sign && sizeof(T) == 4) {
      numbers low;
      ops::to_floats(r.data, data >> 16);
      ops::to_floats(low.data, data & bits(0xffffu).data);
      return r * numbers(65536.0f) + low;  // the product is exact
    } else {
      ops::to_floats(r.data, data);
      return r;
    }
  }
  /// Of floats as math::convert has them: cut off, the nearest there is, and 0 for NaN.
  static ONTO_INLINE pack_integers of(const numbers& x) {
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const numbers lowest(static_cast<float>(least));
    pack_integers r;
    if constexpr (sizeof(T) < 4) {
      const numbers within = min(max(x, lowest), numbers(static_cast<float>(most)));
      ops::cut_off(r.data, select(x == x, within, numbers(0.0f)).data);
    } else {
      constexpr float half = 2147483648.0f;
      const numbers above(has_sign ? half : 2 * half);  // powers of two
      const numbers within = select((x >= lowest) & (x < above), x, numbers(0.0f));
      if constexpr (has_sign) {
        ops::cut_off(r.data, within.data);
      } else {
        const mask upper = within >= numbers(half);
        ops::cut_off(r.data, select(upper, within - numbers(half), within).data);
        r.data = r.data ^ select(upper, pack_integers(T{1} << 31), pack_integers(T{0})).data;
      }
      r = select(x >= above, pack_integers(most), r);
      if constexpr (has_sign) r = select(x < lowest, pack_integers(least), r);
    }
    return r;
  }
  friend ONTO_INLINE pack_integers select(const mask& m, const pack_integers& a, const pack_integers& b) {
    return pack_integers(to_bits(select(m, from_bits(bits(a.data)), from_bits(bits(b.data)))));
  }
};

/// The elements of packs as `To`.
template <class To, class T, int Bytes>
ONTO_INLINE auto convert(const pack<T, Bytes>& x) {
  if constexpr (std::is_same_v<To, bool>)
    return !(x == pack<T, Bytes>(T{0}));
  else if constexpr (std::is_same_v<To, T>)
    return x;
  else
    return pack_integers<To, Bytes>::of(x);
}
template <class To, class T, int Bytes>
ONTO_INLINE auto convert(const pack_mask<T, Bytes>& m) {
  if constexpr (std::is_same_v<To, bool>)
    return m;
  else if constexpr (std::is_same_v<To, T>)
    return select(m, pack<T, Bytes>(T{1}), pack<T, Bytes>(T{0}));
  else
    return select(m, pack_integers<To, Bytes>(To{1}), pack_integers<To, Bytes>(To{0}));
}
template <class To, class T, int Bytes>
ONTO_INLINE auto convert(const pack_integers<T, Bytes>& x) {
  if constexpr (std::is_same_v<To, bool>)
    return !(x == pack_integers<T, Bytes>(T{0}));
  else if constexpr (std::is_same_v<To, float>)
    return x.floats();
  else if constexpr (std::is_same_v<To, std::int64_t>)  // of a seed, which is one for all elements
    return static_cast<std::int64_t>(x.first());
  else
    return pack_integers<To, Bytes>::low_bits(x.data);
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
