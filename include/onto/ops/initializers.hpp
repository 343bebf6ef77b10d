// SPDX-License-Identifier: BSL-1.0
// First values of parameters: random numbers whose spread keeps that of what passes through a layer.
#pragma once

#include <onto/ops/arithmetic.hpp>
#include <onto/ops/random.hpp>

namespace onto {

namespace op {

/// Normal numbers of which those beyond 2 in size are drawn again: the same counter and seed, the next draw.
template <class Element, int... Dims>
struct random_truncated_normal : random<Element, Dims...> {
  static constexpr std::string_view name = "TruncatedNormal";
  static constexpr int cost = 40;
  static constexpr bool packs = false;  // how often an element is drawn is its own
  template <class T>
  ONTO_HD static T at(std::int64_t index, std::int64_t seed) {
    const auto i = static_cast<std::uint64_t>(index);
    const auto s = static_cast<std::uint64_t>(seed);
    double number = 0;
    for (std::uint32_t draw = 0; draw < 32; ++draw) {  // the chance that all are beyond: 1e-43
      const detail::philox_words r =
          detail::philox({{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), draw, 1}},
                         static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(s >> 32));
      const double radius = static_cast<double>(detail::bits53(r.word[0], r.word[1]) + 1) * 0x1p-53;  // never 0
      const double turn = static_cast<double>(detail::bits53(r.word[2], r.word[3])) * 0x1p-53;
      number = math::sqrt(-2.0 * math::log(radius)) * math::cos(6.283185307179586 * turn);
      if (number >= -2 && number <= 2) break;
    }
    return static_cast<T>(number);
  }
};

}  // namespace op

namespace detail {

/// How many numbers a layer's results are sums of, and how many results each number is in. The last two axes are in and
/// out, those before them a filter's.
struct layer_fans {
  double in = 1, out = 1;
};
template <int... Dims>
constexpr layer_fans fans_of() {
  constexpr extents e(shape<Dims...>{});
  layer_fans f;
  for (int k = 0; k + 2 < e.rank; ++k) {
    f.in *= e.dims[k];
    f.out *= e.dims[k];
  }
  if (e.rank > 0) {
    f.in *= e.dims[e.rank > 1 ? e.rank - 2 : 0];
    f.out *= e.dims[e.rank - 1];
  }
  return f;
}

/// The square root of a number above 0, in constant expressions.
constexpr double root(double x) {
  double r = x > 1 ? x : 1;
  for (int k = 0; k < 100; ++k) r = 0.5 * (r + x / r);
  return r;
}

/// Uniform numbers between `-most` and `most`.
template <class T, int... Dims, class S, class Most>
constexpr auto uniform_numbers(const S& seed, Most most) {
  using operation = op::random_uniform<T, Dims...>;
  if constexpr (is_floating(element_of<T>))
    return generate<operation>(shape<Dims...>{}, seed_node(seed)) * (c<2.0> * most) - most;
  else
    return typename element_type_not_supported<operation, T>::result{};
}

/// What a truncated normal distribution of standard deviation 1 has left of it.
inline constexpr double truncated_deviation = 0.87962566103423978;

}  // namespace detail

/// Normal numbers of mean 0, of which those beyond two standard deviations are drawn again:
/// `truncated_normal<float, 5, 5, 3, 64>(0.05_c, 1_c)`. *Mandates* floating point, extents in the type.
template <tensor_element T, int... Dims, class Deviation, detail::seed_value Seed>
constexpr auto truncated_normal(const Deviation& deviation, const Seed& seed) {
  using operation = op::random_truncated_normal<T, Dims...>;
  if constexpr (is_floating(element_of<T>))
    return detail::generate<operation>(shape<Dims...>{}, detail::seed_node(seed)) * deviation;
  else
    return typename detail::element_type_not_supported<operation, T>::result{};
}

/// Uniform numbers up to `sqrt(6 / (in + out))` in size, for layers whose function is steep around 0: `tanh`.
/// *Source* Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural networks".
template <tensor_element T, int... Dims, detail::seed_value Seed>
constexpr auto glorot_uniform(const Seed& seed) {
  constexpr detail::layer_fans f = detail::fans_of<Dims...>();
  return detail::uniform_numbers<T, Dims...>(seed, c<detail::root(6 / (f.in + f.out))>);
}
/// Truncated normal numbers with the same spread as those of `glorot_uniform`, `sqrt(2 / (in + out))`.
template <tensor_element T, int... Dims, detail::seed_value Seed>
constexpr auto glorot_normal(const Seed& seed) {
  constexpr detail::layer_fans f = detail::fans_of<Dims...>();
  return truncated_normal<T, Dims...>(c<detail::root(2 / (f.in + f.out)) / detail::truncated_deviation>, seed);
}
/// Uniform numbers up to `sqrt(6 / in)` in size, for layers with `relu`.
/// *Source* He, Zhang, Ren, Sun, "Delving deep into rectifiers".
template <tensor_element T, int... Dims, detail::seed_value Seed>
constexpr auto he_uniform(const Seed& seed) {
  return detail::uniform_numbers<T, Dims...>(seed, c<detail::root(6 / detail::fans_of<Dims...>().in)>);
}
/// Truncated normal numbers with the same spread, `sqrt(2 / in)`.
template <tensor_element T, int... Dims, detail::seed_value Seed>
constexpr auto he_normal(const Seed& seed) {
  return truncated_normal<T, Dims...>(c<detail::root(2 / detail::fans_of<Dims...>().in) / detail::truncated_deviation>,
                                      seed);
}

}  // namespace onto
