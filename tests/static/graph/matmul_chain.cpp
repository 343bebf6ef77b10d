// SPDX-License-Identifier: BSL-1.0
// In which order chains of matrix products are computed: a specification, each line of it proven by the compiler.
#include <onto/expr/named.hpp>
#include <onto/ops/all.hpp>
#include <onto/plan/plan.hpp>

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", float, 100, 100>;
constexpr auto b = placeholder<"b", float, 100, 100>;
constexpr auto x = placeholder<"x", float, 100, 1>;
constexpr auto y = placeholder<"y", float, 1, 100>;
constexpr auto bias = placeholder<"bias", float, 1>;

constexpr std::int64_t matrix = 2 * 100 * 100 * 100;  // operations of a product of two matrices
constexpr std::int64_t vector = 2 * 100 * 100;        // of a matrix and a vector

// Two matrices and a vector: from the right, however it is written.
static_assert(plan_of(matmul(matmul(a, b), x)).flops == 2 * vector);
static_assert(plan_of(matmul(a, matmul(b, x))).flops == 2 * vector);

// From the left, where the vector is there.
static_assert(plan_of(matmul(y, matmul(a, b))).flops == 2 * vector);

// An outer product comes last.
static_assert(plan_of(matmul(matmul(matmul(a, x), y), b)).flops == 3 * vector);

// There are as many kernels as there were products, and what follows the last one is part of it.
static_assert(plan_of(matmul(matmul(a, b), x)).kernels == 2);
static_assert(plan_of(relu(matmul(matmul(a, b), x) + bias)).kernels == 2);

// A transpose is a matrix of the chain like any other.
static_assert(plan_of(matmul(matmul(transpose(a), b), transpose(y))).flops == 2 * vector);
static_assert(plan_of(matmul(matmul(transpose(a), b), transpose(y))).kernels == 2);

// So is anything else that is no product.
static_assert(plan_of(matmul(matmul(tanh(a), b), x)).flops == 100 * 100 * op::tanh::cost + 2 * vector);

// The textbook's chain: 15125 multiplications.
constexpr auto book_a = placeholder<"book_a", float, 30, 35>;
constexpr auto book_b = placeholder<"book_b", float, 35, 15>;
constexpr auto book_c = placeholder<"book_c", float, 15, 5>;
constexpr auto book_d = placeholder<"book_d", float, 5, 10>;
constexpr auto book_e = placeholder<"book_e", float, 10, 20>;
constexpr auto book_f = placeholder<"book_f", float, 20, 25>;
static_assert(plan_of(matmul(matmul(matmul(matmul(matmul(book_a, book_b), book_c), book_d), book_e), book_f)).flops ==
              2 * 15125);
static_assert(plan_of(matmul(book_a, matmul(book_b, matmul(book_c, matmul(book_d, matmul(book_e, book_f)))))).flops ==
              2 * 15125);

// Ten matrices of growing extents: from the left, where the products are small.
constexpr auto g0 = placeholder<"g0", float, 2, 3>;
constexpr auto g1 = placeholder<"g1", float, 3, 4>;
constexpr auto g2 = placeholder<"g2", float, 4, 5>;
constexpr auto g3 = placeholder<"g3", float, 5, 6>;
constexpr auto g4 = placeholder<"g4", float, 6, 7>;
constexpr auto g5 = placeholder<"g5", float, 7, 8>;
constexpr auto g6 = placeholder<"g6", float, 8, 9>;
constexpr auto g7 = placeholder<"g7", float, 9, 10>;
constexpr auto g8 = placeholder<"g8", float, 10, 11>;
constexpr auto g9 = placeholder<"g9", float, 11, 12>;
static_assert(
    plan_of(matmul(g0,
                   matmul(g1, matmul(g2, matmul(g3, matmul(g4, matmul(g5, matmul(g6, matmul(g7, matmul(g8, g9))))))))))
        .flops == 2 * 1128);

// ---- what stays as it is written --------------------------------------------------------------------------

// Where no order is cheaper.
constexpr const auto& powers = plan_of(matmul(matmul(matmul(a, b), a), b));
static_assert(powers.flops == 3 * matrix);
static_assert(powers.graph.operand(powers.graph.count - 1, 1) == 1);

// What has a name, is fetched, or is used twice.
static_assert(plan_of(matmul(named<"product">(matmul(a, b)), x)).flops == matrix + vector);
static_assert(plan_of(fetches(matmul(a, b), matmul(matmul(a, b), x))).flops == matrix + vector);
static_assert(plan_of(matmul(matmul(a, b), x) + sum<1>(matmul(a, b), keep_extents)).flops >= matrix + vector);

// What is to run elsewhere.
static_assert(plan_of(matmul(on<gpu<0>>(matmul(a, b)), x)).flops == matrix + vector);

// But in one scope it is a chain.
static_assert(plan_of(on<gpu<0>>(matmul(matmul(a, b), x))).flops == 2 * vector);

// Where an extent is not known.
constexpr auto open = placeholder<"open", float, dyn, 100>;
static_assert(plan_of(matmul(matmul(open, a), x)).graph[2].shape == extents(shape<dyn, 100>{}));

// Batches of matrices.
constexpr auto batch = placeholder<"batch", float, 3, 100, 100>;
static_assert(plan_of(matmul(matmul(batch, a), x)).flops == 3 * (matrix + vector));

// ---- the graph of it --------------------------------------------------------------------------------------

// Operands precede their consumers in the new order, too.
template <class Plan>
constexpr bool is_sorted(const Plan& p) {
  for (int n = 0; n < p.graph.count; ++n)
    for (int k = 0; k < p.graph[n].count; ++k)
      if (p.graph.operand(n, k) >= n) return false;
  return true;
}
static_assert(is_sorted(plan_of(matmul(matmul(a, b), x))));
static_assert(is_sorted(plan_of(matmul(matmul(matmul(matmul(matmul(book_a, book_b), book_c), book_d), book_e),
                                       book_f))));
static_assert(is_sorted(plan_of(fetches(tanh(matmul(matmul(a, b), tanh(x))), matmul(matmul(b, a), x)))));

// And what is fetched is what was.
constexpr const auto& two = plan_of(fetches(matmul(matmul(a, b), x), matmul(y, matmul(a, tanh(b)))));
static_assert(two.graph[two.graph.fetches[0]].shape == extents(shape<100, 1>{}));
static_assert(two.graph[two.graph.fetches[1]].shape == extents(shape<1, 100>{}));

}  // namespace
