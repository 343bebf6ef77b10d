// SPDX-License-Identifier: BSL-1.0
// Reads and writes tensors as NumPy's .npy files.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/core/error.hpp>
#include <onto/shape/extents.hpp>
#include <onto/tensor/layout.hpp>
#include <onto/tensor/npy_header.hpp>
#include <onto/tensor/storage.hpp>
#include <onto/tensor/tensor.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <bit>
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

/// An open file, or none. With <memory> for a std::unique_ptr every program would take longer to compile.
class file_handle {
 public:
  explicit file_handle(std::FILE* f) : file_(f) {}
  file_handle(const file_handle&) = delete;
  file_handle& operator=(const file_handle&) = delete;
  ~file_handle() {
    if (file_) std::fclose(file_);
  }

  std::FILE* get() const { return file_; }
  explicit operator bool() const { return file_ != nullptr; }
  std::FILE* release() {
    std::FILE* const f = file_;
    file_ = nullptr;
    return f;
  }

 private:
  std::FILE* file_;
};

[[noreturn]] ONTO_COLD inline void throw_open(const std::string& path, const char* what, int reason,
                                              const char* tag = "[onto.npy] ") {
  const std::string sentence = tag + path + ": the file cannot be " + what + ": " + std::strerror(reason);
  if (reason == ENOENT || reason == ENOTDIR) throw not_found_error(sentence + "; check the path");
  throw invalid_argument_error(sentence);
}

/// Positions in files beyond 2 GiB: fseek takes a long, which is 32 bits on some systems.
inline bool seek(std::FILE* f, std::int64_t offset, int whence) {
#if defined(_WIN32)
  return _fseeki64(f, offset, whence) == 0;
#else
  return fseeko(f, static_cast<off_t>(offset), whence) == 0;
#endif
}
inline std::int64_t tell(std::FILE* f) {
#if defined(_WIN32)
  return _ftelli64(f);
#else
  return static_cast<std::int64_t>(ftello(f));
#endif
}

/// From the other byte order into this machine's, in place.
ONTO_COLD inline void swap_bytes(unsigned char* data, std::size_t count, std::size_t width) {
  for (std::size_t k = 0; k < count; ++k, data += width)
    for (std::size_t i = 0; i < width / 2; ++i) {
      const unsigned char c = data[i];
      data[i] = data[width - 1 - i];
      data[width - 1 - i] = c;
    }
}

