// SPDX-License-Identifier: BSL-1.0
// Matrix products of floats through oneDNN, in programs that define ONTO_HAS_ONEDNN and link it: called on one thread
// for a part of the result, so that the session's threads do the work.
#pragma once

#include <onto/backend/cpu/gemm.hpp>
#include <onto/backend/cpu/library_operand.hpp>
#include <onto/core/config.hpp>
#include <onto/core/error.hpp>

#include <cstdint>

#if defined(ONTO_HAS_ONEDNN)
#include <dnnl.h>
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
#include <omp.h>
#endif

namespace onto::detail {

/// While it lives, what this thread asks of OpenMP runs on this thread.
class one_openmp_thread {
 public:
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
  one_openmp_thread() { omp_set_num_threads(1); }
  ~one_openmp_thread() { omp_set_num_threads(before_); }

 private:
  int before_ = omp_get_max_threads();
#else
  one_openmp_thread() {}
#endif
  one_openmp_thread(const one_openmp_thread&) = delete;
  one_openmp_thread& operator=(const one_openmp_thread&) = delete;
};

/// c = alpha * a × b + beta * c, with every extent at least 1.
inline void multiply_with_onednn(std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                                 const matrix_view<float>& a, const matrix_view<float>& b, float beta, float* c,
                                 std::int64_t c_row) {
  const library_operand<float> x(a, m, k), y(b, k, n);
  const char x_trans = x.form.transposed ? 'T' : 'N', y_trans = y.form.transposed ? 'T' : 'N';
  const one_openmp_thread alone;
  const auto multiply = [&](std::int64_t depth, const float* left, std::int64_t left_row, char left_trans,
                            const float* right, std::int64_t right_row, char right_trans, float scale) {
    const dnnl_status_t status =
        dnnl_sgemm(left_trans, right_trans, m, n, depth, alpha, left, left_row, right, right_row, scale, c, c_row);
    if (status != dnnl_success)
      throw internal_error("[onto.matmul] oneDNN could not multiply; configure with -DONTO_MATMUL=builtin");
  };
  // Where one of m and n is less than 1021 oneDNN reads operands where they are, both transposed at 0.75 of its speed.
  // The smaller one is transposed then, as many of its columns as are in a cache.
  if (!x.form.transposed || !y.form.transposed || 1.0 / static_cast<double>(m) + 1.0 / static_cast<double>(n) < 0.00196)
    return multiply(k, x.data, x.form.leading, x_trans, y.data, y.form.leading, y_trans, beta);
  // Rows a power of two apart would push each other out of the first cache while they are written.
  const std::int64_t most = 1024, lead = (m < n ? (k < most ? k : most) : n) + 16;
  float* const transposed = memory_of_thread<kept_memory::block>().get<float>(lead * (m < n ? m : k < most ? k : most));
  for (std::int64_t p = 0; p < k; p += most) {
    const std::int64_t depth = k - p < most ? k - p : most;
    const float scale = p == 0 ? beta : 1.0f;
    if (m < n) {
      copy_elements(sizeof(float), transposed, lead, 1, x.data + p * x.form.leading, 1, x.form.leading, m, depth);
      multiply(depth, transposed, lead, 'N', y.data + p, y.form.leading, 'T', scale);
    } else {
      copy_elements(sizeof(float), transposed, lead, 1, y.data + p, 1, y.form.leading, depth, n);
      multiply(depth, x.data + p * x.form.leading, x.form.leading, 'T', transposed, lead, 'N', scale);
    }
  }
}

}  // namespace onto::detail
#endif
