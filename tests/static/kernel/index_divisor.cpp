// SPDX-License-Identifier: BSL-1.0
// Division by a multiplication and a shift gives what division gives.
#include <onto/kernel/index_divisor.hpp>

#include <initializer_list>

using namespace onto::detail;

namespace {

constexpr std::int64_t longest = 0x7fffffffffffffff, longest_short = 0x7fffffff;

/// Around every multiple that could be off by one: the first, the last and some between.
template <class Divisor>
constexpr bool divides(std::int64_t d, std::int64_t most) {
  const Divisor by(d);
  for (std::int64_t q : {std::int64_t{0}, std::int64_t{1}, most / d / 3, most / d})
    for (std::int64_t n : {q * d - 1, q * d, q * d + (d - 1)})
      if (n >= 0 && n <= most && static_cast<std::int64_t>(by.divide(static_cast<decltype(by.divide(0))>(n))) != n / d)
        return false;
  return static_cast<std::int64_t>(by.divide(static_cast<decltype(by.divide(0))>(most))) == most / d;
}

template <class Divisor>
constexpr bool divides_by_all(std::int64_t most_divisor, std::int64_t most) {
  for (std::int64_t d = 1; d <= 100; ++d)
    if (!divides<Divisor>(d, most)) return false;
  for (std::int64_t p = 128; p > 0 && p < most_divisor / 2; p *= 2)
    for (std::int64_t d : {p - 1, p, p + 1})
      if (!divides<Divisor>(d, most)) return false;
  return divides<Divisor>(most_divisor, most);
}
static_assert(divides_by_all<short_divisor>(longest_short, longest_short));
static_assert(divides_by_all<index_divisor>(std::int64_t{1} << 62, std::int64_t{1} << 62));
static_assert(divides<index_divisor>(3, longest / 3 * 3 - 1) &&
              divides<index_divisor>(1000000007, longest - 1000000007));
// Nothing is divided by the extent of a space without elements.
static_assert(index_divisor(0).divisor == 0);

}  // namespace
