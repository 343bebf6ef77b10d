// SPDX-License-Identifier: BSL-1.0
// The heat equation on a square plate: one hot edge, three cold ones, explicit steps in time.
#include <onto/onto.hpp>

#include <cstdio>
#include <utility>

using namespace onto;

constexpr int n = 64;

inline constexpr auto u = placeholder<"u", float, n, n>;

int main() {
  const auto inner = slice<range<1, -1>, range<1, -1>>(u);
  const auto up = slice<range<0, -2>, range<1, -1>>(u);
  const auto down = slice<range<2, to_end>, range<1, -1>>(u);
  const auto left = slice<range<1, -1>, range<0, -2>>(u);
  const auto right = slice<range<1, -1>, range<2, to_end>>(u);
  const auto next_inner = inner + 0.2f * (up + down + left + right - 4.f * inner);

  // The edges stay as they are.
  const auto top = slice<range<0, 1>>(u);
  const auto bottom = slice<range<n - 1, n>>(u);
  const auto west = slice<range<1, -1>, range<0, 1>>(u);
  const auto east = slice<range<1, -1>, range<n - 1, n>>(u);
  const auto next = concat<0>(top, concat<1>(west, next_inner, east), bottom);
  const auto change = max(abs(next - u));

  tensor<float, n, n> plate;
  for (int k = 0; k < n; ++k) plate(0, k) = 100.f;

  session sess;
  auto step = sess.prepare(fetches(next, change));
  for (int k = 1; k <= 1000; ++k) {
    auto [after, most] = step(u = plate);
    plate = std::move(after);
    if (k % 200 == 0) std::printf("step %d: largest change %.5f\n", k, double(most));
  }
  for (int k = 0; k < n; k += 9) std::printf("%.3f %.3f %.3f\n", plate(k, 8), plate(k, 32), plate(k, 50));
  std::printf("mean temperature %.4f\n", double(sess.run(mean(u), u = plate)));
}
