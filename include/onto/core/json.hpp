// SPDX-License-Identifier: BSL-1.0
// JSON text, piece by piece: strings with what must be escaped in them.
#pragma once

#include <onto/core/message.hpp>

#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Writes `s` as a JSON string, with its quotes. Bytes above 127 are left alone: what is UTF-8 stays UTF-8.
/// *Source* RFC 8259, section 7.
ONTO_COLD ONTO_NOINLINE inline message& write_json_string(message& m, std::string_view s) {
  m << "\"";
  std::size_t done = 0;  // what is before it is written
  for (std::size_t k = 0; k < s.size(); ++k) {
    const auto c = static_cast<unsigned char>(s[k]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    m << s.substr(done, k - done);
    done = k + 1;
    switch (c) {
      case '"': m << "\\\""; break;
      case '\\': m << "\\\\"; break;
      case '\b': m << "\\b"; break;
      case '\f': m << "\\f"; break;
      case '\n': m << "\\n"; break;
      case '\r': m << "\\r"; break;
      case '\t': m << "\\t"; break;
      default: m << "\\u00" << as_text(hex_digits[c / 16]) << as_text(hex_digits[c % 16]);
    }
  }
  return m << s.substr(done) << "\"";
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
