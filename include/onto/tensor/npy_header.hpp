// SPDX-License-Identifier: BSL-1.0
// The header of an .npy file, read from bytes that may be wrong or hostile. It allocates nothing a file could make
// large.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/core/error.hpp>
#include <onto/shape/extents.hpp>
#include <onto/tensor/layout.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The longest header that is read, as in NumPy, and with what comes before it.
inline constexpr std::size_t npy_header_limit = 10000;
inline constexpr std::size_t npy_prologue_limit = 12 + npy_header_limit;

/// What the header of an .npy file says.
struct npy_header {
  std::string type;         // as written: '<f4'
  bool swapped = false;     // bytes are in the other order than this machine's
  bool fortran = false;     // the first index is the one whose values lie next to each other
  extents shape;            // known, not negative
  std::size_t data_at = 0;  // where the values begin
};

[[noreturn]] ONTO_COLD inline void throw_npy(std::string_view name, const std::string& what) {
  throw invalid_argument_error("[onto.npy] " + std::string(name) + ": " + what);
}

/// Reads the header's text, a Python dictionary such as
/// `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
class npy_dictionary {
 public:
  npy_dictionary(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  ONTO_COLD void read(npy_header& h) {
    bool type = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !type) {
        type = true;
        if (peek() == '[' || peek() == '(' || peek() == '{')
          throw_npy(name_, "the elements are structures with fields; save one field as an array of its own");
        h.type = quoted();
      } else if (key == "fortran_order" && !order) {
        order = true;
        h.fortran = boolean();
      } else if (key == "shape" && !shape) {
        shape = true;
        h.shape = tuple();
      } else {
        malformed("it has the key '" + key + "' where descr, fortran_order and shape are expected once each");
      }
      if (!take(',') && peek() != '}') malformed("it has no ',' or '}' after '" + key + "'");
    }
    if (peek() != '\0' || at_ != text_.size()) malformed("something follows its '}'");
    if (!type || !order || !shape) malformed("it must have the keys descr, fortran_order and shape");
  }

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    throw_npy(name_, "the header is malformed: " + what + "; write the file anew with numpy.save");
  }

  /// The next character that is no space, or 0 at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) malformed("there is no '" + std::string(1, c) + "' at position " + std::to_string(at_));
  }
  bool take_word(std::string_view word) {
    peek();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') malformed("there is no text in quotes at position " + std::to_string(at_));
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] < ' ' || text_[at_] > '~' || text_[at_] == '\\' || at_ - begin > 40)
        malformed("the text in quotes at position " + std::to_string(begin) + " is not a plain short word");
      ++at_;
    }
    if (at_ == text_.size()) malformed("a quote is not closed");
    return std::string(text_.substr(begin, at_++ - begin));
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    malformed("fortran_order is neither True nor False");
  }

  extents tuple() {
    extents shape;
    bool comma = true;
    expect('(');
    while (!take(')')) {
      if (!comma) malformed("its shape has no ',' between two extents");
      if (shape.rank == max_rank)
        throw_npy(name_, "the array has more than " + std::to_string(max_rank) + " dimensions; reshape it to fewer");
      shape.push_back(extent(shape.rank));
      comma = take(',');
    }
    if (shape.rank == 1 && !comma) malformed("its shape is a number, not a tuple");
    return shape;
  }

  int extent(int axis) {
    const bool negative = take('-');
    std::string digits;
    peek();
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) digits += text_[at_];
    if (digits.empty()) malformed("extent " + std::to_string(axis) + " of its shape is not a number");
    take('L');  // Python 2 wrote long integers so
    if (negative)
      throw_npy(name_, "extent " + std::to_string(axis) + " of the shape is -" + digits.substr(0, 20) +
                           "; an extent is 0 or positive");
    std::int64_t value = 0;
    for (char d : digits) {
      value = value * 10 + (d - '0');
      if (value > std::numeric_limits<int>::max())
        throw_npy(name_, "extent " + std::to_string(axis) + " of the shape, " + digits.substr(0, 20) +
                             ", is more than 2147483647; split the array into smaller ones");
    }
    return static_cast<int>(value);
  }

  std::string_view text_, name_;
  std::size_t at_ = 0;
};

