// SPDX-License-Identifier: BSL-1.0
// k-means: three centers move to the middle of the points that are nearest to them, until none moves.
#include <onto/onto.hpp>

#include <cstdio>
#include <iostream>
#include <random>

using namespace onto;

constexpr int clusters = 3;

inline constexpr auto points = placeholder<"points", float, dyn, 2>;
inline constexpr auto centers = placeholder<"centers", float, clusters, 2>;

int main() {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.f, 0.4f);
  tensor<float, dyn, 2> data({300, 2});
  for (int k = 0; k < 300; ++k) {
    data(k, 0) = normal(random) + static_cast<float>(k % 3) * 2.f;
    data(k, 1) = normal(random) + static_cast<float>(k % 3 == 1);
  }

  const auto away = expand_dims<1>(points) - expand_dims<0>(centers);  // (n, clusters, 2)
  const auto distance = sum<2>(square(away));
  const auto nearest = argmin<1>(distance);
  const auto member = cast<float>(expand_dims<1>(nearest) == expand_dims<0>(iota<std::int64_t, clusters>()));
  const auto size = sum<0>(member);
  const auto moved = matmul(transpose(member), points) / expand_dims<1>(maximum(size, 1.f));
  const auto inertia = sum(min<1>(distance));

  session sess;
  auto step = sess.prepare(fetches(moved, size, inertia));
  tensor<float, clusters, 2> now;
  for (int k = 0; k < clusters; ++k) {
    now(k, 0) = data(k, 0);
    now(k, 1) = data(k, 1);
  }
  for (int k = 0; k < 10; ++k) {
    auto [next, sizes, within] = step(points = data, centers = now);
    std::printf("step %d: inertia %.3f, sizes %g %g %g\n", k, double(within), double(sizes(0)), double(sizes(1)),
                double(sizes(2)));
    if (next == now) break;
    now = next;
  }
  std::cout << now << '\n';
}
