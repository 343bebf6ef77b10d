// SPDX-License-Identifier: BSL-1.0
// How tensors are printed: one text for all element types, made in plain memory. With std::string and std::vector every
// program that prints would compile some hundred functions of theirs.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/core/not_finite.hpp>
#include <onto/core/text_buffer.hpp>
#include <onto/shape/extents.hpp>
#include <onto/tensor/print.hpp>
#include <onto/tensor/print_strings.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

// NumPy's defaults: numpy.get_printoptions().
inline constexpr int print_precision = 8;
inline constexpr std::int64_t print_threshold = 1000;
inline constexpr int print_edge_items = 3;
inline constexpr int print_line_width = 75;

/// A number written in tens: 0.d1d2d3... times ten to the power `point`; the digits end in no zero, and zero has none.
struct decimal {
  bool negative = false;
  int count = 0;  // of digits: at most 17 tell a double from all others
  int point = 0;
  char digits[24];

  /// Reads `[-]d.ddde[+-]dd`, as printf and to_chars write it.
  ONTO_COLD explicit decimal(const char* s, const char* end) {
    if (s != end && *s == '-') {
      negative = true;
      ++s;
    }
    for (; s != end && *s != 'e'; ++s)
      if (*s >= '0' && *s <= '9') digits[count++] = *s;  // the point is another character in some locales
    int power = 0;
    const bool below = end - s > 1 && s[1] == '-';
    for (; s != end; ++s)
      if (*s >= '0' && *s <= '9') power = 10 * power + (*s - '0');
    point = (below ? -power : power) + 1;
    while (count > 0 && digits[count - 1] == '0') --count;
    if (count == 0) point = 1;
  }

  /// The number itself, not its shortest digits, rounded to so many digits.
  ONTO_COLD static decimal rounded(double value, int digits) {
    char text[64];
    return decimal(text, text + std::snprintf(text, sizeof text, "%.*e", digits - 1, value));
  }
};

/// A double as the nearest number of a floating type, as a double.
ONTO_COLD inline double nearest(element type, double value) {
  switch (type) {
    case element::float32: return static_cast<double>(static_cast<float>(value));
    case element::float16: return static_cast<double>(static_cast<float>(half(value)));
    case element::bfloat16: return static_cast<double>(static_cast<float>(bfloat16(value)));
    default: return value;
  }
}

/// The fewest digits that read back as the same number of the type.
ONTO_COLD inline decimal shortest(element type, double value) {
  char text[64];
  if (type == element::float32)
    return decimal(
        text, std::to_chars(text, text + sizeof text, static_cast<float>(value), std::chars_format::scientific).ptr);
  if (type == element::float64)
    return decimal(text, std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr);
  // In 16 bits few digits tell one number from the next. Below a power of two numbers lie closer: where the nearest
  // decimal is too far below it, the next one above may do.
  const double epsilon = type == element::float16 ? 0x1p-10 : 0x1p-7;
  const double candidates[] = {value, value * (1 + 0.25 * epsilon)};
  for (int count = 0;; ++count)
    for (double candidate : candidates) {
      const int length = std::snprintf(text, sizeof text, "%.*e", count, candidate);
      if (nearest(type, std::strtod(text, nullptr)) == value) return decimal(text, text + length);
    }
}

/// From which number on notation is scientific, in a column and alone: where the precision of the type ends.
constexpr double column_cutoff(element type) {
  return is_half_precision(type) ? 1e3 : type == element::float32 ? 1e6 : 1e8;
}
constexpr double scalar_cutoff(element type) { return type == element::float64 ? 1e16 : column_cutoff(type); }

/// A number in three parts: before the point, after it, and the power of ten; how long each is, and each written.
struct number_parts {
  const decimal& d;
  bool is_scientific;

  int sign() const { return d.negative ? 1 : 0; }
  int whole() const { return d.point < 0 ? 0 : d.point < d.count ? d.point : d.count; }  // digits before the point

