// SPDX-License-Identifier: BSL-1.0
// What a batched matrix product asks of a BLAS: which batches become rows or one call, and the law that each row of the
// result has its rows of the operands.
#include <onto/kernel/matmul_plan.hpp>

using namespace onto;
using namespace onto::detail;

namespace {

struct strides {
  std::int64_t of[max_rank];
};
constexpr matmul_plan plan(const extents& space, std::int64_t inner, const strides& a, const strides& b) {
  return plan_matmul(space, inner, a.of, b.of, nullptr, true);
}
constexpr matmul_plan plan(const extents& space, std::int64_t inner, const strides& a, const strides& b,
                           const strides& c, bool whole = true) {
  return plan_matmul(space, inner, a.of, b.of, c.of, whole);
}

constexpr extents matrix = shape<3, 5>{},
                  stack = shape<2, 4, 3, 5>{};  // of results; 7 elements are multiplied for each
constexpr strides a = {{7, 1}}, b = {{5, 1}}, stacked_a = {{84, 21, 7, 1}}, stacked_b = {{140, 35, 5, 1}};

// A matrix is read where it is, transposed or not, or packed.
static_assert(!plan(matrix, 7, a, b).a.packed && plan(matrix, 7, {{1, 3}}, b).a.transposed);
static_assert(plan(matrix, 7, {{14, 2}}, b).a.packed && plan(matrix, 7, {{14, 2}}, b).a_packed == 21);
// Batches that share b are more rows; those that lie evenly are one run; others are two.
static_assert(plan(stack, 7, stacked_a, {{0, 0, 5, 1}}).m == 24 &&
              plan(stack, 7, stacked_a, {{0, 0, 5, 1}}).batches() == 1);
static_assert(plan(stack, 7, stacked_a, stacked_b).batch_rank == 1 &&
              plan(stack, 7, stacked_a, stacked_b).batch[0] == 8);
static_assert(plan(stack, 7, {{500, 21, 7, 1}}, stacked_b).batch_rank == 2);
// What batches share is packed once.
static_assert(plan(stack, 7, {{0, 0, 14, 2}}, stacked_b).a_packed == 21);
constexpr strides rows_added = {{5, 1}}, one_row = {{0, 1}}, one_column = {{1, 0}};
// An addend is read in place, or is a bias where it counts once, or is copied.
static_assert(plan(matrix, 7, a, b).addend == addend_form::none);
static_assert(plan(matrix, 7, a, b, rows_added).addend == addend_form::matrix);
static_assert(plan(matrix, 7, a, b, one_row).addend == addend_form::bias);
static_assert(plan(matrix, 7, a, b, one_row, false).addend == addend_form::copied);
static_assert(plan(matrix, 7, a, b, one_column).addend == addend_form::copied);

/// Where row `row` of a plan's operand begins, and its next element lies, in the batch that has row `all` of the
/// result.
constexpr std::int64_t offset(const matmul_plan& p, const std::int64_t* batch_stride, const matrix_form& form,
                              std::int64_t all, int row, int column) {
  std::int64_t batch = all / p.m,
               o = row * (form.transposed ? 1 : form.leading) + column * (form.transposed ? form.leading : 1);
  for (int d = p.batch_rank - 1; d >= 0; --d) {
    o += batch % p.batch[d] * batch_stride[d];
    batch /= p.batch[d];
  }
  return o;
}

constexpr bool keeps_rows(const extents& space, int inner, const strides& x, const strides& y) {
  const int rank = space.rank - 2, m = space[rank];
  const matmul_plan p = plan(space, inner, x, y);
  if (p.m * p.batches() != m * batches_of(space).size() || p.n != space[rank + 1] || p.k != inner) return false;
  for (std::int64_t all = 0; all < p.m * p.batches(); ++all) {
    std::int64_t batch = all / m, in_a = all % m * x.of[rank], in_b = 0;
    for (int d = rank - 1; d >= 0; --d) {
      in_a += batch % space[d] * x.of[d];
      in_b += batch % space[d] * y.of[d];
      batch /= space[d];
    }
    for (int k = 0; k < 2; ++k) {
      if (!p.a.packed && offset(p, p.a_batch, p.a, all, static_cast<int>(all % p.m), k) != in_a + k * x.of[rank + 1])
        return false;
      if (!p.b.packed && offset(p, p.b_batch, p.b, all, k, k) != in_b + k * (y.of[rank] + y.of[rank + 1])) return false;
    }
  }
  return true;
}

constexpr bool keep_rows() {
  const extents spaces[] = {stack, shape<2, 4, 1, 5>{}, shape<1, 4, 3, 5>{}, shape<2, 1, 3, 2>{}};
  const strides lefts[] = {stacked_a,        {{0, 21, 7, 1}}, {{84, 0, 7, 1}},
                           {{21, 42, 7, 1}}, {{1, 2, 8, 30}}, {{28, 7, 7, 1}}};
  const strides rights[] = {stacked_b, {{0, 0, 5, 1}}, {{0, 35, 5, 1}}, {{0, 0, 1, 7}}, {{35, 70, 5, 1}}};
  for (const extents& space : spaces)
    for (const strides& x : lefts)
      for (const strides& y : rights)
        if (!keeps_rows(space, 7, x, y)) return false;
  return true;
}
static_assert(keep_rows());

}  // namespace
