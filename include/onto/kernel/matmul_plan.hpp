// SPDX-License-Identifier: BSL-1.0
// What a batched matrix product asks of a BLAS: which operands are read transposed, which must be packed first, how the
// addend enters, and which batches are one call. Plain arithmetic.
#pragma once

#include <onto/kernel/layout.hpp>
#include <onto/kernel/matrix_form.hpp>

#include <cstdint>

namespace onto::detail {

enum class addend_form : std::uint8_t {
  none,
  matrix,  ///< read in place, with its own row stride
  bias,    ///< one row, added to each row of the product
  copied,  ///< broadcast into the result first
};

/// A matrix product as BLAS calls: (m, k) x (k, n), `batch_rank` dimensions of batches.
struct matmul_plan {
  std::int64_t m = 0, n = 0, k = 0;
  matrix_form a{}, b{};
  addend_form addend = addend_form::none;
  std::int64_t addend_leading = 1;
  int batch_rank = 0;
  std::int64_t batch[max_rank] = {};
  std::int64_t a_batch[max_rank] = {}, b_batch[max_rank] = {}, c_batch[max_rank] = {}, out_batch[max_rank] = {};
  std::int64_t a_packed = 0, b_packed = 0;  // elements of the copies

  constexpr std::int64_t batches() const {
    std::int64_t count = 1;
    for (int d = 0; d < batch_rank; ++d) count *= batch[d];
    return count;
  }
};

ONTO_BEGIN_RUNS_ONCE
/// A copy of the matrices of an operand, one after another; those that batches share once.
struct packing {
  extents space{};
  std::int64_t stride[max_rank] = {};  // of the copy, over the operand's batches and its rows and columns

  constexpr packing(const extents& batches, std::int64_t rows, std::int64_t columns,
                    const std::int64_t* operand_stride) {
    const int rank = batches.rank;
    for (int d = 0; d < rank; ++d) space.push_back(operand_stride[d] == 0 ? 1 : batches[d]);
    space.push_back(static_cast<int>(rows));
    space.push_back(static_cast<int>(columns));
    contiguous_strides(space, stride);
    for (int d = 0; d < rank; ++d)
      if (operand_stride[d] == 0) stride[d] = 0;
  }
};

constexpr extents batches_of(const extents& space) {
  extents e = space;
  e.rank = space.rank - 2;
  return e;
}

/// The form in which a BLAS reads an operand; where it must be packed, `stride` becomes the copy's, of `elements`.
constexpr matrix_form form_or_copy(const extents& batches, std::int64_t rows, std::int64_t columns,
                                   std::int64_t* stride, std::int64_t& elements) {
  const int rank = batches.rank;
  const matrix_form form = matrix_form_of(rows, columns, stride[rank], stride[rank + 1]);
  if (form.packed) {
    const packing copy(batches, rows, columns, stride);
    elements = copy.space.size();
    for (int d = 0; d < rank + 2; ++d) stride[d] = copy.stride[d];
  }
  return form;
}

/// How a product's addend enters: `row` and `column` are its strides. `shared`: one for all batches. `whole`: it counts
/// once, as a bias that a BLAS adds does.
constexpr addend_form addend_form_of(const matmul_plan& p, std::int64_t row, std::int64_t column, bool shared,
                                     bool whole) {
  if (column != 1 && p.n != 1) return addend_form::copied;
  if (row >= p.n || p.m == 1) return addend_form::matrix;
  return row == 0 && shared && whole ? addend_form::bias : addend_form::copied;
}

/// `a_stride` and the others: over the batches of `space`, then rows and columns; `c_stride` null where nothing is
/// added. `whole`: the addend counts once, as a bias that a BLAS adds does.
constexpr matmul_plan plan_matmul(const extents& space, std::int64_t inner, const std::int64_t* a_stride,
                                  const std::int64_t* b_stride, const std::int64_t* c_stride, bool whole) {
  constexpr std::int64_t most = 0x7fffffff;  // of rows
  const int rank = space.rank - 2;
  const extents batches = batches_of(space);
  matmul_plan p;
  p.m = space[rank];
  p.n = space[rank + 1];
  p.k = inner;
  const bool adds = c_stride != nullptr;
  std::int64_t a[max_rank], b[max_rank], c[max_rank] = {}, out[max_rank];
  for (int d = 0; d < rank + 2; ++d) a[d] = a_stride[d], b[d] = b_stride[d], c[d] = adds ? c_stride[d] : 0;
  contiguous_strides(space, out);
  p.a = form_or_copy(batches, p.m, p.k, a, p.a_packed);
  p.b = form_or_copy(batches, p.k, p.n, b, p.b_packed);

  // Batches that share b and follow each other in a are more rows.
  int outer = rank;
  std::int64_t a_row = a[rank], c_row = c[rank];
  for (; outer > 0; --outer) {
    const int d = outer - 1;
    const std::int64_t e = batches[d];
    if (e == 1) continue;
    const bool joins = b[d] == 0 && (p.m == 1 || a[d] == p.m * a_row) && (!adds || p.m == 1 || c[d] == p.m * c_row);
    if (!joins || p.m * e > most) break;
    const std::int64_t new_a_row = p.m == 1 ? a[d] : a_row;
    const matrix_form joined = matrix_form_of(p.m * e, p.k, new_a_row, a[rank + 1]);
    if (joined.packed) break;
    const bool was_packed = p.a.packed;
    p.a = joined;
    p.a.packed = was_packed;
    if (p.m == 1) c_row = c[d];
    a_row = new_a_row;
    p.m *= e;
  }

  const dimension_set among = all_dimensions(outer);
  const dimension_set joined = joined_dimensions(batches, a, among) & joined_dimensions(batches, b, among) &
                               joined_dimensions(batches, c, among) & joined_dimensions(batches, out, among);
  const coalesced_space runs = coalesce(batches, joined, among);
  p.batch_rank = runs.rank;
  bool shared = true;
  for (int k = 0; k < runs.rank; ++k) {
    const int d = runs.dimension[k];
    p.batch[k] = runs.extent[k];
    p.a_batch[k] = a[d], p.b_batch[k] = b[d], p.c_batch[k] = c[d], p.out_batch[k] = out[d];
    shared = shared && c[d] == 0;
  }

  if (adds) p.addend = addend_form_of(p, c_row, c[rank + 1], shared, whole);
  if (p.addend == addend_form::matrix) p.addend_leading = p.m == 1 ? p.n : c_row;
  return p;
}
ONTO_END_RUNS_ONCE

}  // namespace onto::detail
