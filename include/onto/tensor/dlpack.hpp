// SPDX-License-Identifier: BSL-1.0
// DLPack, how tensors of NumPy, PyTorch, JAX and others are handed over in memory: from_dlpack takes one without a
// copy, to_dlpack gives one away.
#pragma once

#include <onto/tensor/strided_ref.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace onto {

/// The structures of DLPack's ABI, versions 1.x, and the one before them, under their own names. Everything here takes
/// and makes those of the official header just as well. *Source* https://dmlc.github.io/dlpack/latest/c_api.html
namespace dlpack {

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

struct DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; none where the values lie row-major without gaps
  std::uint64_t byte_offset;
};

/// What a capsule named "dltensor" holds.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

/// What a capsule named "dltensor_versioned" holds.
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

inline constexpr std::int32_t cpu = 1, cuda_host = 3;  // of device_type: memory that the host reads
inline constexpr std::uint64_t read_only = 1;          // of flags

}  // namespace dlpack

/// Says that values are to be used where they lie or not at all: `from_dlpack<float, dyn, dyn>(m, never_copy)`.
struct never_copy_t {};
inline constexpr never_copy_t never_copy{};

namespace detail {

/// A DLTensor, ours or the official header's.
template <class Tensor>
concept dl_tensor = requires(const Tensor& t) {
  t.data;
  t.device.device_type;
  t.ndim;
  t.dtype.lanes;
  t.shape;
  t.strides;
  t.byte_offset;
};
template <class Managed>
concept managed_dl_tensor = requires(Managed& m) {
  requires dl_tensor<decltype(m.dl_tensor)>;
  m.deleter(&m);
  m.manager_ctx;
};
template <class Managed>
concept versioned_dl_tensor = managed_dl_tensor<Managed> && requires(Managed& m) {
  m.version.major;
  m.flags;
};

/// The code of an element type, as `DLDataTypeCode` numbers them.
constexpr std::uint8_t dlpack_code(element type) {
  if (type == element::bfloat16) return 4;
  switch (kind_of(type)) {
    case element_kind::signed_integer: return 0;
    case element_kind::unsigned_integer: return 1;
    case element_kind::floating: return 2;
    case element_kind::truth: return 6;
    case element_kind::characters: break;
  }
  return 255;
}

ONTO_BEGIN_RUNS_ONCE
template <class Part>
[[noreturn]] ONTO_COLD void throw_dlpack(const Part& what) {
  fail<invalid_argument_error>(message("[onto.dlpack] ") << what.text());
}

/// Names of the devices whose memory is not the host's.
ONTO_COLD inline message dlpack_device(const dlpack::DLDevice& d) {
  const char* const name = d.device_type == 2    ? "CUDA GPU "
                           : d.device_type == 13 ? "CUDA GPU (managed memory) "
                           : d.device_type == 10 ? "ROCm GPU "
                           : d.device_type == 8  ? "Metal GPU "
                                                 : nullptr;
  message m;
  if (!name) return m << "a device of DLPack's type " << d.device_type, m;
  return m << name << d.device_id, m;
}

/// Where the values are and how they lie, once everything the structure says is found usable.
/// *Throws* `invalid_argument_error` for a type, rank or shape other than asked for, memory that is not the host's, and
/// numbers that cannot be.
ONTO_COLD inline const void* check_dlpack(const dlpack::DLTensor& t, element type, const extents& declared,
                                          extents& shape, std::int64_t* stride) {
  if (t.device.device_type != dlpack::cpu && t.device.device_type != dlpack::cuda_host)
    throw_dlpack(message("the values are in the memory of ")
                 << dlpack_device(t.device).text()
                 << ", and feeds are read from the host's; copy them there first: x.cpu() in PyTorch");
  element found{};
  bool known = false;
  for (const element_row& row : element_table::rows)
    if (t.dtype.lanes == 1 && t.dtype.code == dlpack_code(row.type) && t.dtype.bits == row.size * 8) {
      found = row.type;
      known = true;
    }
  if (!known)
    throw_dlpack(message("the elements are of DLPack's type ")
                 << t.dtype.code << " with " << t.dtype.bits << " bits and " << t.dtype.lanes
                 << " lanes, which onto does not have; convert the tensor, to float for one");
  if (found != type)
    throw_dlpack(message("the elements are ")
                 << name_of(found) << " where " << name_of(type) << " was asked for; ask for " << name_of(found)
                 << ", or convert the tensor");
  if (t.ndim < 0 || t.ndim > max_rank)
    throw_dlpack(message("the tensor has ") << t.ndim << " dimensions; 0 to " << max_rank << " can be");
  if (t.ndim > 0 && !t.shape) throw_dlpack(message("the tensor has dimensions and no shape; hand over a complete one"));
  for (int k = 0; k < t.ndim; ++k) {
    if (t.shape[k] < 0 || t.shape[k] > std::numeric_limits<int>::max())
      throw_dlpack(message("extent ") << k << " of the shape is " << t.shape[k] << "; it is to be 0 to 2147483647");
    shape.push_back(static_cast<int>(t.shape[k]));
  }
  if (!may_agree(shape, declared))
    throw_dlpack(message() << "the tensor has shape " << shape << " where shape " << declared
                           << " was asked for; ask for its shape, or dyn where an extent varies");
  contiguous_strides(shape, stride);
  if (t.strides)
    for (int k = 0; k < t.ndim; ++k) stride[k] = t.strides[k];
  // The elements farthest ahead and farthest back must have addresses.
  std::int64_t ahead = size_of(type), back = 0;
  bool fits = true;
  for (int k = 0; fits && k < t.ndim && shape.size() != 0; ++k) {
    std::int64_t reach = 0;
    std::int64_t& side = stride[k] < 0 ? back : ahead;
    fits = !__builtin_mul_overflow(stride[k], std::int64_t{shape[k]} - 1, &reach) &&
           !__builtin_mul_overflow(reach, std::int64_t{size_of(type)}, &reach) &&
           !__builtin_add_overflow(side, reach, &side);
  }
  if (!fits || !shape.fits(size_of(type)))
    throw_dlpack(message() << "shape " << shape
                           << " with its strides reaches beyond every address; hand over the tensor anew");
  if (shape.size() == 0) return t.data;
  if (!t.data) throw_dlpack(message() << "the tensor has shape " << shape << " and no values: its pointer is null");
  const auto address = reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset;
  if (address % static_cast<std::uintptr_t>(size_of(type)) != 0)
    throw_dlpack(message("the values do not begin at a multiple of ")
                 << size_of(type) << " bytes; hand over a copy of the tensor");
  return static_cast<const unsigned char*>(t.data) + t.byte_offset;
}
ONTO_END_RUNS_ONCE

/// The values of a DLTensor, ours or the official header's.
template <tensor_element T, int... Dims, dl_tensor Tensor>
strided_ref<T, Dims...> dlpack_values(const Tensor& t) {
  const dlpack::DLTensor same{t.data,       {static_cast<std::int32_t>(t.device.device_type), t.device.device_id},
                              t.ndim,       {t.dtype.code, t.dtype.bits, t.dtype.lanes},
                              t.shape,      t.strides,
                              t.byte_offset};
  extents found;
  std::int64_t stride[max_rank + 1];
  expect_numbers<T>();
  const void* const values = check_dlpack(same, element_of<T>, shape<Dims...>{}, found, stride);
  typename strided_ref<T, Dims...>::strides_array strides{};
  const std::int64_t* of_dimension = stride;
  for (std::int64_t& mine : strides) mine = *of_dimension++;
  return {static_cast<const T*>(values), found, strides};
}

/// Tells the other side when the values are no longer used.
template <class Managed>
class dlpack_owner final : public counted {
 public:
  ~dlpack_owner() override {
    if (managed && managed->deleter) managed->deleter(managed);
  }
  Managed* managed = nullptr;
};

template <class Managed>
void check_dlpack_version(const Managed* m) {
  if (!m) throw_dlpack(message("the pointer to the tensor is null"));
  if constexpr (versioned_dl_tensor<Managed>)
    if (m->version.major != 1)
      throw_dlpack(message("the tensor is of DLPack ")
                   << std::int64_t{m->version.major} << "." << std::int64_t{m->version.minor}
                   << ", and versions 1.x are read; ask for one of these");
}

template <tensor_element T, int... Dims, class Managed>
shared_tensor<T, Dims...> take_dlpack(Managed* m, bool copy) {
  check_dlpack_version(m);
  const strided_ref<T, Dims...> values = dlpack_values<T, Dims...>(m->dl_tensor);
  ref<dlpack_owner<Managed>> owner(new dlpack_owner<Managed>);
  if (copy && !values.is_row_major()) {
    shared_tensor<T, Dims...> copied(static_cast<tensor<T, Dims...>>(values));
    owner->managed = m;
    return copied;
  }
  const tensor_ref<T, Dims...> same(values);
  owner->managed = m;
  return {same, ref<counted>(std::move(owner))};
}

/// A tensor that was given away, with what the other side reads of it.
template <class Managed, class Data>
struct dlpack_export {
  Managed managed{};
  Data data;
  std::int64_t shape[max_rank + 1] = {};
  std::int64_t strides[max_rank + 1] = {};

