// SPDX-License-Identifier: BSL-1.0
// Instructions between vectors of floats, of 32-bit integers and of truth values, and narrower elements in memory.
#pragma once

#include <onto/backend/cpu/vector_instructions.hpp>
#include <onto/core/config.hpp>
#include <onto/core/element.hpp>

#include <cstdint>
#include <cstring>

#if defined(__GNUC__)
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

/// As many lanes as a vector of `Bytes` bytes has floats.
template <int Bytes>
struct conversions;

#if defined(__x86_64__)
template <>
struct conversions<32> {
  using V = vector_types<float, 32>::numbers;
  using W = vector_types<float, 32>::bits;
  using M = mask_type<float, 32>::type;
  using D = mask_type<double, 32>::type;
  using N = vector_types<double, 32>::numbers;
  using four = char[4];
  using eight = char[8];
  using sixteen = char[16];

  /// Integers of `Size` bytes from memory.
  template <int Size, bool Signed>
  ONTO_WITHIN_32 static inline void load(W& r, const void* from) {
    if constexpr (Size == 1 && Signed)
      asm("vpmovsxbd %1, %0" : "=x"(r) : "m"(*static_cast<const eight*>(from)));
    else if constexpr (Size == 1)
      asm("vpmovzxbd %1, %0" : "=x"(r) : "m"(*static_cast<const eight*>(from)));
    else if constexpr (Size == 2 && Signed)
      asm("vpmovsxwd %1, %0" : "=x"(r) : "m"(*static_cast<const sixteen*>(from)));
    else if constexpr (Size == 2)
      asm("vpmovzxwd %1, %0" : "=x"(r) : "m"(*static_cast<const sixteen*>(from)));
    else
      std::memcpy(&r, from, sizeof r);
  }
  /// The same to memory. *Preconditions* they are in the range of such integers.
  template <int Size, bool Signed>
  ONTO_WITHIN_32 static inline void store(void* to, const W& x) {
    if constexpr (Size == 4) {
      std::memcpy(to, &x, sizeof x);
    } else {
      vector_types<float, 16>::numbers low, high;  // %x: the lower half of the register
      asm("vextracti128 $1, %1, %0" : "=x"(high) : "x"(x));
      if constexpr (Signed || Size == 1)
        asm("vpackssdw %2, %x1, %0" : "=x"(low) : "x"(x), "x"(high));
      else
        asm("vpackusdw %2, %x1, %0" : "=x"(low) : "x"(x), "x"(high));
      if constexpr (Size == 1 && Signed)
        asm("vpacksswb %0, %0, %0" : "+x"(low));
      else if constexpr (Size == 1)
        asm("vpackuswb %0, %0, %0" : "+x"(low));
      std::memcpy(to, &low, 8 * Size);
    }
  }
  ONTO_WITHIN_32 static inline void to_floats(V& r, const W& x) { asm("vcvtdq2ps %1, %0" : "=x"(r) : "x"(x)); }
  ONTO_WITHIN_32 static inline void cut_off(W& r, const V& x) { asm("vcvttps2dq %1, %0" : "=x"(r) : "x"(x)); }
  ONTO_WITHIN_32 static inline void equal(M& r, const W& a, const W& b) {
    asm("vpcmpeqd %2, %1, %0" : "=x"(r) : "x"(a), "x"(b));
  }
  /// As integers with a sign.
  ONTO_WITHIN_32 static inline void less(M& r, const W& a, const W& b) {
    asm("vpcmpgtd %2, %1, %0" : "=x"(r) : "x"(b), "x"(a));
  }
  /// Which bytes in memory are not 0.
  ONTO_WITHIN_32 static inline void load_truths(M& r, const void* from) {
    const W none = {};
    asm("vpmovzxbd %1, %0" : "=x"(r) : "m"(*static_cast<const eight*>(from)));
    asm("vpcmpgtd %1, %0, %0" : "+x"(r) : "x"(none));
  }
  ONTO_WITHIN_32 static inline void load_truths(D& r, const void* from) {
    const W none = {};
    asm("vpmovzxbq %1, %0" : "=x"(r) : "m"(*static_cast<const four*>(from)));
    asm("vpcmpgtq %1, %0, %0" : "+x"(r) : "x"(none));
  }
  /// Floats in memory as doubles, and back.
  ONTO_WITHIN_32 static inline void widen(N& r, const void* from) {
    asm("vcvtps2pd %1, %0" : "=x"(r) : "m"(*static_cast<const sixteen*>(from)));
  }
  ONTO_WITHIN_32 static inline void narrow(void* to, const N& x) {
    vector_types<float, 16>::numbers r;
    asm("vcvtpd2ps %1, %0" : "=x"(r) : "x"(x));
    std::memcpy(to, &r, sizeof r);
  }
};

