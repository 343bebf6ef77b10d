// SPDX-License-Identifier: BSL-1.0
// Places: `gpu<0>` and `cpu<0>` as types, and the same as a small value for constexpr passes.
#pragma once

#include <onto/core/config.hpp>

#include <cstdint>

namespace onto {

enum class device_kind : std::uint8_t { none, cpu, gpu };

/// A place as a value: a kind and an index. `{none, -1}` asks for nothing.
struct place {
  device_kind kind = device_kind::none;
  int index = -1;

  ONTO_INLINE constexpr bool is_set() const { return kind != device_kind::none; }
  friend constexpr bool operator==(const place&, const place&) = default;
};

/// GPU number `Index`, as a type.
template <int Index>
struct gpu {
  static_assert(Index >= 0, "[onto.device] a device index is 0 or positive");
  static constexpr int index = Index;
  static constexpr place value{device_kind::gpu, Index};
};

/// CPU number `Index`, as a type.
template <int Index>
struct cpu {
  static_assert(Index >= 0, "[onto.device] a device index is 0 or positive");
  static constexpr int index = Index;
  static constexpr place value{device_kind::cpu, Index};
};

namespace detail {
template <class D>
inline constexpr bool is_place = false;
template <int I>
inline constexpr bool is_place<gpu<I>> = true;
template <int I>
inline constexpr bool is_place<cpu<I>> = true;
}  // namespace detail

/// `gpu<I>` or `cpu<I>`.
template <class D>
concept place_type = detail::is_place<D>;

}  // namespace onto