/// From Fortran's order, the first index fastest, to row-major.
ONTO_COLD inline void reorder(const unsigned char* from, unsigned char* to, const extents& shape, std::size_t count,
                              std::size_t width) {
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

/// Fills row-major values of this machine from the bytes of a file that `read(to, bytes)` gives.
template <class Read>
void read_npy_values(unsigned char* to, std::size_t count, element type, const npy_header& h, Read read) {
  if (count == 0) return;
  const auto width = static_cast<std::size_t>(size_of(type));
  if (h.fortran && h.shape.rank > 1) {
    storage<unsigned char> values(count * width);
    read(values.data(), count * width);
    reorder(values.data(), to, h.shape, count, width);
  } else {
    read(to, count * width);
  }
  if (h.swapped) swap_bytes(to, count, width);
  if (type == element::boolean)
    for (std::size_t k = 0; k < count; ++k) to[k] = to[k] != 0;  // another byte is no value of bool
}

/// An .npy file that is in memory. *Throws* `invalid_argument_error`, with `name` for the file's name.
template <tensor_element T, int... Dims>
tensor<T, Dims...> parse_npy(std::span<const std::byte> bytes, std::string_view name = "the data") {
  const npy_header h = parse_npy_header(bytes, name);
  const std::size_t count = check_npy(h, element_of<T>, shape<Dims...>{}, bytes.size() - h.data_at, name);
  tensor<T, Dims...> t(uninitialized, h.shape);
  read_npy_values(reinterpret_cast<unsigned char*>(t.data()), count, element_of<T>, h,
                  [&](unsigned char* to, std::size_t n) { std::memcpy(to, bytes.data() + h.data_at, n); });
  return t;
}

/// An .npy file on disk, its header read and checked, ready for its values.
struct npy_file {
  file_handle file;
  npy_header header;
  std::size_t count = 0;
  std::string path;

  ONTO_COLD npy_file(const std::string& from, element type, const extents& declared)
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

  ONTO_COLD void values(void* to, element type) {
    read_npy_values(static_cast<unsigned char*>(to), count, type, header, [&](unsigned char* into, std::size_t n) {
      if (std::fread(into, 1, n, file.get()) == n) return;
      if (std::ferror(file.get())) throw_open(path, "read", errno);
      throw_npy(path, "the file became shorter while it was read; read it again once it is complete");
    });
  }
};

template <class T>
inline constexpr bool numpy_has =
    !element_table::rows[static_cast<int>(element_of<T>)].numpy.empty() || is_text(element_of<T>);

/// `{'descr': '<f4', ...}` and what comes before it, byte for byte as numpy.save writes it.
ONTO_COLD inline std::string make_npy_header(element type, const extents& shape) {
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

ONTO_COLD inline void write_npy(const std::string& path, const void* data, std::size_t count, element type,
                                const extents& shape) {
  file_handle file(std::fopen(path.c_str(), "wb"));
  if (!file) throw_open(path, "created", errno);
  const std::string head = make_npy_header(type, shape);
  const std::size_t bytes = count * static_cast<std::size_t>(size_of(type));
  bool done = std::fwrite(head.data(), 1, head.size(), file.get()) == head.size();
  done = done && (bytes == 0 || std::fwrite(data, 1, bytes, file.get()) == bytes);
  done = done && std::fflush(file.get()) == 0;
  int reason = errno;
  if (std::fclose(file.release()) != 0 && done) {
    done = false;
    reason = errno;
  }
  if (!done)
    throw internal_error("[onto.npy] " + path + ": writing failed: " + std::strerror(reason) +
                         "; the file is not complete");
}

}  // namespace detail

/// Reads an .npy file: versions 1 to 3, C and Fortran order, either byte order.
///
/// The element type and the rank are those of the file; `dyn` takes an extent as it is. What follows the values is
/// ignored, as NumPy does. Memory is allocated only once the file is known to hold the values. *Throws*
/// `not_found_error` where there is no such file, `invalid_argument_error` with a sentence for any other.
/// *Mandates* an element type that NumPy has: not bfloat16.
/// `tensor<float, dyn, dyn> a = load_npy<float, dyn, dyn>("a.npy");`
template <tensor_element T, int... Dims>
tensor<T, Dims...> load_npy(const std::string& path) {
  detail::expect_numbers<T>();
  static_assert(detail::numpy_has<T>, "[onto.npy] NumPy has no bfloat16; load float instead, and cast<bfloat16>(x)");
  detail::npy_file file(path, element_of<T>, shape<Dims...>{});
  tensor<T, Dims...> t(detail::uninitialized, file.header.shape);
  file.values(t.data(), element_of<T>);
  return t;
}

/// Writes an .npy file, byte for byte as `numpy.save` does: version 1.0, C order, this machine's byte order.
/// *Mandates* an element type that NumPy has: not bfloat16. *Throws* `not_found_error` where the folder does not exist,
/// `invalid_argument_error` where the file cannot be created, `internal_error` where writing fails; then the file is
/// not complete.
template <tensor_element T, int... Dims>
void save_npy(const std::string& path, const tensor<T, Dims...>& t) {
  detail::expect_numbers<T>();
  static_assert(detail::numpy_has<T>, "[onto.npy] NumPy has no bfloat16; save float instead, after cast<float>(x)");
  detail::write_npy(path, t.data(), t.size(), element_of<T>, t.extent_values());
}
template <tensor_element T, int... Dims>
void save_npy(const std::string& path, const tensor_ref<T, Dims...>& t) {
  detail::expect_numbers<T>();
  static_assert(detail::numpy_has<T>, "[onto.npy] NumPy has no bfloat16; save float instead, after cast<float>(x)");
  detail::write_npy(path, t.data(), t.size(), element_of<T>, t.extent_values());
}

}  // namespace onto
