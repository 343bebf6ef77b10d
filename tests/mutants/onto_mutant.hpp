// SPDX-License-Identifier: BSL-1.0
// The switch of the mutants: which of the changes that a copy of the CUDA backend holds is made in this process. It is
// read once from ONTO_MUTANT; what a compiler computes is never changed. With ONTO_MUTANTS_MET=FILE nothing is changed,
// and the numbers of the mutants that the process came by are added to the file.
#pragma once
#pragma GCC system_header

#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace onto_mutant {

constexpr int most = 4096;

struct record {
  int chosen = 0;
  bool met[most] = {};

  record() {
    if (const char* number = std::getenv("ONTO_MUTANT")) chosen = std::atoi(number);
    if (std::getenv("ONTO_MUTANTS_MET")) chosen = -1;
  }
  record(const record&) = delete;
  record& operator=(const record&) = delete;
  ~record() {
    const char* name = std::getenv("ONTO_MUTANTS_MET");
    std::FILE* file = name ? std::fopen(name, "a") : nullptr;
    if (!file) return;
    for (int n = 0; n < most; ++n)
      if (met[n]) std::fprintf(file, "%d\n", n);
    std::fclose(file);
  }
};
inline record state;

template <int N>
inline bool is_now() {
  if (state.chosen < 0) [[unlikely]]
    state.met[N] = true;
  return state.chosen == N;
}

/// Whether the change `N` is made.
template <int N>
constexpr bool is() {
  if (std::is_constant_evaluated()) return false;
  return is_now<N>();
}

// Operators with their equal neighbours.
template <int N, class A, class B>
constexpr auto less(const A& a, const B& b) {
  return is<N>() ? a <= b : a < b;
}
template <int N, class A, class B>
constexpr auto less_equal(const A& a, const B& b) {
  return is<N>() ? a < b : a <= b;
}
template <int N, class A, class B>
constexpr auto greater(const A& a, const B& b) {
  return is<N>() ? a >= b : a > b;
}
template <int N, class A, class B>
constexpr auto greater_equal(const A& a, const B& b) {
  return is<N>() ? a > b : a >= b;
}

/// One more, of a number or of an address.
template <int N, class T>
constexpr T more(T value) {
  return is<N>() ? static_cast<T>(value + 1) : value;
}
/// One less.
template <int N, class T>
constexpr T fewer(T value) {
  return is<N>() ? static_cast<T>(value - 1) : value;
}
/// 1 for 0, else 0.
template <int N, class T>
constexpr T other(T value) {
  return is<N>() ? static_cast<T>(value == T{} ? 1 : 0) : value;
}
/// A status that nobody looks at.
template <int N, class Status>
constexpr Status unchecked(Status status) {
  return is<N>() ? Status{} : status;
}

}  // namespace onto_mutant
