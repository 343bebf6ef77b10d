// SPDX-License-Identifier: BSL-1.0
// SIMD packs: numbers side by side in one vector of an instruction set, right and fast whatever the program's flags
// say.
#pragma once

#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/backend/cpu/vector_conversions.hpp>
#include <onto/backend/cpu/vector_instructions.hpp>
#include <onto/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__GNUC__) && !defined(__CUDACC__)
#define ONTO_PACKS 1
#else
#define ONTO_PACKS 0
#endif

#if ONTO_PACKS
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

// Copies are the user's, which makes packs pass by reference: a function that is not compiled for an instruction set
// and one that is would not agree about the registers that they pass a vector in.

/// For each lane of a pack, whether.
template <class T, int Bytes>
struct pack_mask {
  using value_type = bool;
  using type = mask_of<T, Bytes>;
  static constexpr int size = Bytes / static_cast<int>(sizeof(T));
  type data;

  pack_mask() = default;
  ONTO_INLINE pack_mask(const pack_mask& other) : data(other.data) {}
  pack_mask& operator=(const pack_mask&) = default;
  ONTO_INLINE explicit pack_mask(bool value) {
    if constexpr (Bytes == 64)
      data = value ? static_cast<type>(-1) : type{0};
    else
      data = value ? ~type{} : type{};
  }

  /// Bytes, which are true where they are not 0.
  static ONTO_INLINE pack_mask load_unaligned(const bool* from) {
    pack_mask m;
    conversions<Bytes>::load_truths(m.data, from);
    return m;
  }
  ONTO_INLINE void store_unaligned(bool* to) const { store_truths<T, Bytes>(to, data); }

  friend ONTO_INLINE pack_mask operator&(const pack_mask& a, const pack_mask& b) { return of(a.data & b.data); }
  friend ONTO_INLINE pack_mask operator|(const pack_mask& a, const pack_mask& b) { return of(a.data | b.data); }
  friend ONTO_INLINE pack_mask operator^(const pack_mask& a, const pack_mask& b) { return of(a.data ^ b.data); }
  friend ONTO_INLINE pack_mask operator&&(const pack_mask& a, const pack_mask& b) { return a & b; }
  friend ONTO_INLINE pack_mask operator||(const pack_mask& a, const pack_mask& b) { return a | b; }
  friend ONTO_INLINE pack_mask operator==(const pack_mask& a, const pack_mask& b) { return !(a ^ b); }
  ONTO_INLINE pack_mask operator!() const { return of(~data); }

  template <class Word>
  static ONTO_INLINE pack_mask of(const Word& word) {
    pack_mask m;
    if constexpr (Bytes == 64)
      m.data = static_cast<type>(word);
    else
      m.data = word;
    return m;
  }
};

/// The bits of a pack's lanes as unsigned integers.
template <class T, int Bytes>
struct pack_bits {
  using type = bits_of<T, Bytes>;
  using word = typename vector_types<T, Bytes>::word;
  type data;

  pack_bits() = default;
  ONTO_INLINE pack_bits(const pack_bits& other) : data(other.data) {}
  pack_bits& operator=(const pack_bits&) = default;
  ONTO_INLINE explicit pack_bits(const type& bits) : data(bits) {}
  ONTO_INLINE explicit pack_bits(word value) : data(value - type{}) {}
  /// Of a number that is no constant. Where g++ would write the lanes one by one, by an instruction for numbers.
  static ONTO_INLINE pack_bits spread(word value) {
    if constexpr (Bytes == 16 || Bytes == vector_bytes) {
      return pack_bits(value);
    } else {
      T number;
      std::memcpy(&number, &value, sizeof number);
      numbers_of<T, Bytes> all;
      instructions<T, Bytes>::spread(all, number);
      return pack_bits((type)all);
    }
  }

  friend ONTO_INLINE pack_bits operator+(const pack_bits& a, const pack_bits& b) { return pack_bits(a.data + b.data); }
  friend ONTO_INLINE pack_bits operator-(const pack_bits& a, const pack_bits& b) { return pack_bits(a.data - b.data); }
  friend ONTO_INLINE pack_bits operator&(const pack_bits& a, const pack_bits& b) { return pack_bits(a.data & b.data); }
  friend ONTO_INLINE pack_bits operator|(const pack_bits& a, const pack_bits& b) { return pack_bits(a.data | b.data); }
  friend ONTO_INLINE pack_bits operator^(const pack_bits& a, const pack_bits& b) { return pack_bits(a.data ^ b.data); }
  friend ONTO_INLINE pack_bits operator<<(const pack_bits& a, int n) { return pack_bits(a.data << n); }
  friend ONTO_INLINE pack_bits operator>>(const pack_bits& a, int n) { return pack_bits(a.data >> n); }
};

