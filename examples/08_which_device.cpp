// SPDX-License-Identifier: BSL-1.0
// Is it using the GPU? The devices there are, where a product goes, and how long it takes on each.
#include <onto/onto.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

using namespace onto;

namespace {

constexpr int size = 512;

/// The least time of some runs in milliseconds; the first run, in which memory is allocated, does not count.
template <class Step>
double milliseconds(Step step) {
  step();
  double best = 1e300;
  for (int k = 0; k < 5; ++k) {
    const auto start = std::chrono::steady_clock::now();
    step();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

int main() {
  session sess;

  // [devices]
  bool has_gpu = false;
  for (const device_info& d : sess.devices()) {
    std::cout << d.name.to_string() << (d.description.empty() ? "" : "  " + d.description) << '\n';
    has_gpu = has_gpu || d.name.kind() == "GPU";
  }
  // [devices]

  // Random numbers that are made where they are used: nothing is copied but the result, one number.
  constexpr auto x = placeholder<"x", float, size, size>;
  constexpr auto y = sum(matmul(x, x));
  std::cout << sess.placement(y).at("MatMul").to_string() << '\n';

  const tensor<float, size, size> values = sess.run(random_uniform<float, size, size>(1));
  const double cpu_time = milliseconds([&] { sess.run(on<cpu<0>>(y), x = values); });
  std::printf("CPU: %.3f ms\n", cpu_time);
  if (has_gpu) {
    const double gpu_time = milliseconds([&] { sess.run(on<gpu<0>>(y), x = values); });
    std::printf("GPU: %.3f ms, with the copy of x to the GPU; %.1f times as fast\n", gpu_time, cpu_time / gpu_time);
  } else {
    std::printf("There is no GPU here, so there is nothing to compare with.\n");
  }
}
