// SPDX-License-Identifier: BSL-1.0
// The header of a safetensors file: JSON that says where in the file each tensor is. It is read from bytes that may be
// wrong or hostile, and written byte for byte as the Python package writes it.
#pragma once

#include <onto/core/element.hpp>
#include <onto/core/json.hpp>
#include <onto/core/json_reader.hpp>
#include <onto/shape/extents.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// An element type of the format. *Source* the package's 0.8.0, enum Dtype: in its order.
struct stored_type {
  std::string_view name;
  int bits;
  int type = -1;  // the row of ours; -1: onto has none
};
inline constexpr stored_type stored_types[] = {
    {"BOOL", 8, static_cast<int>(element::boolean)},
    {"F4", 4},
    {"F6_E2M3", 6},
    {"F6_E3M2", 6},
    {"U8", 8, static_cast<int>(element::uint8)},
    {"I8", 8, static_cast<int>(element::int8)},
    {"F8_E5M2", 8},
    {"F8_E4M3", 8},
    {"F8_E8M0", 8},
    {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8},
    {"I16", 16, static_cast<int>(element::int16)},
    {"U16", 16, static_cast<int>(element::uint16)},
    {"F16", 16, static_cast<int>(element::float16)},
    {"BF16", 16, static_cast<int>(element::bfloat16)},
    {"I32", 32, static_cast<int>(element::int32)},
    {"U32", 32, static_cast<int>(element::uint32)},
    {"F32", 32, static_cast<int>(element::float32)},
    {"C64", 64},
    {"F64", 64, static_cast<int>(element::float64)},
    {"I64", 64, static_cast<int>(element::int64)},
    {"U64", 64, static_cast<int>(element::uint64)},
};
inline constexpr int stored_type_count = sizeof stored_types / sizeof stored_types[0];

inline int stored_type_of(element e) {
  int k = 0;
  while (stored_types[k].type != static_cast<int>(e)) ++k;
  return k;
}

/// The longest header that is read, as the package has it.
inline constexpr std::uint64_t safetensors_header_limit = 100'000'000;

/// A tensor's entry.
struct stored_tensor {
  std::string_view name;
  int type = 0;  // its row of stored_types
  int rank = 0;
  const std::uint64_t* dims = nullptr;
  std::uint64_t begin = 0, end = 0;  // of its values, from the end of the header
  stored_tensor* next = nullptr;
};

/// `'name'`, as far as it can be printed and is short.
ONTO_COLD inline message& write_quoted(message& m, std::string_view name) {
  m << "'";
  for (std::size_t k = 0; k < name.size() && k < 60; ++k)
    m << (name[k] >= ' ' && name[k] <= '~' ? name.substr(k, 1) : std::string_view("?"));
  return m << (name.size() > 60 ? "...'" : "'");
}

/// The beginning of what is wrong with a file, `[onto.safetensors] m.safetensors: `; with a tensor's name after it.
ONTO_COLD inline message about_file(std::string_view file) { return message("[onto.safetensors] ") << file << ": "; }
ONTO_COLD inline message about_tensor(std::string_view file, std::string_view name) {
  message m = about_file(file);
  write_quoted(m << "tensor ", name) << " ";
  return m;
}

/// Sorts a list, keeping the order of what is equal. *Complexity* n log n, without memory.
ONTO_COLD inline stored_tensor* sorted(stored_tensor* list,
                                       bool (*before)(const stored_tensor&, const stored_tensor&)) {
  for (std::int64_t width = 1;; width *= 2) {
    stored_tensor *rest = list, *first = nullptr, **end = &first;
    int merges = 0;
    while (rest) {
      ++merges;
      stored_tensor* a = rest;
      std::int64_t left = 0;
      while (rest && left < width) {
        rest = rest->next;
        ++left;
      }
      for (std::int64_t right = width; left > 0 || (right > 0 && rest);) {
        const bool second = left == 0 || (right > 0 && rest && before(*rest, *a));
        stored_tensor*& from = second ? rest : a;
        --(second ? right : left);
        *end = from;
        end = &from->next;
        from = from->next;
      }
    }
    *end = nullptr;
    list = first;
    if (merges <= 1) return list;
  }
}

/// The tensors of a file, in the order of their values.
class safetensors_header {
 public:
  /// Memory for a header of `bytes`, to be filled before it is parsed.
  char* text(std::uint64_t bytes) {
    size_ = static_cast<std::size_t>(bytes);
    return text_ = memory_.make<char>(static_cast<int>(bytes));
  }

