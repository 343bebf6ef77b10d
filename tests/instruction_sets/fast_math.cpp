// SPDX-License-Identifier: BSL-1.0
// What goes by bits, and so is the same where compilers take it that all numbers are finite: prints NaN and infinities,
// sorts them, and says where they are.
#include <onto/sort.hpp>

#include <cstdint>
#include <cstring>
#include <iostream>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn>;

/// 3, NaN, infinity, -1, 0, -infinity.
constexpr std::uint32_t bits[] = {0x40400000, 0x7fc00000, 0x7f800000, 0xbf800000, 0, 0xff800000};

}  // namespace

int main() {
  tensor<float, dyn> values({6});
  std::memcpy(values.data(), bits, sizeof bits);
  std::cout << values << '\n'
            << evaluate(sort(x), x = values) << '\n'
            << evaluate(argsort(x), x = values) << '\n'
            << evaluate(argsort(x, descending), x = values) << '\n';
}
