// SPDX-License-Identifier: BSL-1.0
// A program of the next standard, compiled with -ffast-math: what onto computes is as exact as without, and NaN
// and infinities are what they are. Numbers are made and compared by their bits, since this program's own code is
// compiled as if there were none.
#include <onto/onto.hpp>

#include <bit>
#include <cstdint>
#include <iostream>

using namespace onto;

namespace {

constexpr std::uint32_t infinity = 0x7f800000, not_a_number = 0x7fc00000, zero = 0, one = 0x3f800000,
                        half_of_one = 0x3f000000;

int wrong = 0;

void expect(const char* what, const tensor<float, 4>& got, std::uint32_t a, std::uint32_t b, std::uint32_t c,
            std::uint32_t d) {
  const std::uint32_t expected[] = {a, b, c, d};
  for (int k = 0; k < 4; ++k) {
    const auto bits = std::bit_cast<std::uint32_t>(got.data()[k]);
    const bool both_nan = (bits & 0x7fffffff) > infinity && (expected[k] & 0x7fffffff) > infinity;
    if (bits == expected[k] || both_nan) continue;
    std::cout << what << ": element " << k << " has the bits " << bits << ", not " << expected[k] << "; " << got
              << '\n';
    wrong = 1;
  }
}

}  // namespace

int main() {
  tensor<float, 4> x;
  const std::uint32_t values[] = {infinity, not_a_number, zero, half_of_one};
  for (int k = 0; k < 4; ++k) x.data()[k] = std::bit_cast<float>(values[k]);
  const auto e = constant(x);

  expect("x", x, infinity, not_a_number, zero, half_of_one);
  expect("1 / x", evaluate(1 / e), zero, not_a_number, infinity, 0x40000000);
  expect("x == x", evaluate(cast<float>(e == e)), one, zero, one, one);
  expect("rsqrt", evaluate(rsqrt(e)), zero, not_a_number, infinity, 0x3fb504f3);
  expect("log", evaluate(log(e)), infinity, not_a_number, 0xff800000, 0xbf317218);
  expect("log1p", evaluate(log1p(e)), infinity, not_a_number, zero, 0x3ecf991f);
  expect("relu", evaluate(relu(e)), infinity, not_a_number, zero, half_of_one);
  expect("maximum", evaluate(maximum(e, 0.25f)), infinity, not_a_number, 0x3e800000, half_of_one);

  // A number whose value only the run has.
  session sess;
  const auto same = sess.run(random_uniform<float, 4>(7));
  const auto again = evaluate(random_uniform<float, 4>(7));
  for (int k = 0; k < 4; ++k) wrong |= same(k) != again(k);
  return wrong;
}
