// SPDX-License-Identifier: BSL-1.0
// A picture: read from a PGM file, blurred, written, and how often each brightness is in it, before and after.
#include <onto/image.hpp>
#include <onto/indexing.hpp>

#include <iostream>
#include <string_view>

using namespace onto;
using bytes = tensor<std::uint8_t, dyn, dyn>;  // rows and columns of grey, 0 is black

inline constexpr auto picture = placeholder<"picture", std::uint8_t, dyn, dyn>;

// [blur]
// 1 2 1 along both axes; what is beyond the edge counts as 0.
constexpr auto weighed(const auto& x) {
  const auto p = pad<padding<1>>(x);
  const auto down = slice<range<0, -2>>(p) + 2_c * x + slice<range<2>>(p);
  const auto q = pad<padding<0>, padding<1>>(down);
  return slice<range<>, range<0, -2>>(q) + 2_c * down + slice<range<>, range<2>>(q);
}

constexpr auto grey = cast<float>(picture);
constexpr auto blurred = cast<std::uint8_t>(weighed(grey) / weighed(ones_like(grey)) + 0.5_c);
constexpr auto brightness = histogram<4>(grey, 0_c, 256_c);
// [blur]

void show(const bytes& p) {
  for (int i = 0; i < p.shape()[0]; ++i) {
    for (int j = 0; j < p.shape()[1]; ++j) std::cout << std::string_view(" .:-=+*#%@")[p(i, j) / 26u];
    std::cout << '\n';
  }
}

int main() {
  constexpr std::string_view drawing[] = {"                           ", "                #          ",
                                          "  ###   ####   ####   ###  ", " #   #  #   #   #    #   # ",
                                          " #   #  #   #   #    #   # ", "  ###   #   #   ###   ###  ",
                                          "                           "};
  bytes drawn({7, 27});
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 27; ++j)
      drawn(i, j) = drawing[i][static_cast<std::size_t>(j)] == '#' ? std::uint8_t{255} : std::uint8_t{0};
  save_pgm("drawn.pgm", drawn);

  // [run]
  const auto sharp = load_pgm("drawn.pgm");
  session sess;
  const auto soft = sess.run(blurred, picture = sharp);
  save_pgm("soft.pgm", soft);

  show(sharp);
  std::cout << "brightness " << sess.run(brightness, picture = sharp) << "\n\n";
  show(load_pgm("soft.pgm"));
  std::cout << "brightness " << sess.run(brightness, picture = soft) << '\n';
  // [run]
}
