// SPDX-License-Identifier: BSL-1.0
// Sentences, piece by piece: what errors and logs are written with. Out of line, since `a + b + c` on strings is slow
// to compile.
#pragma once

#include <onto/core/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class message {
 public:
  message() = default;
  explicit message(std::string_view first) { *this << first; }

  ONTO_COLD ONTO_NOINLINE message& operator<<(std::string_view s) {
    text_.append(s.data(), s.size());
    return *this;
  }
  ONTO_COLD ONTO_NOINLINE message& operator<<(std::int64_t n) {
    char digits[24];
    int k = 24;
    std::uint64_t u = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    do {
      digits[--k] = static_cast<char>('0' + u % 10);
      u /= 10;
    } while (u);
    if (n < 0) digits[--k] = '-';
    text_.append(digits + k, static_cast<std::size_t>(24 - k));
    return *this;
  }

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  void clear() { text_.clear(); }

 private:
  std::string text_;
};

/// One character. A number of another type than `std::size_t` would have the standard ask whether it ends a range.
constexpr std::string_view as_text(const char& c) { return {&c, std::size_t{1}}; }

inline constexpr char hex_digits[] = "0123456789abcdef";

template <class Error>
[[noreturn]] ONTO_COLD ONTO_NOINLINE void fail(const message& m) {
  throw Error(m.text());
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
