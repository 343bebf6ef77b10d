// SPDX-License-Identifier: BSL-1.0
// Zip archives, read from bytes that may be wrong or hostile: the list of what is in one, and the bytes of an entry.
// They are stored or, where the program is compiled with zlib (ONTO_HAS_ZLIB), deflated.
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
#include <utility>
#include <vector>

#if !defined(ONTO_HAS_ZLIB)
#define ONTO_HAS_ZLIB 0
#endif
#if ONTO_HAS_ZLIB
#include <zlib.h>
#endif

namespace onto::detail {

[[noreturn]] ONTO_COLD inline void throw_npz(std::string_view name, const std::string& what) {
  throw invalid_argument_error("[onto.npz] " + std::string(name) + ": " + what);
}

constexpr std::array<std::array<std::uint32_t, 256>, 8> make_crc32_table() {
  std::array<std::array<std::uint32_t, 256>, 8> t{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t c = n;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    t[0][n] = c;
  }
  for (std::size_t s = 1; s < 8; ++s)
    for (std::size_t n = 0; n < 256; ++n) t[s][n] = t[s - 1][n] >> 8 ^ t[0][t[s - 1][n] & 255];
  return t;
}
inline constexpr auto crc32_table = make_crc32_table();

/// The checksum of zip archives, CRC-32, eight bytes at a time. *Source* RFC 1952, section 8; Intel's slicing-by-8
class crc32_sum {
 public:
  void add(const void* data, std::size_t n) {
    const auto& table = crc32_table;
    auto* p = static_cast<const unsigned char*>(data);
    for (; n >= 8; n -= 8, p += 8) {
      std::uint32_t low = 0;
      for (int k = 3; k >= 0; --k) low = low << 8 | p[k];
      low ^= sum_;
      sum_ = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
             table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; n > 0; --n, ++p) sum_ = sum_ >> 8 ^ table[0][(sum_ ^ *p) & 255];
  }
  std::uint32_t value() const { return ~sum_; }

 private:
  std::uint32_t sum_ = 0xffffffffu;
};

ONTO_BEGIN_RUNS_ONCE

/// The bytes of an archive: a file, or memory of somebody else's.
class archive_bytes {
 public:
  explicit archive_bytes(std::span<const std::byte> memory, std::string called)
      : name(std::move(called)), size(memory.size()), memory_(memory), file_(nullptr) {}

  ONTO_COLD explicit archive_bytes(const std::string& path) : name(path), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) throw_open(path, "opened", errno, "[onto.npz] ");
    const std::int64_t end = seek(file_.get(), 0, SEEK_END) ? tell(file_.get()) : -1;
    if (end < 0) throw_open(path, "read, because it has no size", errno, "[onto.npz] ");
    size = static_cast<std::uint64_t>(end);
  }

  /// The `n` bytes from `at` on, which the archive has.
  ONTO_COLD void read(std::uint64_t at, void* to, std::size_t n) const {
    if (n == 0) return;
    if (!file_) {
      std::memcpy(to, memory_.data() + at, n);
    } else if (!seek(file_.get(), static_cast<std::int64_t>(at), SEEK_SET) || std::fread(to, 1, n, file_.get()) != n) {
      if (std::ferror(file_.get())) throw_open(name, "read", errno, "[onto.npz] ");
      throw_npz(name, "the file became shorter while it was read; read it again once it is complete");
    }
  }

  std::string name;
  std::uint64_t size = 0;

 private:
  std::span<const std::byte> memory_;
  file_handle file_;
};

/// A number of a zip archive's, the lowest byte first.
inline std::uint64_t zip_number(const unsigned char* p, int bytes) {
  std::uint64_t u = 0;
  for (int k = bytes - 1; k >= 0; --k) u = u << 8 | p[k];
  return u;
}

/// What the list at an archive's end says of an entry.
struct zip_entry {
  std::string name;
  std::uint64_t header_at = 0, packed = 0, size = 0;
  std::uint32_t crc = 0;
  int method = 0;  // 0 stored, 8 deflated
  bool encrypted = false;
};

/// A name from a file, so that a sentence with it stays one line.
ONTO_COLD inline std::string printable(std::string_view name) {
  std::string s;
  for (char c : name.substr(0, 60)) s += c >= ' ' && c <= '~' ? c : '?';
  return name.size() > 60 ? s + "..." : s;
}

