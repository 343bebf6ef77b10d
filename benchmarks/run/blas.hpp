// SPDX-License-Identifier: BSL-1.0
// The cases that a library with nothing but products answers: products with plain loops for bias and activation.
#pragma once

#include "bench.hpp"

#include <cmath>
#include <cstdint>

namespace bench {

/// A function `gemm(turn_a, turn_b, m, n, k, a, b, c, beta)` of row-major matrices.
template <class Gemm>
void add_products_of(const char* peer, const Gemm& gemm) {
  const auto product = [&](const char* name, bool turn_a, bool turn_b) {
    add(peer, name, [=](const problem& p) {
      return [=, a = input(0, p.n()), b = input(1, p.n()), r = output(p.n()), n = static_cast<int>(p.rows)] {
        gemm(turn_a, turn_b, n, n, n, a, b, r, 0.0f);
      };
    });
  };
  product("matmul", false, false);
  product("matmul_tn", true, false);
  product("matmul_nt", false, true);
  product("matmul_tt", true, true);

  const auto finish = [](float* r, const float* bias, int m, int n, bool relu, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1 && m * n > 20000)
    for (int i = 0; i < m; ++i) {
      float* const row = r + static_cast<std::int64_t>(i) * n;
#pragma omp simd
      for (int j = 0; j < n; ++j) {
        const float v = row[j] + bias[j];
        row[j] = relu && !(v > 0) ? 0 : v;
      }
    }
  };
  add(peer, "matmul_bias_relu", [=](const problem& p) {
    return [=, a = input(0, p.n()), b = input(1, p.n()), bias = input(2, p.rows), r = output(p.n()),
            n = static_cast<int>(p.rows), threads = p.threads] {
      gemm(false, false, n, n, n, a, b, r, 0.0f);
      finish(r, bias, n, n, true, threads);
    };
  });
  add(peer, "headline", [=](const problem& p) {
    return [=, a = input(0, p.n()), b = input(1, p.n()), r = output(p.n()), t0 = scratch(0, p.n()),
            t1 = scratch(1, p.n()), n = static_cast<int>(p.rows)] {
      for (const float* m : {a, b}) {
        const float* power = m;
        for (int k = 2; k <= 9; ++k) {
          float* const next = k % 2 ? t0 : t1;
          gemm(false, false, n, n, n, m, power, next, 0.0f);
          power = next;
        }
        gemm(false, false, n, n, n, m, power, r, m == b ? 1.0f : 0.0f);
      }
    };
  });
  add(peer, "perceptron", [=](const problem& p) {
    return [=, x = input(0, 256 * 784), w1 = input(1, 784 * 512), w2 = input(2, 512 * 512), w3 = input(3, 512 * 10),
            bias = input(4, 512), h1 = scratch(0, 256 * 512), h2 = scratch(1, 256 * 512), r = output(p.n()),
            threads = p.threads] {
      gemm(false, false, 256, 512, 784, x, w1, h1, 0.0f);
      finish(h1, bias, 256, 512, true, threads);
      gemm(false, false, 256, 512, 512, h1, w2, h2, 0.0f);
      finish(h2, bias, 256, 512, true, threads);
      gemm(false, false, 256, 10, 512, h2, w3, r, 0.0f);
      finish(r, bias, 256, 10, false, threads);
      for (int i = 0; i < 256; ++i) {
        float* const row = r + 10 * i;
        float largest = row[0], total = 0;
        for (int j = 1; j < 10; ++j) largest = row[j] > largest ? row[j] : largest;
        for (int j = 0; j < 10; ++j) total += row[j] = std::exp(row[j] - largest);
        for (int j = 0; j < 10; ++j) row[j] /= total;
      }
    };
  });
}

}  // namespace bench