  int left() const { return sign() + (is_scientific || whole() == 0 ? 1 : d.point); }
  int right() const {
    if (is_scientific) return d.count > 1 ? d.count - 1 : 0;
    return (d.point < 0 && d.count > 0 ? -d.point : 0) + d.count - whole();
  }
  int power() const {
    if (!is_scientific) return 0;
    const int size = d.point > 0 ? d.point - 1 : 1 - d.point;
    return size >= 100 ? 4 : 3;
  }

  ONTO_COLD void write_left(text_buffer& out) const {
    out.put('-', sign());
    const int digits = is_scientific ? (d.count > 0 ? 1 : 0) : whole();
    out.put(d.digits, digits);
    if (digits == 0) out.put('0');
    if (!is_scientific && d.count > 0) out.put('0', d.point - d.count);
  }
  ONTO_COLD void write_right(text_buffer& out) const {
    const int first = is_scientific ? 1 : whole();
    if (!is_scientific && d.count > 0) out.put('0', -d.point);
    out.put(d.digits + first, d.count - first);
  }
  /// The power with its sign, in at least so many characters.
  ONTO_COLD void write_power(text_buffer& out, int width) const {
    char text[16];
    const int power = d.point - 1;
    out.put(text, std::snprintf(text, sizeof text, "%+0*d", width, power));
  }
};

class values_printer {
 public:
  values_printer(text_buffer& out, const void* data, element type, const extents& shape)
      : out_(out), values_(data), type_(type), shape_(shape) {}

  ONTO_COLD void run() {
    const std::int64_t size = shape_.size();
    if (size == 0) {
      out_.put("[]", 2);
    } else if (shape_.rank == 0) {
      write_alone();
    } else {
      is_summary_ = size > print_threshold;
      if (!is_text(type_)) {
        measure(0, 0);
        finish_column();
      }
      write(0, 0, 1, print_line_width);
    }
  }

 private:
  std::string_view string(std::int64_t at) const { return static_cast<const onto::text*>(values_)[at].view(); }

  /// A floating element, exactly.
  ONTO_COLD double number(std::int64_t at) const {
    switch (type_) {
      case element::float32: return static_cast<double>(static_cast<const float*>(values_)[at]);
      case element::float16: return static_cast<double>(static_cast<float>(static_cast<const half*>(values_)[at]));
      case element::bfloat16: return static_cast<double>(static_cast<float>(static_cast<const bfloat16*>(values_)[at]));
      default: return static_cast<const double*>(values_)[at];
    }
  }

  /// An integer or truth as text; *Returns* its first character, the last one ends at `end`.
  ONTO_COLD const char* whole(std::int64_t at, char* end) const {
    std::uint64_t size = 0;
    std::int64_t value = 0;
    switch (type_) {
      case element::boolean: return static_cast<const bool*>(values_)[at] ? "True" : "False";
      case element::int8: value = static_cast<const std::int8_t*>(values_)[at]; break;
      case element::int16: value = static_cast<const std::int16_t*>(values_)[at]; break;
      case element::int32: value = static_cast<const std::int32_t*>(values_)[at]; break;
      case element::int64: value = static_cast<const std::int64_t*>(values_)[at]; break;
      case element::uint8: size = static_cast<const std::uint8_t*>(values_)[at]; break;
      case element::uint16: size = static_cast<const std::uint16_t*>(values_)[at]; break;
      case element::uint32: size = static_cast<const std::uint32_t*>(values_)[at]; break;
      default: size = static_cast<const std::uint64_t*>(values_)[at];
    }
    if (value != 0) size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    *end = '\0';
    do {
      *--end = static_cast<char>('0' + size % 10);
      size /= 10;
    } while (size);
    if (value < 0) *--end = '-';
    return end;
  }

