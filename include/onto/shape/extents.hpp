// SPDX-License-Identifier: BSL-1.0
// Extents: the shape of a tensor as a type (`shape<2, dyn>`) and as a value (`extents`).
#pragma once

#include <onto/core/message.hpp>

#include <cstdint>
#include <string>

namespace onto {

/// An extent known at run time. Every other extent is a number in the type.
inline constexpr int dyn = -1;

/// The highest rank of a tensor.
inline constexpr int max_rank = 8;

namespace detail {
/// Products and sums of counts, which are 0 or positive: where no number holds them, the greatest there is.
inline constexpr std::int64_t most_count = 0x7fffffffffffffff;
constexpr std::int64_t times(std::int64_t a, std::int64_t b) {
  if ((a | b) >> 31 == 0) return a * b;
  return b != 0 && a > most_count / b ? most_count : a * b;
}
constexpr std::int64_t plus(std::int64_t a, std::int64_t b) { return a > most_count - b ? most_count : a + b; }
}  // namespace detail

/// A shape as a type; how the compiler's errors spell it: `shape<2, 3>`. `-1` is `dyn`.
template <int... Dims>
struct shape {
  static_assert(sizeof...(Dims) <= max_rank, "[onto.shape] a tensor has at most 8 dimensions; reshape to fewer");
  static_assert(((Dims >= 0 || Dims == dyn) && ...), "[onto.shape] an extent is 0, positive, or dyn");
};

/// A shape as a value. An extent of `dyn` (-1) is not known yet.
struct extents {
  int rank = 0;
  int dims[max_rank] = {};

  constexpr extents() = default;

  template <int... D>
  constexpr extents(shape<D...>) : rank(sizeof...(D)), dims{D...} {}

  ONTO_INLINE constexpr int operator[](int axis) const { return dims[axis]; }
  ONTO_INLINE constexpr int& operator[](int axis) { return dims[axis]; }

  constexpr bool is_static() const {
    for (int k = 0; k < rank; ++k)
      if (dims[k] == dyn) return false;
    return true;
  }

  /// The number of elements, or -1 where an extent is not known; where no number holds it, the greatest there is.
  constexpr std::int64_t size() const {
    std::int64_t n = 1;
    bool none = false;
    for (int k = 0; k < rank; ++k) {
      if (dims[k] == dyn) return -1;
      if (dims[k] == 0) none = true;
      if (dims[k] > 0) n = detail::times(n, dims[k]);
    }
    return none ? 0 : n;
  }

  /// Whether a number of bytes, up to 2^63 - 1, holds so many elements of `bytes` each; true where an extent is not
  /// known.
  constexpr bool fits(std::int64_t bytes) const {
    bool all = true;
    for (int k = 0; k < rank; ++k) {
      if (dims[k] == dyn || dims[k] == 0) return true;
      all = all && bytes <= detail::most_count / dims[k];
      if (all) bytes *= dims[k];
    }
    return all;
  }

  ONTO_INLINE constexpr void push_back(int extent) { dims[rank++] = extent; }

  friend constexpr bool operator==(const extents& a, const extents& b) {
    if (a.rank != b.rank) return false;
    for (int k = 0; k < a.rank; ++k)
      if (a.dims[k] != b.dims[k]) return false;
    return true;
  }
};

namespace detail {
/// Strides of a contiguous row-major tensor.
constexpr void contiguous_strides(const extents& e, std::int64_t* stride) {
  std::int64_t s = 1;
  for (int k = e.rank - 1; k >= 0; --k) {
    stride[k] = s;
    s = times(s, e.dims[k]);
  }
}

ONTO_BEGIN_RUNS_ONCE
/// `[2, 3]`; an extent that is not known prints `?`.
ONTO_COLD inline message& operator<<(message& m, const extents& e) {
  m << "[";
  for (int k = 0; k < e.rank; ++k) {
    if (k) m << ", ";
    if (e.dims[k] == dyn)
      m << "?";
    else
      m << e.dims[k];
  }
  return m << "]";
}
ONTO_END_RUNS_ONCE
}  // namespace detail

/// `[2, 3]`; an extent that is not known prints `?`.
ONTO_COLD inline std::string to_string(const extents& e) {
  detail::message m;
  m << e;
  return m.text();
}

}  // namespace onto
