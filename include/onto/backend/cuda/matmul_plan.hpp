// SPDX-License-Identifier: BSL-1.0
// How a matrix product's call is put to cublasLt, and where it is cut into blocks that cublasLt has algorithms for.
// Plain arithmetic.
#pragma once

#include <onto/kernel/matmul_plan.hpp>
#include <onto/kernel/workspace.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

/// *Preconditions* `call` is that of a matrix product: rank 2 or more, inputs[2] the addend where `beta` is not 0.
constexpr matmul_plan plan_matmul(const kernel_call& call) {
  const bool adds = call.form.beta != 0;
  return plan_matmul(call.space, call.inner, call.in[0].stride, call.in[1].stride, adds ? call.in[2].stride : nullptr,
                     call.form.beta == 1);
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
