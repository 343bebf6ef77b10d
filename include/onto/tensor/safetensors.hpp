// SPDX-License-Identifier: BSL-1.0
// Tensors by name in a safetensors file, the format of checkpoints: safetensors_file, load_safetensors,
// save_safetensors.
#pragma once

#include <onto/tensor/safetensors_file.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onto {

/// A safetensors file: its tensors by name, each read when it is asked for.
/// `safetensors_file model("model.safetensors"); auto w = model.load<float, dyn, dyn>("w");`
class safetensors_file {
 public:
  /// Reads the header. *Throws* `not_found_error` where there is no such file, `invalid_argument_error` where it is not
  /// as the format has it.
  explicit safetensors_file(const std::string& path) : file_(std::make_unique<detail::stored_tensors>(path)) {}

  /// A file that is in memory, which must live as long; `name` is what errors call it.
  explicit safetensors_file(std::span<const std::byte> bytes, const std::string& name = "the data")
      : file_(std::make_unique<detail::stored_tensors>(bytes, name)) {}

  /// The names of the tensors, in the order of their values.
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const detail::stored_tensor* t = file_->header().first(); t; t = t->next) list.emplace_back(t->name);
    return list;
  }

  /// A tensor. *Throws* `not_found_error` where there is none of that name, `invalid_argument_error` where it has
  /// another element type or shape.
  template <tensor_element T, int... Dims>
  tensor<T, Dims...> load(std::string_view name) const {
    detail::expect_numbers<T>();
    const detail::stored_tensor& stored = find(name);
    tensor<T, Dims...> t(detail::uninitialized,
                         file_->header().expect(stored, element_of<T>, shape<Dims...>{}, "is loaded as"));
    file_->read(stored, t.data());
    return t;
  }

 private:
  ONTO_COLD const detail::stored_tensor& find(std::string_view name) const {
    if (const detail::stored_tensor* t = file_->header().find(name)) return *t;
    detail::message m = detail::about_file(file_->path());
    detail::write_quoted(m << "there is no tensor ", name) << "; the file has: ";
    int k = 0;
    for (const detail::stored_tensor* t = file_->header().first(); t && k < 10; t = t->next)
      detail::write_quoted(m << (k++ ? ", " : ""), t->name);
    throw not_found_error(m.text() + (file_->header().count() > 10 ? ", ..." : ""));
  }

  std::unique_ptr<detail::stored_tensors> file_;
};

/// One tensor of a safetensors file. As `safetensors_file(path).load<T, Dims...>(name)`.
template <tensor_element T, int... Dims>
tensor<T, Dims...> load_safetensors(const std::string& path, std::string_view name) {
  return safetensors_file(path).load<T, Dims...>(name);
}

/// A tensor with a name, for `save_safetensors`: `{"w", w}`. Refers to the values.
struct named_tensor : detail::tensor_to_store {
  template <tensor_element T, int... Dims>
  named_tensor(std::string_view called, const tensor<T, Dims...>& t) {
    detail::expect_numbers<T>();
    set(called, element_of<T>, t.extent_values(), t.data());
  }
  template <tensor_element T, int... Dims>
  named_tensor(std::string_view called, const tensor_ref<T, Dims...>& t) {
    detail::expect_numbers<T>();
    set(called, element_of<T>, t.extent_values(), t.data());
  }
};

/// Writes tensors by name, byte for byte as Python's `safetensors.numpy.save_file` does:
/// `save_safetensors("m.safetensors",
/// {{"w", w}, {"b", b}})`. The file is written beside its place, synced and renamed, so it is there whole, or as it was
/// before. *Throws* `not_found_error` where the folder does not exist, `invalid_argument_error` where the file cannot
/// be created, or two tensors have one name, `internal_error` where writing fails.
inline void save_safetensors(const std::string& path, std::initializer_list<named_tensor> tensors) {
  std::vector<named_tensor> list(tensors);
  for (std::size_t k = 0; k + 1 < list.size(); ++k) list[k].next = &list[k + 1];
  detail::stored_tensor* first = list.empty() ? nullptr : list.data();
  detail::write_safetensors(
      path, first, [](void*, const detail::tensor_to_store& t) { return t.data; }, nullptr);
}

}  // namespace onto