/// Reads an .npy header from the first bytes of a file: all of them, or at least `npy_prologue_limit`. `name` is what
/// errors call it. *Throws* `invalid_argument_error`.
ONTO_COLD inline npy_header parse_npy_header(std::span<const std::byte> bytes, std::string_view name = "the data") {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, 4) == "PK\3\4")
    throw_npy(name, "this is an .npz archive; unpack it and load the .npy files in it");
  if (text.substr(0, 6) != "\x93NUMPY") throw_npy(name, "this is not an .npy file: it does not begin with \\x93NUMPY");
  if (text.size() < 10) throw_npy(name, "the file is cut off in its header");
  const int major = static_cast<int>(bytes[6]), minor = static_cast<int>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw_npy(name, "the format version is " + std::to_string(major) + "." + std::to_string(minor) +
                        " and 1.0, 2.0 and 3.0 can be read; save the array with numpy.save");
  const std::size_t width = major == 1 ? 2 : 4;
  if (text.size() < 8 + width) throw_npy(name, "the file is cut off in its header");
  std::size_t length = 0;
  for (std::size_t k = 0; k < width; ++k) length |= static_cast<std::size_t>(bytes[8 + k]) << (8 * k);
  if (length > npy_header_limit)
    throw_npy(name, "the header claims " + std::to_string(length) + " bytes, and at most " +
                        std::to_string(npy_header_limit) + " are read; save the array with numpy.save");
  if (length > text.size() - 8 - width) throw_npy(name, "the file is cut off in its header");

  npy_header h;
  npy_dictionary(text.substr(8 + width, length), name).read(h);
  h.data_at = 8 + width + length;
  const char other = std::endian::native == std::endian::little ? '>' : '<';
  h.swapped = !h.type.empty() && h.type[0] == other;
  return h;
}

/// The element type that `h.type` names. *Throws* `invalid_argument_error` where onto has none.
ONTO_COLD inline element npy_element(const npy_header& h, std::string_view name) {
  std::string_view code = h.type;
  if (!code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos) code.remove_prefix(1);
  for (const element_row& row : element_table::rows)
    if (!row.numpy.empty() && code == row.numpy) return row.type;
  if (code == "O" || code == "O8" || code == "O4")
    throw_npy(name,
              "the elements are Python objects, which are not read; convert the array with astype and save again");
  std::string known;
  for (const element_row& row : element_table::rows)
    if (!row.numpy.empty()) known += (known.empty() ? "" : ", ") + std::string(row.numpy);
  throw_npy(name, "the element type is '" + h.type + "', and these can be read: " + known +
                      "; convert the array with astype and save again");
}

/// The number of elements, once everything the header says fits the tensor asked for and the bytes that are there.
ONTO_COLD inline std::size_t check_npy(const npy_header& h, element type, const extents& declared, std::uint64_t bytes,
                                       std::string_view name) {
  const element found = npy_element(h, name);
  if (found != type)
    throw_npy(name, "the elements are " + std::string(name_of(found)) + " ('" + h.type + "') where " +
                        std::string(name_of(type)) + " was asked for; ask for " + std::string(name_of(found)) +
                        ", or convert the array with astype");
  if (!may_agree(h.shape, declared))
    throw_npy(name, "the array has shape " + to_string(h.shape) + " where shape " + to_string(declared) +
                        " was asked for; ask for the shape of the file, or dyn where an extent varies");
  const std::uint64_t held = bytes / static_cast<std::uint64_t>(size_of(type));
  std::uint64_t count = 1;
  for (int k = 0; k < h.shape.rank; ++k)
    if (h.shape[k] == 0) return 0;
  for (int k = 0; k < h.shape.rank; ++k) {
    const auto extent = static_cast<std::uint64_t>(h.shape[k]);
    if (count > held / extent) {
      count = held + 1;
      break;
    }
    count *= extent;
  }
  if (count > held)
    throw_npy(name, "the file is cut off: shape " + to_string(h.shape) + " of " + std::string(name_of(type)) +
                        " needs more than the " + std::to_string(bytes) + " bytes that follow the header");
  return static_cast<std::size_t>(count);
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
