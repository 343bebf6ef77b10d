// SPDX-License-Identifier: BSL-1.0
// Random numbers from a counter: element i is a function of the seed and of i, so a seed gives the same numbers on
// every device, in any order, on any number of threads.
#pragma once

#include <onto/expr/data.hpp>
#include <onto/ops/generate.hpp>

#include <concepts>
#include <limits>

namespace onto {

namespace detail {

struct philox_words {
  std::uint32_t word[4];
};

/// Philox 4x32 with 10 rounds: 128 random bits for a counter and a key.
/// *Source* J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
ONTO_HD constexpr philox_words philox(philox_words counter, std::uint32_t key0, std::uint32_t key1) {
  std::uint32_t a = counter.word[0], b = counter.word[1], c = counter.word[2], d = counter.word[3];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53u} * a;
    const std::uint64_t q = std::uint64_t{0xCD9E8D57u} * c;
    a = static_cast<std::uint32_t>(q >> 32) ^ b ^ key0;
    b = static_cast<std::uint32_t>(q);
    c = static_cast<std::uint32_t>(p >> 32) ^ d ^ key1;
    d = static_cast<std::uint32_t>(p);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{a, b, c, d}};
}

/// The random bits of element `index` under `seed`.
ONTO_HD constexpr philox_words random_bits(std::int64_t index, std::int64_t seed) {
  const auto i = static_cast<std::uint64_t>(index);
  const auto s = static_cast<std::uint64_t>(seed);
  return philox({{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), 0, 0}},
                static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(s >> 32));
}

/// 53 bits of two words.
ONTO_HD constexpr std::uint64_t bits53(std::uint32_t low, std::uint32_t high) {
  return ((std::uint64_t{high} << 32) | low) >> 11;
}

}  // namespace detail

namespace op {

/// The base of random generators: the operand is the seed. For packs the index makes the numbers.
template <class Element, int... Dims>
struct random : generator<Element, Dims...> {
  static constexpr bool packs = !is_half_precision(element_of<Element>);
  static constexpr int cost = 30;
  // The kernel is chosen by the seed, which is int64.
  static constexpr kernel_set kernels{floating_elements | element_bit(element::int64),
                                      floating_elements | element_bit(element::int64)};
};

template <class Element, int... Dims>
struct random_uniform : random<Element, Dims...> {
  using of_any_shape = random_uniform<Element>;
  static constexpr std::string_view name = "RandomUniform";
  static constexpr bool is_stored_narrow = is_half_precision(element_of<Element>);
  template <class T, class Index>
  ONTO_HD ONTO_INLINE static T at(Index index, std::int64_t seed) {
    if constexpr (math::is_pack<T>) {
      return index.uniform(seed);
    } else {
      const detail::philox_words r = detail::random_bits(index, seed);
      if constexpr (is_stored_narrow) {  // as many bits as it has: none is rounded up to 1
        constexpr int bits = std::numeric_limits<Element>::digits;
        return static_cast<T>(r.word[0] >> (32 - bits)) / T(1 << bits);
      } else if constexpr (sizeof(T) == 4) {
        return static_cast<T>(r.word[0] >> 8) * T(0x1p-24);
      } else {
        return static_cast<T>(detail::bits53(r.word[0], r.word[1])) * T(0x1p-53);
      }
    }
  }
};

template <class Element, int... Dims>
struct random_normal : random<Element, Dims...> {
  using of_any_shape = random_normal<Element>;
  static constexpr std::string_view name = "RandomStandardNormal";

  // Box and Muller, in double for float too: libraries differ in the last bits of log and cos, which the rounding
  // removes.
  template <class T, class Index>
  ONTO_HD ONTO_INLINE static T at(Index index, std::int64_t seed) {
    if constexpr (math::is_pack<T>) {
      return index.normal(seed);
    } else {
      const detail::philox_words r = detail::random_bits(index, seed);
      const double radius = static_cast<double>(detail::bits53(r.word[0], r.word[1]) + 1) * 0x1p-53;  // never 0
      const double turn = static_cast<double>(detail::bits53(r.word[2], r.word[3])) * 0x1p-53;
      return static_cast<T>(math::sqrt(-2.0 * math::log(radius)) * math::cos(6.283185307179586 * turn));
    }
  }
};

}  // namespace op

