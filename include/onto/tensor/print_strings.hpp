// SPDX-License-Identifier: BSL-1.0
// How a text is printed among others: between quotes, as Python's `repr` of it.
#pragma once

#include <onto/core/text_buffer.hpp>

#include <cstddef>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The bytes of the UTF-8 character that `s` begins with, at most 4; 0 where it begins with none. Not taken for one:
/// more bytes than it needs, halves of surrogate pairs, what is beyond U+10FFFF. *Source* The Unicode Standard, table
/// 3-7.
constexpr std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u; };
  const auto follows = [&](std::size_t k, unsigned first = 0x80, unsigned last = 0xbf) {
    return byte(k) >= first && byte(k) <= last;
  };
  const unsigned lead = byte(0);
  if (s.empty() || lead < 0x80) return s.empty() ? 0 : 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef)
    return follows(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  if (lead >= 0xf0 && lead <= 0xf4)
    return follows(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}

/// Writes the text between quotes. Bytes that are no UTF-8 and control characters are written `\xff`. *Returns* how
/// many characters that is.
ONTO_COLD inline int write_quoted(text_buffer& out, std::string_view s) {
  const char quote = s.find('\'') != s.npos && s.find('"') == s.npos ? '"' : '\'';
  int written = 2;
  out.put(quote);
  for (std::size_t k = 0; k < s.size();) {
    const auto c = static_cast<unsigned char>(s[k]);
    std::size_t length = utf8_length(s.substr(k, 4));
    const bool controls =
        c < 0x20 || c == 0x7f || (c == 0xc2 && length == 2 && static_cast<unsigned char>(s[k + 1]) < 0xa0);
    if (const char named = c == '\n'                    ? 'n'
                           : c == '\r'                  ? 'r'
                           : c == '\t'                  ? 't'
                           : c == '\\' || s[k] == quote ? s[k]
                                                        : '\0') {
      const char escaped[] = {'\\', named};
      out.put(escaped, 2);
      written += 2;
    } else if (length == 0 || controls) {
      constexpr char digits[] = "0123456789abcdef";
      if (controls && length == 2) ++k, length = 1;  // U+0080 to U+009F are their last byte
      const auto value = static_cast<unsigned char>(s[k]);
      const char escaped[] = {'\\', 'x', digits[value >> 4], digits[value & 15]};
      out.put(escaped, 4);
      written += 4;
    } else {
      out.put(s.data() + k, static_cast<int>(length));
      ++written;
    }
    k += length ? length : 1;
  }
  out.put(quote);
  return written;
}

}  // namespace onto::detail
ONTO_END_RUNS_ONCE
