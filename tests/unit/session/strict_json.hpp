// SPDX-License-Identifier: BSL-1.0
// A reader of JSON for tests: whether a text is JSON to the letter.
#pragma once

#include <string>
#include <string_view>

namespace onto_test {

/// Reads JSON (RFC 8259) to the letter, and decodes the last string it met.
class strict_json {
 public:
  explicit strict_json(std::string_view text) : text_(text) {}

  bool valid() { return value() && (space(), at_ == text_.size()); }
  std::string last_string;

 private:
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool digits() {
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > first;
  }
  bool number() {
    take("-");
    if (!take("0") && !digits()) return false;
    if (take(".") && !digits()) return false;
    if (take("e") || take("E")) {
      if (!take("+")) take("-");
      return digits();
    }
    return true;
  }
  bool string() {
    if (!take("\"")) return false;
    last_string.clear();
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        last_string += c;
        continue;
      }
      constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
      const char e = at_ < text_.size() ? text_[at_++] : '\0';
      if (const auto k = letters.find(e); e && k != std::string_view::npos) {
        last_string += meanings[k];
      } else if (e == 'u' && text_.size() - at_ >= 4) {
        int code = 0;
        for (int digit = 0; digit < 4; ++digit) {
          const auto d = std::string_view("0123456789abcdef").find(text_[at_++]);
          if (d == std::string_view::npos) return false;
          code = 16 * code + static_cast<int>(d);
        }
        if (code > 0x7f) return false;  // nothing else is written so
        last_string += static_cast<char>(code);
      } else {
        return false;
      }
    }
    return take("\"");
  }
  template <class Item>
  bool list(std::string_view close, Item item) {
    space();
    if (take(close)) return true;
    do {
      space();
      if (!item()) return false;
      space();
    } while (take(","));
    return take(close);
  }
  bool value() {
    space();
    if (take("{")) return list("}", [&] { return string() && (space(), take(":")) && value(); });
    if (take("[")) return list("]", [&] { return value(); });
    if (at_ < text_.size() && text_[at_] == '"') return string();
    return take("true") || take("false") || take("null") || number();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace onto_test
