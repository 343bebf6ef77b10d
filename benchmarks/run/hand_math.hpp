// SPDX-License-Identifier: BSL-1.0
// Vectors of floats for the hand-written loops: GCC's vector types, and intrinsics only for stores past the cache and
// for the scaling in exp.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hand {

#if defined(__AVX512F__)
constexpr int width = 16;
#else
constexpr int width = 8;
#endif
typedef float vec __attribute__((vector_size(4 * width)));
typedef float loose_vec __attribute__((vector_size(4 * width), aligned(4), may_alias));
typedef std::int32_t ivec __attribute__((vector_size(4 * width)));

inline vec load(const float* p) { return *reinterpret_cast<const loose_vec*>(p); }
inline void store(float* p, vec v) { *reinterpret_cast<loose_vec*>(p) = v; }
inline vec all(float x) { return x - vec{}; }

/// Past the caches; `p` at a whole vector.
inline void stream(float* p, vec v) {
#if defined(__AVX512F__)
  _mm512_stream_ps(p, v);
#elif defined(__AVX__)
  _mm256_stream_ps(p, v);
#else
  store(p, v);
#endif
}
inline void streams_done() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

inline vec max(vec a, vec b) { return a > b ? a : b; }
inline float max_lane(vec v) {
  float m = v[0];
  for (int k = 1; k < width; ++k) m = m > v[k] ? m : v[k];
  return m;
}
inline float sum_lanes(vec v) {
  typedef float quarter __attribute__((vector_size(16), aligned(4), may_alias));
  const auto* const q = reinterpret_cast<const quarter*>(&v);
  const quarter s = width == 16 ? (q[0] + q[1]) + (q[2] + q[3]) : q[0] + q[1];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

inline vec sqrt(vec x) {
#if defined(__AVX512F__)
  return _mm512_sqrt_ps(x);
#else
  for (int k = 0; k < width; ++k) x[k] = __builtin_sqrtf(x[k]);
  return x;
#endif
}

/// 1 ulp or so: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2].
inline vec exp(vec x) {
#if defined(__AVX512F__)
  const vec n = _mm512_roundscale_ps(x * 1.44269504088896341f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  x = x > -87.0f ? x : all(-87.0f);
  x = x < 88.0f ? x : all(88.0f);
  const vec scaled = x * 1.44269504088896341f;
  const vec half = scaled < 0 ? all(-0.5f) : all(0.5f);
  const ivec whole = __builtin_convertvector(scaled + half, ivec);
  const vec n = __builtin_convertvector(whole, vec);
#endif
  vec r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  vec p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
#if defined(__AVX512F__)
  return _mm512_scalef_ps(p, n);
#else
  return p * reinterpret_cast<vec>((whole + 127) << 23);
#endif
}

/// A quotient of polynomials, exact to a few ulp (as in Eigen and xsimd).
inline vec tanh(vec x) {
  x = x > -7.90531110763549805f ? x : all(-7.90531110763549805f);
  x = x < 7.90531110763549805f ? x : all(7.90531110763549805f);
  const vec s = x * x;
  vec p = s * -2.76076847742355e-16f + 2.00018790482477e-13f;
  p = p * s + -8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  vec q = s * 1.19825839466702e-06f + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  return x * p / q;
}

}  // namespace hand
