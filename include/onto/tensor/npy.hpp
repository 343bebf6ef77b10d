// SPDX-License-Identifier: BSL-1.0
// Reads and writes tensors as NumPy's .npy files.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/shape/extents.hpp>
#include <onto/tensor/npy_header.hpp>
#include <onto/tensor/storage.hpp>
#include <onto/tensor/tensor.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace onto {

template <tensor_element T, int... Dims>
class shared_tensor;

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

[[noreturn]] ONTO_RUNTIME void throw_open(const std::string& path, const char* what, int reason,
                                          const char* tag = "[onto.npy] ");

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
ONTO_RUNTIME void swap_bytes(unsigned char* data, std::size_t count, std::size_t width);

/// From Fortran's order, the first index fastest, to row-major.
ONTO_RUNTIME void reorder(const unsigned char* from, unsigned char* to, const extents& shape, std::size_t count,
                          std::size_t width);

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

  ONTO_RUNTIME npy_file(const std::string& from, element type, const extents& declared);
  ONTO_RUNTIME void values(void* to, element type);
};

template <class T>
inline constexpr bool numpy_has =
    !element_table::rows[static_cast<int>(element_of<T>)].numpy.empty() || is_text(element_of<T>);

/// Writes a file: its head, and so many bytes. *Throws* with `tag` what save_npy does.
ONTO_RUNTIME void write_file(const std::string& path, std::string_view head, const void* data, std::size_t bytes,
                             const char* tag);
ONTO_RUNTIME void write_npy(const std::string& path, const void* data, std::size_t count, element type,
                            const extents& shape);

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
template <tensor_element T, int... Dims>
void save_npy(const std::string& path, const shared_tensor<T, Dims...>& t) {
  save_npy(path, t.ref());
}
/// A vector, an array or a span of elements, as an array of one axis.
template <detail::contiguous_elements Range>
void save_npy(const std::string& path, const Range& values) {
  save_npy(path, detail::elements_of(values));
}

}  // namespace onto

#if ONTO_DEFINITIONS
#include <onto/tensor/npy_definitions.hpp>
#endif
