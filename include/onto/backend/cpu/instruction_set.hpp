// SPDX-License-Identifier: BSL-1.0
// Instruction sets: kernels are compiled for several of them whatever the program's flags say, from one body, and the
// machine's best is taken when the program starts. The one place that chooses.
#pragma once

#include <onto/core/atomic.hpp>
#include <onto/core/config.hpp>
#include <onto/core/error.hpp>
#include <onto/core/message.hpp>

#include <cstdlib>
#include <string_view>

// The instruction sets of a file are part of the name of kernels and of what chooses among them: a program may be made
// of files with different flags, and of files for nvcc.
#if defined(__CUDACC__)
#define ONTO_VECTOR_SETS 16
#define ONTO_VECTOR_ABI vectors_for_nvcc
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX2__) && defined(__FMA__)
#define ONTO_VECTOR_SETS 64
#define ONTO_VECTOR_ABI vectors_of_64
#elif defined(__AVX2__) && defined(__FMA__)
#define ONTO_VECTOR_SETS 32
#define ONTO_VECTOR_ABI vectors_of_32
#elif defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__)
#define ONTO_VECTOR_SETS 16 + 32 + 64
#if !defined(__clang__)
#define ONTO_FOR_BASELINE __attribute__((optimize("O1")))
#endif
#define ONTO_VECTOR_ABI vectors_of_16_32_64
#elif defined(__AVX__)
#define ONTO_VECTOR_SETS 16
#define ONTO_VECTOR_ABI vectors_of_16_with_avx
#else
#define ONTO_VECTOR_SETS 16
#define ONTO_VECTOR_ABI vectors_of_16
#endif
// Beside two better ones, the set of processors from before 2013 is compiled in half the time, to run 1.0 to 1.4 times
// as long.
#if !defined(ONTO_FOR_BASELINE)
#define ONTO_FOR_BASELINE
#endif
// What is compiled for an instruction set: a kernel, into which all it calls is inlined, and what is inlined into one.
// g++ leaves calls without flatten. What the file's flags have needs no saying.
#if defined(__x86_64__) && defined(__GNUC__) && !(defined(__AVX2__) && defined(__FMA__))
#define ONTO_WITHIN_32 __attribute__((target("avx2,fma")))
#define ONTO_FOR_32 __attribute__((flatten, target("avx2,fma")))
#else
#define ONTO_WITHIN_32
#define ONTO_FOR_32
#endif
#if defined(__x86_64__) && defined(__GNUC__) && \
    !(defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__))
#define ONTO_WITHIN_64 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")))
#define ONTO_FOR_64 __attribute__((flatten, target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")))
#else
#define ONTO_WITHIN_64
#define ONTO_FOR_64
#endif

namespace onto::detail {

/// The bytes of the vectors of an instruction set that kernels are compiled for: 16 for what the program's flags say,
/// 32 for AVX2 with FMA, 64 for AVX-512 (F, DQ, BW, VL).
inline namespace ONTO_VECTOR_ABI {
inline constexpr int vector_sets = ONTO_VECTOR_SETS;  // the sum of those that this file compiles
/// The vectors that the file's flags alone allow.
inline constexpr int vector_bytes = (vector_sets & 16) != 0 ? 16 : vector_sets;
}  // namespace ONTO_VECTOR_ABI

/// The widest vectors of this machine.
inline int machine_vectors() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 16;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return wide ? 64 : 32;
#else
  return 16;
#endif
}

ONTO_BEGIN_RUNS_ONCE
/// The widest vectors that `name`, the value of ONTO_ISA, allows. *Throws* `invalid_argument_error`
inline int vectors_named(const char* name) {
  if (name == nullptr || *name == 0) return 64;
  const std::string_view n = name;
  if (n == "baseline") return 16;
  if (n == "avx2") return 32;
  if (n == "avx512") return 64;
  fail<invalid_argument_error>(message("[onto.isa] ONTO_ISA is '") << n << "'; give baseline, avx2 or avx512");
}

ONTO_COLD ONTO_NOINLINE inline int find_chosen_vectors() {
  const int machine = machine_vectors(), most = vectors_named(std::getenv("ONTO_ISA"));
  return machine < most ? machine : most;
}
ONTO_END_RUNS_ONCE

/// The vectors that kernels work on: the machine's widest, or what the environment variable ONTO_ISA names (`baseline`,
/// `avx2`, `avx512`) where that is less. The same from the first call on.
ONTO_INLINE int chosen_vectors() {
  // Not a constant that is found when it is first asked for: each kernel would hold what guards that.
  static atomic<int> chosen{0};
  int known = chosen.load(memory_order_relaxed);
  if (known == 0) {
    known = find_chosen_vectors();
    chosen.store(known, memory_order_relaxed);
  }
  return known;
}

inline namespace ONTO_VECTOR_ABI {

/// The bytes of the vectors that this file's kernels work on.
ONTO_INLINE int used_vectors() { return vector_sets == 16 + 32 + 64 ? chosen_vectors() : vector_bytes; }

/// A kernel for each instruction set: `Body::run<Bytes>(...)`, all of it inlined into one function for that set.
template <class Body, class Signature>
struct vector_variants;
template <class Body, class... A>
struct vector_variants<Body, void(A...)> {
  using function = void (*)(A...);
  ONTO_FOR_BASELINE static void run(A... a) { Body::template run<vector_bytes>(a...); }
  static void run_alone(A... a) { Body::template run<vector_bytes>(a...); }
  ONTO_FOR_32 static void run_32(A... a) { Body::template run<32>(a...); }
  ONTO_FOR_64 static void run_64(A... a) { Body::template run<64>(a...); }

  /// *Mandates* `Bytes` is one of `vector_sets`.
  template <int Bytes>
  static constexpr function get() {
    static_assert((vector_sets & Bytes) != 0);
    if constexpr (Bytes == vector_bytes)
      return &run;
    else if constexpr (Bytes == 32)
      return &run_32;
    else
      return &run_64;
  }

  /// The one for the vectors of the program's flags, where no other is compiled.
  static constexpr function alone() {
    if constexpr (vector_sets == 16 + 32 + 64)
      return &run_alone;
    else
      return &run;
  }

  /// The one for vectors of `bytes` bytes, which is one of `vector_sets`.
  static ONTO_INLINE constexpr function at([[maybe_unused]] int bytes) {
    if constexpr (vector_sets == 16 + 32 + 64)
      return each<16, 32, 64>[bytes / 32];
    else
      return &run;
  }
  static ONTO_INLINE function chosen() {
    if constexpr (vector_sets == 16 + 32 + 64)
      return at(chosen_vectors());
    else
      return &run;
  }

 private:
  // A template: files for one set do not compile the others.
  template <int... Bytes>
  static constexpr function each[] = {get<Bytes>()...};
};

/// A table for each instruction set: `Tables::of<Bytes>()`, that for `chosen_vectors()`.
template <class Tables>
ONTO_INLINE const auto& chosen_table() {
  if constexpr (vector_sets == 16 + 32 + 64) {
    const int bytes = chosen_vectors();
    if (bytes == 64) return Tables::template of<64>();
    if (bytes == 32) return Tables::template of<32>();
  }
  return Tables::template of<vector_bytes>();
}

}  // namespace ONTO_VECTOR_ABI
}  // namespace onto::detail

#undef ONTO_VECTOR_SETS
