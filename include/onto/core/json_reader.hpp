// SPDX-License-Identifier: BSL-1.0
// Reads JSON text, value by value, from bytes that may be wrong or hostile: the caller knows which value comes next. It
// allocates no more than the text is long.
#pragma once

#include <onto/core/arena.hpp>
#include <onto/core/message.hpp>

#include <cstdint>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Whether bytes are UTF-8, as RFC 3629 has it: no surrogates, nothing longer than it needs to be.
ONTO_COLD inline bool is_utf8(std::string_view s) {
  for (std::size_t k = 0; k < s.size();) {
    const auto byte = [&](std::size_t at) -> unsigned { return at < s.size() ? static_cast<unsigned char>(s[at]) : 0; };
    const unsigned first = byte(k);
    if (first < 0x80) {
      ++k;
      continue;
    }
    const int more = first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    if (more == 0 || first < 0xc2) return false;
    unsigned code = first & (0x3fu >> more);
    for (int i = 1; i <= more; ++i) {
      const unsigned next = byte(k + static_cast<std::size_t>(i));
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3f);
    }
    if (more == 2 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) return false;
    if (more == 3 && (code < 0x10000 || code > 0x10ffff)) return false;
    k += static_cast<std::size_t>(more) + 1;
  }
  return true;
}

/// A position in a JSON text. Every function but `peek` and `take` *Throws* `invalid_argument_error`, whose sentence
/// begins with `before`, where something else stands there.
/// *Source* RFC 8259.
class json_reader {
 public:
  /// Strings with escapes are decoded into `memory`; others are part of the text. All must live as long.
  ONTO_COLD json_reader(std::string_view text, std::string_view before, arena& memory)
      : text_(text), before_(before), memory_(memory) {
    if (!is_utf8(text)) malformed("it is no UTF-8");
  }

  [[noreturn]] ONTO_COLD void malformed(std::string_view what) const {
    fail<invalid_argument_error>(message(before_)
                                 << what << ", at byte " << static_cast<std::int64_t>(at_) << " of it");
  }

  /// The next character that is no space; 0 at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    return here();
  }
  bool at_end() {
    peek();
    return at_ == text_.size();
  }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  ONTO_COLD void expect(char c) {
    if (take(c)) return;
    malformed((message("there is no '") << as_text(c) << "'").text());
  }
  /// `null`, `true`, `false`.
  bool take_word(std::string_view word) {
    peek();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  ONTO_COLD std::string_view string() {
    expect('"');
    const std::size_t begin = at_;
    bool escaped = false;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) malformed("a string has a control character");
      if (text_[at_] != '\\') continue;
      escaped = true;
      ++at_;
    }
    if (at_ >= text_.size()) malformed("a string has no end");
    const std::string_view raw = text_.substr(begin, at_ - begin);
    if (!escaped) {
      ++at_;
      return raw;
    }
    at_ = begin;
    char* const to = memory_.make<char>(static_cast<int>(raw.size()));  // no escape is shorter than what it stands for
    std::size_t n = 0;
    while (text_[at_] != '"') {
      if (text_[at_] != '\\')
        to[n++] = text_[at_++];
      else
        n = unescape(to, n);
    }
    ++at_;
    return {to, n};
  }

  /// A number of digits alone, below 2^64.
  ONTO_COLD std::uint64_t whole_number() {
    peek();
    if (!is_digit()) malformed("there is no number that is whole and not negative");
    const std::size_t begin = at_;
    std::uint64_t n = 0;
    for (; is_digit(); ++at_) {
      const auto digit = static_cast<std::uint64_t>(here() - '0');
      if (n > (~std::uint64_t{0} - digit) / 10) malformed("a number is 2^64 or more");
      n = n * 10 + digit;
    }
    if (text_[begin] == '0' && at_ - begin > 1) malformed("a number begins with 0");
    if (here() == '.' || here() == 'e' || here() == 'E') malformed("a number is not written as digits alone");
    return n;
  }

  /// Passes over a value of any kind.
  ONTO_COLD void skip() {
    constexpr int deepest = 120;
    char closing[deepest];
    int depth = 0;
    do {
      const char c = peek();
      if (c == '{' || c == '[') {
        if (depth == deepest) malformed("values are nested too deeply");
        ++at_;
        closing[depth++] = c == '{' ? '}' : ']';
        if (!take(closing[depth - 1])) {
          if (c == '{') key();
          continue;
        }
        --depth;
      } else if (c == '"') {
        string();
      } else if (c == '-' || is_digit()) {
        skip_number();
      } else if (!take_word("null") && !take_word("true") && !take_word("false")) {
        malformed("there is no value");
      }
      while (depth > 0 && !take(',')) {
        expect(closing[depth - 1]);
        --depth;
      }
      if (depth > 0 && closing[depth - 1] == '}') key();
    } while (depth > 0);
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool is_digit() const { return here() >= '0' && here() <= '9'; }
  void key() {
    string();
    expect(':');
  }

  void skip_number() {
    if (here() == '-') ++at_;
    const auto digits = [this] {
      if (!is_digit()) malformed("a number has no digits");
      while (is_digit()) ++at_;
    };
    if (here() == '0')
      ++at_;
    else
      digits();
    if (is_digit()) malformed("a number begins with 0");
    if (here() == '.') {
      ++at_;
      digits();
    }
    if (here() != 'e' && here() != 'E') return;
    ++at_;
    if (here() == '+' || here() == '-') ++at_;
    digits();
  }

  unsigned hex() {
    unsigned code = 0;
    for (int k = 0; k < 4; ++k, ++at_) {
      const char c = here();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) malformed("an escape has no four digits");
      code = code << 4 | static_cast<unsigned>(digit);
    }
    return code;
  }

  /// Decodes the escape that is here. *Returns* the bytes there are now.
  std::size_t unescape(char* to, std::size_t n) {
    constexpr std::string_view known = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    ++at_;
    const char c = here();
    ++at_;
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (c != known[k]) continue;
      to[n] = meant[k];
      return n + 1;
    }
    if (c != 'u') malformed("a string has an unknown escape");
    unsigned code = hex();
    if (code >= 0xdc00 && code < 0xe000) malformed("a string has half of a character");
    if (code >= 0xd800 && code < 0xdc00) {
      if (text_.substr(at_, 2) != "\\u") malformed("a string has half of a character");
      at_ += 2;
      const unsigned low = hex();
      if (low < 0xdc00 || low >= 0xe000) malformed("a string has half of a character");
      code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
    }
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr unsigned marks[] = {0, 0xc0, 0xe0, 0xf0};
    to[n++] = static_cast<char>(marks[more] | code >> (6 * more));
    for (int k = more - 1; k >= 0; --k) to[n++] = static_cast<char>(0x80 | (code >> (6 * k) & 0x3f));
    return n;
  }

  std::string_view text_, before_;
  arena& memory_;
  std::size_t at_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
