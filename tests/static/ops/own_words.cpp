// SPDX-License-Identifier: BSL-1.0
// Function templates of a program's own that are called as operations are: C++ finds both, by argument-dependent
// lookup, and is not to take onto's without a word.
#include <onto/onto.hpp>

namespace {

constexpr auto x = onto::placeholder<"x", double, 8>;

namespace own {

// A template that takes anything, and whether a call of its name, without a namespace, is one of two.
#define ONTO_TEST_WORD(word)                                                     \
  [[maybe_unused]] constexpr auto word(const auto& e) { return e * 2; }          \
  template <class X>                                                             \
  concept calls_##word = requires(const X& e) {                                  \
    word(e);                                                                     \
  };                                                                             \
  static_assert(!calls_##word<decltype(x)>, "a call of " #word " is ambiguous"); \
  static_assert(calls_##word<int> && requires { own::word(x); });

ONTO_TEST_WORD(relu)
ONTO_TEST_WORD(gelu)
ONTO_TEST_WORD(sigmoid)
ONTO_TEST_WORD(softplus)
ONTO_TEST_WORD(square)
ONTO_TEST_WORD(sign)
ONTO_TEST_WORD(round)
ONTO_TEST_WORD(neg)
ONTO_TEST_WORD(exp)
ONTO_TEST_WORD(rsqrt)
ONTO_TEST_WORD(tanh)
ONTO_TEST_WORD(erf)
ONTO_TEST_WORD(abs)
ONTO_TEST_WORD(transpose)
ONTO_TEST_WORD(zeros_like)
ONTO_TEST_WORD(ones_like)
ONTO_TEST_WORD(stop_gradient)
ONTO_TEST_WORD(argmax)
ONTO_TEST_WORD(softmax)
#if !defined(__CUDACC__)  // whose host compiler finds the call ambiguous, after nvcc itself has taken one of them
ONTO_TEST_WORD(sum)
ONTO_TEST_WORD(mean)
ONTO_TEST_WORD(norm)
ONTO_TEST_WORD(var)
ONTO_TEST_WORD(logsumexp)
ONTO_TEST_WORD(flip)
#endif

// The same of two operands.
#define ONTO_TEST_WORD_OF_TWO(word)                                                  \
  [[maybe_unused]] constexpr auto word(const auto& a, const auto&) { return a * 2; } \
  template <class X>                                                                 \
  concept calls_##word = requires(const X& e) {                                      \
    word(e, e);                                                                      \
  }                                                                                  \
  || requires(X(*f)()) { word(f(), f()); };                                          \
  static_assert(!calls_##word<decltype(x)>, "a call of " #word " is ambiguous");     \
  static_assert(calls_##word<int> && requires { own::word(x, x); });

ONTO_TEST_WORD_OF_TWO(pow)
ONTO_TEST_WORD_OF_TWO(mod)
ONTO_TEST_WORD_OF_TWO(atan2)
ONTO_TEST_WORD_OF_TWO(maximum)
ONTO_TEST_WORD_OF_TWO(minimum)
ONTO_TEST_WORD_OF_TWO(matmul)
ONTO_TEST_WORD_OF_TWO(dot)
ONTO_TEST_WORD_OF_TWO(outer)
ONTO_TEST_WORD_OF_TWO(mean_squared_error)
ONTO_TEST_WORD_OF_TWO(huber)

}  // namespace own

}  // namespace
