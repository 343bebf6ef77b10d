// SPDX-License-Identifier: BSL-1.0
// What the tests of the CPU kernels share: views of every kind over random values, and plain walks over them.
#pragma once

#include <onto/runtime/kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "../catch.hpp"

namespace backend_cpu {

using namespace onto;
using onto::detail::kernel_call;
using onto::detail::operand_view;
using rng = std::mt19937;

inline int pick(rng& r, int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(r); }

/// In [lo, hi), of 53 random bits. The standard's distributions take a logarithm of a long double for each number.
inline double uniform(rng& r, double lo, double hi) {
  const std::uint64_t bits = static_cast<std::uint64_t>(r()) << 21 | r() >> 11;
  return lo + (hi - lo) * (static_cast<double>(bits) * 0x1p-53);
}

inline extents shape_value(std::initializer_list<int> dims) {
  extents e;
  for (int d : dims) e.push_back(d);
  return e;
}

/// A shape of at most `rank` dimensions and `most` elements; extents of 1 are likely, 0 is not among them.
inline extents random_shape(rng& r, int rank, int most) {
  extents e;
  const int n = pick(r, 0, rank);
  int left = most;
  for (int k = 0; k < n; ++k) {
    const int d = pick(r, 0, 4) == 0 ? 1 : std::min(pick(r, 1, pick(r, 0, 3) == 0 ? 5000 : 40), left);
    e.push_back(d);
    left /= d;
  }
  std::shuffle(e.dims, e.dims + e.rank, r);
  return e;
}

/// Values that a tensor of `T` may well have; small ones, so that integers do not overflow unless a test wants it.
template <class T>
T random_value(rng& r) {
  if constexpr (std::is_same_v<T, bool>)
    return pick(r, 0, 1) == 1;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(pick(r, -100, 100));
  else
    return static_cast<T>(uniform(r, -2, 2));
}

enum class memory { contiguous, any, transposed, broadcast };

/// A view over a space, and the memory behind it.
template <class T>
struct view {
  view() = default;
  view(view&&) = default;
  view(const view&) = delete;

  std::vector<unsigned char> bytes;
  operand_view v;
  extents space;

  T* data() { return static_cast<T*>(v.data); }
  T at(const std::int64_t* index) const {
    std::int64_t offset = 0;
    for (int k = 0; k < space.rank; ++k) offset += index[k] * v.stride[k];
    return static_cast<const T*>(v.data)[offset];
  }
};

template <class T>
view<T> make_view(const extents& space, memory kind, rng& r) {
  view<T> x;
  x.space = space;
  x.v.type = element_of<T>;
  int order[max_rank] = {0, 1, 2, 3, 4, 5, 6, 7};
  if (kind == memory::transposed) std::reverse(order, order + space.rank);
  if (kind == memory::any) std::shuffle(order, order + space.rank, r);
  std::int64_t size = 1;
  for (int k = space.rank - 1; k >= 0; --k) {
    const int d = order[k];
    if (kind == memory::broadcast && pick(r, 0, 1) == 0) {
      x.v.stride[d] = 0;
      continue;
    }
    if (kind == memory::any && pick(r, 0, 3) == 0) size *= pick(r, 1, 3);  // as a slice with steps has
    x.v.stride[d] = size;
    size *= std::max(space.dims[d], 1);
    if (kind == memory::any && pick(r, 0, 3) == 0) size += pick(r, 0, 5);
  }
  x.bytes.resize(static_cast<std::size_t>(size) * sizeof(T) + 64);
  x.v.data = x.bytes.data();
  for (std::int64_t k = 0; k < size; ++k) x.data()[k] = random_value<T>(r);
  return x;
}

template <class T>
view<T> random_view(const extents& space, rng& r) {
  return make_view<T>(space, static_cast<memory>(pick(r, 0, 3)), r);
}

/// Calls `f(flat, index)` for every element of a space in row-major order.
template <class F>
void for_each_index(const extents& space, F f) {
  const std::int64_t n = space.size();
  std::int64_t index[max_rank] = {};
  for (std::int64_t flat = 0; flat < n; ++flat) {
    f(flat, index);
    for (int k = space.rank - 1; k >= 0 && ++index[k] == space.dims[k]; --k) index[k] = 0;
  }
}

/// A result and a margin after it that nobody may write to.
template <class T>
struct result {
  std::vector<unsigned char> bytes;
  std::int64_t count;
  explicit result(std::int64_t n) : bytes(static_cast<std::size_t>(n) * sizeof(T) + 128, 0xA5), count(n) {}
  T* data() { return reinterpret_cast<T*>(bytes.data()); }
  T operator[](std::int64_t k) { return data()[k]; }
  bool margin_is_whole() const {
    return std::all_of(bytes.end() - 128, bytes.end(), [](unsigned char b) { return b == 0xA5; });
  }
};

template <class T>
operand_view as_result(result<T>& out, const extents& space) {
  operand_view v;
  v.data = out.data();
  v.type = element_of<T>;
  onto::detail::contiguous_strides(space, v.stride);
  return v;
}

template <class T>
std::uint64_t bits(T value) {
  std::uint64_t b = 0;
  std::memcpy(&b, &value, sizeof value);
  return b;
}

}  // namespace backend_cpu
