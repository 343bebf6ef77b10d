// SPDX-License-Identifier: BSL-1.0
// Results too large for the caches written past them, so that their memory is not read first.
#pragma once

#include <onto/core/config.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace onto::detail {

/// The bytes of operands and results from which on a kernel's result is written past the caches.
/// Reading what is about to be overwritten costs a third of a triad's traffic. Measured on a Xeon with 2 MiB of second
/// cache and 260 MiB of L3 that all its processors share, `a + s * b` in GB/s, cached and past the caches: 3 MB 31
/// and 50, 12 MB 29 and 36, 36 MB 21 and 36, 120 MB 20 and 36; on an EPYC with 1 and 32 MiB: 0.8 MB 222 and 129, 12 MB
/// 121 and 124, 48 MB 56 and 70. Who reads the result next finds it in L3 if it is there, which pays for
/// the little that is lost between the two.
ONTO_BEGIN_RUNS_ONCE
ONTO_COLD inline std::int64_t streaming_bytes() {
  static const std::int64_t bytes = [] {
    long second = 0, third = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    second = sysconf(_SC_LEVEL2_CACHE_SIZE);
    third = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    if (second <= 0) second = 2l << 20;
    return static_cast<std::int64_t>(third > second && third < 16 * second ? third : 16 * second);
  }();
  return bytes;
}
ONTO_END_RUNS_ONCE

/// Whether a kernel that reads and writes so many bytes writes past the caches.
ONTO_INLINE bool is_streamed(std::int64_t bytes) {
#if defined(__x86_64__) && defined(__GNUC__)
  return bytes >= std::int64_t{4} << 20 && bytes >= streaming_bytes();
#else
  return static_cast<void>(bytes), false;  // no instruction for it
#endif
}

/// The bytes that are made in L1 before they are written past it: with 512 floats as fast as a loop that
/// writes past the caches itself, with 1024 a tenth slower.
inline constexpr std::int64_t streamed_at_once = 2048;

#if defined(__x86_64__) && defined(__GNUC__)
typedef long long streamed_16 __attribute__((vector_size(16)));

ONTO_INLINE void stream_16(void* to, const void* from) {
  streamed_16 b;
  std::memcpy(&b, from, sizeof b);
#if defined(__clang__)
  __builtin_nontemporal_store(b, static_cast<streamed_16*>(to));
#else
  __builtin_ia32_movntdq(static_cast<streamed_16*>(to), b);
#endif
}
#endif

/// Copies what does not overlap, past the caches but for the cache lines that are not written whole.
ONTO_NOINLINE inline void stream_copy(void* to, const void* from, std::int64_t bytes) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
#if defined(__x86_64__) && defined(__GNUC__)
  std::int64_t head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(out) & 63);
  if (head > bytes) head = bytes;
  if (head > 0) std::memcpy(out, in, static_cast<std::size_t>(head));
  out += head;
  in += head;
  bytes -= head;
  for (; bytes >= 64; bytes -= 64, out += 64, in += 64) {
    for (int k = 0; k < 64; k += 16) stream_16(out + k, in + k);
  }
#endif
  if (bytes > 0) std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

/// What was streamed is there for others once this was called.
ONTO_INLINE void end_streaming() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace onto::detail
