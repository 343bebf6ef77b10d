// SPDX-License-Identifier: BSL-1.0
// What a batched matrix product asks of a BLAS: which operands are read transposed, which must be packed first, how the
// addend enters, and which batches are one call. Plain arithmetic.
#pragma once

#include <onto/core/config.hpp>
#include <onto/kernel/layout.hpp>
#include <onto/kernel/matrix_form.hpp>
#include <onto/runtime/kernel.hpp>
#include <onto/shape/extents.hpp>

#include <cstddef>
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

/// *Preconditions* `call` is that of a matrix product: rank 2 or more, inputs[2] the addend where `beta` is not 0.
constexpr matmul_plan plan_matmul(const kernel_call& call) {
  constexpr std::int64_t most = 0x7fffffff;  // of rows
  const int rank = call.space.rank - 2;
  const extents batches = batches_of(call.space);
  matmul_plan p;
  p.m = call.space[rank];
  p.n = call.space[rank + 1];
  p.k = call.inner;
  std::int64_t a[max_rank], b[max_rank], c[max_rank] = {}, out[max_rank];
  for (int d = 0; d < rank + 2; ++d) a[d] = call.in[0].stride[d], b[d] = call.in[1].stride[d];
  const bool adds = call.form.beta != 0;
  if (adds)
    for (int d = 0; d < rank + 2; ++d) c[d] = call.in[2].stride[d];
  contiguous_strides(call.space, out);

  p.a = matrix_form_of(p.m, p.k, a[rank], a[rank + 1]);
  if (p.a.packed) {
    const packing copy(batches, p.m, p.k, a);
    p.a_packed = copy.space.size();
    for (int d = 0; d < rank + 2; ++d) a[d] = copy.stride[d];
  }
  p.b = matrix_form_of(p.k, p.n, b[rank], b[rank + 1]);
  if (p.b.packed) {
    const packing copy(batches, p.k, p.n, b);
    p.b_packed = copy.space.size();
    for (int d = 0; d < rank + 2; ++d) b[d] = copy.stride[d];
  }

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
  for (int k = 0; k < runs.rank; ++k) {
    const int d = runs.dimension[k];
    p.batch[k] = runs.extent[k];
    p.a_batch[k] = a[d], p.b_batch[k] = b[d], p.c_batch[k] = c[d], p.out_batch[k] = out[d];
  }

  if (adds) {
    const bool rows = c[rank + 1] == 1 || p.n == 1;
    bool shared = true;
    for (int d = 0; d < p.batch_rank; ++d) shared = shared && p.c_batch[d] == 0;
    p.addend = addend_form::copied;
    if (rows && (c_row >= p.n || p.m == 1)) {
      p.addend = addend_form::matrix;
      p.addend_leading = p.m == 1 ? p.n : c_row;
    } else if (rows && c_row == 0 && shared && call.form.beta == 1) {
      p.addend = addend_form::bias;
    }
  }
  return p;
}

constexpr std::size_t aligned_bytes(std::int64_t elements, std::size_t size) {
  return (static_cast<std::size_t>(elements) * size + 255) / 256 * 256;
}

/// A product of one matrix with another in blocks whose operands and result are copied to memory that is aligned as a
/// BLAS likes it best: rows of 16 bytes, one matrix after the other at multiples of 256.
struct block_plan {
  std::int64_t rows = 0, columns = 0;  // of the result's blocks; 0 where not even one element fits
  std::int64_t a_leading = 0, b_leading = 0, out_leading = 0;
  std::size_t b_at = 0, out_at = 0, end = 0;  // bytes; a's rows are at the beginning
};

/// *Returns* the largest blocks that leave an eighth of `bytes` to the BLAS itself.
constexpr block_plan plan_blocks(std::int64_t m, std::int64_t n, std::int64_t k, std::size_t size, std::size_t bytes) {
  const auto unit = static_cast<std::int64_t>(16 / size);
  const auto padded = [&](std::int64_t elements) { return (elements + unit - 1) / unit * unit; };
  block_plan p;
  p.rows = m;
  p.columns = n;
  for (;;) {
    p.a_leading = padded(k);
    p.b_leading = p.out_leading = padded(p.columns);
    p.b_at = aligned_bytes(p.rows * p.a_leading, size);
    p.out_at = p.b_at + aligned_bytes(k * p.b_leading, size);
    p.end = p.out_at + aligned_bytes(p.rows * p.out_leading, size);
    if (p.end <= bytes - bytes / 8) return p;
    if (p.rows == 1 && p.columns == 1) return {};
    // The larger operand is what to save at.
    if (p.rows >= p.columns)
      p.rows = (p.rows + 1) / 2;
    else
      p.columns = (p.columns + 1) / 2;
  }
}

}  // namespace onto::detail
