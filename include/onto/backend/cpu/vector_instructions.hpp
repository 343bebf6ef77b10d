// SPDX-License-Identifier: BSL-1.0
// What vectors of GNU C++ have no operators for, as one instruction each: comparisons, choices, roots, rounding. By
// reference, and compiled for the instruction set: what is not for a set neither passes nor returns its vectors.
#pragma once

#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__GNUC__)
namespace onto::detail::simd {
inline namespace ONTO_VECTOR_ABI {

/// A vector of `Bytes` bytes, its bits as unsigned integers, and what comparisons of it give.
template <class T, int Bytes>
struct vector_types {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  typedef T numbers __attribute__((vector_size(Bytes)));
  typedef word bits __attribute__((vector_size(Bytes)));
};

// A template's argument would lose that it is a vector.
template <class T, int Bytes>
struct mask_type {
  using word = typename vector_types<T, Bytes>::word;
  typedef word type __attribute__((vector_size(Bytes)));
};
template <class T>
struct mask_type<T, 64> {
  using type = std::conditional_t<sizeof(T) == 4, std::uint16_t, std::uint8_t>;
};

template <class T, int Bytes>
using numbers_of = typename vector_types<T, Bytes>::numbers;
template <class T, int Bytes>
using bits_of = typename vector_types<T, Bytes>::bits;
template <class T, int Bytes>
using mask_of = typename mask_type<T, Bytes>::type;

/// A mask of all of a vector's 32 bytes, and then of none: that of its first n bytes begins 32 - n bytes behind the
/// first.
inline constexpr std::int32_t first_bytes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

enum class comparison { equal = 0, less = 17, less_equal = 18, unordered = 3, not_less = 21 };  // as vcmpps has them
enum class rounding { nearest = 8, down = 9, up = 10 };                                         // as vroundps does

/// The instructions for vectors of `Bytes` bytes.
template <class T, int Bytes>
struct instructions;

// Written as instructions: <immintrin.h> takes a second to compile, and compilers' own names for them change.
#if defined(__x86_64__)
#define ONTO_VECTORS_OF(T, SUFFIX, SCALAR)                                                                         \
  template <>                                                                                                      \
  struct instructions<T, 32> {                                                                                     \
    using V = numbers_of<T, 32>;                                                                                   \
    using M = mask_of<T, 32>;                                                                                      \
    ONTO_WITHIN_32 static inline void fence(V& x) { asm("" : "+x"(x)); }                                           \
    ONTO_WITHIN_32 static inline void spread(V& r, T x) { asm("vbroadcast" SCALAR " %1, %0" : "=x"(r) : "x"(x)); } \
    ONTO_WITHIN_32 static inline void square_root(V& r, const V& x) {                                              \
      asm("vsqrt" SUFFIX " %1, %0" : "=x"(r) : "x"(x));                                                            \
    }                                                                                                              \
    ONTO_WITHIN_32 static inline void minimum(V& r, const V& a, const V& b) {                                      \
      asm("vmin" SUFFIX " %2, %1, %0" : "=x"(r) : "x"(a), "x"(b));                                                 \
    }                                                                                                              \
    ONTO_WITHIN_32 static inline void maximum(V& r, const V& a, const V& b) {                                      \
      asm("vmax" SUFFIX " %2, %1, %0" : "=x"(r) : "x"(a), "x"(b));                                                 \
    }                                                                                                              \
    template <comparison C>                                                                                        \
    ONTO_WITHIN_32 static inline void compare(M& r, const V& a, const V& b) {                                      \
      asm("vcmp" SUFFIX " %3, %2, %1, %0" : "=x"(r) : "x"(a), "x"(b), "i"(static_cast<int>(C)));                   \
    }                                                                                                              \
    ONTO_WITHIN_32 static inline void choose(V& r, const M& m, const V& a, const V& b) {                           \
      asm("vblendv" SUFFIX " %3, %1, %2, %0" : "=x"(r) : "x"(a), "x"(b), "x"(m));                                  \
    }                                                                                                              \
    template <rounding R>                                                                                          \
    ONTO_WITHIN_32 static inline void round(V& r, const V& x) {                                                    \
      asm("vround" SUFFIX " %2, %1, %0" : "=x"(r) : "x"(x), "i"(static_cast<int>(R)));                             \
    }                                                                                                              \
    ONTO_WITHIN_32 static inline unsigned signs(const M& m) {                                                      \
      unsigned r;                                                                                                  \
      asm("vmovmsk" SUFFIX " %1, %0" : "=r"(r) : "x"(m));                                                          \
      return r;                                                                                                    \
    }                                                                                                              \
    /* The first n lanes from memory, of which no more is read; the others are those of r. */                      \
    ONTO_WITHIN_32 static inline void load_first(V& r, const T* from, std::int64_t n) {                            \
      M first;                                                                                                     \
      std::memcpy(&first, first_bytes + 8 - n * (static_cast<int>(sizeof(T)) / 4), sizeof first);                  \
      V read;                                                                                                      \
      asm("vmaskmov" SUFFIX " (%2), %1, %0" : "=x"(read) : "x"(first), "r"(from) : "memory");                      \
      choose(r, first, read, r);                                                                                   \
    }                                                                                                              \
    ONTO_WITHIN_32 static inline void store_first(T* to, const V& x, std::int64_t n) {                             \
      M first;                                                                                                     \
      std::memcpy(&first, first_bytes + 8 - n * (static_cast<int>(sizeof(T)) / 4), sizeof first);                  \
      asm volatile("vmaskmov" SUFFIX " %1, %0, (%2)" : : "x"(first), "x"(x), "r"(to) : "memory");                  \
    }                                                                                                              \
    ONTO_WITHIN_32 static inline void stream(void* to, const V& x) {                                               \
      asm volatile("vmovnt" SUFFIX " %1, %0" : "=m"(*static_cast<V*>(to)) : "x"(x));                               \
    }                                                                                                              \
  };                                                                                                               \
  template <>                                                                                                      \
  struct instructions<T, 64> {                                                                                     \
    using V = numbers_of<T, 64>;                                                                                   \
    using M = mask_of<T, 64>;                                                                                      \
    ONTO_WITHIN_64 static inline void fence(V& x) { asm("" : "+v"(x)); }                                           \
    ONTO_WITHIN_64 static inline void spread(V& r, T x) { asm("vbroadcast" SCALAR " %1, %0" : "=v"(r) : "v"(x)); } \
    ONTO_WITHIN_64 static inline void square_root(V& r, const V& x) {                                              \
      asm("vsqrt" SUFFIX " %1, %0" : "=v"(r) : "v"(x));                                                            \
    }                                                                                                              \
    ONTO_WITHIN_64 static inline void minimum(V& r, const V& a, const V& b) {                                      \
      asm("vmin" SUFFIX " %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));                                                 \
    }                                                                                                              \
    ONTO_WITHIN_64 static inline void maximum(V& r, const V& a, const V& b) {                                      \
      asm("vmax" SUFFIX " %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));                                                 \
    }                                                                                                              \
    template <comparison C>                                                                                        \
    ONTO_WITHIN_64 static inline void compare(M& r, const V& a, const V& b) {                                      \
      asm("vcmp" SUFFIX " %3, %2, %1, %0" : "=Yk"(r) : "v"(a), "v"(b), "i"(static_cast<int>(C)));                  \
    }                                                                                                              \
    ONTO_WITHIN_64 static inline void choose(V& r, const M& m, const V& a, const V& b) {                           \
      asm("vblendm" SUFFIX " %1, %2, %0%{%3%}" : "=v"(r) : "v"(a), "v"(b), "Yk"(m));                               \
    }                                                                                                              \
    template <rounding R>                                                                                          \
    ONTO_WITHIN_64 static inline void round(V& r, const V& x) {                                                    \
      asm("vrndscale" SUFFIX " %2, %1, %0" : "=v"(r) : "v"(x), "i"(static_cast<int>(R)));                          \
    }                                                                                                              \
    /* a * b - c, rounded once whatever the compiler makes of operators: not all do so, nor with every option */   \
    ONTO_WITHIN_64 static inline void fused_difference(V& r, const V& a, const V& b, const V& c) {                 \
      asm("vfmsub213" SUFFIX " %3, %2, %0" : "=v"(r) : "0"(a), "v"(b), "v"(c));                                    \
    }                                                                                                              \
    /* x * 2^floor(n) where m is set, and elsewhere 0: nothing is computed there, so nothing underflows */         \
    ONTO_WITHIN_64 static inline void scale(V& r, const M& m, const V& x, const V& n) {                            \
      asm("vscalef" SUFFIX " %3, %2, %0%{%1%}%{z%}" : "=v"(r) : "Yk"(m), "v"(x), "v"(n));                          \
    }                                                                                                              \
    /* table[place], by the last bits of `place` */                                                                \
    ONTO_WITHIN_64 static inline void look_up(V& r, const V& place, const V& table) {                              \
      asm("vperm" SUFFIX " %2, %1, %0" : "=v"(r) : "v"(place), "v"(table));                                        \
    }                                                                                                              \
    /* The first n lanes from memory, of which no more is read; the others are those of r. */                      \
    ONTO_WITHIN_64 static inline void load_first(V& r, const T* from, std::int64_t n) {                            \
      const M first = static_cast<M>((1u << n) - 1);                                                               \
      asm("vmovu" SUFFIX " (%2), %0%{%1%}" : "+v"(r) : "Yk"(first), "r"(from) : "memory");                         \
    }                                                                                                              \
    ONTO_WITHIN_64 static inline void store_first(T* to, const V& x, std::int64_t n) {                             \
      const M first = static_cast<M>((1u << n) - 1);                                                               \
      asm volatile("vmovu" SUFFIX " %1, (%2)%{%0%}" : : "Yk"(first), "v"(x), "r"(to) : "memory");                  \
    }                                                                                                              \
    ONTO_WITHIN_64 static inline void stream(void* to, const V& x) {                                               \
      asm volatile("vmovnt" SUFFIX " %1, %0" : "=m"(*static_cast<V*>(to)) : "v"(x));                               \
    }                                                                                                              \
  };
ONTO_VECTORS_OF(float, "ps", "ss")
ONTO_VECTORS_OF(double, "pd", "sd")
#undef ONTO_VECTORS_OF

/// Half of a vector of floats as doubles.
ONTO_WITHIN_32 inline void widen(numbers_of<double, 32>& r, const numbers_of<float, 16>& x) {
  asm("vcvtps2pd %1, %0" : "=x"(r) : "x"(x));
}
ONTO_WITHIN_64 inline void widen(numbers_of<double, 64>& r, const numbers_of<float, 32>& x) {
  asm("vcvtps2pd %1, %0" : "=v"(r) : "v"(x));
}
/// Two vectors of doubles as one of floats. %x and %t: the lower parts of a register.
ONTO_WITHIN_32 inline void narrow(numbers_of<float, 32>& r, const numbers_of<double, 32>& low,
                                  const numbers_of<double, 32>& high) {
  numbers_of<float, 16> half;
  asm("vcvtpd2ps %1, %x0" : "=x"(r) : "x"(low));
  asm("vcvtpd2ps %1, %0" : "=x"(half) : "x"(high));
  asm("vinsertf128 $1, %1, %0, %0" : "+x"(r) : "x"(half));
}
ONTO_WITHIN_64 inline void narrow(numbers_of<float, 64>& r, const numbers_of<double, 64>& low,
                                  const numbers_of<double, 64>& high) {
  numbers_of<float, 32> half;
  asm("vcvtpd2ps %1, %t0" : "=v"(r) : "v"(low));
  asm("vcvtpd2ps %1, %0" : "=v"(half) : "v"(high));
  asm("vinsertf64x4 $1, %1, %0, %0" : "+v"(r) : "v"(half));
}
#endif
ONTO_INLINE void narrow(numbers_of<float, 16>& r, const numbers_of<double, 16>& low,
                        const numbers_of<double, 16>& high) {
  r = numbers_of<float, 16>{static_cast<float>(low[0]), static_cast<float>(low[1]), static_cast<float>(high[0]),
                            static_cast<float>(high[1])};
}

/// By operators and for each lane: any processor.
template <class T>
struct instructions<T, 16> {
  using V = numbers_of<T, 16>;
  using M = mask_of<T, 16>;
  static constexpr int width = 16 / static_cast<int>(sizeof(T));

