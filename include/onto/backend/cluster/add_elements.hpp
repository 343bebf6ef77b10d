// SPDX-License-Identifier: BSL-1.0
// Adds up tensors of several tasks, element by element in the order in which they are given.
#pragma once

#include <onto/core/element.hpp>
#include <onto/core/half.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace onto::detail {

/// `out[k] = in[0][k] + in[1][k] + ...`. Integers wrap around; what is computed in float is rounded once.
template <class T>
void add_arrays(T* out, const void* const* in, int count, std::int64_t size) {
  constexpr std::int64_t lanes = 16 / static_cast<std::int64_t>(sizeof(T));
  using pack [[gnu::vector_size(16)]] = T;
  std::int64_t k = 0;
  for (; k + 2 * lanes <= size; k += 2 * lanes) {
    pack sum[2], more[2];
    std::memcpy(sum, static_cast<const T*>(in[0]) + k, sizeof sum);
    for (int t = 1; t < count; ++t) {
      std::memcpy(more, static_cast<const T*>(in[t]) + k, sizeof more);
      sum[0] += more[0];
      sum[1] += more[1];
    }
    std::memcpy(out + k, sum, sizeof sum);
  }
  for (; k < size; ++k) {
    T sum = static_cast<const T*>(in[0])[k];
    for (int t = 1; t < count; ++t) sum = static_cast<T>(sum + static_cast<const T*>(in[t])[k]);
    out[k] = sum;
  }
}
template <class T>
void add_rounded(T* out, const void* const* in, int count, std::int64_t size) {
  for (std::int64_t k = 0; k < size; ++k) {
    float sum = static_cast<float>(static_cast<const T*>(in[0])[k]);
    for (int t = 1; t < count; ++t) sum += static_cast<float>(static_cast<const T*>(in[t])[k]);
    out[k] = static_cast<T>(sum);
  }
}

/// The same by element type. *Preconditions* they are numbers.
inline void add_elements(element type, void* out, const void* const* in, int count, std::int64_t size) {
  if (type == element::float32) return add_arrays(static_cast<float*>(out), in, count, size);
  if (type == element::float64) return add_arrays(static_cast<double*>(out), in, count, size);
  if (type == element::float16) return add_rounded(static_cast<half*>(out), in, count, size);
  if (type == element::bfloat16) return add_rounded(static_cast<bfloat16*>(out), in, count, size);
  switch (size_of(type)) {  // with a sign and without it is the same
    case 1: return add_arrays(static_cast<std::uint8_t*>(out), in, count, size);
    case 2: return add_arrays(static_cast<std::uint16_t*>(out), in, count, size);
    case 4: return add_arrays(static_cast<std::uint32_t*>(out), in, count, size);
    default: return add_arrays(static_cast<std::uint64_t*>(out), in, count, size);
  }
}

}  // namespace onto::detail
