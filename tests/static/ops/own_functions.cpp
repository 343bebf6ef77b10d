// SPDX-License-Identifier: BSL-1.0
// Functions of a program's own that take tensors or vectors and are called as operations are: they are the better match
// for what has a name, whether or not it is constant, and onto's is not taken without a word.
#include <onto/onto.hpp>

#include <type_traits>
#include <vector>

namespace {

struct mine {};

/// Found beside onto's by argument-dependent lookup.
namespace beside {
using numbers = onto::tensor<float, onto::dyn>;

#define ONTO_TEST_FUNCTION(word)                                                       \
  [[maybe_unused]] mine word(const numbers&) { return {}; }                            \
  template <class X>                                                                   \
  mine word(const onto::tensor<X, onto::dyn, onto::dyn>&);                             \
  static_assert(std::is_same_v<mine, decltype(word(std::declval<numbers&>()))>);       \
  static_assert(std::is_same_v<mine, decltype(word(std::declval<const numbers&>()))>); \
  static_assert(std::is_same_v<mine, decltype(word(std::declval<onto::tensor<int, onto::dyn, onto::dyn>&>()))>);

ONTO_TEST_FUNCTION(relu)
ONTO_TEST_FUNCTION(exp)
ONTO_TEST_FUNCTION(abs)
ONTO_TEST_FUNCTION(softmax)
ONTO_TEST_FUNCTION(transpose)
ONTO_TEST_FUNCTION(zeros_like)
ONTO_TEST_FUNCTION(sum)
ONTO_TEST_FUNCTION(mean)
ONTO_TEST_FUNCTION(max)
ONTO_TEST_FUNCTION(norm)
ONTO_TEST_FUNCTION(var)
ONTO_TEST_FUNCTION(flip)
ONTO_TEST_FUNCTION(argmax)
ONTO_TEST_FUNCTION(any)
ONTO_TEST_FUNCTION(reshape)
ONTO_TEST_FUNCTION(squeeze)
ONTO_TEST_FUNCTION(sort)
ONTO_TEST_FUNCTION(median)
ONTO_TEST_FUNCTION(cumsum)

#define ONTO_TEST_FUNCTION_OF_TWO(word)                                                                    \
  [[maybe_unused]] mine word(const numbers&, const numbers&) { return {}; }                                \
  static_assert(std::is_same_v<mine, decltype(word(std::declval<numbers&>(), std::declval<numbers&>()))>); \
  static_assert(std::is_same_v<mine, decltype(word(std::declval<const numbers&>(), std::declval<numbers&>()))>);

ONTO_TEST_FUNCTION_OF_TWO(pow)
ONTO_TEST_FUNCTION_OF_TWO(maximum)
ONTO_TEST_FUNCTION_OF_TWO(matmul)
ONTO_TEST_FUNCTION_OF_TWO(dot)
ONTO_TEST_FUNCTION_OF_TWO(outer)
ONTO_TEST_FUNCTION_OF_TWO(stack)
ONTO_TEST_FUNCTION_OF_TWO(take)
ONTO_TEST_FUNCTION_OF_TWO(mean_squared_error)
}  // namespace beside

/// Found beside onto's by a using directive.
namespace within {
using namespace onto;
using numbers = std::vector<double>;

[[maybe_unused]] double norm(const numbers&) { return 1; }
[[maybe_unused]] double sum(const numbers&) { return 1; }
[[maybe_unused]] double dot(const numbers&, const numbers&) { return 1; }
[[maybe_unused]] double median(const numbers&) { return 1; }
template <class X>
X mean(const std::vector<X>&);
static_assert(std::is_same_v<double, decltype(norm(std::declval<numbers&>()))>);
static_assert(std::is_same_v<double, decltype(sum(std::declval<numbers&>()))>);
static_assert(std::is_same_v<double, decltype(dot(std::declval<numbers&>(), std::declval<numbers&>()))>);
static_assert(std::is_same_v<double, decltype(median(std::declval<numbers&>()))>);
static_assert(std::is_same_v<double, decltype(mean(std::declval<numbers&>()))>);

// To whose parameters the arguments convert: onto's that says what is no operand is behind them.
struct big {
  [[maybe_unused]] big(double) {}
};
[[maybe_unused]] float relu(float x) { return x > 0 ? x : 0; }
[[maybe_unused]] double clip(double x, double, double) { return x; }
[[maybe_unused]] big square(const big& x) { return x; }
[[maybe_unused]] mine maximum(const char*, const char*) { return {}; }
static_assert(std::is_same_v<float, decltype(relu(0.5))> && std::is_same_v<float, decltype(relu(1))>);
static_assert(std::is_same_v<double, decltype(clip(1, 0, 1))> && std::is_same_v<big, decltype(square(2.0))>);
static_assert(std::is_same_v<mine, decltype(maximum("a", "b"))>);
}  // namespace within

}  // namespace
