// SPDX-License-Identifier: BSL-1.0
// Runs of half and bfloat16 to float and back: what the CPU's kernels, which know neither, are given and leave behind.
#pragma once

#include <onto/backend/cpu/instruction_set.hpp>
#include <onto/core/config.hpp>
#include <onto/core/element.hpp>

#include <cstdint>
#include <cstring>
#include <utility>

namespace onto::detail {

constexpr bool converts(element e) { return !is_half_precision(e) || e == element::float16 || e == element::bfloat16; }
template <int... K>
constexpr bool all_convert(std::integer_sequence<int, K...>) {
  return (converts(static_cast<element>(K)) && ...);
}
static_assert(all_convert(std::make_integer_sequence<int, element_count>{}),
              "[onto.element] a type that is computed in another needs its conversions here");

template <class T>
ONTO_INLINE void widen_elements(const std::uint16_t* in, std::int64_t n, float* out) {
  // Blocks of a fixed length: as in span_body.
  constexpr std::int64_t block = 64;
  const std::int64_t whole = n / block * block;
  for (std::int64_t lo = 0; lo < whole; lo += block)
    for (std::int64_t k = 0; k < block; ++k) out[lo + k] = T::from_bits(in[lo + k]);
  for (std::int64_t k = whole; k < n; ++k) out[k] = T::from_bits(in[k]);
}
template <class T>
ONTO_INLINE void narrow_elements(const float* in, std::int64_t n, std::uint16_t* out) {
  constexpr std::int64_t block = 64;
  const std::int64_t whole = n / block * block;
  for (std::int64_t lo = 0; lo < whole; lo += block)
    for (std::int64_t k = 0; k < block; ++k) out[lo + k] = T(in[lo + k]).bits();
  for (std::int64_t k = whole; k < n; ++k) out[k] = T(in[k]).bits();
}

#if defined(__x86_64__) && defined(__GNUC__)
#define ONTO_F16C
// Every processor with AVX2 has the conversions of F16C too, which not every compiler can ask for by name.
typedef short eight_halves __attribute__((vector_size(16)));
typedef float eight_floats __attribute__((vector_size(32)));

__attribute__((target("avx2,f16c"))) inline void widen_halves(const std::uint16_t* in, std::int64_t n, float* out) {
  const std::int64_t whole = n / 8 * 8;
  for (std::int64_t k = 0; k < whole; k += 8) {
    eight_halves h;
    std::memcpy(&h, in + k, sizeof h);
#if defined(__clang__) && !__has_builtin(__builtin_ia32_vcvtph2ps256)  // from clang 22 on
    typedef _Float16 eight_numbers __attribute__((vector_size(16)));
    const auto x = __builtin_convertvector((eight_numbers)h, eight_floats);
#else
    const eight_floats x = __builtin_ia32_vcvtph2ps256(h);
#endif
    std::memcpy(out + k, &x, sizeof x);
  }
  for (std::int64_t k = whole; k < n; ++k) out[k] = half::from_bits(in[k]);
}
__attribute__((target("avx2,f16c"))) inline void half_elements(const float* in, std::int64_t n, std::uint16_t* out) {
  const std::int64_t whole = n / 8 * 8;
  for (std::int64_t k = 0; k < whole; k += 8) {
    eight_floats x;
    std::memcpy(&x, in + k, sizeof x);
    const eight_halves h = __builtin_ia32_vcvtps2ph256(x, 0);  // to the nearest
    std::memcpy(out + k, &h, sizeof h);
  }
  for (std::int64_t k = whole; k < n; ++k) out[k] = half(in[k]).bits();
}
__attribute__((target("avx2"))) inline void narrow_bfloats(const float* in, std::int64_t n, std::uint16_t* out) {
  narrow_elements<bfloat16>(in, n, out);
}
#endif

/// The floats of `n` elements of type half or bfloat16. The runs do not overlap.
ONTO_NOINLINE inline void widen_run(element type, const void* from, std::int64_t n, float* out) {
  const std::uint16_t* const in = static_cast<const std::uint16_t*>(from);
  if (type == element::bfloat16) return widen_elements<bfloat16>(in, n, out);
#if defined(ONTO_F16C)
  if (chosen_vectors() >= 32) return widen_halves(in, n, out);
#endif
  widen_elements<half>(in, n, out);
}

/// `n` floats as elements of type half or bfloat16, each rounded. The runs do not overlap.
ONTO_NOINLINE inline void narrow_run(element type, const float* in, std::int64_t n, void* to) {
  std::uint16_t* const out = static_cast<std::uint16_t*>(to);
#if defined(ONTO_F16C)
  if (chosen_vectors() >= 32) return (type == element::bfloat16 ? narrow_bfloats : half_elements)(in, n, out);
#endif
  if (type == element::bfloat16) return narrow_elements<bfloat16>(in, n, out);
  narrow_elements<half>(in, n, out);
}

}  // namespace onto::detail

#undef ONTO_F16C
