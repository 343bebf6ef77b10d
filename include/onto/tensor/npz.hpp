// SPDX-License-Identifier: BSL-1.0
// NumPy's .npz archives: several arrays by name in one file, as numpy.savez and numpy.savez_compressed write them.
#pragma once

#include <onto/tensor/zip.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onto {

#if ONTO_HAS_ZLIB
inline namespace with_zlib {
#else
inline namespace without_zlib {
#endif

/// An .npz archive on disk: its arrays by name, each read when it is asked for.
/// `npz_file weights("weights.npz"); auto w = weights.load<float, dyn, dyn>("w");`
class npz_file {
 public:
  /// Reads the archive's list. *Throws* `not_found_error` where there is no such file, `invalid_argument_error` where
  /// it is no archive.
  explicit npz_file(const std::string& path) : npz_file(std::make_unique<detail::archive_bytes>(path)) {}

  /// An archive that is in memory, which must live as long; `name` is what errors call it.
  explicit npz_file(std::span<const std::byte> bytes, std::string name = "the data")
      : npz_file(std::make_unique<detail::archive_bytes>(bytes, static_cast<std::string&&>(name))) {}

  /// The names of the arrays, in the order of the archive.
  const std::vector<std::string>& names() const { return names_; }

  /// An array. *Throws* `not_found_error` where there is none of that name, `invalid_argument_error` where it has
  /// another element type or shape, is damaged, or is compressed in a program without zlib.
  template <tensor_element T, int... Dims>
  tensor<T, Dims...> load(std::string_view name) const {
    detail::expect_numbers<T>();
    static_assert(detail::numpy_has<T>, "[onto.npz] NumPy has no bfloat16; load float instead, and cast<bfloat16>(x)");
    array a(*this, name, element_of<T>, shape<Dims...>{});
    tensor<T, Dims...> t(detail::uninitialized, a.header.shape);
    a.values(t.data(), element_of<T>);
    return t;
  }

 private:
  ONTO_COLD explicit npz_file(std::unique_ptr<detail::archive_bytes> file)
      : file_(static_cast<std::unique_ptr<detail::archive_bytes>&&>(file)), entries_(detail::read_zip_list(*file_)) {
    std::erase_if(entries_, [](const detail::zip_entry& z) { return !z.name.ends_with(".npy"); });
    for (const detail::zip_entry& z : entries_) {
      names_.push_back(z.name.substr(0, z.name.size() - 4));
      for (std::size_t k = 0; k + 1 < names_.size(); ++k)
        if (names_[k] == names_.back())
          detail::throw_npz(file_->name, "two arrays are named '" + detail::printable(names_[k]) + "'; write it anew");
    }
  }

  ONTO_COLD const detail::zip_entry& find(std::string_view name) const {
    std::string known;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (names_[k] == name) return entries_[k];
      if (k < 10) known += (k ? ", " : "") + detail::printable(names_[k]);
    }
    throw not_found_error("[onto.npz] " + file_->name + ": there is no array '" + detail::printable(name) +
                          "'; the archive has: " + known + (names_.size() > 10 ? ", ..." : ""));
  }

  /// An array whose header is read and checked, ready for its values.
  struct array {
    detail::zip_reader reader;
    detail::npy_header header;
    std::size_t count = 0, ahead = 0;  // values in `head` that are ahead of the reader
    std::byte head[detail::npy_prologue_limit];

    ONTO_COLD array(const npz_file& from, std::string_view name, element type, const extents& declared)
        : reader(*from.file_, from.find(name)) {
      const std::uint64_t size = reader.left();
      const std::size_t got = size < sizeof head ? static_cast<std::size_t>(size) : sizeof head;
      reader.read(head, got);
      header = detail::parse_npy_header({head, got}, reader.name());
      count = detail::check_npy(header, type, declared, size - header.data_at, reader.name());
      ahead = got - header.data_at;
    }

    ONTO_COLD void values(void* to, element type) {
      detail::read_npy_values(static_cast<unsigned char*>(to), count, type, header,
                              [&](unsigned char* into, std::size_t n) {
                                const std::size_t first = n < ahead ? n : ahead;
                                std::memcpy(into, head + header.data_at, first);
                                reader.read(into + first, n - first);
                              });
      reader.finish();
    }
  };

  std::unique_ptr<detail::archive_bytes> file_;
  std::vector<detail::zip_entry> entries_;
  std::vector<std::string> names_;
};

/// One array of an .npz archive. As `npz_file(path).load<T, Dims...>(name)`.
template <tensor_element T, int... Dims>
tensor<T, Dims...> load_npz(const std::string& path, std::string_view name) {
  return npz_file(path).load<T, Dims...>(name);
}

}  // namespace with_zlib

