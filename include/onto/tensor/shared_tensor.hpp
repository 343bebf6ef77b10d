// SPDX-License-Identifier: BSL-1.0
// A shared tensor: constant values of somebody else together with their owner, which lives as long as they are used.
// What a mapped file and memory of another library are.
#pragma once

#include <onto/core/ref.hpp>
#include <onto/tensor/print.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace onto {

template <tensor_element T, int... Dims>
class shared_tensor;

namespace detail {
template <class T, int... Dims>
inline constexpr bool is_tensor<shared_tensor<T, Dims...>> = true;

/// An owner that lives as long as the values are used.
template <class Owner>
class kept_owner final : public counted {
 public:
  explicit kept_owner(Owner&& owner) : owner_(static_cast<Owner&&>(owner)) {}

 private:
  Owner owner_;
};
}  // namespace detail

/// Constant values, row-major, and what owns them; reads and feeds like a `tensor_ref`.
///
/// A copy refers to the same values, and the owner goes with the last one. From several threads it is used as a
/// std::shared_ptr is.
template <tensor_element T, int... Dims>
class shared_tensor {
 public:
  using element_type = T;
  using shape_type = onto::shape<Dims...>;

  /// The number of axes.
  static constexpr int rank = static_cast<int>(sizeof...(Dims));

  /// The extents as the type says them; `dyn` where it leaves them open.
  static constexpr extents declared = extents(shape_type{});

  /// Values that `owner` keeps where they are when it is moved: a `std::vector`, a `std::shared_ptr`, a handle.
  template <class Owner>
    requires(!std::is_reference_v<Owner> && !std::is_const_v<Owner>)
  shared_tensor(const tensor_ref<T, Dims...>& values, Owner&& owner)
      : values_(values), owner_(new detail::kept_owner<Owner>(static_cast<Owner&&>(owner))) {}

  /// The values of a tensor, which it takes over.
  explicit shared_tensor(tensor<T, Dims...>&& t)
      : shared_tensor(tensor_ref<T, Dims...>(t), static_cast<tensor<T, Dims...>&&>(t)) {}

  /// Values with their owner, or with none: they must live long enough.
  shared_tensor(const tensor_ref<T, Dims...>& values, detail::ref<detail::counted> owner)
      : values_(values), owner_(static_cast<detail::ref<detail::counted>&&>(owner)) {}

  // A move is a copy: no shared tensor is without values.
  shared_tensor(const shared_tensor&) = default;
  shared_tensor& operator=(const shared_tensor&) = default;
  ~shared_tensor() = default;

  /// Whether it holds an owner; false where it only refers to values, as a `tensor_ref` does.
  bool owns() const { return static_cast<bool>(owner_); }

  /// The values, without their owner.
  const tensor_ref<T, Dims...>& ref() const { return values_; }

  /// The same under a type that knows other extents. Implicit where they cannot differ.
  template <int... Other>
    requires(sizeof...(Other) == sizeof...(Dims))
  explicit(!detail::always_agree(onto::shape<Dims...>{}, onto::shape<Other...>{})) operator tensor_ref<T, Other...>()
      const {
    return tensor_ref<T, Other...>(values_);
  }

  /// The values, row-major.
  const T* data() const { return values_.data(); }
  std::span<const T> values() const { return values_.values(); }
  const T* begin() const { return values_.begin(); }
  const T* end() const { return values_.end(); }

  /// The number of values.
  std::size_t size() const { return values_.size(); }

  /// The extents, one per axis.
  const shape_array<rank>& shape() const { return values_.shape(); }

  /// The extents as the value that shape rules work on.
  extents extent_values() const { return values_.extent_values(); }

  /// An element. *Preconditions* every index is inside; asserted in debug builds.
  template <class... Index>
    requires(sizeof...(Index) == sizeof...(Dims) && (detail::index_value<Index> && ...))
  const T& operator()(const Index&... index) const { return values_(index...); }

 private:
  tensor_ref<T, Dims...> values_;
  detail::ref<detail::counted> owner_;
};

/// Writes the values as a tensor's are written.
template <class Traits, tensor_element T, int... Dims>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const shared_tensor<T, Dims...>& t) {
  return out << t.ref();
}

/// True where the shapes and the values are the same.
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
bool operator==(const shared_tensor<T, A...>& a, const tensor<T, B...>& b) { return detail::same_values(a, b); }
template <tensor_element T, int... A, int... B>
  requires(sizeof...(A) == sizeof...(B))
bool operator==(const shared_tensor<T, A...>& a, const shared_tensor<T, B...>& b) { return detail::same_values(a, b); }

}  // namespace onto