template <>
struct conversions<64> {
  using V = vector_types<float, 64>::numbers;
  using W = vector_types<float, 64>::bits;
  using M = mask_type<float, 64>::type;
  using D = mask_type<double, 64>::type;
  using N = vector_types<double, 64>::numbers;
  using bytes = vector_types<float, 16>::numbers;
  using eight = char[8];
  using sixteen = char[16];
  using thirty_two = char[32];

  template <int Size, bool Signed>
  ONTO_WITHIN_64 static inline void load(W& r, const void* from) {
    if constexpr (Size == 1 && Signed)
      asm("vpmovsxbd %1, %0" : "=v"(r) : "m"(*static_cast<const sixteen*>(from)));
    else if constexpr (Size == 1)
      asm("vpmovzxbd %1, %0" : "=v"(r) : "m"(*static_cast<const sixteen*>(from)));
    else if constexpr (Size == 2 && Signed)
      asm("vpmovsxwd %1, %0" : "=v"(r) : "m"(*static_cast<const thirty_two*>(from)));
    else if constexpr (Size == 2)
      asm("vpmovzxwd %1, %0" : "=v"(r) : "m"(*static_cast<const thirty_two*>(from)));
    else
      std::memcpy(&r, from, sizeof r);
  }
  template <int Size, bool>
  ONTO_WITHIN_64 static inline void store(void* to, const W& x) {
    if constexpr (Size == 1)
      asm("vpmovdb %1, %0" : "=m"(*static_cast<sixteen*>(to)) : "v"(x));
    else if constexpr (Size == 2)
      asm("vpmovdw %1, %0" : "=m"(*static_cast<thirty_two*>(to)) : "v"(x));
    else
      std::memcpy(to, &x, sizeof x);
  }
  ONTO_WITHIN_64 static inline void to_floats(V& r, const W& x) { asm("vcvtdq2ps %1, %0" : "=v"(r) : "v"(x)); }
  ONTO_WITHIN_64 static inline void cut_off(W& r, const V& x) { asm("vcvttps2dq %1, %0" : "=v"(r) : "v"(x)); }
  ONTO_WITHIN_64 static inline void equal(M& r, const W& a, const W& b) {
    asm("vpcmpeqd %2, %1, %0" : "=Yk"(r) : "v"(a), "v"(b));
  }
  ONTO_WITHIN_64 static inline void less(M& r, const W& a, const W& b) {
    asm("vpcmpgtd %2, %1, %0" : "=Yk"(r) : "v"(b), "v"(a));
  }
  ONTO_WITHIN_64 static inline void load_truths(M& r, const void* from) {
    bytes b;
    std::memcpy(&b, from, 16);
    asm("vptestmb %1, %1, %0" : "=Yk"(r) : "v"(b));
  }
  ONTO_WITHIN_64 static inline void load_truths(D& r, const void* from) {
    bytes b;
    asm("vmovq %1, %0" : "=v"(b) : "m"(*static_cast<const eight*>(from)));
    asm("vptestmb %1, %1, %0" : "=Yk"(r) : "v"(b));
  }
  ONTO_WITHIN_64 static inline void store_truths(void* to, const M& m) {
    typedef char characters __attribute__((vector_size(16)));
    const characters ones = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    bytes b;
    asm("vmovdqu8 %1, %0%{%2%}%{z%}" : "=v"(b) : "v"(ones), "Yk"(m));
    std::memcpy(to, &b, 16);
  }
  ONTO_WITHIN_64 static inline void widen(N& r, const void* from) {
    asm("vcvtps2pd %1, %0" : "=v"(r) : "m"(*static_cast<const thirty_two*>(from)));
  }
  ONTO_WITHIN_64 static inline void narrow(void* to, const N& x) {
    vector_types<float, 32>::numbers r;
    asm("vcvtpd2ps %1, %0" : "=v"(r) : "v"(x));
    std::memcpy(to, &r, sizeof r);
  }
};
#endif