/// An array with a name, for `save_npz`: `{"w", w}`. Refers to the values.
struct npz_array {
  template <tensor_element T, int... Dims>
  npz_array(std::string_view called, const tensor<T, Dims...>& t) : npz_array(called, tensor_ref<T, Dims...>(t)) {}
  template <tensor_element T, int... Dims>
  npz_array(std::string_view called, const tensor_ref<T, Dims...>& t)
      : name(called), data(t.data()), count(t.size()), type(element_of<T>), shape(t.extent_values()) {
    detail::expect_numbers<T>();
    static_assert(detail::numpy_has<T>, "[onto.npz] NumPy has no bfloat16; save float instead, after cast<float>(x)");
  }
  /// A vector, an array or a span of elements, as an array of one axis.
  template <detail::contiguous_elements Range>
  npz_array(std::string_view called, const Range& values) : npz_array(called, detail::elements_of(values)) {}
  template <class Data>
    requires(!detail::contiguous_elements<Data> && !detail::is_tensor<Data>)
  npz_array(std::string_view, const Data&) {
    static_assert(sizeof(Data) == 0,
                  "[onto.npz] what is saved is a tensor, or a vector, an array or a span of its elements; of an "
                  "expression evaluate(e)");
  }

  std::string_view name;
  const void* data;
  std::size_t count;
  element type;
  extents shape;
};

