// SPDX-License-Identifier: BSL-1.0
// Images as a network wants them: cropped, from bytes to floats, each channel with mean 0 and deviation 1.
#include <onto/onto.hpp>

#include <cstdint>
#include <cstdio>
#include <iostream>

using namespace onto;

constexpr int height = 40, width = 48;

inline constexpr auto images = placeholder<"images", std::uint8_t, dyn, height, width, 3>;

int main() {
  const int count = 6;
  tensor<std::uint8_t, dyn, height, width, 3> bytes({count, height, width, 3});
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j)
        for (int c = 0; c < 3; ++c)
          bytes(k, i, j, c) = static_cast<std::uint8_t>((7 * k + i * j + 31 * c + (i ^ j)) % 256);

  const auto crop = slice<range<>, range<4, 36>, range<8, 40>>(images);
  const auto pixels = cast<float>(crop) / 255.f;
  const auto middle = mean<0, 1, 2>(pixels, keep_extents);
  const auto deviation = sqrt(mean<0, 1, 2>(square(pixels - middle), keep_extents));
  const auto normal = (pixels - middle) / (deviation + 1e-6f);
  const auto gray = mean<3>(normal);
  const auto brightest = max<1, 2>(gray);

  session sess;
  const auto [ready, means, deviations, most] =
      sess.run(fetches(normal, reshape<3>(middle), reshape<3>(deviation), brightest), images = bytes);
  std::cout << means << ' ' << deviations << '\n';
  std::cout << most << '\n';
  for (int k = 0; k < count; ++k)
    std::printf("%.4f %.4f %.4f\n", ready(k, 0, 0, 0), ready(k, 15, 20, 1), ready(k, 31, 31, 2));
}
