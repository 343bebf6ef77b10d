// SPDX-License-Identifier: BSL-1.0
// The grammar of device names: reads one from text, or says where it is wrong and what was probably meant.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/error.hpp>
#include <onto/core/message.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail::device_grammar {

/// What a device name says; an empty text or `any` is a part left open.
struct parts {
  static constexpr int any = -1;

  std::string job;
  int replica = any;
  int task = any;
  std::string kind;
  int index = any;

  friend bool operator==(const parts&, const parts&) = default;
};

/// One text from several. In one place, as every inlined append costs a user's compiler time.
ONTO_COLD ONTO_NOINLINE inline std::string joined(std::initializer_list<std::string_view> pieces) {
  std::string out;
  for (std::string_view piece : pieces) out.append(piece.data(), piece.size());
  return out;
}

/// `before` and the number; empty for `any`.
ONTO_COLD ONTO_NOINLINE inline std::string numbered(const char* before, int number) {
  message m;
  if (number != parts::any) m << before << number;
  return m.text();
}

/// `text` between quotes, for an error: unprintable bytes as \xNN, long texts cut.
ONTO_COLD ONTO_NOINLINE inline std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 72;
  message out("'");
  for (std::size_t k = 0; k < text.size() && k < longest; ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    if (byte >= ' ' && byte <= '~')
      out << as_text(text[k]);
    else
      out << "\\x" << as_text(hex_digits[byte / 16]) << as_text(hex_digits[byte % 16]);
  }
  out << (text.size() > longest ? "...'" : "'");
  return out.text();
}

constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_ascii_letter(char c) { return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z'; }

constexpr bool equal_but_for_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (ascii_lower(a[k]) != ascii_lower(b[k])) return false;
  return true;
}

/// Insertions, deletions and substitutions from `a` to `b`, capitals aside (Levenshtein); `b` has up to 15 letters.
constexpr std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::size_t row[16]{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (ascii_lower(a[i - 1]) == ascii_lower(b[j - 1]) ? 0u : 1u);
      diagonal = row[j];
      const std::size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = substitute < other ? substitute : other;
    }
  }
  return row[b.size()];
}

/// The one word of a device name that `word` is a slip of; empty if there is none or if several are as near.
constexpr std::string_view nearest_device_word(std::string_view word) {
  constexpr std::string_view words[] = {"job", "replica", "task", "device", "cpu", "gpu"};
  if (equal_but_for_case(word, "cuda")) return "gpu";
  if (word == "physical_device") return "device";  // as TensorFlow lists them
  if (word.size() > 16) return {};
  std::string_view best;
  std::size_t least = 3;
  for (std::string_view candidate : words) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance * 2 > candidate.size()) continue;
    if (distance == least) best = {};
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/// A letter, then letters, digits and `_`: a job, or a kind of device.
constexpr bool is_device_word(std::string_view word) {
  if (word.empty() || !is_ascii_letter(word[0])) return false;
  for (char c : word)
    if (!is_ascii_letter(c) && !is_ascii_digit(c) && c != '_') return false;
  return true;
}

