// SPDX-License-Identifier: BSL-1.0
// The heat equation on a square plate: one hot edge, three cold ones, explicit steps in time.
#include <Eigen/Dense>

#include <cstdio>

constexpr int n = 64;

using grid = Eigen::Array<float, n, n, Eigen::RowMajor>;

int main() {
  grid plate = grid::Zero();
  plate.row(0) = 100.f;

  grid next = plate;
  for (int k = 1; k <= 1000; ++k) {
    const auto inner = plate.block<n - 2, n - 2>(1, 1);
    const auto up = plate.block<n - 2, n - 2>(0, 1);
    const auto down = plate.block<n - 2, n - 2>(2, 1);
    const auto left = plate.block<n - 2, n - 2>(1, 0);
    const auto right = plate.block<n - 2, n - 2>(1, 2);
    next.block<n - 2, n - 2>(1, 1) = inner + 0.2f * (up + down + left + right - 4.f * inner);
    const float change = (next - plate).abs().maxCoeff();
    plate = next;
    if (k % 200 == 0) std::printf("step %d: largest change %.5f\n", k, double(change));
  }
  for (int k = 0; k < n; k += 9)
    std::printf("%.3f %.3f %.3f\n", double(plate(k, 8)), double(plate(k, 32)), double(plate(k, 50)));
  std::printf("mean temperature %.4f\n", double(plate.mean()));
}