namespace detail {
ONTO_BEGIN_RUNS_ONCE

#if ONTO_HAS_ZLIB
inline namespace with_zlib {
#else
inline namespace without_zlib {
#endif

/// Writes a zip archive as Python's zipfile does, byte for byte where entries are stored.
class zip_writer {
 public:
  ONTO_COLD explicit zip_writer(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (!file_) throw_open(path, "created", errno, "[onto.npz] ");
  }

  /// An entry: its header first, which is written again once the lengths are known.
  ONTO_COLD void add(const npz_array& a, bool compressed) {
    const std::string name = std::string(a.name) + ".npy", head = make_npy_header(a.type, a.shape);
    const std::size_t bytes = a.count * static_cast<std::size_t>(size_of(a.type));
    item z{name, written_, 0, head.size() + bytes, 0, compressed};
    crc32_sum sum;
    sum.add(head.data(), head.size());
    sum.add(a.data, bytes);
    z.crc = sum.value();
    z.packed = z.size;
    put(local_header(z));
    if (compressed) {
      const std::uint64_t from = written_;
      deflate(head, a.data, bytes);
      z.packed = written_ - from;
      rewrite(z);
    } else {
      put(head.data(), head.size());
      put(a.data, bytes);
    }
    items_.push_back(z);
  }

  /// The list, and the file's end.
  ONTO_COLD void finish() {
    const std::uint64_t list_at = written_;
    for (const item& z : items_) put(list_item(z));
    put(end_record(items_.size(), written_ - list_at, list_at));
    good_ = good_ && std::fflush(file_.get()) == 0;
    if (!good_) fail_writing(errno);
    if (std::fclose(file_.release()) != 0) fail_writing(errno);
  }

  struct item {
    std::string name;
    std::uint64_t header_at, packed, size;
    std::uint32_t crc;
    bool compressed;
  };

  /// Numbers from here on are written with 64 bits, in records of their own.
  static constexpr std::uint64_t limit = 0x7fffffff;

  static std::string local_header(const item& z) {
    std::string s("PK\3\4", 4);
    common(s, z);
    number(s, 0xffffffffu, 4);
    number(s, 0xffffffffu, 4);
    number(s, z.name.size(), 2);
    number(s, 20, 2);
    s += z.name;
    number(s, 1, 2);
    number(s, 16, 2);
    number(s, z.size, 8);
    number(s, z.packed, 8);
    return s;
  }
  static std::string list_item(const item& z) {
    const bool large = z.size > limit || z.packed > limit, far = z.header_at > limit;
    std::string extra;
    if (large) number(extra, z.size, 8);
    if (large) number(extra, z.packed, 8);
    if (far) number(extra, z.header_at, 8);
    std::string s("PK\1\2\x2d\3", 6);  // made on Unix
    common(s, z);
    number(s, large ? 0xffffffffu : z.packed, 4);
    number(s, large ? 0xffffffffu : z.size, 4);
    number(s, z.name.size(), 2);
    number(s, extra.empty() ? 0 : extra.size() + 4, 2);
    number(s, 0, 6);            // no comment, the first disk, no inner attributes
    number(s, 0600u << 16, 4);  // its owner reads and writes it
    number(s, far ? 0xffffffffu : z.header_at, 4);
    s += z.name;
    if (extra.empty()) return s;
    number(s, 1, 2);
    number(s, extra.size(), 2);
    return s + extra;
  }
  static std::string end_record(std::uint64_t count, std::uint64_t bytes, std::uint64_t at) {
    std::string s;
    const bool large = count > 0xffff || bytes > limit || at > limit;
    if (large) {
      s += std::string("PK\6\6", 4);
      number(s, 44, 8);
      number(s, 45, 2);
      number(s, 45, 2);
      number(s, 0, 8);
      number(s, count, 8);
      number(s, count, 8);
      number(s, bytes, 8);
      number(s, at, 8);
      s += std::string("PK\6\7\0\0\0\0", 8);
      number(s, at + bytes, 8);
      number(s, 1, 4);
    }
    s += std::string("PK\5\6\0\0\0\0", 8);
    number(s, count > 0xffff ? 0xffff : count, 2);
    number(s, count > 0xffff ? 0xffff : count, 2);
    number(s, bytes > limit ? 0xffffffffu : bytes, 4);
    number(s, at > limit ? 0xffffffffu : at, 4);
    number(s, 0, 2);
    return s;
  }

 private:
  static void number(std::string& s, std::uint64_t u, int bytes) {
    for (int k = 0; k < bytes; ++k) s += static_cast<char>(u >> (8 * k) & 255);
  }
  /// What both headers of an entry say: version 4.5, flags, method, the first day of 1980, the checksum.
  static void common(std::string& s, const item& z) {
    bool ascii = true;
    for (char c : z.name) ascii = ascii && static_cast<unsigned char>(c) < 128;
    number(s, 45, 2);
    number(s, ascii ? 0 : 0x800, 2);
    number(s, z.compressed ? 8 : 0, 2);
    number(s, 0x210000, 4);
    number(s, z.crc, 4);
  }

  [[noreturn]] ONTO_COLD void fail_writing(int reason) const {
    throw internal_error("[onto.npz] " + path_ + ": writing failed: " + std::strerror(reason) +
                         "; the file is not complete");
  }
  void put(const void* data, std::size_t n) {
    good_ = good_ && (n == 0 || std::fwrite(data, 1, n, file_.get()) == n);
    if (!good_) fail_writing(errno);
    written_ += n;
  }
  void put(const std::string& s) { put(s.data(), s.size()); }
  void rewrite(const item& z) {
    const std::string s = local_header(z);
    good_ = seek(file_.get(), static_cast<std::int64_t>(z.header_at), SEEK_SET) &&
            std::fwrite(s.data(), 1, s.size(), file_.get()) == s.size() && seek(file_.get(), 0, SEEK_END);
    if (!good_) fail_writing(errno);
  }

  ONTO_COLD void deflate([[maybe_unused]] const std::string& head, [[maybe_unused]] const void* data,
                         [[maybe_unused]] std::size_t bytes) {
#if ONTO_HAS_ZLIB
    z_stream stream{};
    if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw resource_exhausted_error("[onto.npz] " + path_ + ": zlib has no memory; save smaller arrays");
    struct closing {
      z_stream& s;
      ~closing() { ::deflateEnd(&s); }
    } closes{stream};
    unsigned char out[1 << 14];
    const auto feed = [&](const void* from, std::size_t n, int last) {
      auto* p = static_cast<const unsigned char*>(from);
      do {
        const std::size_t part = n < (std::size_t{1} << 30) ? n : std::size_t{1} << 30;
        stream.next_in = const_cast<unsigned char*>(p);
        stream.avail_in = static_cast<uInt>(part);
        p += part;
        n -= part;
        do {
          stream.next_out = out;
          stream.avail_out = sizeof out;
          ::deflate(&stream, n == 0 ? last : Z_NO_FLUSH);
          put(out, sizeof out - stream.avail_out);
        } while (stream.avail_out == 0);
      } while (n > 0);
    };
    feed(head.data(), head.size(), Z_NO_FLUSH);
    feed(data, bytes, Z_FINISH);
#endif
  }

  std::string path_;
  file_handle file_;
  std::uint64_t written_ = 0;
  bool good_ = true;
  std::vector<item> items_;
};

ONTO_COLD inline void write_npz(const std::string& path, std::initializer_list<npz_array> arrays, bool compressed) {
  for (const npz_array& a : arrays) {
    if (a.name.empty() || a.name.size() > 60000 || a.name.find('\0') != std::string_view::npos)
      throw_npz(path, "an array has no name, or one that a zip archive cannot hold; give it another");
    for (const npz_array* b = arrays.begin(); b != &a; ++b)
      if (a.name == b->name)
        throw_npz(path, "two arrays are named '" + printable(a.name) + "'; give each a name of its own");
  }
  zip_writer file(path);
  for (const npz_array& a : arrays) file.add(a, compressed);
  file.finish();
}

}  // namespace with_zlib

ONTO_END_RUNS_ONCE
}  // namespace detail

#if ONTO_HAS_ZLIB
inline namespace with_zlib {
#else
inline namespace without_zlib {
#endif

/// Writes arrays by name, byte for byte as `numpy.savez(path, w=w, b=b)` does: `save_npz("a.npz", {{"w", w}, {"b",
/// b}})`. *Throws* `not_found_error` where the folder does not exist, `invalid_argument_error` where the file cannot be
/// created or two arrays have one name, `internal_error` where writing fails; then the file is not complete.
inline void save_npz(const std::string& path, std::initializer_list<npz_array> arrays) {
  detail::write_npz(path, arrays, false);
}

#if ONTO_HAS_ZLIB
/// The same compressed, as `numpy.savez_compressed`. For programs with zlib.
inline void save_npz_compressed(const std::string& path, std::initializer_list<npz_array> arrays) {
  detail::write_npz(path, arrays, true);
}
#endif

}  // namespace with_zlib

}  // namespace onto
