// SPDX-License-Identifier: BSL-1.0
// Products of matrices and vectors: (..., M, K) x (..., K, N) is (..., M, N), dimensions before the last two are a
// batch and broadcast; the inner and the outer product of vectors.
#pragma once

#include <onto/ops/operation_base.hpp>

#include <onto/ops/arithmetic.hpp>
#include <onto/ops/view.hpp>

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

template <class Op, class... Shapes>
struct too_many_dimensions : mistake {
  static constexpr bool ok = sizeof...(Shapes) > 99;
  static_assert(ok == true, "[onto.shape] dot: an operand has more than 2 dimensions; write matmul or einsum");
};
}  // namespace detail

namespace op {

struct matmul : detail::keeps_element<detail::multiplied_elements(false)> {
  static constexpr op_kind kind = op_kind::matmul;
  static constexpr bool has_epilogue = true;
  static constexpr std::string_view name = "MatMul";
  static constexpr int cost = 2;  // for each of the K products
  static constexpr kernel_set kernels{detail::multiplied_elements(false), detail::multiplied_elements(true)};

  ONTO_BEGIN_RUNS_ONCE
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
  ONTO_END_RUNS_ONCE
};

}  // namespace op

/// The matrix product of the last two dimensions; those before them are broadcast. A vector is a row on the left and a
/// column on the right, and the result lacks that dimension.
/// *Mandates* operands of one element type, floating point or integers of 32 and 64 bits, of at least 1 dimension,
/// with as many columns on the left as rows on the right. *Returns* (..., M, N). A chain of products whose extents are
/// all in their types is computed in the order of least operations; a product that is `named` or fetched is computed as
/// it is written.
template <class L, class R, detail::only_if<(expression<L> && expression<R>)> = 0>
constexpr auto matmul(const L& l, const R& r) {
  constexpr int left = L::facts.shape.rank, right = R::facts.shape.rank;
  if constexpr (left == 0 || right == 0 || (left != 1 && right != 1) || detail::any_ill_formed<L, R>) {
    return make<op::matmul>(l, r);
  } else if constexpr (left == 1 && right == 1) {
    return reshape<>(make<op::matmul>(expand_dims<0>(l), expand_dims<1>(r)));
  } else if constexpr (left == 1) {
    return squeeze<-2>(make<op::matmul>(expand_dims<0>(l), r));
  } else {
    return squeeze<-1>(make<op::matmul>(l, expand_dims<1>(r)));
  }
}

/// The inner product of two vectors, of rank 0; of matrices, and of a matrix and a vector, `matmul`; beside one value,
/// `*`. *Mandates* at most 2 dimensions each; else as `matmul`.
template <class L, class R, detail::only_if<(expression<L> && expression<R>)> = 0>
constexpr auto dot(const L& l, const R& r) {
  constexpr int left = L::facts.shape.rank, right = R::facts.shape.rank;
  if constexpr (left > 2 || right > 2) {
    return typename detail::too_many_dimensions<op::matmul, detail::shape_of_t<L>, detail::shape_of_t<R>>::result{};
  } else if constexpr (left == 0 || right == 0) {
    return l * r;
  } else {
    return matmul(l, r);
  }
}

/// Each element of the one times each of the other: (M) and (N) give (M, N); operands are flattened.
/// *Mandates* operands of one element type, which is a number.
template <class L, class R, detail::only_if<(expression<L> && expression<R>)> = 0>
constexpr auto outer(const L& l, const R& r) {
  const auto flat = [](const auto& x) {
    if constexpr (std::remove_cvref_t<decltype(x)>::facts.shape.rank == 1)
      return x;
    else
      return reshape<dyn>(x);
  };
  return expand_dims<1>(flat(l)) * flat(r);
}

}  // namespace onto
