// SPDX-License-Identifier: BSL-1.0
// Reads and writes safetensors files, without a type of the program's: tensors by name, each with its element type and
// shape.
#pragma once

#include <onto/tensor/safetensors_header.hpp>
#include <onto/tensor/whole_file.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The format's byte order is that of almost every machine.
ONTO_COLD inline void expect_little_endian(std::string_view file) {
  if (std::endian::native != std::endian::little)
    fail<failed_precondition_error>(about_file(file) << "safetensors files are not read or written on machines whose "
                                                        "bytes are in the other order; use save_npz");
}

/// A safetensors file whose header is read and checked.
class stored_tensors {
 public:
  /// *Throws* `not_found_error` where there is no such file, `invalid_argument_error` where it is not as it should be.
  ONTO_COLD explicit stored_tensors(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) throw_open(path, "opened", errno, tag);
    const std::int64_t size = seek(file_.get(), 0, SEEK_END) ? tell(file_.get()) : -1;
    if (size < 0) throw_open(path, "read, because it has no size", errno, tag);
    open(static_cast<std::uint64_t>(size));
  }

  /// A file that is in memory, which must live as long.
  ONTO_COLD stored_tensors(std::span<const std::byte> bytes, std::string_view name)
      : path_(name), file_(nullptr), bytes_(bytes.data()) {
    open(bytes.size());
  }

  /// A file that another process reads, of which only the header is here, as its `header_text` said it.
  struct elsewhere {};
  ONTO_COLD stored_tensors(elsewhere, const std::string& path, std::string_view header) : path_(path), file_(nullptr) {
    std::uint64_t data_bytes = 0;
    if (header.size() < sizeof data_bytes)
      fail<internal_error>(about_file(path) << "the header did not come from the process that reads the file");
    std::memcpy(&data_bytes, header.data(), sizeof data_bytes);
    header.remove_prefix(sizeof data_bytes);
    std::memcpy(header_.text(header.size()), header.data(), header.size());
    header_.parse(path_, data_bytes);
  }
  /// What another process needs to know.
  ONTO_COLD std::string header_text() const {
    const std::string_view text = header_.text();
    std::string said(sizeof data_bytes_, ' ');
    std::memcpy(said.data(), &data_bytes_, sizeof data_bytes_);
    return said.append(text.data(), text.size());
  }

  const safetensors_header& header() const { return header_; }
  const std::string& path() const { return path_; }

  /// The values of a tensor. *Throws* `invalid_argument_error` where the file cannot be read.
  ONTO_COLD void read(const stored_tensor& t, void* to) const {
    read(data_at_ + t.begin, to, t.end - t.begin);
    if (stored_types[t.type].type != static_cast<int>(element::boolean)) return;
    auto* const values = static_cast<unsigned char*>(to);
    for (std::uint64_t k = 0; k < t.end - t.begin; ++k) values[k] = values[k] != 0;  // another byte is no value of bool
  }

  static constexpr const char* tag = "[onto.safetensors] ";

 private:
  ONTO_COLD void open(std::uint64_t size) {
    expect_little_endian(path_);
    unsigned char first[8] = {};
    if (size >= 8) read(0, first, 8);
    const std::uint64_t n = safetensors_header::length(first, size, path_);
    data_at_ = 8 + n;
    read(8, header_.text(n), n);
    data_bytes_ = size - data_at_;
    header_.parse(path_, data_bytes_);
  }

  ONTO_COLD void read(std::uint64_t from, void* to, std::uint64_t bytes) const {
    if (bytes == 0) return;
    if (bytes_) {
      std::memcpy(to, bytes_ + from, static_cast<std::size_t>(bytes));
      return;
    }
    if (!seek(file_.get(), static_cast<std::int64_t>(from), SEEK_SET)) throw_open(path_, "read", errno, tag);
    if (std::fread(to, 1, static_cast<std::size_t>(bytes), file_.get()) == bytes) return;
    if (std::ferror(file_.get())) throw_open(path_, "read", errno, tag);
    fail<invalid_argument_error>(about_file(path_) << "the file became shorter while it was read; read it again");
  }

  std::string path_;
  file_handle file_;
  const std::byte* bytes_ = nullptr;
  safetensors_header header_;
  std::uint64_t data_at_ = 0, data_bytes_ = 0;
};

/// A tensor to be written. Refers to its name and its values.
struct tensor_to_store : stored_tensor {
  extents shape;
  const void* data = nullptr;

  ONTO_COLD void set(std::string_view called, element e, const extents& s, const void* values) {
    name = called;
    type = stored_type_of(e);
    shape = s;
    rank = s.rank;
    end = static_cast<std::uint64_t>(s.size()) * static_cast<std::uint64_t>(size_of(e));  // begin and end: when written
    data = values;
  }
};

/// Where the values of a tensor are, in the host's memory, until the next call.
using tensor_values = const void* (*)(void* context, const tensor_to_store& t);

/// Sorts tensors as files have them: those of the widest types first, then by name. *Throws* `invalid_argument_error`
/// where a name is there twice or cannot be one.
ONTO_COLD inline void sort_to_store(const std::string& path, stored_tensor*& list) {
  const auto refuse = [&](std::string_view name, const char* what) {
    fail<invalid_argument_error>(about_tensor(path, name) << what);
  };
  list = sorted(list, [](const stored_tensor& a, const stored_tensor& b) { return a.name < b.name; });
  for (const stored_tensor* t = list; t; t = t->next) {
    if (t->next && t->name == t->next->name) refuse(t->name, "is there twice; give each a name of its own");
    if (t->name == "__metadata__") refuse(t->name, "has the name that the format keeps for its notes; give it another");
    if (!is_utf8(t->name)) refuse(t->name, "has a name that is no UTF-8; give it another");
  }
  list = sorted(list, [](const stored_tensor& a, const stored_tensor& b) { return a.type > b.type; });
}

/// Writes tensors, byte for byte as the Python package does. The file is there whole or as it was before. The list is
/// sorted. *Throws* as `sort_to_store`.
ONTO_COLD inline void write_safetensors(const std::string& path, stored_tensor*& list, tensor_values values,
                                        void* context) {
  expect_little_endian(path);
  sort_to_store(path, list);
  message text("{");
  std::uint64_t at = 0;
  for (stored_tensor* t = list; t; t = t->next) {
    t->begin = at;
    at += t->end;
    t->end = at;
    write_json_string(text, t->name) << ":{\"dtype\":\"" << stored_types[t->type].name << "\",\"shape\":[";
    const extents& shape = static_cast<const tensor_to_store*>(t)->shape;
    for (int k = 0; k < shape.rank; ++k) text << (k ? "," : "") << shape[k];
    text << "],\"data_offsets\":[" << static_cast<std::int64_t>(t->begin) << "," << static_cast<std::int64_t>(t->end)
         << (t->next ? "]}," : "]}");
  }
  text << "}";
  while (text.text().size() % 8 != 0) text << " ";
  const std::uint64_t n = text.text().size();
  if (n > safetensors_header_limit)
    fail<invalid_argument_error>(about_file(path)
                                 << "the header would be longer than 100000000 bytes; save fewer tensors in a file");

  unsigned char first[8];
  for (int k = 0; k < 8; ++k) first[k] = static_cast<unsigned char>(n >> (8 * k) & 255);
  whole_file file(path, stored_tensors::tag);
  file.write(first, sizeof first);
  file.write(text.text().data(), text.text().size());
  for (const stored_tensor* t = list; t; t = t->next)
    file.write(values(context, *static_cast<const tensor_to_store*>(t)), static_cast<std::size_t>(t->end - t->begin));
  file.finish();
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
