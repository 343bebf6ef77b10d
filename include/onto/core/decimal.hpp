// SPDX-License-Identifier: BSL-1.0
// A number as C++ spells it, `0.5`, `1e-5`, `0x1p-3`, `1'000`, read by the compiler: to the nearest double, ties to
// even.
#pragma once

#include <onto/core/config.hpp>

#include <bit>
#include <cstdint>
#include <limits>

namespace onto::detail {

/// A number of any size, for exact arithmetic in constant expressions.
class big_natural {
 public:
  constexpr explicit big_natural(std::uint64_t v)
      : words_{static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(v >> 32)} {}

  constexpr void multiply_add(std::uint32_t factor, std::uint32_t addend) {
    std::uint64_t carry = addend;
    for (std::uint32_t& w : words_) {
      carry += std::uint64_t{w} * factor;
      w = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    lost_ = lost_ || carry != 0;
  }
  /// *Returns* whether the division left a remainder.
  constexpr bool divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (int k = size - 1; k >= 0; --k) {
      rest = rest << 32 | words_[k];
      words_[k] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    return rest != 0;
  }
  constexpr void double_times(int times) {
    for (; times >= 31; times -= 31) multiply_add(std::uint32_t{1} << 31, 0);
    multiply_add(std::uint32_t{1} << times, 0);
  }
  /// How many bits it takes; 0 for 0.
  constexpr int bits() const {
    for (int k = size - 1; k >= 0; --k)
      if (words_[k]) return 32 * k + 32 - std::countl_zero(words_[k]);
    return 0;
  }
  constexpr bool bit(int k) const { return k >= 0 && (words_[k / 32] >> (k % 32) & 1) != 0; }
  constexpr bool any_below(int k) const {
    for (int j = 0; j < k; ++j)
      if (bit(j)) return true;
    return false;
  }
  /// Whether it was too large for this.
  constexpr bool overflowed() const { return lost_; }

 private:
  static constexpr int size = 80;  // 2560 bits: 10^400 and 1e-400, each with a hundred digits
  std::uint32_t words_[size];
  bool lost_ = false;
};

/// `n * 2^exponent`, or a little more where `more`, as the nearest double.
constexpr double nearest_double(const big_natural& n, int exponent, bool more) {
  const int bits = n.bits();
  if (bits == 0) return 0;
  int kept = 53;  // bits of the result
  if (exponent + bits < -1021) kept -= -1021 - (exponent + bits);
  if (kept < 0) return 0;
  const int dropped = bits - kept;
  std::uint64_t m = 0;
  for (int k = bits - 1; k >= dropped; --k) m = m << 1 | (n.bit(k) ? 1 : 0);
  const bool half = n.bit(dropped - 1);
  const bool rest = more || (dropped > 1 && n.any_below(dropped - 1));
  if (half && (rest || (m & 1))) ++m;
  double r = static_cast<double>(m);
  int e = exponent + dropped;
  for (; e > 0 && r <= std::numeric_limits<double>::max(); --e) {
    if (r > std::numeric_limits<double>::max() / 2) return std::numeric_limits<double>::infinity();
    r *= 2;
  }
  for (; e < 0; ++e) r /= 2;
  return r;
}

/// What a numeric literal means.
struct literal_value {
  bool valid = true;  // else it is too large for any type
  bool floating = false;
  std::uint64_t integer = 0;
  double number = 0;
};

constexpr int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 99;
}

/// Reads the characters of a numeric literal, which the compiler has found to be one.
constexpr literal_value read_literal(const char* s, int length) {
  literal_value r;
  int k = 0;
  int base = 10;
  if (length > 1 && s[0] == '0') {
    base = s[1] == 'x' || s[1] == 'X' ? 16 : s[1] == 'b' || s[1] == 'B' ? 2 : 8;
    k = base == 8 ? 1 : 2;
    for (int j = k; base == 8 && j < length; ++j)
      if (s[j] == '.' || s[j] == 'e' || s[j] == 'E') base = 10;
  }
  big_natural mantissa(0);
  int after_point = 0;
  bool point = false;
  for (; k < length; ++k) {
    const char c = s[k];
    if (c == '\'') continue;
    if (c == '.') {
      point = true;
      r.floating = true;
      continue;
    }
    if (digit_of(c) >= base) break;  // an exponent
    mantissa.multiply_add(static_cast<std::uint32_t>(base), static_cast<std::uint32_t>(digit_of(c)));
    after_point += point ? 1 : 0;
  }
  int exponent = 0;
  if (k < length) {
    r.floating = true;
    const bool negative = s[++k] == '-';
    if (s[k] == '-' || s[k] == '+') ++k;
    for (; k < length; ++k)
      if (s[k] != '\'' && exponent < 100000) exponent = 10 * exponent + digit_of(s[k]);
    if (negative) exponent = -exponent;
  }
  if (mantissa.overflowed()) r.valid = false;
  if (!r.floating) {
    if (mantissa.bits() > 64) r.valid = false;
    for (int b = 63; b >= 0; --b) r.integer = r.integer << 1 | (mantissa.bit(b) ? 1 : 0);
    return r;
  }
  if (base == 16) {
    r.number = nearest_double(mantissa, exponent - 4 * after_point, false);
  } else {
    int ten = exponent - after_point;
    if (mantissa.bits() == 0 || ten < -500) return r;  // fewer than a hundred digits: less than the least double
    if (ten > 400) {
      r.valid = false;
      return r;
    }
    for (; ten > 0; --ten) mantissa.multiply_add(10, 0);
    int two = 0;
    bool more = false;
    if (ten < 0) {
      two = 66 + 10 * -ten / 3;  // what is left after the division has more bits than a double
      mantissa.double_times(two);
      for (; ten < 0; ++ten) more = mantissa.divide(10) || more;
    }
    if (mantissa.overflowed()) r.valid = false;
    r.number = nearest_double(mantissa, -two, more);
  }
  if (r.number > std::numeric_limits<double>::max()) r.valid = false;
  return r;
}

}  // namespace onto::detail
