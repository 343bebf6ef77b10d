// SPDX-License-Identifier: BSL-1.0
// How .npy files are read and written.
#pragma once

#include <onto/core/error.hpp>
#include <onto/tensor/layout.hpp>
#include <onto/tensor/npy.hpp>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#if ONTO_DEFINITIONS
ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

[[noreturn]] ONTO_COLD ONTO_RUNTIME void throw_npy(std::string_view name, const std::string& what) {
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

ONTO_COLD ONTO_RUNTIME npy_header parse_npy_header(std::span<const std::byte> bytes, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, 4) == "PK\3\4")
    throw_npy(name, "this is an .npz archive; with #include <onto/npz.hpp> it is load_npz<T, ...>(path, name)");
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

ONTO_COLD ONTO_RUNTIME std::size_t check_npy(const npy_header& h, element type, const extents& declared,
                                             std::uint64_t bytes, std::string_view name) {
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

ONTO_COLD ONTO_RUNTIME std::string make_npy_header(element type, const extents& shape) {
  const element_row& row = element_table::rows[static_cast<int>(type)];
  const char order = row.size == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  std::string text =
      std::string("{'descr': '") + order + std::string(row.numpy) + "', 'fortran_order': False, 'shape': (";
  for (int k = 0; k < shape.rank; ++k) text += (k ? ", " : "") + std::to_string(shape[k]);
  text += shape.rank == 1 ? ",), }" : "), }";
  // Room for the first extent to grow to 21 digits, so that rows can be added in place.
  if (shape.rank > 0) text.append(21 - std::to_string(shape[0]).size(), ' ');
  text.append(64 - (10 + text.size() + 1) % 64, ' ');
  text += '\n';
  std::string head = "\x93NUMPY";
  head += '\1';
  head += '\0';
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

}  // namespace onto::detail
ONTO_END_RUNS_ONCE

namespace onto::detail {

[[noreturn]] ONTO_COLD ONTO_RUNTIME void throw_open(const std::string& path, const char* what, int reason,
                                                    const char* tag) {
  const std::string sentence = tag + path + ": the file cannot be " + what + ": " + std::strerror(reason);
  if (reason == ENOENT || reason == ENOTDIR) throw not_found_error(sentence + "; check the path");
  throw invalid_argument_error(sentence);
}

ONTO_COLD ONTO_RUNTIME void swap_bytes(unsigned char* data, std::size_t count, std::size_t width) {
  for (std::size_t k = 0; k < count; ++k, data += width)
    for (std::size_t i = 0; i < width / 2; ++i) {
      const unsigned char c = data[i];
      data[i] = data[width - 1 - i];
      data[width - 1 - i] = c;
    }
}

ONTO_COLD ONTO_RUNTIME void reorder(const unsigned char* from, unsigned char* to, const extents& shape,
                                    std::size_t count, std::size_t width) {
  std::size_t stride[max_rank + 1] = {1};
  for (int k = 0; k < shape.rank; ++k) stride[k + 1] = stride[k] * static_cast<std::size_t>(shape[k]);
  int index[max_rank] = {};
  std::size_t at = 0;
  for (std::size_t n = 0; n < count; ++n, to += width) {
    std::memcpy(to, from + at * width, width);
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      at += stride[axis];
      if (++index[axis] < shape[axis]) break;
      at -= stride[axis + 1];
      index[axis] = 0;
    }
  }
}

ONTO_COLD ONTO_RUNTIME npy_file::npy_file(const std::string& from, element type, const extents& declared)
    : file(std::fopen(from.c_str(), "rb")), path(from) {
  if (!file) throw_open(path, "opened", errno);
  std::byte head[npy_prologue_limit];
  const std::size_t got = std::fread(head, 1, sizeof head, file.get());
  if (std::ferror(file.get())) throw_open(path, "read", errno);
  const std::int64_t size = seek(file.get(), 0, SEEK_END) ? tell(file.get()) : -1;
  if (size < 0) throw_open(path, "read, because it has no size", errno);
  header = parse_npy_header({head, got}, path);
  const std::uint64_t rest = static_cast<std::uint64_t>(size) - header.data_at;
  count = check_npy(header, type, declared, static_cast<std::uint64_t>(size) < header.data_at ? 0 : rest, path);
  if (!seek(file.get(), static_cast<std::int64_t>(header.data_at), SEEK_SET)) throw_open(path, "read", errno);
}

ONTO_COLD ONTO_RUNTIME void npy_file::values(void* to, element type) {
  read_npy_values(static_cast<unsigned char*>(to), count, type, header, [&](unsigned char* into, std::size_t n) {
    if (std::fread(into, 1, n, file.get()) == n) return;
    if (std::ferror(file.get())) throw_open(path, "read", errno);
    throw_npy(path, "the file became shorter while it was read; read it again once it is complete");
  });
}

ONTO_COLD ONTO_RUNTIME void write_file(const std::string& path, std::string_view head, const void* data,
                                       std::size_t bytes, const char* tag) {
  file_handle file(std::fopen(path.c_str(), "wb"));
  if (!file) throw_open(path, "created", errno, tag);
  bool done = std::fwrite(head.data(), 1, head.size(), file.get()) == head.size();
  done = done && (bytes == 0 || std::fwrite(data, 1, bytes, file.get()) == bytes);
  done = done && std::fflush(file.get()) == 0;
  int reason = errno;
  if (std::fclose(file.release()) != 0 && done) {
    done = false;
    reason = errno;
  }
  if (!done)
    throw internal_error(tag + path + ": writing failed: " + std::strerror(reason) + "; the file is not complete");
}

ONTO_COLD ONTO_RUNTIME void write_npy(const std::string& path, const void* data, std::size_t count, element type,
                                      const extents& shape) {
  write_file(path, make_npy_header(type, shape), data, count * static_cast<std::size_t>(size_of(type)), "[onto.npy] ");
}

}  // namespace onto::detail
#endif