namespace detail {

template <class S>
concept seed_expression = expression<S> && S::facts.shape.rank == 0 &&
                          (integer_elements & element_bit(S::facts.type)) != 0;
/// What the random numbers of an expression follow from: a number, one in the type, or one that is computed or fed.
template <class S>
concept seed_value = std::integral<S> || number_in_type<S> || seed_expression<S>;

template <seed_value S>
constexpr auto seed_node(const S& seed) {
  if constexpr (number_in_type<S>)
    return literal_beside<std::int64_t, S>();
  else if constexpr (!expression<S>)
    return scalar_beside<std::int64_t>(static_cast<std::int64_t>(seed));
  else if constexpr (S::facts.type == element::int64)
    return seed;
  else
    return cast<std::int64_t>(seed);
}

template <class Seed>
struct seed_is_an_integer : mistake {
  static constexpr bool ok = sizeof(Seed) == 0;
  static_assert(ok == true,
                "[onto.element] a seed is an integer, or an expression of one: random_normal<float, 3>(42), or of "
                "placeholder<\"seed\", std::int64_t>, which each run feeds");
};

}  // namespace detail

/// Random numbers, evenly spread over [0, 1): `random_uniform<float, 2, 3>(seed)`, or `(1_c)`. A seed that is a
/// placeholder or is computed gives each run numbers of its own. The same bits on every device. *Mandates* a
/// floating-point type, and extents other than `dyn`.
template <tensor_element T, int... Dims, detail::seed_value Seed>
constexpr auto random_uniform(const Seed& seed) {  // [onto.shape] constants; of the run: random_uniform_like(x, 1)
  using operation = op::random_uniform<T, Dims...>;
  if constexpr (is_floating(element_of<T>)) {
    return detail::generate<operation>(shape<Dims...>{}, detail::seed_node(seed));
  } else {
    return typename detail::element_type_not_supported<operation, T>::result{};
  }
}

/// Random numbers of the normal distribution with mean 0 and variance 1. Devices agree to the last bit but for one
/// float in some millions, and a few units of the last place in double: the libraries' log and cos differ. *Mandates* a
/// floating-point type, and extents other than `dyn`.
template <tensor_element T, int... Dims, detail::seed_value Seed>
constexpr auto random_normal(const Seed& seed) {  // [onto.shape] constants; of the run: random_normal_like(x, 1)
  using operation = op::random_normal<T, Dims...>;
  if constexpr (is_floating(element_of<T>)) {
    return detail::generate<operation>(shape<Dims...>{}, detail::seed_node(seed));
  } else {
    return typename detail::element_type_not_supported<operation, T>::result{};
  }
}

/// The seed may be data: each run reads it.
template <tensor_element T, int... Dims, class Seed>
  requires detail::data<std::remove_cvref_t<Seed>>
constexpr auto random_uniform(Seed&& seed) {
  return random_uniform<T, Dims...>(detail::leaf_of(static_cast<Seed&&>(seed)));
}
template <tensor_element T, int... Dims, class Seed>
  requires detail::data<std::remove_cvref_t<Seed>>
constexpr auto random_normal(Seed&& seed) {
  return random_normal<T, Dims...>(detail::leaf_of(static_cast<Seed&&>(seed)));
}

template <tensor_element T, int... Dims, class Seed>
  requires(!detail::seed_value<Seed> && !detail::data<Seed>)
constexpr auto random_uniform(const Seed&) { return typename detail::seed_is_an_integer<Seed>::result{}; }
template <tensor_element T, int... Dims, class Seed>
  requires(!detail::seed_value<Seed> && !detail::data<Seed>)
constexpr auto random_normal(const Seed&) { return typename detail::seed_is_an_integer<Seed>::result{}; }

}  // namespace onto