/// Floats or doubles side by side.
template <class T, int Bytes>
struct pack {
  using value_type = T;
  using mask = pack_mask<T, Bytes>;
  using bits = pack_bits<T, Bytes>;
  using word = typename bits::word;
  using type = numbers_of<T, Bytes>;
  using ops = instructions<T, Bytes>;
  static constexpr int bytes = Bytes;
  static constexpr int size = Bytes / static_cast<int>(sizeof(T));
  type data;

  pack() = default;
  ONTO_INLINE pack(const pack& other) : data(other.data) {}
  ONTO_INLINE pack& operator=(const pack& other) {
    data = other.data;
    return *this;
  }
  ONTO_INLINE explicit pack(const type& numbers) : data(numbers) {}
  /// Of zeros: `pack{}`, which g++ never makes lane by lane.
  ONTO_INLINE explicit pack(T value) {
    // For vectors that the file's flags do not have, g++ writes the lanes one by one.
    if (Bytes == vector_bytes || __builtin_constant_p(value))
      data = value - type{};
    else
      ops::spread(data, value);
  }

  static ONTO_INLINE pack load_unaligned(const T* from) {
    pack p;
    std::memcpy(&p.data, from, sizeof p.data);
    return p;
  }
  ONTO_INLINE void store_unaligned(T* to) const { std::memcpy(to, &data, sizeof data); }
  ONTO_INLINE void store_aligned(T* to) const { std::memcpy(to, &data, sizeof data); }
  /// The first `n` lanes from memory, of which no more is read; the others repeat the first. `n` is in [1, size).
  static ONTO_INLINE pack load_first(const T* from, std::int64_t n) {
    pack p(*from);
    ops::load_first(p.data, from, n);
    return p;
  }
  /// Writes the first `n` lanes.
  ONTO_INLINE void store_first(T* to, std::int64_t n) const { ops::store_first(to, data, n); }
  /// Past the caches; `to` is aligned to a pack.
  ONTO_INLINE void stream(T* to) const { ops::stream(to, data); }

  friend ONTO_INLINE pack operator+(const pack& a, const pack& b) { return pack(a.data + b.data); }
  friend ONTO_INLINE pack operator-(const pack& a, const pack& b) { return pack(a.data - b.data); }
  friend ONTO_INLINE pack operator*(const pack& a, const pack& b) { return pack(a.data * b.data); }
  friend ONTO_INLINE pack operator/(const pack& a, const pack& b) { return pack(a.data / b.data); }
  ONTO_INLINE pack operator-() const { return pack(-data); }
  ONTO_INLINE pack& operator+=(const pack& b) { return *this = *this + b; }
  ONTO_INLINE pack& operator-=(const pack& b) { return *this = *this - b; }
  ONTO_INLINE pack& operator*=(const pack& b) { return *this = *this * b; }

  friend ONTO_INLINE mask operator==(const pack& a, const pack& b) { return compare<comparison::equal>(a, b); }
  friend ONTO_INLINE mask operator<(const pack& a, const pack& b) { return compare<comparison::less>(a, b); }
  friend ONTO_INLINE mask operator>(const pack& a, const pack& b) { return compare<comparison::less>(b, a); }
  friend ONTO_INLINE mask operator<=(const pack& a, const pack& b) { return compare<comparison::less_equal>(a, b); }
  friend ONTO_INLINE mask operator>=(const pack& a, const pack& b) { return compare<comparison::less_equal>(b, a); }

  template <comparison C>
  static ONTO_INLINE mask compare(const pack& a, const pack& b) {
    mask m;
    ops::template compare<C>(m.data, a.data, b.data);
    return m;
  }
};

template <class T, int Bytes>
ONTO_INLINE pack_bits<T, Bytes> to_bits(const pack<T, Bytes>& x) {
  return pack_bits<T, Bytes>((bits_of<T, Bytes>)x.data);
}
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> from_bits(const pack_bits<T, Bytes>& x) {
  return pack<T, Bytes>((numbers_of<T, Bytes>)x.data);
}

/// `m ? a : b` in each lane.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> select(const pack_mask<T, Bytes>& m, const pack<T, Bytes>& a, const pack<T, Bytes>& b) {
  pack<T, Bytes> r;
  instructions<T, Bytes>::choose(r.data, m.data, a.data, b.data);
  return r;
}
template <class T, int Bytes>
ONTO_INLINE pack_mask<T, Bytes> select(const pack_mask<T, Bytes>& m, const pack_mask<T, Bytes>& a,
                                       const pack_mask<T, Bytes>& b) {
  return (m & a) | ((!m) & b);
}
template <class T, int Bytes>
ONTO_INLINE bool any(const pack_mask<T, Bytes>& m) {
  return any_lane<T, Bytes>(m.data);
}
template <class T, int Bytes>
ONTO_INLINE bool all(const pack_mask<T, Bytes>& m) {
  return !any(!m);
}

