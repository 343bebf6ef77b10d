// SPDX-License-Identifier: BSL-1.0
// Matrix products: (..., M, K) x (..., K, N) is (..., M, N). Dimensions before the last two are a batch and broadcast.
#pragma once

#include <onto/ops/operation_base.hpp>

namespace onto {

namespace detail {
/// The element types that have matrix products: on every device, or on the CPU at least.
constexpr element_set multiplied_elements(bool on_gpus) {
  element_set s = 0;
  for (const element_row& r : element_table::rows)
    if (r.products == gemm_micro_kernels::cpu_and_gpu || (r.products == gemm_micro_kernels::cpu && !on_gpus))
      s |= element_bit(r.type);
  return s;
}
}  // namespace detail

namespace op {

struct matmul : detail::keeps_element<detail::multiplied_elements(false)> {
  static constexpr op_kind kind = op_kind::matmul;
  static constexpr std::string_view name = "MatMul";
  static constexpr int cost = 2;  // for each of the K products
  static constexpr kernel_set kernels{detail::multiplied_elements(false), detail::multiplied_elements(true)};

  static constexpr inferred infer(const extents* operands, int) {
    const extents &a = operands[0], &b = operands[1];
    if (a.rank < 2 || b.rank < 2) return {a, shape_fault::rank};
    const int k = a[a.rank - 1], l = b[b.rank - 2];
    if (k != l && k != dyn && l != dyn) return {a, shape_fault::inner};
    extents left = a, right = b;
    left.rank -= 2;
    right.rank -= 2;
    bool ok = true;
    inferred r;
    r.shape = broadcast(left, right, ok);
    r.shape.push_back(a[a.rank - 2]);
    r.shape.push_back(b[b.rank - 1]);
    if (!ok) r.fault = shape_fault::broadcast;
    return r;
  }
};

}  // namespace op

/// The matrix product of the last two dimensions; those before them are broadcast.
/// *Mandates* operands of one element type, floating point or integers of 32 and 64 bits, of at least 2 dimensions,
/// with as many columns on the left as rows on the right. *Returns* (..., M, N). A chain of products whose extents are
/// all in their types is computed in the order of least operations; a product that is `named` or fetched is computed as
/// it is written.
template <expression L, expression R>
constexpr auto matmul(const L& l, const R& r) {
  return make<op::matmul>(l, r);
}

}  // namespace onto
