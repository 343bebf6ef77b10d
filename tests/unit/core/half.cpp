// SPDX-License-Identifier: BSL-1.0
// Conversions of half and bfloat16: every pattern of bits, and every boundary between two neighbours, beside arithmetic
// in double.
#include "../catch.hpp"

#include <onto/backend/cpu/convert.hpp>
#include <onto/core/half.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

using namespace onto;

namespace {

template <class T>
T pattern(std::uint32_t bits) {
  return T::from_bits(static_cast<std::uint16_t>(bits));
}

/// The value of a pattern, from its sign, exponent and fraction.
template <class T>
double value_of(std::uint32_t bits) {
  constexpr int fraction = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  const int exponent = static_cast<int>((bits & 0x7fffu) >> fraction);
  const double low = static_cast<double>(bits & ((1u << fraction) - 1));
  if (exponent == 2 * bias + 1) return low == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == 0) return sign * std::ldexp(low, 1 - bias - fraction);
  return sign * std::ldexp(1 + std::ldexp(low, -fraction), exponent - bias);
}

/// The same bits, but a NaN is any NaN.
template <class T>
bool same(T a, T b) {
  if (std::isnan(static_cast<float>(b))) return std::isnan(static_cast<float>(a));
  return a.bits() == b.bits();
}

template <class T>
std::uint32_t wrong_patterns() {
  std::uint32_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const T h = pattern<T>(bits);
    const float f = h;
    const double expected = value_of<T>(bits);
    const bool right =
        std::isnan(expected) ? std::isnan(f) : static_cast<double>(f) == expected && std::signbit(f) == bits >> 15;
    if (!right || !same(T(f), h) || !same(T(static_cast<double>(f)), h)) ++wrong;
  }
  return wrong;
}

/// Between each two neighbours: the middle goes to the even one, what is next to the middle to the nearer one.
template <class T>
std::uint32_t wrong_boundaries() {
  std::uint32_t wrong = 0;
  constexpr std::uint32_t infinity = static_cast<std::uint32_t>(std::numeric_limits<T>::infinity().bits());
  for (std::uint32_t bits = 0; bits < infinity; ++bits)
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const T lower = pattern<T>(sign | bits), upper = pattern<T>(sign | (bits + 1)),
              even = bits % 2 == 0 ? lower : upper;
      const double a = value_of<T>(sign | bits);
      // Beyond the largest number goes on as if there were one more.
      const double b = bits + 1 == infinity ? 2 * a - value_of<T>(sign | (bits - 1)) : value_of<T>(sign | (bits + 1));
      const double middle = (a + b) / 2;
      if (!same(T(middle), even) || !same(T(std::nextafter(middle, a)), lower) ||
          !same(T(std::nextafter(middle, b)), upper))
        ++wrong;
      const float f = static_cast<float>(middle);
      if (static_cast<double>(f) != middle) continue;  // a subnormal bfloat16's neighbours have no float between them
      if (!same(T(f), even) || !same(T(std::nextafter(f, static_cast<float>(a))), lower) ||
          !same(T(std::nextafter(f, static_cast<float>(b))), upper))
        ++wrong;
    }
  return wrong;
}

}  // namespace

TEST_CASE("every half and every bfloat16 is a float and comes back from it", "[half]") {
  CHECK(wrong_patterns<half>() == 0);
  CHECK(wrong_patterns<bfloat16>() == 0);
}

TEST_CASE("conversions round to the nearest, halfway to the even one, beyond the range to infinity", "[half]") {
  CHECK(wrong_boundaries<half>() == 0);
  CHECK(wrong_boundaries<bfloat16>() == 0);
  CHECK(half(65519.0f) == 65504);
  CHECK(half(65520.0f) == std::numeric_limits<float>::infinity());
  CHECK(half(-1e300) == -std::numeric_limits<float>::infinity());
  CHECK(bfloat16(-1e300) == -std::numeric_limits<float>::infinity());
  CHECK(half(0x1p-25) == 0);
  CHECK(half(std::nextafter(0x1p-25, 1.0)) == 0x1p-24);
  CHECK(std::signbit(static_cast<float>(half(-1e-300))));
}