  std::string_view text() const { return {text_, size_}; }

  /// The length of the header, which the first 8 bytes of a file say. *Throws* `invalid_argument_error` where the file
  /// is too short for it.
  ONTO_COLD static std::uint64_t length(const unsigned char* first, std::uint64_t file_bytes, std::string_view file) {
    if (file_bytes < 8)
      fail<invalid_argument_error>(about_file(file) << "the file has " << static_cast<std::int64_t>(file_bytes)
                                                    << " bytes and is no safetensors file; save it anew");
    std::uint64_t n = 0;
    for (int k = 7; k >= 0; --k) n = n << 8 | first[k];
    if (n > safetensors_header_limit)
      fail<invalid_argument_error>(about_file(file) << "its first 8 bytes say that the header is longer than 100000000 "
                                                       "bytes; it is no safetensors file, or damaged");
    if (n > file_bytes - 8)
      fail<invalid_argument_error>(about_file(file)
                                   << "the header has " << static_cast<std::int64_t>(n) << " bytes and the file only "
                                   << static_cast<std::int64_t>(file_bytes - 8)
                                   << " more; it was cut off, or is no safetensors file");
    return n;
  }

  /// Reads the text, of a file with `data_bytes` of values. `file` must live as long as this.
  /// *Throws* `invalid_argument_error` where it is not as the format has it.
  ONTO_COLD void parse(std::string_view file, std::uint64_t data_bytes) {
    file_ = file;
    message before = about_file(file) << "the header is malformed: ";
    json_reader in({text_, size_}, before.text(), memory_);
    bool described = false;
    stored_tensor** end = &first_;
    in.expect('{');
    for (bool more = !in.take('}'); more; more = next_of(in, '}')) {
      const std::string_view name = in.string();
      in.expect(':');
      if (name == "__metadata__") {
        if (described) in.malformed("__metadata__ is there twice");
        described = true;
        metadata(in);
      } else {
        *end = tensor(in, name);
        end = &(*end)->next;
        ++count_;
      }
    }
    if (!in.at_end()) in.malformed("something follows its '}'");
    check_names();
    check_places(data_bytes);
  }

  const stored_tensor* first() const { return first_; }
  int count() const { return count_; }
  std::string_view file() const { return file_; }

  const stored_tensor* find(std::string_view name) const {
    const stored_tensor* t = first_;
    while (t && t->name != name) t = t->next;
    return t;
  }

  /// The extents of a tensor. *Throws* `invalid_argument_error` where onto has no such tensors.
  ONTO_COLD extents shape_of(const stored_tensor& t) const {
    if (stored_types[t.type].type < 0)
      fail<invalid_argument_error>(about_tensor(file_, t.name)
                                   << "is of " << stored_types[t.type].name
                                   << ", an element type that onto has not; convert it where it was made");
    if (t.rank > max_rank)
      fail<invalid_argument_error>(about_tensor(file_, t.name)
                                   << "has " << t.rank << " dimensions; reshape it to 8 or fewer");
    extents e;
    for (int k = 0; k < t.rank; ++k) {
      if (t.dims[k] > 0x7fffffff)
        fail<invalid_argument_error>(about_tensor(file_, t.name)
                                     << "has an extent of more than 2^31 - 1; reshape it to smaller ones");
      e.push_back(static_cast<int>(t.dims[k]));
    }
    return e;
  }
  static element type_of(const stored_tensor& t) { return static_cast<element>(stored_types[t.type].type); }

  /// *Throws* `invalid_argument_error` where the tensor is no `wanted` of these extents, `dyn` being any.
  ONTO_COLD extents expect(const stored_tensor& t, element wanted, const extents& declared,
                           std::string_view whose) const {
    const extents e = shape_of(t);
    bool fits = e.rank == declared.rank && type_of(t) == wanted;
    for (int k = 0; fits && k < e.rank; ++k) fits = declared[k] == dyn || declared[k] == e[k];
    if (!fits)
      fail<invalid_argument_error>(about_tensor(file_, t.name)
                                   << "is " << name_of(type_of(t)) << e << ", and " << whose << " " << name_of(wanted)
                                   << declared << "; use that type and shape");
    return e;
  }

 private:
  /// Whether another value follows in an object or array.
  static bool next_of(json_reader& in, char closing) {
    if (in.take(',')) return true;
    in.expect(closing);
    return false;
  }

