// SPDX-License-Identifier: BSL-1.0
// How batches give data: in which order, how many ahead, and what becomes of the last one.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

namespace onto {

namespace detail {

template <class Seed>
struct shuffle_is_a_seed {
  static constexpr bool ok = !std::is_same_v<Seed, bool>;
  static_assert(ok == true,
                "[onto.batches] .shuffle is a seed, and false would be seed 0; leave it out for rows as they lie, or "
                "say .shuffle = 7 for an order by that seed");
};

}  // namespace detail

/// The seed of an order, or none. *Mandates* a number: `true` and `false` are no seeds.
struct shuffle_seed : std::optional<std::uint64_t> {
  constexpr shuffle_seed() = default;
  template <class Seed>
    requires std::is_convertible_v<Seed, std::optional<std::uint64_t>>
  constexpr shuffle_seed(Seed seed) : std::optional<std::uint64_t>(seed) {
    static_cast<void>(detail::shuffle_is_a_seed<Seed>{});
  }
};

/// How `batches` gives data.
struct batch_options {
  shuffle_seed shuffle{};  ///< the seed of the order, another in each epoch; none: as the data lies
  int prefetch = 2;        ///< batches that a thread prepares ahead; 0: each when it is asked for
  bool drop_last = false;  ///< whether the last batch of an epoch is left out where it is smaller
};

}  // namespace onto