/// The list of an archive's entries. *Throws* `invalid_argument_error` where there is none or it cannot be.
/// *Source* PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5
ONTO_COLD inline std::vector<zip_entry> read_zip_list(const archive_bytes& file) {
  const auto malformed = [&](const char* what) {
    throw_npz(file.name, std::string("the archive is malformed: ") + what + "; write it anew with numpy.savez");
  };
  // The end: a record of 22 bytes, then a comment of up to 65535.
  constexpr std::size_t end_size = 22, locator_size = 20, end64_size = 56, item_size = 46;
  std::vector<unsigned char> tail(
      static_cast<std::size_t>(file.size < end_size + 65535 ? file.size : end_size + 65535));
  const std::uint64_t tail_at = file.size - tail.size();
  file.read(tail_at, tail.data(), tail.size());
  std::size_t end = tail.size() < end_size ? 0 : tail.size() - end_size + 1;
  while (end > 0 && !(std::memcmp(tail.data() + end - 1, "PK\5\6", 4) == 0 &&
                      zip_number(tail.data() + end - 1 + 20, 2) <= tail.size() - (end - 1) - end_size))
    --end;
  if (end == 0)
    throw_npz(file.name, "this is not a complete .npz archive: it does not end with a zip archive's list of entries");
  const unsigned char* const e = tail.data() + --end;
  if (zip_number(e + 4, 2) != 0 || zip_number(e + 6, 2) != 0) malformed("it has parts in other files");
  std::uint64_t count = zip_number(e + 10, 2), bytes = zip_number(e + 12, 4), at = zip_number(e + 16, 4);
  const std::uint64_t end_at = tail_at + end;
  if (end_at >= locator_size + end64_size) {  // what does not fit stands in records of 64 bits before it
    unsigned char record[end64_size];
    file.read(end_at - locator_size, record, locator_size);
    if (std::memcmp(record, "PK\6\7", 4) == 0) {
      const std::uint64_t end64_at = zip_number(record + 8, 8);
      if (end64_at > end_at - locator_size - end64_size) malformed("its list's end is not where it says");
      file.read(end64_at, record, end64_size);
      if (std::memcmp(record, "PK\6\6", 4) != 0) malformed("its list's end is not where it says");
      count = zip_number(record + 32, 8);
      bytes = zip_number(record + 40, 8);
      at = zip_number(record + 48, 8);
    }
  }
  if (at > end_at || bytes > end_at - at) malformed("its list is not where it says");
  if (count > bytes / item_size) malformed("its list is shorter than it says");

  std::vector<unsigned char> list(static_cast<std::size_t>(bytes));
  file.read(at, list.data(), list.size());
  std::vector<zip_entry> entries;
  entries.reserve(static_cast<std::size_t>(count));
  std::size_t p = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    const unsigned char* const item = list.data() + p;
    if (list.size() - p < item_size || std::memcmp(item, "PK\1\2", 4) != 0) malformed("its list is cut off");
    const std::size_t name = zip_number(item + 28, 2), extra = zip_number(item + 30, 2),
                      comment = zip_number(item + 32, 2);
    if (list.size() - p - item_size < name + extra + comment) malformed("its list is cut off");
    zip_entry z;
    z.encrypted = (item[8] & 1) != 0;
    z.method = static_cast<int>(zip_number(item + 10, 2));
    z.crc = static_cast<std::uint32_t>(zip_number(item + 16, 4));
    z.packed = zip_number(item + 20, 4);
    z.size = zip_number(item + 24, 4);
    z.header_at = zip_number(item + 42, 4);
    z.name.assign(reinterpret_cast<const char*>(item) + item_size, name);
    // Numbers of 64 bits, for those that are all ones.
    const unsigned char* x = item + item_size + name;
    for (const unsigned char* const stop = x + extra; stop - x >= 4;) {
      const std::size_t length = zip_number(x + 2, 2);
      if (static_cast<std::size_t>(stop - x) < 4 + length) malformed("what it says beside an entry is cut off");
      if (zip_number(x, 2) == 1) {
        std::size_t used = 0;
        for (std::uint64_t* u : {&z.size, &z.packed, &z.header_at}) {
          if (*u != 0xffffffffu || length - used < 8) continue;
          *u = zip_number(x + 4 + used, 8);
          used += 8;
        }
      }
      x += 4 + length;
    }
    entries.push_back(static_cast<zip_entry&&>(z));
    p += item_size + name + extra + comment;
  }
  return entries;
}