  static void metadata(json_reader& in) {
    if (in.take_word("null")) return;
    in.expect('{');
    for (bool more = !in.take('}'); more; more = next_of(in, '}')) {
      in.string();
      in.expect(':');
      if (in.peek() != '"') in.malformed("a value of __metadata__ is no string");
      in.string();
    }
  }

  ONTO_COLD stored_tensor* tensor(json_reader& in, std::string_view name) {
    auto* t = memory_.make<stored_tensor>(1);
    t->name = name;
    bool typed = false, shaped = false, placed = false;
    const auto once = [&](bool& seen) {
      if (seen) wrong(name, "has a field twice");
      seen = true;
    };
    in.expect('{');
    for (bool more = !in.take('}'); more; more = next_of(in, '}')) {
      const std::string_view field = in.string();
      in.expect(':');
      if (field == "dtype") {
        once(typed);
        const std::string_view type = in.string();
        while (t->type < stored_type_count && stored_types[t->type].name != type) ++t->type;
        if (t->type == stored_type_count) {
          message what("has the unknown dtype ");
          wrong(name, write_quoted(what, type).text());
        }
      } else if (field == "shape") {
        once(shaped);
        read_shape(in, *t);
      } else if (field == "data_offsets") {
        once(placed);
        in.expect('[');
        t->begin = in.whole_number();
        in.expect(',');
        t->end = in.whole_number();
        in.expect(']');
      } else {
        in.skip();
      }
    }
    if (!typed || !shaped || !placed) wrong(name, "must have the fields dtype, shape and data_offsets");
    return t;
  }

  void read_shape(json_reader& in, stored_tensor& t) {
    std::uint64_t* dims = nullptr;
    int room = 0;
    in.expect('[');
    for (bool more = !in.take(']'); more; more = next_of(in, ']')) {
      if (t.rank == room) {
        room = 2 * room + 8;
        auto* larger = memory_.make<std::uint64_t>(room);
        for (int k = 0; k < t.rank; ++k) larger[k] = dims[k];
        dims = larger;
      }
      dims[t.rank++] = in.whole_number();
    }
    t.dims = dims;
  }

  [[noreturn]] ONTO_COLD void wrong(std::string_view name, std::string_view what) const {
    fail<invalid_argument_error>(about_tensor(file_, name) << what
                                                           << "; the file is damaged, or was not made by a "
                                                              "writer of safetensors");
  }

  /// Every name is there once.
  ONTO_COLD void check_names() {
    first_ = sorted(first_, [](const stored_tensor& a, const stored_tensor& b) { return a.name < b.name; });
    for (const stored_tensor* t = first_; t && t->next; t = t->next)
      if (t->name == t->next->name) wrong(t->name, "is there twice");
  }

  /// The tensors lie one after the other, from the end of the header to the end of the file, and each is as long as its
  /// type and shape say.
  ONTO_COLD void check_places(std::uint64_t data_bytes) {
    first_ = sorted(first_, [](const stored_tensor& a, const stored_tensor& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::uint64_t at = 0;
    for (const stored_tensor* t = first_; t; t = t->next) {
      if (t->begin > t->end) wrong(t->name, "ends before it begins");
      if (t->begin < at) wrong(t->name, "lies over the one before it");
      if (t->begin > at) wrong(t->name, "leaves a hole before it");
      std::uint64_t n = 1;
      for (int k = 0; k < t->rank; ++k) n = product(n, t->dims[k], t->name);
      n = product(n, static_cast<std::uint64_t>(stored_types[t->type].bits), t->name);
      if (n % 8 != 0) wrong(t->name, "ends within a byte");
      if (n / 8 != t->end - t->begin) wrong(t->name, "is not as long as its dtype and shape say");
      at = t->end;
    }
    if (at == data_bytes) return;
    fail<invalid_argument_error>(about_file(file_)
                                 << "its tensors have " << static_cast<std::int64_t>(at) << " bytes and the file has "
                                 << static_cast<std::int64_t>(data_bytes)
                                 << (at > data_bytes ? "; it was cut off" : "; something follows them"));
  }

  std::uint64_t product(std::uint64_t a, std::uint64_t b, std::string_view name) const {
    if (a != 0 && b > ~std::uint64_t{0} / a) wrong(name, "has a shape of 2^64 elements or more");
    return a * b;
  }

  std::string_view file_;
  arena memory_;
  char* text_ = nullptr;
  std::size_t size_ = 0;
  stored_tensor* first_ = nullptr;
  int count_ = 0;
};

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
