// SPDX-License-Identifier: BSL-1.0
// Texts as bytes, and back: to write them to a file, or to send them to another process.
#pragma once

#include <onto/core/message.hpp>
#include <onto/tensor/tensor.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

// What `count` texts are as bytes: 8 bytes for the length of each, the lowest first, and then the bytes of all of them,
// one text after the other. Nothing depends on the machine.

/// The number of bytes of texts, serialized: 8 for each, and their own.
inline std::int64_t serialized_size(std::span<const text> texts) {
  std::int64_t size = 0;
  for (const text& t : texts) size += 8 + static_cast<std::int64_t>(t.size());
  return size;
}

/// Writes texts as bytes. *Preconditions* `to` has `serialized_size(texts)` bytes. *Complexity* linear in them.
inline void serialize(std::span<const text> texts, std::byte* to) {
  for (const text& t : texts)
    for (unsigned k = 0; k < 8; ++k) *to++ = static_cast<std::byte>(std::uint64_t{t.size()} >> 8 * k & 0xff);
  for (const text& t : texts) {
    if (!t.empty()) std::memcpy(to, t.view().data(), t.size());
    to += t.size();
  }
}

/// The bytes of a tensor's texts, row-major; not its shape.
template <int... Dims>
tensor<std::uint8_t, dyn> serialize(const tensor<text, Dims...>& t) {
  const std::int64_t size = serialized_size(t.values());
  if (size > 0x7fffffff)
    detail::fail<invalid_argument_error>(detail::message("[onto.text] the texts are ")
                                         << size
                                         << " bytes, and one tensor of bytes has at most 2147483647; give "
                                            "serialize(texts, pointer) memory of your own");
  tensor<std::uint8_t, dyn> bytes({static_cast<int>(size)});
  serialize(t.values(), reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

/// Reads as many texts as there is room for in `to`, from all of the bytes: none of another process's is trusted.
/// *Throws* `invalid_argument_error` where they are not what `serialize` writes for so many, and changes nothing of
/// `to` then; `resource_exhausted_error`, with some read. *Complexity* linear in the bytes.
inline void deserialize(std::span<const std::byte> bytes, std::span<text> to) {
  const auto mistake = [](const char* what) {
    detail::fail<invalid_argument_error>(detail::message("[onto.text] these bytes are not so many texts: ")
                                         << what << "; read as many as were serialized, from all of their bytes");
  };
  if (bytes.size() / 8 < to.size()) mistake("there are fewer lengths");
  const auto length = [&](std::size_t k) {
    std::uint64_t n = 0;
    for (unsigned b = 0; b < 8; ++b) n |= static_cast<std::uint64_t>(bytes[8 * k + b]) << 8 * b;
    return n;
  };
  std::uint64_t left = bytes.size() - 8 * to.size();
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (length(k) > text::max_size) mistake("a text is longer than 2147483647 bytes");
    if (length(k) > left) mistake("they end within a text");
    left -= length(k);
  }
  if (left > 0) mistake("there are bytes behind the last text");
  const char* from = reinterpret_cast<const char*>(bytes.data()) + 8 * to.size();
  for (std::size_t k = 0; k < to.size(); ++k) {
    const auto size = static_cast<std::size_t>(length(k));
    to[k] = text(std::string_view(size ? from : "", size));
    from += size;
  }
}

/// A tensor of a shape from the bytes of its texts: `deserialize<dyn>(bytes, {3})`. *Throws* as above, and where the
/// shape is not the type's.
template <int... Dims, std::size_t N>
tensor<text, Dims...> deserialize(std::span<const std::byte> bytes, const detail::any_integer (&shape)[N]) {
  tensor<text, Dims...> t(detail::to_extents<sizeof...(Dims)>(shape));
  deserialize(bytes, t.values());
  return t;
}
template <int... Dims, detail::integer_in_an_array Int, std::size_t N>
tensor<text, Dims...> deserialize(std::span<const std::byte> bytes, const Int (&shape)[N]) {
  tensor<text, Dims...> t(detail::to_extents<sizeof...(Dims)>(shape));
  deserialize(bytes, t.values());
  return t;
}

}  // namespace onto
ONTO_END_RUNS_ONCE
