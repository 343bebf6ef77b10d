// SPDX-License-Identifier: BSL-1.0
// Matrix products through a CBLAS, in programs that define ONTO_HAS_CBLAS and link one. It has threads of its own.
#pragma once

#include <onto/backend/cpu/library_operand.hpp>
#include <onto/core/config.hpp>

#include <cstdint>
#include <limits>

#if defined(ONTO_HAS_CBLAS)
// OpenBLAS has a global type of this name, which would stand beside onto's.
#define bfloat16 openblas_bfloat16
#include <cblas.h>
#undef bfloat16

namespace onto::detail {

ONTO_INLINE void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha, const float* a,
                           int lda, const float* b, int ldb, float beta, float* c) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, n);
}
ONTO_INLINE void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha, const double* a,
                           int lda, const double* b, int ldb, double beta, double* c) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, n);
}
ONTO_INLINE void blas_gemv(CBLAS_TRANSPOSE t, int m, int n, float alpha, const float* a, int lda, const float* x,
                           int step, float beta, float* y) {
  cblas_sgemv(CblasRowMajor, t, m, n, alpha, a, lda, x, step, beta, y, 1);
}
ONTO_INLINE void blas_gemv(CBLAS_TRANSPOSE t, int m, int n, double alpha, const double* a, int lda, const double* x,
                           int step, double beta, double* y) {
  cblas_dgemv(CblasRowMajor, t, m, n, alpha, a, lda, x, step, beta, y, 1);
}

/// c = alpha * a × b + beta * c, with every extent at least 1.
template <class T>
void multiply_with_blas(int m, int n, int k, T alpha, matrix_view<T> a, matrix_view<T> b, T beta, T* c) {
  constexpr std::int64_t farthest = std::numeric_limits<int>::max();
  const auto lead = [](const library_operand<T>& x) { return static_cast<int>(x.form.leading); };
  if (n == 1 && (k == 1 || (b.row > 0 && b.row <= farthest))) {
    const library_operand<T> x(a, m, k, farthest);
    return blas_gemv(x.form.transposed ? CblasTrans : CblasNoTrans, x.form.transposed ? k : m,
                     x.form.transposed ? m : k, alpha, x.data, lead(x), b.data, k == 1 ? 1 : static_cast<int>(b.row),
                     beta, c);
  }
  if (m == 1 && (k == 1 || (a.column > 0 && a.column <= farthest))) {
    const library_operand<T> y(b, k, n, farthest);
    return blas_gemv(y.form.transposed ? CblasNoTrans : CblasTrans, y.form.transposed ? n : k,
                     y.form.transposed ? k : n, alpha, y.data, lead(y), a.data, k == 1 ? 1 : static_cast<int>(a.column),
                     beta, c);
  }
  const library_operand<T> x(a, m, k, farthest), y(b, k, n, farthest);
  blas_gemm(x.form.transposed ? CblasTrans : CblasNoTrans, y.form.transposed ? CblasTrans : CblasNoTrans, m, n, k,
            alpha, x.data, lead(x), y.data, lead(y), beta, c);
}

}  // namespace onto::detail
#endif
