// SPDX-License-Identifier: BSL-1.0
// Text in types: a string literal enters as a template argument and leaves as a pack of characters.
#pragma once

#include <onto/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace onto {

/// A string literal as a template argument: `placeholder<"x", float>`.
template <std::size_t N>
struct fixed_string {
  char data[N]{};

  consteval fixed_string(const char (&literal)[N]) {
    for (std::size_t k = 0; k < N; ++k) data[k] = literal[k];
  }

  constexpr std::size_t length() const { return N - 1; }
};

/// The same text as a type. nvcc does not take class-type template arguments into kernels or partial specializations;
/// packs it takes.
template <char... Letters>
struct letters {
  static constexpr char data[sizeof...(Letters) + 1] = {Letters..., '\0'};
  static constexpr std::string_view value{data, sizeof...(Letters)};
};

namespace detail {

template <fixed_string S, std::size_t... K>
constexpr auto spell(std::index_sequence<K...>) -> letters<S.data[K]...> {
  return {};
}

/// The text that spells `S`, as a value. Where a type is made of it, let a function deduce that type from this value:
/// nvcc repeats an alias like `text_of<S>` word for word outside the template it stands in, where `S` has no meaning.
template <fixed_string S>
constexpr auto spelled() {
  return spell<S>(std::make_index_sequence<S.length()>{});
}

/// FNV-1a, the hash under every structural identity.
constexpr std::uint64_t hash_text(std::string_view s) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

/// Mixes a value into a hash; order matters.
ONTO_INLINE constexpr std::uint64_t hash_mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdu;
  return h ^ (h >> 33);
}

}  // namespace detail

/// The type `letters<...>` that spells `S`.
template <fixed_string S>
using text_of = decltype(detail::spell<S>(std::make_index_sequence<S.length()>{}));

}  // namespace onto