/// Where one of two is NaN.
template <class T, int Bytes>
ONTO_INLINE pack_mask<T, Bytes> either_nan(const pack<T, Bytes>& a, const pack<T, Bytes>& b) {
  return pack<T, Bytes>::template compare<comparison::unordered>(a, b);
}
template <class T, int Bytes>
ONTO_INLINE pack_mask<T, Bytes> isnan(const pack<T, Bytes>& x) {
  return either_nan(x, x);
}

/// The smaller and the greater of two; `b` where one is NaN.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> min(const pack<T, Bytes>& a, const pack<T, Bytes>& b) {
  pack<T, Bytes> r;
  instructions<T, Bytes>::minimum(r.data, a.data, b.data);
  return r;
}
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> max(const pack<T, Bytes>& a, const pack<T, Bytes>& b) {
  pack<T, Bytes> r;
  instructions<T, Bytes>::maximum(r.data, a.data, b.data);
  return r;
}

template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> sqrt(const pack<T, Bytes>& x) {
  pack<T, Bytes> r;
  instructions<T, Bytes>::square_root(r.data, x.data);
  return r;
}
template <rounding R, class T, int Bytes>
ONTO_INLINE pack<T, Bytes> round_to(const pack<T, Bytes>& x) {
  pack<T, Bytes> r;
  instructions<T, Bytes>::template round<R>(r.data, x.data);
  return r;
}
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> floor(const pack<T, Bytes>& x) {
  return round_to<rounding::down>(x);
}
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> ceil(const pack<T, Bytes>& x) {
  return round_to<rounding::up>(x);
}
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> nearbyint(const pack<T, Bytes>& x) {
  return round_to<rounding::nearest>(x);
}

/// a * b + c and c - a * b, rounded once where the instruction set has that.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> fma(const pack<T, Bytes>& a, const pack<T, Bytes>& b, const pack<T, Bytes>& c) {
  return pack<T, Bytes>(a.data * b.data + c.data);
}
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> fnma(const pack<T, Bytes>& a, const pack<T, Bytes>& b, const pack<T, Bytes>& c) {
  return pack<T, Bytes>(c.data - a.data * b.data);
}

/// A number as it is, in this order of sums whatever -ffast-math allows.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> in_order(pack<T, Bytes> x) {
  instructions<T, Bytes>::fence(x.data);
  return x;
}

/// The sign bits alone.
template <class T, int Bytes>
ONTO_INLINE pack_bits<T, Bytes> sign_of(const pack<T, Bytes>& x) {
  using word = typename pack<T, Bytes>::word;
  return to_bits(x) & pack_bits<T, Bytes>(word{1} << (8 * sizeof(T) - 1));
}
/// `x` with its sign turned where `sign`, a sign bit, is set.
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> turn_sign(const pack<T, Bytes>& x, const pack_bits<T, Bytes>& sign) {
  return from_bits(to_bits(x) ^ sign);
}
template <class T, int Bytes>
ONTO_INLINE pack<T, Bytes> abs(const pack<T, Bytes>& x) {
  return turn_sign(x, sign_of(x));
}

template <class F, class T, int Lanes, int Count>
ONTO_COLD ONTO_NOINLINE void one_by_one(const F& f, const bool (&plain)[Lanes], const T (&in)[Count][Lanes],
                                        T (&out)[Lanes]) {
  for (int k = 0; k < Lanes; ++k) {
    if (plain[k]) continue;
    if constexpr (Count == 1)
      out[k] = f(in[0][k]);
    else
      out[k] = f(in[0][k], in[1][k]);
  }
}
/// `r`, and in the lanes that are not `plain` what `f`, of the C library, gives of each by itself.
template <class F, class T, int Bytes, class... More>
ONTO_INLINE pack<T, Bytes> checked(const F& f, const pack_mask<T, Bytes>& plain, const pack<T, Bytes>& r,
                                   const pack<T, Bytes>& x, const More&... more) {
  if (all(plain)) return r;
  constexpr int lanes = pack<T, Bytes>::size;
  bool is_plain[lanes];
  T in[1 + sizeof...(More)][lanes], out[lanes];
  int row = 0;
  plain.store_unaligned(is_plain);
  x.store_unaligned(in[row]);
  (more.store_unaligned(in[++row]), ...);
  r.store_unaligned(out);
  one_by_one(f, is_plain, in, out);
  return pack<T, Bytes>::load_unaligned(out);
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