// Files with zlib and files without may be in one program.
#if ONTO_HAS_ZLIB
inline namespace with_zlib {
#else
inline namespace without_zlib {
#endif

/// The bytes of an entry, one after the other. *Throws* `invalid_argument_error` where they are not what the list says.
class zip_reader {
 public:
  ONTO_COLD zip_reader(const archive_bytes& file, const zip_entry& entry)
      : file_(file), entry_(entry), name_(file.name + ": " + printable(entry.name)) {
    if (entry.encrypted) throw_npz(name_, "the entry is encrypted; save it without a password");
    if (entry.method != 0 && entry.method != 8)
      throw_npz(name_, "the entry is compressed by method " + std::to_string(entry.method) +
                           " and those stored or deflated can be read; save the arrays with numpy.savez");
    unsigned char header[30];
    if (entry.header_at > file.size || file.size - entry.header_at < sizeof header) cut_off();
    file.read(entry.header_at, header, sizeof header);
    if (std::memcmp(header, "PK\3\4", 4) != 0) throw_npz(name_, "the entry is not where the archive's list says");
    at_ = entry.header_at + sizeof header + zip_number(header + 26, 2) + zip_number(header + 28, 2);
    if (at_ > file.size || entry.packed > file.size - at_) cut_off();
    if (entry.method == 0 && entry.packed != entry.size)
      throw_npz(name_, "the entry is stored, and its two lengths differ; write the archive anew");
    // No deflated byte becomes more than 1032: an entry that claims more is not to be given memory.
    if (entry.method == 8 && entry.size / 1032 > entry.packed)
      throw_npz(name_, "the entry claims " + std::to_string(entry.size) + " bytes and has " +
                           std::to_string(entry.packed) + " compressed ones, too few; write the archive anew");
    if (entry.method == 8) start_inflating();
  }
  zip_reader(const zip_reader&) = delete;
  zip_reader& operator=(const zip_reader&) = delete;
  ~zip_reader() {
#if ONTO_HAS_ZLIB
    if (entry_.method == 8) ::inflateEnd(&stream_);
#endif
  }

  /// What errors call the entry.
  const std::string& name() const { return name_; }

  /// Bytes that are still to be read.
  std::uint64_t left() const { return entry_.size - given_; }

  /// The next `n` bytes, at most as many as are left.
  ONTO_COLD void read(void* to, std::size_t n) {
    if (entry_.method == 0)
      file_.read(at_ + given_, to, n);
    else
      inflate(static_cast<unsigned char*>(to), n);
    sum_.add(to, n);
    given_ += n;
  }

  /// Reads what is left, and compares the checksum.
  ONTO_COLD void finish() {
    unsigned char rest[4096];
    while (left() > 0) read(rest, left() < sizeof rest ? static_cast<std::size_t>(left()) : sizeof rest);
    if (sum_.value() != entry_.crc) throw_npz(name_, "the checksum is wrong: the archive was damaged; write it anew");
  }

 private:
  [[noreturn]] void cut_off() const { throw_npz(name_, "the archive is cut off in this entry; write it anew"); }

#if ONTO_HAS_ZLIB
  void start_inflating() {
    if (::inflateInit2(&stream_, -15) != Z_OK)
      throw resource_exhausted_error("[onto.npz] " + name_ + ": zlib has no memory; read smaller arrays");
  }
  void inflate(unsigned char* to, std::size_t n) {
    while (n > 0) {
      if (stream_.avail_in == 0 && taken_ < entry_.packed) {
        const std::uint64_t more = entry_.packed - taken_;
        const std::size_t count = more < sizeof input_ ? static_cast<std::size_t>(more) : sizeof input_;
        file_.read(at_ + taken_, input_, count);
        taken_ += count;
        stream_.next_in = input_;
        stream_.avail_in = static_cast<uInt>(count);
      }
      const std::size_t room = n < (std::size_t{1} << 30) ? n : std::size_t{1} << 30;
      stream_.next_out = to;
      stream_.avail_out = static_cast<uInt>(room);
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = room - stream_.avail_out;
      to += made;
      n -= made;
      const bool goes_on = status == Z_OK && (made > 0 || stream_.avail_in > 0 || taken_ < entry_.packed);
      if (n > 0 && !goes_on) throw_npz(name_, "the compressed bytes are damaged or cut off; write the archive anew");
    }
  }
  z_stream stream_{};
  unsigned char input_[1 << 14];
  std::uint64_t taken_ = 0;
#else
  [[noreturn]] void start_inflating() const {
    throw_npz(
        name_,
        "the entry is compressed, and the program was compiled without zlib; compile it with -DONTO_HAS_ZLIB=1 and "
        "-lz (in CMake, link onto::zlib), or save the arrays with numpy.savez");
  }
  [[noreturn]] void inflate(unsigned char*, std::size_t) const { start_inflating(); }
#endif

  const archive_bytes& file_;
  const zip_entry& entry_;
  std::string name_;
  std::uint64_t at_ = 0, given_ = 0;
  crc32_sum sum_;
};

}  // namespace with_zlib
ONTO_END_RUNS_ONCE

}  // namespace onto::detail