  explicit dlpack_export(Data&& d) : data(static_cast<Data&&>(d)) {
    using T = typename Data::element_type;
    const extents e = data.extent_values();
    contiguous_strides(e, strides);
    for (int k = 0; k < e.rank; ++k) shape[k] = e[k];
    auto& t = managed.dl_tensor;
    t.data = const_cast<T*>(data.data());
    t.device.device_type = static_cast<decltype(t.device.device_type)>(dlpack::cpu);
    t.ndim = e.rank;
    expect_numbers<T>();
    t.dtype.code = dlpack_code(element_of<T>);
    t.dtype.bits = static_cast<std::uint8_t>(sizeof(T) * 8);
    t.dtype.lanes = 1;
    t.shape = shape;
    t.strides = strides;
    managed.manager_ctx = this;
    managed.deleter = [](Managed* m) { delete static_cast<dlpack_export*>(m->manager_ctx); };
  }
};

}  // namespace detail

/// The values of a tensor of another library, which are not its own to keep: `x = dlpack_view<float, dyn, dyn>(t)`
/// feeds them without a copy where they lie row-major; `row_major` of it is right for all. Valid as long as the memory.
/// *Throws* `invalid_argument_error` as `from_dlpack`.
template <tensor_element T, int... Dims, detail::dl_tensor Tensor>
strided_ref<T, Dims...> dlpack_view(const Tensor& t) {
  return detail::dlpack_values<T, Dims...>(t);
}