/// One pass over the text of one device name.
///   name   := "" | "/" | short | ("/" part)+
///   part   := "job:" word | "replica:" number | "task:" number | "device:" word [":" number] | short
///   short  := ("cpu" | "gpu", in any case) [":" number]
///   word   := letter (letter | digit | "_")* | "*"
///   number := digit+ | "*"
/// Each part comes once, a short one counting as a device, and `device:*` takes no index but `*`.
class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  ONTO_COLD parts read() {
    if (text_.empty() || text_ == "/") return {};
    if (text_[0] != '/') {
      if (text_.find('/') != text_.npos)
        fail(text_.substr(0, 1), "does not begin a name; write '/' before the first part");
      component(text_);
      return std::move(parts_);
    }
    for (std::size_t at = 0; at != text_.npos;) {
      const std::size_t next = text_.find('/', at + 1);
      component(text_.substr(at + 1, next == text_.npos ? text_.npos : next - at - 1));
      at = next;
    }
    return std::move(parts_);
  }

 private:
  // Every view passed below is a part of text_, so that its place in it is the column.

  ONTO_COLD void component(std::string_view part) {
    const std::size_t colon = part.find(':');
    const bool has_value = colon != part.npos;
    const std::string_view key = part.substr(0, colon);
    const std::string_view value = part.substr(has_value ? colon + 1 : part.size());

    const bool slash = text_[0] == '/';
    if (slash && key == "device") {
      once(key, has_device_);
      require(has_value, value, "device", "KIND:INDEX");
      device(value);
    } else if (equal_but_for_case(key, "cpu") || equal_but_for_case(key, "gpu")) {
      once(key, has_device_);
      parts_.kind = canonical_kind(key);
      if (has_value) parts_.index = number(value);
    } else if (slash && key == "job") {
      once(key, has_job_);
      require(has_value, value, "job", "NAME");
      if (value != "*") parts_.job = word(value, "a job");
    } else if (slash && (key == "replica" || key == "task")) {
      once(key, key == "task" ? has_task_ : has_replica_);
      require(has_value, value, key, "NUMBER");
      (key == "task" ? parts_.task : parts_.replica) = number(value);
    } else {
      unknown(part, key);
    }
  }

  ONTO_COLD void device(std::string_view value) {
    const std::size_t colon = value.find(':');
    const std::string_view kind = value.substr(0, colon);
    if (kind != "*") parts_.kind = canonical_kind(word(kind, "a kind of device"));
    if (colon == value.npos) return;
    const std::string_view index = value.substr(colon + 1);
    parts_.index = number(index);
    if (kind == "*" && parts_.index != parts::any)
      fail(kind,
           "leaves the kind of device open, and an index counts devices of one kind; write the kind, or no index");
  }

  ONTO_COLD std::string_view word(std::string_view value, const char* what) {
    if (is_device_word(value)) return value;
    fail(value, joined({"is not the name of ", what,
                        "; it starts with a letter and goes on with letters, digits and '_', or is '*' for any"}));
  }

  ONTO_COLD int number(std::string_view value) {
    if (value == "*") return parts::any;
    constexpr int largest = 2147483647;
    int n = 0;
    bool fits = true;
    bool digits = !value.empty();
    for (char c : value) {
      if (!is_ascii_digit(c)) {
        digits = false;
        break;
      }
      const int digit = c - '0';
      fits = fits && n <= (largest - digit) / 10;
      if (fits) n = n * 10 + digit;
    }
    if (!digits) fail(value, "is not a number; write digits, or '*' for any");
    if (!fits) fail(value, "is too large; the largest number is 2147483647");
    return n;
  }

  ONTO_COLD static std::string canonical_kind(std::string_view kind) {
    if (equal_but_for_case(kind, "cpu")) return "CPU";
    if (equal_but_for_case(kind, "gpu")) return "GPU";
    return std::string(kind);
  }

  ONTO_COLD void once(std::string_view key, bool& seen) {
    if (seen) {
      fail(key, &seen == &has_device_ ? "names a second device; one name has one device"
                                      : "is given twice; write each part once");
    }
    seen = true;
  }

  ONTO_COLD void require(bool has_value, std::string_view at, std::string_view key, const char* form) {
    if (has_value) return;
    fail(at, joined({"is where a value is missing; write '/", key, ":", form, "'"}));
  }

  [[noreturn]] ONTO_COLD void unknown(std::string_view part, std::string_view key) {
    if (part.empty()) fail(part, "is where a part is missing; remove the '/' before it");
    constexpr std::string_view not_a_part = "is not a part of a device name";
    std::string_view stem = key;
    while (!stem.empty() && is_ascii_digit(stem.back())) stem.remove_suffix(1);
    const std::string_view guess = nearest_device_word(key);
    if (!key.empty() && key == guess)
      fail(key,
           joined({not_a_part, " without a '/'; did you mean ", device_grammar::quoted(joined({"/", part})), "?"}));
    if (stem != key && (equal_but_for_case(stem, "cpu") || equal_but_for_case(stem, "gpu")))
      fail(key, joined({not_a_part, "; did you mean '", stem, ":", key.substr(stem.size()), "'?"}));
    if (!guess.empty()) fail(key, joined({not_a_part, "; did you mean '", guess, "'?"}));
    fail(key, joined({not_a_part,
                      "; the parts are /job:NAME, /replica:NUMBER, /task:NUMBER, /device:KIND:INDEX, short /cpu:INDEX, "
                      "/gpu:INDEX"}));
  }

  [[noreturn]] ONTO_COLD ONTO_NOINLINE void fail(std::string_view at, std::string_view why) {
    const std::ptrdiff_t column = at.data() - text_.data() + 1;
    const bool at_end = at.empty() && at.data() == text_.data() + text_.size();
    const bool blank = at.find_first_of(" \t\r\n") != at.npos;
    throw invalid_argument_error(
        joined({"[onto.device] device name ", device_grammar::quoted(text_), ", column ", std::to_string(column), ": ",
                at_end       ? "the end"
                : at.empty() ? "the empty text"
                             : device_grammar::quoted(at),
                " ", why, blank ? " (there is white space in it)" : ""}));
  }

  std::string_view text_;
  parts parts_;
  bool has_job_ = false;
  bool has_replica_ = false;
  bool has_task_ = false;
  bool has_device_ = false;
};

}  // namespace onto::detail::device_grammar

ONTO_END_RUNS_ONCE
