// SPDX-License-Identifier: BSL-1.0
// What is the same node and runs once, and what is new each time it is written. Each line is proven by the compiler.
#include <onto/expr/named.hpp>
#include <onto/ops/all.hpp>
#include <onto/plan/plan.hpp>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 3, 3>;
constexpr auto y = placeholder<"y", float, 3, 3>;
constexpr auto also_x = placeholder<"x", float, 3, 3>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
const auto doubled = 2.0f * x;
const auto doubled_again = 2.0f * x;
const auto product_of_both = matmul(doubled, y) + matmul(doubled_again, y);
const auto same_object_twice = softmax(doubled) + softmax(doubled);
const auto named_scaled = named<"h">(2.0f * x);
const auto named_twice = softmax(named_scaled) + log_softmax(named_scaled);
const auto unnamed_constant = constant({1.f, 2.f, 3.f});
const auto unnamed_twice = softmax(x + unnamed_constant) + softmax(y + unnamed_constant);
const auto named_constant = constant<"c">({1.f, 2.f, 3.f});
const auto constant_twice = softmax(x + named_constant) + softmax(y + named_constant);

/// `s = matmul(s, s) * 0.5f`, some times over.
template <int N>
auto halved(const auto& e) {
  if constexpr (N == 0) {
    return e;
  } else {
    const auto below = halved<N - 1>(e);
    return matmul(below, below) * 0.5f;
  }
}

template <bool Named, fixed_string Name>
auto maybe_named(const auto& e) {
  if constexpr (Named)
    return named<Name>(e);
  else
    return e;
}

/// Residual blocks: `x + relu(matmul(norm(x), w)) * 0.5f`, their parts named or not.
template <int N, bool Named>
auto blocks(const auto& e) {
  if constexpr (N == 0) {
    return e;
  } else {
    constexpr auto w = placeholder<"w", float, 3, 3>;
    constexpr fixed_string<3> stem[] = {"h0", "d0"};
    constexpr auto numbered = [](fixed_string<3> s) {
      s.data[1] = static_cast<char>('0' + N);
      return s;
    };
    const auto in = maybe_named<Named, numbered(stem[0])>(blocks<N - 1, Named>(e));
    const auto centred = maybe_named<Named, numbered(stem[1])>(in - mean<-1>(in, keep_extents));
    const auto norm = centred * rsqrt(mean<-1>(centred * centred, keep_extents) + 1e-5f);
    return in + relu(matmul(norm, w)) * 0.5f;
  }
}

/// Shares each level under a name of its own.
template <int N>
constexpr auto levels(const auto& e) {
  if constexpr (N == 0) {
    return e;
  } else {
    constexpr fixed_string<3> name = [] {
      fixed_string<3> s("l0");
      s.data[1] = static_cast<char>('a' + N);
      return s;
    }();
    const auto below = levels<N - 1>(e);
    return named<name>(matmul(below, below));
  }
}

const auto halved_6 = halved<6>(x);
const auto halved_100 = halved<100>(x);
const auto blocks_3 = blocks<3, false>(x);
const auto named_blocks_3 = blocks<3, true>(x);
const auto different_values = exp(x * 2.f) + exp(x * 3.f);
const auto gelu = 0.5f * x * (1.f + tanh(0.8f * (x + 0.04f * x * x * x)));
const auto no_repeats = matmul(doubled, y) + exp(x * y);

// A symbol is one node however often it is used, and wherever it is written again.
static_assert(plan_of(x * x).nodes == 2);
static_assert(plan_of(x + also_x).nodes == 2);

// Equal operations over equal symbols are one node and run once.
static_assert(plan_of(matmul(x, y) * matmul(x, y)).kernels == 2);
static_assert(plan_of(matmul(x, y) * matmul(x, y)).nodes == 4);
static_assert(plan_of(tanh(matmul(x, y)) + exp(matmul(x, y))).nodes == 6);

// Operands in another order, other axes or another element type are other operations.
static_assert(plan_of(matmul(x, y) * matmul(y, x)).nodes == 5);
static_assert(plan_of(fetches(sum<0>(x), sum<1>(x))).nodes == 3);
static_assert(plan_of(fetches(zeros<float, 3>(), zeros<double, 3>())).nodes == 2);
static_assert(plan_of(fetches(zeros<float, 3>(), zeros<float, 3>())).nodes == 1);

// An axis counted from the end is the same axis.
static_assert(plan_of(fetches(sum<1>(x), sum<-1>(x))).nodes == 2);

// Several fetches are one program: they share what they have in common.
static_assert(plan_of(fetches(matmul(x, y), sum(matmul(x, y)))).kernels == 2);
static_assert(plan_of(fetches(matmul(x, y), matmul(x, y))).nodes == 3);

// A fetch that is fetched again costs a copy, not a computation.
static_assert(plan_of(fetches(matmul(x, y), matmul(x, y))).kernels == 2);
static_assert(plan_of(fetches(matmul(x, y), matmul(x, y))).flops == 2 * 27);

// In another scope it is another node: it runs on both devices.
static_assert(plan_of(fetches(on<gpu<0>>(matmul(x, y)), on<gpu<1>>(matmul(x, y)))).nodes == 4);
static_assert(plan_of(fetches(on<gpu<0>>(matmul(x, y)), on<gpu<0>>(matmul(x, y)))).nodes == 3);

// What has a place already is the same in any scope.
static_assert(
    plan_of(fetches(on<gpu<0>>(exp(on<cpu<0>>(matmul(x, y)))), on<gpu<1>>(tanh(on<cpu<0>>(matmul(x, y)))))).nodes == 5);

// Scalars are no nodes.
static_assert(plan_of(doubled).nodes == 2);

// What is written once is one node, though a run-time scalar stands in it.
static_assert(plan_of(same_object_twice).nodes == 4);
static_assert(plan_of(same_object_twice).kernels == 1);

// So is what has an equal type; the values decide.
static_assert(plan_of(product_of_both).nodes == 5);
static_assert(plan_of(product_of_both).depends_on_values);
static_assert(!plan_of(no_repeats).depends_on_values);

// An unnamed constant is one node, too.
static_assert(plan_of(unnamed_twice).nodes == 8);
static_assert(plan_of(unnamed_twice).depends_on_values);

// A name says that there is one.
static_assert(plan_of(constant_twice).nodes == 8 && !plan_of(constant_twice).depends_on_values);
static_assert(plan_of(named_twice).nodes == 5 && !plan_of(named_twice).depends_on_values);

// 100 levels that use the one below twice are 100 products, and compile as fast as they are written.
static_assert(plan_of(halved_6).kernels == 6);
static_assert(plan_of(halved_100).kernels == 100);

// Residual blocks with layer normalization run the same with names and without.
static_assert(plan_of(blocks_3).kernels == plan_of(named_blocks_3).kernels);
static_assert(plan_of(blocks_3).nodes == plan_of(named_blocks_3).nodes);

// What values may tell apart is still one kernel.
static_assert(plan_of(different_values).kernels == 1);
static_assert(plan_of(gelu).kernels == 1);

// Named sharing is free: 20 levels that use the one below twice are 20 products.
static_assert(plan_of(levels<20>(x)).kernels == 20);
static_assert(plan_of(levels<20>(open)).nodes == 21);

// The name is the node's.
static_assert(plan_of(levels<1>(x)).graph[1].name == "lb");

}  // namespace
