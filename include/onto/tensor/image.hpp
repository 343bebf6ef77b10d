// SPDX-License-Identifier: BSL-1.0
// Pictures as tensors of bytes: PGM (grey) and PPM (color) files, which every program for pictures reads and writes.
#pragma once

#include <onto/tensor/npy.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace onto {
namespace detail {

ONTO_BEGIN_RUNS_ONCE
[[noreturn]] ONTO_COLD inline void throw_image(std::string_view name, const std::string& what) {
  throw invalid_argument_error("[onto.image] " + std::string(name) + ": " + what);
}

/// The header of a PGM or PPM file, and where its values begin.
struct image_header {
  bool text = false;  // values are written as digits
  int channels = 0, width = 0, height = 0, most = 0;
  std::size_t data_at = 0;
};

/// The numbers of such a file, with comments from `#` to the end of a line between them.
class image_numbers {
 public:
  image_numbers(std::string_view text, std::size_t at, std::string_view name) : text_(text), name_(name), at_(at) {}

  std::size_t at() const { return at_; }

  /// The next number, at most `most`. *Throws* `invalid_argument_error`.
  ONTO_COLD int next(const char* what, int most) {
    for (; at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#'); ++at_)
      if (text_[at_] == '#')
        while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && value <= most; ++at_)
      value = value * 10 + (text_[at_] - '0');
    if (at_ == begin)
      throw_image(name_, std::string(at_ >= text_.size() ? "the file is cut off: " : "the file is malformed: ") +
                             "there is no " + what + " at byte " + std::to_string(begin) + "; save the picture anew");
    if (value > most)
      throw_image(name_, std::string("the ") + what + " at byte " + std::to_string(begin) + " is more than " +
                             std::to_string(most) + "; save the picture anew, with 8 bits a channel");
    return static_cast<int>(value);
  }

  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

 private:
  std::string_view text_, name_;
  std::size_t at_;
};

/// Reads the header of a picture with so many channels: 1, P2 or P5, or 3, P3 or P6. Its values are there, all of them.
/// *Throws* `invalid_argument_error`. *Source* https://netpbm.sourceforge.net/doc/pgm.html
ONTO_COLD inline image_header parse_image_header(std::string_view text, int channels, std::string_view name) {
  image_header h;
  const char kind = text.size() >= 2 && text[0] == 'P' ? text[1] : '\0';
  if (kind != '2' && kind != '3' && kind != '5' && kind != '6')
    throw_image(name,
                "this is no PGM or PPM file: it does not begin with P2, P3, P5 or P6; convert the picture to one");
  h.text = kind == '2' || kind == '3';
  h.channels = kind == '2' || kind == '5' ? 1 : 3;
  if (h.channels != channels)
    throw_image(name, channels == 1 ? "the picture has colors; load it with load_ppm, or convert it to grey"
                                    : "the picture is grey; load it with load_pgm");
  image_numbers numbers(text, 2, name);
  h.width = numbers.next("width", 2147483647);
  h.height = numbers.next("height", 2147483647);
  h.most = numbers.next("greatest value", 255);
  if (h.most == 0) throw_image(name, "the greatest value is 0; save the picture anew");
  h.data_at = numbers.at();
  if (h.data_at == text.size() || !image_numbers::is_space(text[h.data_at]))
    throw_image(name, "the file is cut off, or malformed, after its header; save the picture anew");
  ++h.data_at;
  // Of a number, its digits and what parts it from the next are two bytes at least.
  const std::uint64_t there = text.size() - h.data_at, held = h.text ? there / 2 + 1 : there;
  std::uint64_t wanted = 0;
  if (__builtin_mul_overflow(std::uint64_t(h.width) * std::uint64_t(h.height), std::uint64_t(channels), &wanted) ||
      wanted > held)
    throw_image(name, "the file is cut off: " + std::to_string(h.width) + " by " + std::to_string(h.height) +
                          " pixels need more than the " + std::to_string(there) + " bytes that follow the header");
  return h;
}

/// The values of a picture, black 0 and white 255.
ONTO_COLD inline void parse_image_values(std::uint8_t* to, std::size_t count, std::string_view text,
                                         const image_header& h, std::string_view name) {
  if (h.text) {
    image_numbers numbers(text, h.data_at, name);
    for (std::size_t k = 0; k < count; ++k) to[k] = static_cast<std::uint8_t>(numbers.next("value", h.most));
  } else if (count > 0) {
    std::memcpy(to, text.data() + h.data_at, count);
  }
  if (h.most == 255) return;
  for (std::size_t k = 0; k < count; ++k) {
    if (to[k] > h.most)
      throw_image(name, "value " + std::to_string(k) + " is " + std::to_string(to[k]) +
                            " where the header says at most " + std::to_string(h.most) + "; save the picture anew");
    to[k] = static_cast<std::uint8_t>((to[k] * 255 + h.most / 2) / h.most);
  }
}

/// A picture that is in memory. *Throws* `invalid_argument_error`, with `name` for the file's name.
template <int... Channels>
tensor<std::uint8_t, dyn, dyn, Channels...> parse_image(std::string_view text, std::string_view name = "the data") {
  const image_header h = parse_image_header(text, (1 * ... * Channels), name);
  tensor<std::uint8_t, dyn, dyn, Channels...> t(uninitialized, std::array{h.height, h.width, Channels...});
  parse_image_values(t.data(), t.size(), text, h, name);
  return t;
}

/// All bytes of a file.
ONTO_COLD inline storage<char> read_image_file(const std::string& path) {
  file_handle file(std::fopen(path.c_str(), "rb"));
  if (!file) throw_open(path, "opened", errno, "[onto.image] ");
  std::fgetc(file.get());  // of a folder, this fails
  if (std::ferror(file.get())) throw_open(path, "read", errno, "[onto.image] ");
  const std::int64_t size = seek(file.get(), 0, SEEK_END) ? tell(file.get()) : -1;
  if (size < 0 || !seek(file.get(), 0, SEEK_SET))
    throw_open(path, "read, because it has no size", errno, "[onto.image] ");
  storage<char> bytes(static_cast<std::size_t>(size));
  if (std::fread(bytes.data(), 1, bytes.size(), file.get()) == bytes.size()) return bytes;
  if (std::ferror(file.get())) throw_open(path, "read", errno, "[onto.image] ");
  throw_image(path, "the file became shorter while it was read; read it again once it is complete");
}

ONTO_COLD inline void write_image(const std::string& path, const char* kind, const std::uint8_t* values,
                                  std::size_t count, int height, int width) {
  const std::string head = std::string(kind) + "\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  write_file(path, head, values, count, "[onto.image] ");
}
ONTO_END_RUNS_ONCE

/// A picture that is no tensor of bytes.
template <class Picture>
struct pictures_are_bytes {
  using reported = void;
  static constexpr bool ok = sizeof(Picture) == 0;
  static_assert(ok == true,
                "[onto.image] a picture is a tensor of bytes, rows by columns for save_pgm, and by 3 for save_ppm: "
                "sess.run(cast<std::uint8_t>(clip(x, 0, 255)))");
};
template <class Picture, class Wanted>
concept other_than = !std::is_convertible_v<const Picture&, Wanted>;

}  // namespace detail

