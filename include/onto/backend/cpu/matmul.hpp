// SPDX-License-Identifier: BSL-1.0
// Matrix products on the CPU: through CBLAS where one is linked, else the built-in product. Transposes are a matter of
// strides.
#pragma once

#include <onto/backend/cpu/copy.hpp>
#include <onto/backend/cpu/gemm.hpp>
#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/runtime/kernel.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(ONTO_HAS_CBLAS)
// OpenBLAS has a global type of this name, which would stand beside onto's.
#define bfloat16 openblas_bfloat16
#include <cblas.h>
#undef bfloat16
#endif

namespace onto::detail {

// Integers are multiplied unsigned, so that they wrap around.
template <class T, bool Integer = std::is_integral_v<T>>
struct wrapping {
  using type = T;
};
template <class T>
struct wrapping<T, true> {
  using type = std::make_unsigned_t<T>;
};

#if defined(ONTO_HAS_CBLAS)
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
      copy_matrix<sizeof(T)>(reinterpret_cast<word<sizeof(T)>*>(copy_.data()), columns, 1,
                             reinterpret_cast<const word<sizeof(T)>*>(v.data), v.row, v.column, rows, columns);
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
#endif

template <class T>
inline constexpr bool multiplies_with_blas =
#if defined(ONTO_HAS_CBLAS)
    std::is_floating_point_v<T>;
#else
    false;
#endif

template <class T>
void scale_run(T* c, std::int64_t n, T beta) {
  if (beta == T{1}) return;
  if (beta == T{0}) {
    std::memset(static_cast<void*>(c), 0, static_cast<std::size_t>(n) * sizeof(T));
  } else {
    for (std::int64_t k = 0; k < n; ++k) c[k] *= beta;
  }
}

/// The kernel of matrix products: `relu(alpha * a × b + beta * addend)`. That of float takes half and bfloat16 too.
/// `Blas` is an argument for the reason
/// `run_span` has one.
template <class T, bool Blas = multiplies_with_blas<T>>
void cpu_matmul(thread_pool& pool, const kernel_call& call) {
  using U = typename wrapping<T>::type;
  const extents& space = call.space;
  if (space.size() <= 0) return;
  if constexpr (std::is_same_v<T, float>)
    if (is_narrow(call.out.type)) return call.narrow->matmul(pool, call, &cpu_matmul<T, Blas>);
  const int row = space.rank - 2, column = space.rank - 1;
  std::int64_t m = space.dims[row];
  const std::int64_t n = space.dims[column], k = call.inner, total = space.size();
  U* const out = static_cast<U*>(call.out.data);
  const U alpha = static_cast<U>(static_cast<T>(call.form.alpha));
  const bool adds = call.form.beta != 0;
  const U beta = static_cast<U>(static_cast<T>(call.form.beta));

  if (adds && !(call.in[2].data == call.out.data && is_contiguous(space, call.in[2].stride))) {
    kernel_call addend = call;
    addend.in = call.in + 2;
    contiguous_strides(space, addend.out.stride);
    cpu_copy(pool, addend);
  }

  matrix_view<U> a{static_cast<const U*>(call.in[0].data), call.in[0].stride[row], call.in[0].stride[column]};
  matrix_view<U> b{static_cast<const U*>(call.in[1].data), call.in[1].stride[row], call.in[1].stride[column]};
  // Matrices of a that lie below each other and meet the same b are one higher matrix.
  int batch_rank = row;
  while (batch_rank > 0) {
    const std::int64_t extent = space.dims[batch_rank - 1];
    if (extent != 1 && (call.in[1].stride[batch_rank - 1] != 0 || call.in[0].stride[batch_rank - 1] != m * a.row ||
                        m * extent > std::numeric_limits<int>::max()))
      break;
    m *= extent;
    --batch_rank;
  }

  auto multiply = [&](std::int64_t lo, std::int64_t hi) {
    for (; lo < hi; ++lo) {
      matrix_view<U> left = a, right = b;
      std::int64_t rest = lo;
      for (int d = batch_rank - 1; d >= 0; --d) {
        const std::int64_t index = rest % space.dims[d];
        rest /= space.dims[d];
        left.data += index * call.in[0].stride[d];
        right.data += index * call.in[1].stride[d];
      }
      U* const c = out + lo * m * n;
#if defined(ONTO_HAS_CBLAS)
      if constexpr (Blas) {
        if (k > 0 && m * n * k > 4096) {
          multiply_with_blas<U>(static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, left, right, beta,
                                c);
          continue;
        }
      }
#endif
      scale_run(c, m * n, beta);
      if constexpr (Blas)  // only small ones come here
        gemm_unpacked(m, n, k, alpha, left, right, c, n);
      else
        gemm(pool, m, n, k, alpha, left, right, c);
    }
  };
  // Small products are shared out whole; a large one has all threads to itself.
  const std::int64_t batches = total / (m * n), work = m * n * (k > 0 ? k : 1);
  if (batches > 1 && (work <= (std::int64_t{1} << 18) || (!Blas && batches >= 2 * pool.size())))
    split(pool, batches, (std::int64_t{1} << 17) / work + 1, multiply);
  else
    multiply(0, batches);

  if (call.form.relu) {
    T* const values = static_cast<T*>(call.out.data);
    auto clip = [values](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t j = lo; j < hi; ++j) values[j] = values[j] < T{0} ? T{0} : values[j];  // NaN stays
    };
    split(pool, total, std::int64_t{64} << 10, clip);
  }
}

}  // namespace onto::detail
