// SPDX-License-Identifier: BSL-1.0
// Matrix products through a CBLAS, in programs that define ONTO_HAS_CBLAS and link one. It has threads of its own.
#pragma once

#include <onto/backend/cpu/gather.hpp>
#include <onto/backend/cpu/gemm_tile.hpp>
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

/// An operand as CBLAS takes it: rows (or columns, transposed) of elements next to each other, `lead` apart. What has
/// other strides is copied.
template <class T>
class blas_operand {
 public:
  blas_operand(matrix_view<T> v, std::int64_t rows, std::int64_t columns)
      : copy_(fits(v.row, v.column, rows, columns) || fits(v.column, v.row, columns, rows) ? 0 : rows * columns),
        data(v.data) {
    if (fits(v.row, v.column, rows, columns)) {
      lead = static_cast<int>(rows == 1 ? columns : v.row);
    } else if (fits(v.column, v.row, columns, rows)) {
      transposed = true;
      lead = static_cast<int>(columns == 1 ? rows : v.column);
    } else {
      copy_elements(sizeof(T), copy_.data(), columns, 1, v.data, v.row, v.column, rows, columns);
      data = copy_.data();
      lead = static_cast<int>(columns);
    }
  }

  CBLAS_TRANSPOSE trans() const { return transposed ? CblasTrans : CblasNoTrans; }

 private:
  static bool fits(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
    return (columns == 1 || column == 1) && (rows == 1 || (row >= columns && row <= std::numeric_limits<int>::max()));
  }

  small_array<T, 16> copy_;

 public:
  const T* data;
  int lead = 1;
  bool transposed = false;
};

/// c = alpha * a × b + beta * c, with every extent at least 1.
template <class T>
void multiply_with_blas(int m, int n, int k, T alpha, matrix_view<T> a, matrix_view<T> b, T beta, T* c) {
  constexpr std::int64_t farthest = std::numeric_limits<int>::max();
  if (n == 1 && (k == 1 || (b.row > 0 && b.row <= farthest))) {
    const blas_operand<T> x(a, m, k);
    return blas_gemv(x.trans(), x.transposed ? k : m, x.transposed ? m : k, alpha, x.data, x.lead, b.data,
                     k == 1 ? 1 : static_cast<int>(b.row), beta, c);
  }
  if (m == 1 && (k == 1 || (a.column > 0 && a.column <= farthest))) {
    const blas_operand<T> y(b, k, n);
    return blas_gemv(y.transposed ? CblasNoTrans : CblasTrans, y.transposed ? n : k, y.transposed ? k : n, alpha,
                     y.data, y.lead, a.data, k == 1 ? 1 : static_cast<int>(a.column), beta, c);
  }
  const blas_operand<T> x(a, m, k), y(b, k, n);
  blas_gemm(x.trans(), y.trans(), m, n, k, alpha, x.data, x.lead, y.data, y.lead, beta, c);
}

}  // namespace onto::detail
#endif
