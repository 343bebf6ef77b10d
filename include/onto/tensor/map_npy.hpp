// SPDX-License-Identifier: BSL-1.0
// .npy files that are mapped instead of read: the values stay in the file, and the system loads what of them is used
// (mmap, NumPy's mmap_mode).
#pragma once

#include <onto/tensor/npy.hpp>
#include <onto/tensor/shared_tensor.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace onto {

/// Says that a file is to be mapped, not read: `load_npy<float, dyn, dyn>(path, map_file)`.
struct map_file_t {};
inline constexpr map_file_t map_file{};

ONTO_BEGIN_RUNS_ONCE
namespace detail {

/// A file in memory, constant, for as long as this lives.
class file_mapping {
 public:
  ONTO_COLD explicit file_mapping(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw_open(path, "opened", errno);
    struct stat facts {};
    int reason = 0;
    if (::fstat(file, &facts) != 0) reason = errno;
    if (reason == 0 && facts.st_size > 0) {
      void* const at = ::mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at == MAP_FAILED) {
        reason = errno;
      } else {
        data_ = at;
        size_ = static_cast<std::size_t>(facts.st_size);
      }
    }
    ::close(file);
    if (reason != 0) throw_open(path, "mapped", reason);
  }
  file_mapping(file_mapping&& o) noexcept : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
  file_mapping& operator=(file_mapping&&) = delete;
  ~file_mapping() {
    if (data_) ::munmap(data_, size_);
  }

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The values of an .npy file in memory, which must be usable where they are.
ONTO_COLD inline const std::byte* npy_values_in_place(std::span<const std::byte> bytes, element type,
                                                      const extents& declared, const std::string& path,
                                                      extents& shape) {
  const npy_header h = parse_npy_header(bytes, path);
  const std::size_t count = check_npy(h, type, declared, bytes.size() - h.data_at, path);
  const auto width = static_cast<std::size_t>(size_of(type));
  shape = h.shape;
  if (h.fortran && h.shape.rank > 1)
    throw_npy(path,
              "the array is in Fortran order, column by column, and cannot be used where it lies; load it without "
              "map_file, or save numpy.ascontiguousarray of it");
  if (h.swapped && width > 1)
    throw_npy(path,
              "the bytes are in the other order than this machine's and cannot be used where they lie; load it "
              "without map_file");
  if (h.data_at % width != 0)
    throw_npy(path, "the values begin at byte " + std::to_string(h.data_at) + ", which is no multiple of " +
                        std::to_string(width) + "; load it without map_file");
  const std::byte* const values = bytes.data() + h.data_at;
  if (type == element::boolean)
    for (std::size_t k = 0; k < count; ++k)
      if (values[k] > std::byte{1})
        throw_npy(path, "a byte of it is neither 0 nor 1, and so no value of bool; load it without map_file");
  return values;
}

}  // namespace detail
ONTO_END_RUNS_ONCE

/// Maps an .npy file: its values are used where they lie, without a copy, and are part of memory only as they are used.
///
/// Versions 1 to 3 in C order and this machine's byte order. The file must not be changed while the result or a copy of
/// it lives; a program that reads what was cut off a mapped file is ended by the system. *Throws* `not_found_error`
/// where there is no such file, `invalid_argument_error` with a sentence for one that cannot be used as it is, as
/// `load_npy` without `map_file` mostly can. `const auto a = load_npy<float, dyn, dyn>("a.npy", map_file); sess.run(e,
/// x = a);`
template <tensor_element T, int... Dims>
shared_tensor<T, Dims...> load_npy(const std::string& path, map_file_t) {
  detail::expect_numbers<T>();
  static_assert(detail::numpy_has<T>, "[onto.npy] NumPy has no bfloat16; load float instead, and cast<bfloat16>(x)");
  detail::file_mapping file(path);
  extents found;
  const std::byte* const values =
      detail::npy_values_in_place(file.bytes(), element_of<T>, shape<Dims...>{}, path, found);
  return {tensor_ref<T, Dims...>(reinterpret_cast<const T*>(values), found), std::move(file)};
}

}  // namespace onto
