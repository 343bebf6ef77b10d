// SPDX-License-Identifier: BSL-1.0
// Powers with an exponent that products and square roots compute, beside the C library's in more digits.
#include <onto/onto.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

/// Zeros, infinities, NaN and the ends of the range, and numbers of all sizes and both signs.
template <class T>
std::vector<T> bases() {
  using limits = std::numeric_limits<T>;
  std::vector<T> x{T(0), -T(0), limits::infinity(), -limits::infinity(), limits::quiet_NaN(), T(1), T(-1), T(-2.5)};
  x.insert(x.end(), {limits::min(), limits::denorm_min(), limits::max(), limits::lowest()});
  for (int k = limits::min_exponent10; k <= limits::max_exponent10; ++k)
    for (const double digits : {1.0, 2.7182818, 9.99})
      x.push_back(static_cast<T>((k % 7 == 0 ? -digits : digits) * std::pow(10.0L, k)));
  return x;
}

/// Equal, or within two units of the last place; zeros and infinities of one sign.
template <class T>
bool is_power(T value, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(rounded)) return std::isnan(value);
  if (std::isinf(rounded) || rounded == 0) return value == rounded && std::signbit(value) == std::signbit(rounded);
  const T size = std::abs(rounded);
  const long double unit = std::nextafter(size, std::numeric_limits<T>::infinity()) - static_cast<long double>(size);
  return std::abs(static_cast<long double>(value) - exact) <= 2 * unit;
}

}  // namespace

TEMPLATE_TEST_CASE("powers of halves and small integers are those of the C library", "[ops]", float, double) {
  const std::vector<TestType> values = bases<TestType>();
  constexpr auto x = placeholder<"x", TestType, dyn>;
  for (const double exponent : {2.0, 3.0, 4.0, -1.0, -2.0, 0.5, -0.5, 1.5, -1.5, 1.75}) {
    const auto powers = evaluate(pow(x, static_cast<TestType>(exponent)), x = values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      INFO(values[k] << " to the power of " << exponent);
      CHECK(is_power(powers(static_cast<int>(k)), std::pow(static_cast<long double>(values[k]), exponent)));
    }
  }
}
