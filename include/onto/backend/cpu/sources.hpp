// SPDX-License-Identifier: BSL-1.0
// What a program loads from and stores to: elements one by one, packs of one type, and packs beside which elements of
// other types lie in memory.
#pragma once

#include <onto/backend/cpu/packs.hpp>
#include <onto/core/element.hpp>
#include <onto/kernel/program.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace onto::detail {

template <class T>
ONTO_HD ONTO_INLINE T scalar_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// One of the pointers that a call has listed. Loaded alone: g++ would load two at once, and that waits for them where
/// each was stored by itself just before, 5 ns of every call.
ONTO_INLINE const void* pointer_of(const void* const* list, int k) {
  const void* p = list[k];
#if defined(__GNUC__)
  __asm__("" : "+r"(p));
#endif
  return p;
}

// All sources hold pointers and scalars as members, by value: what the loop stores cannot then be one of them, and the
// compiler keeps them in registers.
template <int Inputs, int Scalars, int Results>
struct element_source {
  template <element E>
  using value = element_t<E>;

  const void* in[Inputs + 1];
  std::uint64_t scalars[Scalars + 1];
  void* more[Results + 1];
  std::int64_t first;
  std::int64_t k;

  template <element E, int Slot>
  ONTO_HD ONTO_INLINE element_t<E> load() const {
    if constexpr (E == element::boolean)  // as bytes: g++ makes no vectors of what it reads as bool
      return static_cast<const unsigned char*>(in[Slot])[k] != 0;
    else
      return static_cast<const element_t<E>*>(in[Slot])[k];
  }
  template <element E, int Slot>
  ONTO_HD ONTO_INLINE element_t<E> scalar() const {
    return scalar_bits<element_t<E>>(scalars[Slot]);
  }
  template <element E, int Slot>
  ONTO_HD ONTO_INLINE void store(element_t<E> x) const {
    static_cast<element_t<E>*>(more[Slot])[k] = x;
  }
  ONTO_HD ONTO_INLINE std::int64_t index() const { return first + k; }
};

/// Of blocks of `Most` elements at most, each in a loop of its own.
template <int Most, int Inputs, int Scalars, int Results>
struct block_source : element_source<Inputs, Scalars, Results> {
  std::int64_t begin;  // of the block

  /// The element's place in a row of `N`: what takes 64 bits is found once for a block, the rest goes on vectors.
  template <int N>
  ONTO_INLINE std::uint32_t column() const {
    const auto of_begin = static_cast<std::uint32_t>(static_cast<std::uint64_t>(this->first + begin) % N);
    const std::uint32_t c = of_begin + static_cast<std::uint32_t>(this->k - begin);
    if constexpr (N < Most)
      return c % N;
    else
      return c - (c < N ? 0u : std::uint32_t{N});
  }
};

#if ONTO_PACKS
/// What a register is on packs of `T`.
template <class T, int Bytes, element E>
struct pack_value {
  using type = simd::pack_integers<element_t<E>, Bytes>;
};
template <int Bytes>
struct pack_value<float, Bytes, element::float32> {
  using type = pack<float, Bytes>;
};
template <int Bytes>
struct pack_value<double, Bytes, element::float64> {
  using type = pack<double, Bytes>;
};
template <class T, int Bytes>
struct pack_value<T, Bytes, element::boolean> {
  using type = simd::pack_mask<T, Bytes>;
};
/// A seed, which is one for all elements.
template <class T, int Bytes>
struct pack_value<T, Bytes, element::int64> {
  using type = std::int64_t;
};
#else
template <class T, int Bytes, element E>
struct pack_value;
#endif

template <class T, int Bytes, int Inputs, int Scalars, int Results>
struct pack_source {
  using lanes = pack<T, Bytes>;
  template <element E>
  using value = typename pack_value<T, Bytes, E>::type;

  const T* in[Inputs + 1];
  lanes scalars[Scalars + 1];
  T* more[Results + 1];
  std::int64_t k;

  // By constants: an array that a loop writes would be memory.
  template <int... K>
  ONTO_INLINE void spread([[maybe_unused]] const std::uint64_t* values, std::integer_sequence<int, K...>) {
    ((scalars[K] = lanes(scalar_bits<T>(values[K]))), ...);
  }

  template <element E, int Slot>
  ONTO_INLINE lanes load() const {
    return lanes::load_unaligned(in[Slot] + k);
  }
  template <element E, int Slot>
  ONTO_INLINE lanes scalar() const {
    return scalars[Slot];
  }
  template <element E, int Slot>
  ONTO_INLINE void store(const lanes& x) const {
    x.store_unaligned(more[Slot] + k);
  }
};

#if ONTO_PACKS
/// Packs of `T`, and beside them truth values and integers that are as wide only in registers.
template <class T, int Bytes, int Inputs, int Scalars, int Results>
struct mixed_source {
  template <element E>
  using value = typename pack_value<T, Bytes, E>::type;

  const void* in[Inputs + 1];
  std::uint64_t scalars[Scalars + 1];
  void* more[Results + 1];
  std::int64_t first;
  std::int64_t k;

  template <int... K>
  ONTO_INLINE void spread([[maybe_unused]] const std::uint64_t* values, std::integer_sequence<int, K...>) {
    ((scalars[K] = values[K]), ...);
  }

  template <element E, int Slot>
  ONTO_INLINE value<E> load() const {
    const auto* const from = static_cast<const element_t<E>*>(in[Slot]) + k;
    if constexpr (E == element::int64)
      return *from;
    else
      return value<E>::load_unaligned(from);
  }
  template <element E, int Slot>
  ONTO_INLINE value<E> scalar() const {
    return value<E>(scalar_bits<element_t<E>>(scalars[Slot]));
  }
  template <element E, int Slot>
  ONTO_INLINE void store(const value<E>& x) const {
    x.store_unaligned(static_cast<element_t<E>*>(more[Slot]) + k);
  }
  ONTO_INLINE simd::pack_index<T, Bytes> index() const { return {first + k}; }
  template <int N>
  ONTO_INLINE simd::pack_bits<float, Bytes> column() const {
    return simd::columns_from<N, Bytes>(first + k);
  }
};
#endif

/// The `left` elements of `size` bytes from number `first` on, and the first of them for the rest of `width`: no lane
/// computes what the program was not asked for.
ONTO_NOINLINE inline void copy_rest(void* to, const void* from, int size, std::int64_t first, std::int64_t left,
                                    std::int64_t width) {
  const char* const begin = static_cast<const char*>(from) + first * size;
  char* const copy = static_cast<char*>(to);
  std::memcpy(copy, begin, static_cast<std::size_t>(left * size));
  for (std::int64_t k = left; k < width; ++k) std::memcpy(copy + k * size, begin, static_cast<std::size_t>(size));
}

}  // namespace onto::detail