/// Reads a grey picture, a PGM file of 8 bits, binary or as text: rows by columns, black 0, white 255 (a file whose
/// greatest value is less is scaled). What follows the picture is ignored. *Throws* `not_found_error` where there is no
/// such file, `invalid_argument_error` with a sentence for any other.
/// `tensor<std::uint8_t, dyn, dyn> picture = load_pgm("a.pgm");`
inline tensor<std::uint8_t, dyn, dyn> load_pgm(const std::string& path) {
  const detail::storage<char> bytes = detail::read_image_file(path);
  return detail::parse_image<>(std::string_view(bytes.data(), bytes.size()), path);
}

/// Reads a picture in color, a PPM file of 8 bits a channel: rows by columns by red, green, blue. As `load_pgm`.
inline tensor<std::uint8_t, dyn, dyn, 3> load_ppm(const std::string& path) {
  const detail::storage<char> bytes = detail::read_image_file(path);
  return detail::parse_image<3>(std::string_view(bytes.data(), bytes.size()), path);
}

/// Writes a grey picture, rows by columns, as a binary PGM file. *Throws* `not_found_error` where the folder does not
/// exist, `invalid_argument_error` where the file cannot be created, `internal_error` where writing fails; then the
/// file is not complete.
inline void save_pgm(const std::string& path, const tensor_ref<std::uint8_t, dyn, dyn>& picture) {
  detail::write_image(path, "P5", picture.data(), picture.size(), picture.shape()[0], picture.shape()[1]);
}
template <detail::other_than<tensor_ref<std::uint8_t, dyn, dyn>> Picture>
void save_pgm(const std::string&, const Picture&) {
  static_cast<void>(static_cast<typename detail::pictures_are_bytes<Picture>::reported*>(nullptr));
}

/// Writes a picture in color, rows by columns by red, green, blue, as a binary PPM file. As `save_pgm`.
inline void save_ppm(const std::string& path, const tensor_ref<std::uint8_t, dyn, dyn, 3>& picture) {
  detail::write_image(path, "P6", picture.data(), picture.size(), picture.shape()[0], picture.shape()[1]);
}
template <detail::other_than<tensor_ref<std::uint8_t, dyn, dyn, 3>> Picture>
void save_ppm(const std::string&, const Picture&) {
  static_cast<void>(static_cast<typename detail::pictures_are_bytes<Picture>::reported*>(nullptr));
}

}  // namespace onto