  /// A tensor of rank 0, as NumPy prints a scalar: `3.5`, `1.0`, `1e-05`.
  ONTO_COLD void write_alone() {
    char text[24];
    if (is_text(type_)) return put(string(0));
    if (!is_floating(type_)) return put(whole(0, text + sizeof text - 1));
    const double value = number(0), size = std::fabs(value);
    if (!is_finite(size)) return put(not_finite(value));
    const decimal d = shortest(type_, value);
    const number_parts p{d, !(size == 0 || (size >= 1e-4 && size < scalar_cutoff(type_)))};
    p.write_left(out_);
    if (p.right() > 0 || !p.is_scientific) out_.put('.');
    p.write_right(out_);
    if (p.is_scientific) {
      out_.put('e');
      p.write_power(out_, 3);
    } else if (p.right() == 0) {
      out_.put('0');
    }
  }

  void put(std::string_view s) { out_.put(s.data(), static_cast<int>(s.size())); }

  bool has_gap(int axis) const { return is_summary_ && shape_[axis] > 2 * print_edge_items; }

  /// Looks twice at what is printed, all of it or of every long axis the first and the last three: at first how large
  /// the numbers are, from which the notation follows, and then how wide they are in it.
  ONTO_COLD void measure(int axis, std::int64_t at) {
    visit(axis, at, false);
    if (!is_floating(type_)) return;
    // Since NumPy 2.3 large numbers change to scientific notation where the precision of their type ends. It divides in
    // the type.
    const double ratio = type_ == element::float64
                             ? largest_ / smallest_
                             : static_cast<double>(static_cast<float>(largest_) / static_cast<float>(smallest_));
    is_scientific_ = largest_ > 0 && (largest_ >= column_cutoff(type_) || smallest_ < nearest(type_, 1e-4) ||
                                      nearest(type_, ratio) > 1000);
    visit(axis, at, true);
  }
  ONTO_COLD void visit(int axis, std::int64_t at, bool widths) {
    if (axis == shape_.rank) return widths ? measure_width(at) : measure_size(at);
    for (int k = 0; k < shape_[axis]; ++k) {
      if (k == print_edge_items && has_gap(axis)) k = shape_[axis] - print_edge_items;
      visit(axis + 1, at * shape_[axis] + k, widths);
    }
  }

  ONTO_COLD void measure_size(std::int64_t at) {
    if (!is_floating(type_)) {
      char text[24];
      const int size = static_cast<int>(std::strlen(whole(at, text + sizeof text - 1)));
      width_ = size > width_ ? size : width_;
      return;
    }
    const double size = std::fabs(number(at));
    if (!is_finite(size) || size == 0) return;
    largest_ = size > largest_ ? size : largest_;
    smallest_ = size < smallest_ ? size : smallest_;
  }

  ONTO_COLD void measure_width(std::int64_t at) {
    const double value = number(at);
    if (!is_finite(value)) {
      const int size = static_cast<int>(std::strlen(not_finite(value)));
      width_ = size > width_ ? size : width_;
      return;
    }
    any_finite_ = true;
    const decimal d = column_digits(value);
    const number_parts p{d, is_scientific_};
    left_ = p.left() > left_ ? p.left() : left_;
    right_ = p.right() > right_ ? p.right() : right_;
    power_ = p.power() > power_ ? p.power() : power_;
  }

  /// At most 9 digits in scientific notation; before that, numbers are from 1e-4 to 1e8, so 5 to 16 digits.
  ONTO_COLD decimal column_digits(double value) const {
    const decimal d = shortest(type_, value);
    const int most = print_precision + (is_scientific_ ? 1 : d.point);
    return d.count > most ? decimal::rounded(value, most) : d;
  }

  /// How wide the column is: of what is no number, as of the others.
  ONTO_COLD void finish_column() {
    if (type_ == element::boolean && width_ < 5) width_ = 5;
    if (!is_floating(type_)) return;
    const int tail = any_finite_ ? 1 + right_ + (is_scientific_ ? 1 + power_ : 0) : 1;
    if (width_ > left_ + tail) left_ = width_ - tail;
    width_ = left_ + tail;
  }

