// SPDX-License-Identifier: BSL-1.0
// What is the same where compilers take it that all numbers are finite, and a quotient a product: prints NaN and
// infinities, sorts them, says where they are, and counts quotients of integers that are wrong.
#include <onto/sort.hpp>

#include <cstdint>
#include <cstring>
#include <iostream>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, dyn>;

/// 3, NaN, infinity, -1, 0, -infinity.
constexpr std::uint32_t bits[] = {0x40400000, 0x7fc00000, 0x7f800000, 0xbf800000, 0, 0xff800000};

/// Of the multiples of 49, 49 times the nearest number to 1 / 49 is less than 1.
template <class T>
int wrong_quotients() {
  constexpr auto multiples = placeholder<"multiples", T, dyn>;
  tensor<T, dyn> values({10000});
  for (int k = 0; k < 10000; ++k) values(k) = static_cast<T>(49 * k);
  const auto found = evaluate(multiples / T{49}, multiples = values);
  int wrong = 0;
  for (int k = 0; k < 10000; ++k) wrong += found(k) == static_cast<T>(k) ? 0 : 1;
  return wrong;
}

}  // namespace

int main() {
  tensor<float, dyn> values({6});
  std::memcpy(values.data(), bits, sizeof bits);
  std::cout << values << '\n'
            << evaluate(sort(x), x = values) << '\n'
            << evaluate(argsort(x), x = values) << '\n'
            << evaluate(argsort(x, descending), x = values) << '\n'
            << wrong_quotients<std::int32_t>() << ' ' << wrong_quotients<std::int64_t>() << '\n';
}