  static ONTO_INLINE void fence([[maybe_unused]] V& x) {
#if defined(__x86_64__)
    asm("" : "+x"(x));
#elif defined(__aarch64__)
    asm("" : "+w"(x));
#endif
  }
  static ONTO_INLINE void spread(V& r, T x) { r = x - V{}; }
  static ONTO_INLINE void square_root(V& r, const V& x) {
#if defined(__x86_64__) && defined(__AVX__)
    if constexpr (sizeof(T) == 4)
      asm("vsqrtps %1, %0" : "=x"(r) : "x"(x));
    else
      asm("vsqrtpd %1, %0" : "=x"(r) : "x"(x));
#elif defined(__x86_64__)
    if constexpr (sizeof(T) == 4)
      asm("sqrtps %1, %0" : "=x"(r) : "x"(x));
    else
      asm("sqrtpd %1, %0" : "=x"(r) : "x"(x));
#else
    for (int k = 0; k < width; ++k) r[k] = std::sqrt(x[k]);
#endif
  }
  // In this order, so that `b` is what comes of a NaN: the instruction that x86 has.
  static ONTO_INLINE void minimum(V& r, const V& a, const V& b) { r = a < b ? a : b; }
  static ONTO_INLINE void maximum(V& r, const V& a, const V& b) { r = a > b ? a : b; }
  template <comparison C>
  static ONTO_INLINE void compare(M& r, const V& a, const V& b) {
    if constexpr (C == comparison::equal)
      r = (M)(a == b);
    else if constexpr (C == comparison::less)
      r = (M)(a < b);
    else if constexpr (C == comparison::less_equal)
      r = (M)(a <= b);
    else
      r = ~((M)(a == a) & (M)(b == b));
  }
  static ONTO_INLINE void choose(V& r, const M& m, const V& a, const V& b) { r = (V)(((M)a & m) | ((M)b & ~m)); }
  template <rounding R>
  static ONTO_INLINE void round(V& r, const V& x) {
    // What is added to a number for its last bits to be those of the nearest whole one; from there on all are whole.
    constexpr T shift = sizeof(T) == 4 ? T(8388608.0) : T(4503599627370496.0);
    using word = typename vector_types<T, 16>::word;
    const V none = {}, shifts = shift - none, ones = T{1} - none;
    const M signs = (word{1} << (8 * sizeof(T) - 1)) - M{};
    const V size = (V)((M)x & ~signs);
    V whole = size + shifts;
    fence(whole);
    whole = (V)((M)(whole - shifts) | ((M)x & signs));
    if constexpr (R == rounding::down) whole = whole - (V)((M)(whole > x) & (M)ones);
    if constexpr (R == rounding::up) whole = (V)((M)(whole + (V)((M)(whole < x) & (M)ones)) | ((M)x & signs));
    M below;
    compare<comparison::less>(below, size, shifts);
    choose(r, below, whole, x);
  }
  static ONTO_INLINE void load_first(V& r, const T* from, std::int64_t n) {
    for (int k = 0; k < width; ++k)
      if (k < n) r[k] = from[k];
  }
  static ONTO_INLINE void store_first(T* to, const V& x, std::int64_t n) {
    for (int k = 0; k < width; ++k)
      if (k < n) to[k] = x[k];
  }
  static ONTO_INLINE void stream(void* to, const V& x) {
#if defined(__clang__)
    __builtin_nontemporal_store(x, static_cast<V*>(to));
#elif defined(__x86_64__)
    typedef long long words __attribute__((vector_size(16)));
    __builtin_ia32_movntdq(static_cast<words*>(to), (words)x);
#else
    *static_cast<V*>(to) = x;
#endif
  }
};

/// Whether any lane of a mask is set, and whether all are.
template <class T, int Bytes>
ONTO_INLINE bool any_lane(const mask_of<T, Bytes>& m) {
  if constexpr (Bytes == 64) {
    return m != 0;
  } else if constexpr (Bytes == 32) {
    return instructions<T, 32>::signs(m) != 0;
  } else {
    typedef std::uint64_t words __attribute__((vector_size(16)));
    const words w = (words)m;
    return (w[0] | w[1]) != 0;
  }
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail::simd
#endif
