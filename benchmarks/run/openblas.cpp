// SPDX-License-Identifier: BSL-1.0
// OpenBLAS through CBLAS. Which kernels it takes is in the report: OPENBLAS_CORETYPE decides where it does not know the
// CPU.
#include "blas.hpp"

#include <cblas.h>

namespace {

void register_cases() {
  bench::add_products_of("openblas", [](bool turn_a, bool turn_b, int m, int n, int k, const float* a, const float* b,
                                        float* c, float beta) {
    cblas_sgemm(CblasRowMajor, turn_a ? CblasTrans : CblasNoTrans, turn_b ? CblasTrans : CblasNoTrans, m, n, k, 1, a,
                turn_a ? m : k, b, turn_b ? k : n, beta, c, n);
  });
  bench::on_threads(openblas_set_num_threads);
  bench::say_version("openblas", std::string(openblas_get_config()) + ", kernels: " + openblas_get_corename());
}
const bench::peer registered(register_cases);

}  // namespace
