// SPDX-License-Identifier: BSL-1.0
// Numbers in types: what they are, and what they are beside tensors.
#include <onto/ops/all.hpp>
#include <onto/plan/plan.hpp>

#include <type_traits>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4>;
constexpr auto m = placeholder<"m", float, 4, 4>;
constexpr auto i = placeholder<"i", std::int32_t, 4>;

// Read as the compiler reads them.
static_assert((0.1_c).value == 0.1 && (1e-5_c).value == 1e-5 && (0x1p-3_c).value == 0.125);
static_assert((1'000_c).value == 1000 && (017_c).value == 15 && (0b101_c).value == 5 && (0_c).value == 0);
static_assert((18446744073709551615_c).value == 18446744073709551615u);
static_assert((1.7976931348623157e308_c).value == 1.7976931348623157e308 && (5e-324_c).value == 5e-324);
static_assert((9007199254740993._c).value == 9007199254740992. && (9007199254740995._c).value == 9007199254740996.);

// Numbers have arithmetic among themselves.
static_assert((1_c - 0.25_c).value == 0.75 && (2_c * 3_c).value == 6 && (1.0_c / 4_c).value == 0.25);
// Beside a number of C++ they are one of C++: a quotient of integers is none, as above.
static_assert(1.0_c + 4 == 5.0 && 4 - 0.5_c == 3.5 && 2_c * 3 == 6 && 1.0_c / 4 == 0.25 && 1 / 4.0_c == 0.25);
static_assert(std::is_same_v<decltype(2_c * 1.5f), float>);
template <class L, class R>
concept divides = requires(L l, R r) {
  l / r;
};
static_assert(divides<decltype(1.0_c), int> && !divides<decltype(1_c), int>);
static_assert((-0.5_c).value == -0.5 && (-3_c).value == -3 && std::is_same_v<decltype(c<-3>), decltype(-3_c) const>);

// An expression with one is a constant, and has one node of each operation over equal numbers.
constexpr auto e = x * 0.5_c + 1_c;
static_assert(plan_of(e).nodes == 3 && plan_of(e).kernels == 1 && !plan_of(e).depends_on_values);
static_assert(plan_of(exp(x * 2_c) + exp(x * 2_c)).nodes == 4);
static_assert(plan_of(exp(x * 2_c) + exp(x * 3_c)).nodes == 6);
static_assert(std::is_same_v<decltype(c<0.5f> * x), decltype(0.5_c * x)>);

// It has the element type beside it, rounded to it.
static_assert(std::is_same_v<decltype(x * 0.1_c), decltype(x * c<0.1f>)>);
static_assert(decltype(i * 3_c)::facts.type == element::int32);

// It folds into products and rows as other scalars do.
static_assert(plan_of(0.5_c * matmul(m, m) + 2_c * m).kernels == 1);
static_assert(plan_of(softmax(x * 0.5_c) * 2_c).kernels == 1);

// What values decide elsewhere, numbers in types decide while compiling.
static_assert(plan_of(softmax(x * 2_c) + softmax(x * 3_c)).kernels == 1);
static_assert(plan_of(matmul(m * 2_c, m) + matmul(m * 3_c, m)).nodes == 6);

}  // namespace
