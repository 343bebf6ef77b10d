// SPDX-License-Identifier: BSL-1.0
// BLIS by its own typed interface. It is opened for itself: its BLAS functions have the names of OpenBLAS'.
#include "blas.hpp"

#include <blis.h>

#include <dlfcn.h>

namespace {

decltype(&bli_sgemm) product = nullptr;
decltype(&bli_thread_set_num_threads) set_threads = nullptr;

void register_cases() {
  void* const library = dlopen(BENCH_BLIS_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!library) return;
  product = reinterpret_cast<decltype(product)>(dlsym(library, "bli_sgemm"));
  set_threads = reinterpret_cast<decltype(set_threads)>(dlsym(library, "bli_thread_set_num_threads"));
  const auto version =
      reinterpret_cast<decltype(&bli_info_get_version_str)>(dlsym(library, "bli_info_get_version_str"));
  if (!product || !set_threads || !version) return;
  bench::add_products_of(
      "blis", [](bool turn_a, bool turn_b, int m, int n, int k, const float* a, const float* b, float* c, float beta) {
        float one = 1;
        product(turn_a ? BLIS_TRANSPOSE : BLIS_NO_TRANSPOSE, turn_b ? BLIS_TRANSPOSE : BLIS_NO_TRANSPOSE, m, n, k, &one,
                const_cast<float*>(a), turn_a ? m : k, 1, const_cast<float*>(b), turn_b ? k : n, 1, &beta, c, n, 1);
      });
  bench::on_threads([](int n) { set_threads(n); });
  bench::say_version("blis", version());
}
const bench::peer registered(register_cases);

}  // namespace