/// Takes over a tensor of another library: a pointer to a `DLManagedTensorVersioned` or `DLManagedTensor`, ours or the
/// official header's. Its values are used where they lie, and its deleter is called when they no longer are; values
/// that do not lie row-major are copied, and the deleter is called at once.
///
/// *Throws* `invalid_argument_error` with a sentence for another element type, rank or shape, memory of a GPU, or
/// numbers that cannot be; then the tensor is still the caller's. `sess.run(e, x = from_dlpack<float, dyn,
/// dyn>(managed));`
template <tensor_element T, int... Dims, detail::managed_dl_tensor Managed>
shared_tensor<T, Dims...> from_dlpack(Managed* managed) {
  return detail::take_dlpack<T, Dims...>(managed, true);
}

/// The same without a copy ever. *Throws* `invalid_argument_error` where values do not lie row-major, too.
template <tensor_element T, int... Dims, detail::managed_dl_tensor Managed>
shared_tensor<T, Dims...> from_dlpack(Managed* managed, never_copy_t) {
  return detail::take_dlpack<T, Dims...>(managed, false);
}

/// Gives a tensor away: what it returns owns the values, and its `deleter` is to be called once they are no longer
/// used, from whatever thread. `to_dlpack<DLManagedTensor>(...)` is for those who know the structure before DLPack 1.0.
template <detail::managed_dl_tensor Managed = dlpack::DLManagedTensorVersioned, tensor_element T, int... Dims>
Managed* to_dlpack(tensor<T, Dims...>&& t) {
  using given = detail::dlpack_export<Managed, tensor<T, Dims...>>;
  Managed& m = (new given(std::move(t)))->managed;
  if constexpr (detail::versioned_dl_tensor<Managed>) m.version.major = 1;
  return &m;
}

/// Gives values away that others may use too; the other side may only read them. *Mandates* a structure that says so.
template <detail::managed_dl_tensor Managed = dlpack::DLManagedTensorVersioned, tensor_element T, int... Dims>
Managed* to_dlpack(const shared_tensor<T, Dims...>& t) {
  constexpr bool says_so = detail::versioned_dl_tensor<Managed>;
  static_assert(
      says_so,
      "[onto.dlpack] DLManagedTensor cannot say that values are read-only; give a DLManagedTensorVersioned, or "
      "a tensor");
  if constexpr (says_so) {
    using given = detail::dlpack_export<Managed, shared_tensor<T, Dims...>>;
    Managed& m = (new given(shared_tensor<T, Dims...>(t)))->managed;
    m.version.major = 1;
    m.flags = dlpack::read_only;
    return &m;
  }
}

}  // namespace onto