TEST_CASE("not a number stays so, and is quiet", "[half]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK((half(nan).bits() & 0x7e00) == 0x7e00);
  CHECK((half(-nan).bits() & 0xfe00) == 0xfe00);
  CHECK((bfloat16(nan).bits() & 0x7fc0) == 0x7fc0);
  float signaling;
  const std::uint32_t bits = 0x7f800001;
  std::memcpy(&signaling, &bits, sizeof signaling);
  CHECK((half(signaling).bits() & 0x7e00) == 0x7e00);
  CHECK((bfloat16(signaling).bits() & 0x7fc0) == 0x7fc0);
  CHECK_FALSE(half(nan) == half(nan));
  const std::uint32_t ones = 0xffffffff;  // as sorting has them
  std::memcpy(&signaling, &ones, sizeof signaling);
  CHECK((half(signaling).bits() & 0xfe00) == 0xfe00);
  CHECK((bfloat16(signaling).bits() & 0xffc0) == 0xffc0);
}

TEST_CASE("numbers of every type convert as if rounded once", "[half]") {
  CHECK(half(1 + 0x1p-11 + 0x1p-40).bits() == half(1 + 0x1p-10).bits());  // float alone would lose the last part
  CHECK(bfloat16(1 + 0x1p-8 + 0x1p-40).bits() == bfloat16(1 + 0x1p-7).bits());
  CHECK(half(2049) == 2048);
  CHECK(half(2051) == 2052);
  CHECK(half(-2049L) == -2048);
  CHECK(half(true) == 1);
  CHECK(half('\x03') == 3);
  const std::int64_t middle = (std::int64_t{1} << 60) + (std::int64_t{1} << 52);  // between two of bfloat16
  CHECK(bfloat16(middle) == 0x1p60f);
  CHECK(bfloat16(middle + 1) == 0x1.02p60f);
  CHECK(bfloat16(-middle - 1) == -0x1.02p60f);
  CHECK(bfloat16(std::numeric_limits<std::int64_t>::min()) == -0x1p63f);
  CHECK(bfloat16(std::numeric_limits<std::uint64_t>::max()) == 0x1p64f);
  CHECK(bfloat16(half(0.5)) == 0.5f);
  CHECK(half(bfloat16(1e30f)) == std::numeric_limits<float>::infinity());
}

TEST_CASE("runs of elements convert as single ones, of any length", "[half]") {
  for (const element type : {element::float16, element::bfloat16}) {
    std::vector<std::uint16_t> stored(65536), back(65536);
    for (std::uint32_t k = 0; k < 65536; ++k) stored[k] = static_cast<std::uint16_t>(k);
    std::vector<float> floats(65536);
    detail::widen_run(type, stored.data(), 65536, floats.data());
    std::uint32_t wrong = 0;
    for (std::uint32_t k = 0; k < 65536; ++k) {
      const float single =
          type == element::float16 ? static_cast<float>(pattern<half>(k)) : static_cast<float>(pattern<bfloat16>(k));
      if (std::isnan(single) ? !std::isnan(floats[k]) : single != floats[k]) ++wrong;
      floats[k] = single * 1.0009765f + 1e-9f;  // and now to be rounded
    }
    for (const std::int64_t count : {1, 7, 8, 63, 64, 65, 130, 65536}) {
      back.assign(back.size(), 0x1234);
      detail::narrow_run(type, floats.data(), count, back.data());
      for (std::uint32_t k = 0; k < 65536; ++k) {
        const bool written = static_cast<std::int64_t>(k) < count;
        const std::uint16_t expected = !written                   ? std::uint16_t{0x1234}
                                       : type == element::float16 ? half(floats[k]).bits()
                                                                  : bfloat16(floats[k]).bits();
        if (std::isnan(floats[k]) && written ? (back[k] & 0x7f80) < 0x7c00 : back[k] != expected) ++wrong;
      }
    }
    CHECK(wrong == 0);
  }
}