  /// One element in the column.
  ONTO_COLD void write_word(std::int64_t at, int indent, int room) {
    if (is_text(type_)) {
      text_buffer quoted;  // columns of texts are not aligned
      const int characters = write_quoted(quoted, string(at));
      start_word(characters, indent, room);
      return put({quoted.data(), quoted.size()});
    }
    char text[24];
    const char* word = nullptr;
    if (!is_floating(type_)) {
      word = whole(at, text + sizeof text - 1);
    } else if (!is_finite(number(at))) {
      word = not_finite(number(at));
    }
    if (word) {
      start_word(width_, indent, room);
      out_.put(' ', width_ - static_cast<int>(std::strlen(word)));
      return put(word);
    }
    // Scientific notation fills a column with the digits the number really has, not with zeros: 1.e+10
    // beside 1.2345e+20 stays 1.0000e+10, but 5.755301e+03f in a column of 7 digits is 5.7553008e+03.
    const double value = number(at);
    const decimal few = column_digits(value);
    const bool is_short = is_scientific_ && number_parts{few, true}.right() < right_;
    const decimal d = is_short ? decimal::rounded(value, right_ + 1) : few;
    const number_parts p{d, is_scientific_};
    if (p.power() > power_) power_ = p.power();
    start_word(left_ + 1 + right_ + (is_scientific_ ? 1 + power_ : 0), indent, room);
    out_.put(' ', left_ - p.left());
    p.write_left(out_);
    out_.put('.');
    p.write_right(out_);
    out_.put(is_scientific_ ? '0' : ' ', right_ - p.right());
    if (is_scientific_) {
      out_.put('e');
      p.write_power(out_, power_);
    }
  }

  /// A word of so many characters follows: in a new line where it would not fit into this one.
  ONTO_COLD void start_word(int characters, int indent, int room) {
    if (line_ + characters > room && line_ > indent) {
      out_.drop_spaces();
      out_.put('\n');
      out_.put(' ', indent);
      line_ = indent;
    }
    line_ += characters;
  }

  /// The elements along the last axis; `arrayprint._formatArray` of NumPy.
  ONTO_COLD void write_row(int axis, std::int64_t at, int indent, int room) {
    line_ = indent;  // the brackets stand there
    for (int k = 0; k < shape_[axis]; ++k) {
      if (k) space();
      if (k == print_edge_items && has_gap(axis)) {
        start_word(3, indent, room);
        put("...");
        space();
        k = shape_[axis] - print_edge_items;
      }
      write_word(at * shape_[axis] + k, indent, room);
    }
  }
  void space() {
    out_.put(' ');
    ++line_;
  }

  ONTO_COLD void write(int axis, std::int64_t at, int indent, int width) {
    out_.put('[');
    if (axis + 1 == shape_.rank) {
      write_row(axis, at, indent, width - 1);
    } else {
      for (int k = 0; k < shape_[axis]; ++k) {
        if (k) next_line(axis, indent);
        if (k == print_edge_items && has_gap(axis)) {
          put("...");
          next_line(axis, indent);
          k = shape_[axis] - print_edge_items;
        }
        write(axis + 1, at * shape_[axis] + k, indent + 1, width - 1);
      }
    }
    out_.put(']');
  }
  void next_line(int axis, int indent) {
    out_.put('\n', shape_.rank - axis - 1);
    out_.put(' ', indent);
  }

  text_buffer& out_;
  const void* values_;
  element type_;
  const extents& shape_;
  bool is_summary_ = false, is_scientific_ = false, any_finite_ = false;
  double largest_ = 0, smallest_ = std::numeric_limits<double>::max();
  int left_ = 0, right_ = 0, power_ = 0;  // characters of the parts of a number in the column
  int width_ = 0;                         // of a word in it; until that is known, of the widest that is no number
  int line_ = 0;                          // characters of the line so far
};

#if ONTO_DEFINITIONS
ONTO_RUNTIME void print_values(text_buffer& out, const void* data, element type, const extents& shape) {
  values_printer(out, data, type, shape).run();
}
#endif

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
