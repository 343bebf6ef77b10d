// SPDX-License-Identifier: BSL-1.0
// Tensors as text, character for character as NumPy's `str(array)` with its default options.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/shape/extents.hpp>
#include <onto/tensor/tensor.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

ONTO_BEGIN_RUNS_ONCE
namespace onto {
namespace detail {

// NumPy's defaults: numpy.get_printoptions().
inline constexpr int print_precision = 8;
inline constexpr std::int64_t print_threshold = 1000;
inline constexpr int print_edge_items = 3;
inline constexpr std::size_t print_line_width = 75;

/// A number written in tens: 0.d1d2d3... times ten to the power `point`; the digits end in no zero, and zero has none.
struct decimal {
  bool negative = false;
  std::string digits;
  int point = 0;
};

/// Reads `[-]d.ddde[+-]dd`, as printf and to_chars write it.
ONTO_COLD inline decimal read_decimal(const char* s, const char* end) {
  decimal d;
  if (s != end && *s == '-') {
    d.negative = true;
    ++s;
  }
  for (; s != end && *s != 'e'; ++s)
    if (*s >= '0' && *s <= '9') d.digits += *s;  // the point is another character in some locales
  d.point = (s != end ? static_cast<int>(std::strtol(std::string(s + 1, end).c_str(), nullptr, 10)) : 0) + 1;
  while (!d.digits.empty() && d.digits.back() == '0') d.digits.pop_back();
  if (d.digits.empty()) d.point = 1;
  return d;
}

/// The fewest digits that read back as the same number.
template <class T>
decimal shortest(T value) {
  char text[64];
  return read_decimal(text, std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr);
}

/// The same among the numbers of a type of 16 bits, of which few digits tell one from the next.
template <class T>
  requires(is_half_precision(element_of<T>))
decimal shortest(T value) {
  // Below a power of two numbers lie closer: where the nearest decimal is too far below it, the next one above may do.
  const double candidates[] = {value, value * (1 + 0.25 * std::numeric_limits<T>::epsilon())};
  char text[64];
  for (int count = 0;; ++count)
    for (double candidate : candidates) {
      const int length = std::snprintf(text, sizeof text, "%.*e", count, candidate);
      if (T(std::strtod(text, nullptr)) == value) return read_decimal(text, text + length);
    }
}

/// From which number on notation is scientific, in a column and alone: where the precision of the type ends.
template <class T>
inline constexpr double column_cutoff = is_half_precision(element_of<T>) ? 1e3
                                        : sizeof(T) == 4                 ? 1e6
                                                                         : 1e8;
template <class T>
inline constexpr double scalar_cutoff = sizeof(T) <= 4 ? column_cutoff<T> : 1e16;

/// The number itself, not its shortest digits, rounded to `count` digits.
ONTO_COLD inline decimal rounded(double value, int count) {
  char text[64];
  return read_decimal(text, text + std::snprintf(text, sizeof text, "%.*e", count - 1, value));
}

/// A number in three parts: before the point, after it, and the power of ten.
struct number_parts {
  std::string left, right, power;
};

ONTO_COLD inline number_parts positional(const decimal& d) {
  number_parts p;
  const int n = static_cast<int>(d.digits.size());
  const std::size_t whole = static_cast<std::size_t>(d.point > 0 ? (d.point < n ? d.point : n) : 0);
  p.left = (d.negative ? "-" : "") + d.digits.substr(0, whole);
  if (d.point > n && n > 0) p.left.append(static_cast<std::size_t>(d.point - n), '0');
  if (whole == 0) p.left += '0';
  if (d.point < 0 && n > 0) p.right.assign(static_cast<std::size_t>(-d.point), '0');
  p.right += d.digits.substr(whole);
  return p;
}

ONTO_COLD inline number_parts scientific(const decimal& d) {
  number_parts p;
  p.left = (d.negative ? "-" : "") + (d.digits.empty() ? std::string("0") : d.digits.substr(0, 1));
  if (!d.digits.empty()) p.right = d.digits.substr(1);
  const int power = d.point - 1;
  p.power = std::to_string(power < 0 ? -power : power);
  if (p.power.size() < 2) p.power.insert(0, "0");
  p.power.insert(0, power < 0 ? "-" : "+");
  return p;
}

inline std::string not_finite(double value) { return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf"; }

/// A number alone, as NumPy prints a scalar: `3.5`, `1.0`, `1e-05`.
template <class T>
std::string scalar_word(T value) {
  const double size = std::fabs(static_cast<double>(value));
  if (!std::isfinite(size)) return not_finite(static_cast<double>(value));
  const decimal d = shortest(value);
  if (size == 0 || (size >= 1e-4 && size < scalar_cutoff<T>)) {
    const number_parts p = positional(d);
    return p.left + "." + (p.right.empty() ? "0" : p.right);
  }
  const number_parts p = scientific(d);
  return p.left + (p.right.empty() ? "" : "." + p.right) + "e" + p.power;
}
template <std::integral T>
std::string scalar_word(T value) {
  return std::to_string(value);
}
inline std::string scalar_word(bool value) { return value ? "True" : "False"; }

/// The numbers in one column format: points in line, one notation and one precision for all.
template <class T>
std::vector<std::string> float_words(const T* data, const std::vector<std::size_t>& visible) {
  using number = computed_of<T>;
  number largest = 0, smallest = std::numeric_limits<number>::infinity();
  for (std::size_t k : visible) {
    const number size = std::fabs(static_cast<number>(data[k]));
    if (!std::isfinite(size) || size == 0) continue;
    largest = size > largest ? size : largest;
    smallest = size < smallest ? size : smallest;
  }
  // Since NumPy 2.3 large numbers change to scientific notation where the precision of their type ends. It divides in
  // the type.
  const bool is_scientific =
      largest > 0 && (largest >= static_cast<number>(column_cutoff<T>) || smallest < static_cast<number>(T(1e-4)) ||
                      static_cast<T>(largest / smallest) > number(1000));

  std::vector<number_parts> parts(visible.size());
  std::size_t left = 0, right = 0, power = 0, odd = 0;
  bool any_finite = false;
  for (std::size_t k = 0; k < visible.size(); ++k) {
    const T value = data[visible[k]];
    number_parts& p = parts[k];
    if (!std::isfinite(static_cast<number>(value))) {
      p.left = not_finite(static_cast<double>(value));
      odd = p.left.size() > odd ? p.left.size() : odd;
      continue;
    }
    any_finite = true;
    decimal d = shortest(value);
    // At most 9 digits in scientific notation; before that, numbers are from 1e-4 to 1e8, so 5 to 16 digits.
    const int most = print_precision + (is_scientific ? 1 : d.point);
    if (static_cast<int>(d.digits.size()) > most) d = rounded(static_cast<double>(value), most);
    p = is_scientific ? scientific(d) : positional(d);
    left = p.left.size() > left ? p.left.size() : left;
    right = p.right.size() > right ? p.right.size() : right;
    power = p.power.size() > power ? p.power.size() : power;
  }

  const std::size_t tail = !any_finite ? 1 : 1 + right + (is_scientific ? 1 + power : 0);
  if (odd > left + tail) left = odd - tail;
  std::vector<std::string> words(visible.size());
  for (std::size_t k = 0; k < visible.size(); ++k) {
    number_parts& p = parts[k];
    std::string& w = words[k];
    if (!std::isfinite(static_cast<number>(data[visible[k]]))) {
      w = std::string(left + tail - p.left.size(), ' ') + p.left;
      continue;
    }
    // Scientific notation fills a column with the digits the number really has, not with zeros: 1.e+10
    // beside 1.2345e+20 stays 1.0000e+10, but 5.755301e+03f in a column of 7 digits is 5.7553008e+03.
    if (is_scientific && p.right.size() < right) {
      p = scientific(rounded(static_cast<double>(data[visible[k]]), static_cast<int>(right) + 1));
      if (p.power.size() > power) power = p.power.size();
    }
    w = std::string(left - p.left.size(), ' ') + p.left + "." + p.right;
    w.append(right - p.right.size(), is_scientific ? '0' : ' ');
    if (is_scientific) w += "e" + p.power.substr(0, 1) + std::string(power - p.power.size(), '0') + p.power.substr(1);
  }
  return words;
}

template <class T>
std::vector<std::string> plain_words(const T* data, const std::vector<std::size_t>& visible) {
  std::vector<std::string> words(visible.size());
  std::size_t width = std::is_same_v<T, bool> ? 5 : 0;
  for (std::size_t k = 0; k < visible.size(); ++k) {
    words[k] = scalar_word(data[visible[k]]);
    width = words[k].size() > width ? words[k].size() : width;
  }
  for (std::string& w : words) w.insert(0, width - w.size(), ' ');
  return words;
}

/// Where the elements lie that are printed: all of them, or of every long axis the first and the last three.
ONTO_COLD inline void find_visible(const extents& shape, bool summary, int axis, std::size_t at,
                                   std::vector<std::size_t>& visible) {
  if (axis == shape.rank) {
    visible.push_back(at);
    return;
  }
  const bool gap = summary && shape[axis] > 2 * print_edge_items;
  for (int k = 0; k < shape[axis]; ++k) {
    if (gap && k == print_edge_items) k = shape[axis] - print_edge_items;
    find_visible(shape, summary, axis + 1, at * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(k),
                 visible);
  }
}

/// Puts words into brackets and lines; `arrayprint._formatArray` of NumPy.
struct print_layout {
  const extents& shape;
  bool summary;
  const std::vector<std::string>& words;
  std::size_t next = 0;
  std::string out = {};

  /// Adds a word to the line, after a line break where it would not fit.
  static void extend(std::string& done, std::string& line, const std::string& word, std::size_t width,
                     std::size_t indent) {
    if (line.size() + word.size() > width && line.size() > indent) {
      while (!line.empty() && line.back() == ' ') line.pop_back();
      done += line + "\n";
      line.assign(indent, ' ');
    }
    line += word;
  }

  void row(int axis, bool gap, std::size_t indent, std::size_t width) {
    std::string done, line(indent, ' ');
    for (int k = 0; k < shape[axis]; ++k) {
      if (k) line += ' ';
      if (gap && k == print_edge_items) {
        extend(done, line, "...", width - 1, indent);
        line += ' ';
        k = shape[axis] - print_edge_items;
      }
      extend(done, line, words[next++], width - 1, indent);
    }
    out += (done + line).substr(indent);
  }

  void write(int axis, std::size_t indent, std::size_t width) {
    const bool gap = summary && shape[axis] > 2 * print_edge_items;
    out += '[';
    if (axis + 1 == shape.rank) {
      row(axis, gap, indent, width);
    } else {
      const std::string lines(static_cast<std::size_t>(shape.rank - axis - 1), '\n');
      const std::string hanging(indent, ' ');
      for (int k = 0; k < shape[axis]; ++k) {
        if (k) out += lines + hanging;
        if (gap && k == print_edge_items) {
          out += "..." + lines + hanging;
          k = shape[axis] - print_edge_items;
        }
        write(axis + 1, indent + 1, width - 1);
      }
    }
    out += ']';
  }
};

template <class T>
std::string tensor_text(const T* data, std::size_t size, const extents& shape) {
  if (size == 0) return "[]";
  if (shape.rank == 0) return scalar_word(*data);
  const bool summary = shape.size() > print_threshold;
  std::vector<std::size_t> visible;
  find_visible(shape, summary, 0, 0, visible);
  std::vector<std::string> words;
  if constexpr (is_floating(element_of<T>))
    words = float_words(data, visible);
  else
    words = plain_words(data, visible);
  print_layout layout{shape, summary, words};
  layout.write(0, 1, print_line_width);
  return layout.out;
}

}  // namespace detail

/// The values as NumPy's `str(array)` writes them: `[[22. 28.]\n [49. 64.]]`. More than 1000 values are summarized with
/// `...`, lines break at 75 columns, and a tensor of rank 0 is its bare value.
template <tensor_element T, int... Dims>
std::string to_string(const tensor<T, Dims...>& t) {
  return detail::tensor_text(t.data(), t.size(), t.extent_values());
}
template <tensor_element T, int... Dims>
std::string to_string(const tensor_ref<T, Dims...>& t) {
  return detail::tensor_text(t.data(), t.size(), t.extent_values());
}

/// Writes `to_string(t)`.
template <class Traits, tensor_element T, int... Dims>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const tensor<T, Dims...>& t) {
  return out << to_string(t).c_str();
}
template <class Traits, tensor_element T, int... Dims>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const tensor_ref<T, Dims...>& t) {
  return out << to_string(t).c_str();
}

}  // namespace onto

ONTO_END_RUNS_ONCE
