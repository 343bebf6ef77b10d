// SPDX-License-Identifier: BSL-1.0
// The tiles of the matrix product on x86-64, as statements of assembly: nothing that a compiler optimizes, for three
// instruction sets. The same for each compiler and flag.
#pragma once

#include <onto/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Not where a sanitizer is to see what memory is read.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ONTO_SANITIZED 1
#endif
#endif
#if defined(__x86_64__) && defined(__GNUC__) && defined(__LP64__) && !defined(ONTO_SANITIZED) && \
    !defined(ONTO_ADDRESS_SANITIZER) && !defined(__SANITIZE_THREAD__)
#define ONTO_TILES_IN_ASSEMBLY 1
#else
#define ONTO_TILES_IN_ASSEMBLY 0
#endif
#undef ONTO_SANITIZED

namespace onto::detail {

/// Whether tiles of T are assembly.
template <class T>
inline constexpr bool tiles_in_assembly = ONTO_TILES_IN_ASSEMBLY != 0 &&
                                          (std::is_same_v<T, float> || std::is_same_v<T, double>);

/// What a tile is made of, as the assembly reads it: distances in bytes, numbers by pointers to them.
struct tile_call {
  const void* low;                     // the first element of a's row 0,
  const void* high;                    // and of row 7
  std::int64_t row, row3, row5, step;  // from row to row of a, 3 and 5 times that, and from column to column
  const void* b;
  std::int64_t b_row;
  std::int64_t depth;
  void* packed;  // where b's rows go, if they do
  void* c;
  std::int64_t c_row;
  const void* addend;  // null: c = alpha * product. Otherwise c = max(alpha * product + beta * addend, least)
  std::int64_t addend_row;
  const void *alpha, *beta, *least;
};

#if ONTO_TILES_IN_ASSEMBLY
static_assert(offsetof(tile_call, b) == 48 && offsetof(tile_call, c) == 80 && offsetof(tile_call, least) == 128);

// clang-format off
// Rows of a tile: the number of each, which is that of its left register too, its right register, and where a's element
// is. The assembler leaves out a row that the tile has not, and the right registers of a tile of one.
#define ONTO_ROWS_6(row, ...) \
  row("0", "6", "(%%rax)", __VA_ARGS__) row("1", "7", "(%%rax,%%r8)", __VA_ARGS__) \
  row("2", "8", "(%%rax,%%r8,2)", __VA_ARGS__) row("3", "9", "(%%rax,%%r9)", __VA_ARGS__) \
  row("4", "10", "(%%rax,%%r8,4)", __VA_ARGS__) row("5", "11", "(%%rax,%%r10)", __VA_ARGS__)
#define ONTO_ROWS_14(row, ...) \
  row("0", "14", "(%%rax)", __VA_ARGS__) row("1", "15", "(%%rax,%%r8)", __VA_ARGS__) \
  row("2", "16", "(%%rax,%%r8,2)", __VA_ARGS__) row("3", "17", "(%%rax,%%r9)", __VA_ARGS__) \
  row("4", "18", "(%%rax,%%r8,4)", __VA_ARGS__) row("5", "19", "(%%rax,%%r10)", __VA_ARGS__) \
  row("6", "20", "(%%rax,%%r9,2)", __VA_ARGS__) row("7", "21", "(%%rcx)", __VA_ARGS__) \
  row("8", "22", "(%%rcx,%%r8)", __VA_ARGS__) row("9", "23", "(%%rcx,%%r8,2)", __VA_ARGS__) \
  row("10", "24", "(%%rcx,%%r9)", __VA_ARGS__) row("11", "25", "(%%rcx,%%r8,4)", __VA_ARGS__) \
  row("12", "26", "(%%rcx,%%r10)", __VA_ARGS__) row("13", "27", "(%%rcx,%%r9,2)", __VA_ARGS__)
#define ONTO_ROW(l, left, right, then) ".if %c1 > " l "\n" left ".if %c2 > 1\n" right ".endif\n" then ".endif\n"

// What is done to a row: cleared, added to, and written by a factor alone or with all else. `s` is the suffix of the
// type, `v` a register but for its number, `w` its bytes, and t0 to t3 are registers without sums: while adding b's two
// and a's element; while writing alpha, beta and the least.
#define ONTO_VEX_CLEAR(l, r, at, s, v, w, t0, t1, t2, t3) \
  ONTO_ROW(l, "vxorps " v l "," v l "," v l "\n", "vxorps " v r "," v r "," v r "\n", "")
#define ONTO_VEX_ADD(l, r, at, s, v, w, t0, t1, t2, t3) \
  ONTO_ROW(l, "vbroadcasts" s " " at "," v t2 "\nvfmadd231p" s " " v t0 "," v t2 "," v l "\n", \
  "vfmadd231p" s " " v t1 "," v t2 "," v r "\n", "")
#define ONTO_VEX_SCALE_ONE(a, at, s, v, t0) "vmulp" s " " v t0 "," v a "," v a "\nvmovups " v a "," at "(%%rax)\n"
#define ONTO_VEX_FINISH_ONE(a, at, s, v, t0, t1, t2, t3) \
  "vmulp" s " " at "(%%rdx)," v t1 "," v t3 "\nvfmadd231p" s " " v t0 "," v a "," v t3 "\n" \
  "vmaxp" s " " v t3 "," v t2 "," v t3 "\nvmovups " v t3 "," at "(%%rax)\n"
#define ONTO_VEX_SPREAD(at, to, s, v) "vbroadcasts" s " " at "," v to "\n"
#define ONTO_VEX_MOVE "vmovups "
#define ONTO_VEX_END "vzeroupper\n"

#define ONTO_SSE_CLEAR(l, r, at, s, v, w, t0, t1, t2, t3) \
  ONTO_ROW(l, "xorps " v l "," v l "\n", "xorps " v r "," v r "\n", "")
#define ONTO_SSE_ADD(l, r, at, s, v, w, t0, t1, t2, t3) \
  ONTO_ROW(l, \
  ONTO_SSE_SPREAD(at, t2, s, v) "movaps " v t2 "," v t3 "\nmulp" s " " v t0 "," v t3 "\naddp" s " " v t3 "," v l "\n", \
  "mulp" s " " v t1 "," v t2 "\naddp" s " " v t2 "," v r "\n", "")
#define ONTO_SSE_SCALE_ONE(a, at, s, v, t0) "mulp" s " " v t0 "," v a "\nmovups " v a "," at "(%%rax)\n"
#define ONTO_SSE_FINISH_ONE(a, at, s, v, t0, t1, t2, t3) \
  "mulp" s " " v t0 "," v a "\nmovups " at "(%%rdx)," v t3 "\nmulp" s " " v t1 "," v t3 "\n" \
  "addp" s " " v t3 "," v a "\n" \
  "movaps " v t2 "," v t3 "\nmaxp" s " " v a "," v t3 "\nmovups " v t3 "," at "(%%rax)\n"
#define ONTO_SSE_SPREAD(at, to, s, v) "movs" s " " at "," v to "\nshufp" s " $0," v to "," v to "\n"
#define ONTO_SSE_MOVE "movups "
#define ONTO_SSE_END ""

#define ONTO_SCALE(l, r, at, set, s, v, w, t0) \
  ONTO_ROW(l, set##_SCALE_ONE(l, "", s, v, t0), set##_SCALE_ONE(r, w, s, v, t0), "add %%rcx,%%rax\n")
#define ONTO_FINISH(l, r, at, set, s, v, w, t0, t1, t2, t3) \
  ONTO_ROW(l, set##_FINISH_ONE(l, "", s, v, t0, t1, t2, t3), set##_FINISH_ONE(r, w, s, v, t0, t1, t2, t3), \
  "add %%rcx,%%rax\nadd %%r8,%%rdx\n")

// Operands: the call, the rows, the registers of a row, whether b is packed.
#define ONTO_TILE(rows, set, s, v, w, t0, t1, t2, t3) \
  "mov (%0),%%rax\nmov 8(%0),%%rcx\nmov 16(%0),%%r8\nmov 24(%0),%%r9\nmov 32(%0),%%r10\nmov 40(%0),%%r11\n" \
  "mov 48(%0),%%rdx\nmov 56(%0),%%r12\nmov 64(%0),%%rsi\nmov 72(%0),%%r13\n" \
  rows(set##_CLEAR, s, v, w, t0, t1, t2, t3) \
  "test %%rsi,%%rsi\njle 2f\n.p2align 6\n1:\n" \
  set##_MOVE "(%%rdx)," v t0 "\n.if %c2 > 1\n" set##_MOVE w "(%%rdx)," v t1 "\n.endif\n" \
  ".if %c3\n" set##_MOVE v t0 ",(%%r13)\n" set##_MOVE v t1 "," w "(%%r13)\nadd $2*" w ",%%r13\n.endif\n" \
  "add %%r12,%%rdx\n" \
  rows(set##_ADD, s, v, w, t0, t1, t2, t3) \
  "add %%r11,%%rax\n.if %c1 > 7\nadd %%r11,%%rcx\n.endif\ndec %%rsi\njnz 1b\n2:\n" \
  "mov 80(%0),%%rax\nmov 88(%0),%%rcx\nmov 96(%0),%%rdx\nmov 104(%0),%%r8\n" \
  "mov 112(%0),%%r9\nmov 120(%0),%%r10\nmov 128(%0),%%r11\n" set##_SPREAD("(%%r9)", t0, s, v) \
  "test %%rdx,%%rdx\njz 3f\n" set##_SPREAD("(%%r10)", t1, s, v) set##_SPREAD("(%%r11)", t2, s, v) \
  rows(ONTO_FINISH, set, s, v, w, t0, t1, t2, t3) \
  "jmp 4f\n3:\n" rows(ONTO_SCALE, set, s, v, w, t0) "4:\n" set##_END
#define ONTO_TILE_OPERANDS : "D"(&call), "i"(Rows), "i"(Registers), "i"(Packs ? 1 : 0)
#define ONTO_TILE_CLOBBERS \
  "memory", "cc", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "xmm0", "xmm1", "xmm2", "xmm3", \
  "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#define ONTO_TILE_CLOBBERS_512 \
  ONTO_TILE_CLOBBERS, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", \
  "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"
// clang-format on

/// A tile of `Rows` rows by `Registers` registers of `Bytes` bytes, in a function for that instruction set.
template <class T, int Bytes, int Rows, int Registers, bool Packs = false>
ONTO_INLINE void run_tile(const tile_call& call) {
  constexpr bool single = sizeof(T) == 4;
  if constexpr (Bytes == 64 && single)
    asm volatile(ONTO_TILE(ONTO_ROWS_14, ONTO_VEX, "s", "%%zmm", "64", "28", "29", "30", "31")
                 : ONTO_TILE_OPERANDS
                 : ONTO_TILE_CLOBBERS_512);
  else if constexpr (Bytes == 64)
    asm volatile(ONTO_TILE(ONTO_ROWS_14, ONTO_VEX, "d", "%%zmm", "64", "28", "29", "30", "31")
                 : ONTO_TILE_OPERANDS
                 : ONTO_TILE_CLOBBERS_512);
  else if constexpr (Bytes == 32 && single)
    asm volatile(ONTO_TILE(ONTO_ROWS_6, ONTO_VEX, "s", "%%ymm", "32", "12", "13", "14", "15")
                 : ONTO_TILE_OPERANDS
                 : ONTO_TILE_CLOBBERS);
  else if constexpr (Bytes == 32)
    asm volatile(ONTO_TILE(ONTO_ROWS_6, ONTO_VEX, "d", "%%ymm", "32", "12", "13", "14", "15")
                 : ONTO_TILE_OPERANDS
                 : ONTO_TILE_CLOBBERS);
  else if constexpr (single)
    asm volatile(ONTO_TILE(ONTO_ROWS_6, ONTO_SSE, "s", "%%xmm", "16", "12", "13", "14", "15")
                 : ONTO_TILE_OPERANDS
                 : ONTO_TILE_CLOBBERS);
  else
    asm volatile(ONTO_TILE(ONTO_ROWS_6, ONTO_SSE, "d", "%%xmm", "16", "12", "13", "14", "15")
                 : ONTO_TILE_OPERANDS
                 : ONTO_TILE_CLOBBERS);
}

#undef ONTO_ROWS_6
#undef ONTO_ROWS_14
#undef ONTO_ROW
#undef ONTO_VEX_CLEAR
#undef ONTO_VEX_ADD
#undef ONTO_VEX_SCALE_ONE
#undef ONTO_VEX_FINISH_ONE
#undef ONTO_VEX_SPREAD
#undef ONTO_VEX_MOVE
#undef ONTO_VEX_END
#undef ONTO_SSE_CLEAR
#undef ONTO_SSE_ADD
#undef ONTO_SSE_SCALE_ONE
#undef ONTO_SSE_FINISH_ONE
#undef ONTO_SSE_SPREAD
#undef ONTO_SSE_MOVE
#undef ONTO_SSE_END
#undef ONTO_SCALE
#undef ONTO_FINISH
#undef ONTO_TILE
#undef ONTO_TILE_OPERANDS
#undef ONTO_TILE_CLOBBERS
#undef ONTO_TILE_CLOBBERS_512
#endif

}  // namespace onto::detail