/// By operators and for each lane: any processor.
template <>
struct conversions<16> {
  using V = vector_types<float, 16>::numbers;
  using W = vector_types<float, 16>::bits;
  using M = mask_type<float, 16>::type;
  using N = vector_types<double, 16>::numbers;
  typedef std::int32_t signed_words __attribute__((vector_size(16)));

  template <int Size, bool Signed>
  static ONTO_INLINE void load(W& r, const void* from) {
    if constexpr (Size == 4) {
      std::memcpy(&r, from, sizeof r);
    } else {
      constexpr int rest = 32 - 8 * Size;
      unsigned_of<Size> x[4];
      std::memcpy(x, from, sizeof x);
      r = W{x[0], x[1], x[2], x[3]};
      if constexpr (Signed) r = (W)((signed_words)(r << rest) >> rest);
    }
  }
  template <int Size, bool>
  static ONTO_INLINE void store(void* to, const W& x) {
    if constexpr (Size == 4) {
      std::memcpy(to, &x, sizeof x);
    } else {
      using T = unsigned_of<Size>;
      const T narrow[4] = {static_cast<T>(x[0]), static_cast<T>(x[1]), static_cast<T>(x[2]), static_cast<T>(x[3])};
      std::memcpy(to, narrow, sizeof narrow);
    }
  }
  static ONTO_INLINE void to_floats(V& r, const W& x) { r = __builtin_convertvector((signed_words)x, V); }
  static ONTO_INLINE void cut_off(W& r, const V& x) { r = (W) __builtin_convertvector(x, signed_words); }
  static ONTO_INLINE void equal(M& r, const W& a, const W& b) { r = (M)(a == b); }
  static ONTO_INLINE void less(M& r, const W& a, const W& b) { r = (M)((signed_words)a < (signed_words)b); }
  template <class Mask>
  static ONTO_INLINE void load_truths(Mask& r, const void* from) {
    unsigned char b[sizeof r / sizeof r[0]];
    std::memcpy(b, from, sizeof b);
    if constexpr (sizeof b == 4)
      r = (Mask)(W{b[0], b[1], b[2], b[3]} != W{});
    else
      r = (Mask)(Mask{b[0], b[1]} != Mask{});
  }
  static ONTO_INLINE void widen(N& r, const void* from) {
    float x[2];
    std::memcpy(x, from, sizeof x);
    r = N{x[0], x[1]};
  }
  static ONTO_INLINE void narrow(void* to, const N& x) {
    const float narrow[2] = {static_cast<float>(x[0]), static_cast<float>(x[1])};
    std::memcpy(to, narrow, sizeof narrow);
  }
};

/// A mask's lanes as the bits of a number.
template <class T, int Bytes>
ONTO_INLINE unsigned lane_bits(const mask_of<T, Bytes>& m) {
  if constexpr (Bytes == 64) {
    return m;
  } else if constexpr (Bytes == 32) {
    return instructions<T, 32>::signs(m);
  } else {
    unsigned r = 0;
#if defined(__x86_64__) && defined(__AVX__)
    if constexpr (sizeof(T) == 4)
      asm("vmovmskps %1, %0" : "=r"(r) : "x"(m));
    else
      asm("vmovmskpd %1, %0" : "=r"(r) : "x"(m));
#elif defined(__x86_64__)
    if constexpr (sizeof(T) == 4)
      asm("movmskps %1, %0" : "=r"(r) : "x"(m));
    else
      asm("movmskpd %1, %0" : "=r"(r) : "x"(m));
#else
    for (unsigned k = 0; k < 16 / sizeof(T); ++k) r |= static_cast<unsigned>(m[k] & 1) << k;
#endif
    return r;
  }
}

/// Writes a byte for each lane of a mask, 1 or 0.
template <class T, int Bytes>
ONTO_INLINE void store_truths(void* to, const mask_of<T, Bytes>& m) {
  if constexpr (Bytes == 64 && sizeof(T) == 4) {
    conversions<64>::store_truths(to, m);
  } else if constexpr (Bytes == 32 && sizeof(T) == 4) {
    conversions<32>::template store<1, true>(to, m >> 31);
  } else {  // bit k of byte k, and that as 1
    std::uint64_t each = 0x0101010101010101u * std::uint64_t{lane_bits<T, Bytes>(m)} & 0x8040201008040201u;
    each = (each + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
    std::memcpy(to, &each, Bytes / sizeof(T));
  }
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
