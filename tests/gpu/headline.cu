// SPDX-License-Identifier: BSL-1.0
// A^10 + B^10: both powers on the GPU, their sum on the CPU, against the same in double precision.
#include <onto/onto.hpp>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "worse.hpp"

using namespace onto;

namespace {

inline constexpr auto a = placeholder<"a", float, dyn, dyn>;
inline constexpr auto b = placeholder<"b", float, dyn, dyn>;

template <int N>
constexpr auto matpow(auto m) {
  if constexpr (N == 1)
    return m;
  else
    return matmul(m, matpow<N - 1>(m));
}

constexpr auto c1 = on<gpu<0>>(matpow<10>(a));
constexpr auto c2 = on<gpu<0>>([] { return matpow<10>(b); });
constexpr auto total = on<cpu<0>>(add_n(c1, c2));
constexpr auto planned = plan_of(total);
static_assert(planned.kernels == 19 && planned.transfers == 4);

/// Powers of such a matrix neither vanish nor explode.
tensor<float, dyn, dyn> some_matrix(int n, std::size_t seed) {
  tensor<float, dyn, dyn> m({n, n});
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c)
      m(r, c) = static_cast<float>(gpu_test::number(seed + static_cast<std::size_t>(r * n + c)) * std::sqrt(3.0 / n));
  return m;
}

std::vector<double> power(const tensor<float, dyn, dyn>& m, int n, int exponent) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> base(m.data(), m.data() + size * size), p = base;
  for (int k = 1; k < exponent; ++k) {
    std::vector<double> next(size * size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t q = 0; q < size; ++q)
        for (std::size_t j = 0; j < size; ++j) next[i * size + j] += base[i * size + q] * p[q * size + j];
    p = next;
  }
  return p;
}

}  // namespace

TEST_CASE("the powers of two matrices on the GPU, their sum on the CPU", "[cuda][session]") {
  std::ostringstream log;
  session sess{{.log_device_placement = true, .log = &log}};
  for (const int n : {3, 64, 257}) {
    const auto first = some_matrix(n, 1), second = some_matrix(n, 1000000);
    const auto before_gpu = sess.statistics(gpu<0>{}), before_cpu = sess.statistics(cpu<0>{});
    const tensor<float, dyn, dyn> result = sess.run(total, a = first, b = second);
    const auto after_gpu = sess.statistics(gpu<0>{}), after_cpu = sess.statistics(cpu<0>{});
    CHECK(after_gpu.kernels - before_gpu.kernels == 18);
    CHECK(after_cpu.kernels - before_cpu.kernels == 1);
    CHECK(after_gpu.transfers + after_cpu.transfers - before_gpu.transfers - before_cpu.transfers == planned.transfers);
    CHECK(after_gpu.transfer_bytes - before_gpu.transfer_bytes == 4 * std::int64_t{4} * n * n);

    const std::vector<double> p = power(first, n, 10), q = power(second, n, 10);
    double worst = 0, largest = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      worst = gpu_test::worse(worst, std::fabs(p[k] + q[k] - static_cast<double>(result.data()[k])));
      largest = std::fmax(largest, std::fabs(p[k] + q[k]));
    }
    INFO(n << ": off by " << worst << " where the largest element is " << largest);
    CHECK(worst < 1e-5 * largest);
  }
  CHECK(log.str().find("device:GPU:0 -> device: 0, name: ") != std::string::npos);
  CHECK(log.str().find("MatMul: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0\n") != std::string::npos);
  CHECK(log.str().find("AddN: (AddN): /job:localhost/replica:0/task:0/device:CPU:0\n") != std::string::npos);
}
