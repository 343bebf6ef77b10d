// SPDX-License-Identifier: BSL-1.0
// Gradients of random programs whose parts have equal types and hold different numbers, beside central differences in
// double: which gradients are numbers and which are sums hangs on the values, and every kernel that is needed is there.
#include <onto/onto.hpp>

#include "catch.hpp"
#include "session/simulated.hpp"

#include <cstdint>

using namespace onto;

namespace {

inline constexpr auto x = placeholder<"x", double, 4, 3>;
inline constexpr auto w = placeholder<"w", double, 3, 3>;

constexpr int choice(int program, int at, int of) {
  const std::uint64_t r = detail::hash_mix(static_cast<std::uint64_t>(program), static_cast<std::uint64_t>(at)) >> 20;
  return static_cast<int>(r % static_cast<std::uint64_t>(of));
}

/// One of the steps of program `N`; `c` is the number that is held.
template <int N, int At>
auto one(const auto& e, double c) {
  constexpr int what = choice(N, At, 9);
  if constexpr (what == 0)
    return tanh(e * c);
  else if constexpr (what == 1)
    return exp(e * (c / 4));
  else if constexpr (what == 2)
    return matmul(e * c, w);
  else if constexpr (what == 3)
    return softmax(e * c);
  else if constexpr (what == 4)
    return e / (square(e) + c);
  else if constexpr (what == 5)
    return concat<0>(slice<range<1, 4>>(e * c), slice<range<0, 1>>(e));
  else if constexpr (what == 6)
    return max<1>(e * c, keep_extents) - e;
  else if constexpr (what == 7)
    return c - e;
  else
    return square(e) * c;
}

template <int N>
auto part(double c) {
  const auto e = one<N, 1>(one<N, 0>(x, c), c);
  constexpr int how = choice(N, 2, 3);
  if constexpr (how == 0)
    return sum(e);
  else if constexpr (how == 1)
    return mean_squared_error(e, x);
  else
    return sum(sum<1>(e) * c);
}

template <int N>
auto loss_of() {
  constexpr int how = choice(N, 3, 4);
  if constexpr (how == 0)
    return part<N>(0.5) + part<N>(2.);
  else if constexpr (how == 1)
    return part<N>(0.5) * part<N>(0.5) + part<N>(2.);
  else if constexpr (how == 2)
    return part<N>(0.5) + part<N>(2.) * part<N>(0.5);
  else
    return recompute(part<N>(0.5) * part<N>(2.)) + part<N>(2.);
}

template <int N>
void check_program(session& s) {
  INFO("program " << N);
  tensor<double, 4, 3> at;
  tensor<double, 3, 3> weights;
  for (int k = 0; k < 12; ++k) at.data()[k] = 0.31 + 0.05 * (k * 5 % 12);
  for (int k = 0; k < 9; ++k) weights.data()[k] = 0.2 + 0.1 * (k * 4 % 9);
  const auto loss = loss_of<N>();
  const auto g = s.run(gradient(loss, x), x = at, w = weights);
  for (int k = 0; k < 12; ++k) {
    tensor<double, 4, 3> above = at, below = at;
    above.data()[k] += 1e-5, below.data()[k] -= 1e-5;
    const double wanted = (static_cast<double>(s.run(loss, x = above, w = weights)) -
                           static_cast<double>(s.run(loss, x = below, w = weights))) /
                          2e-5;
    INFO("element " << k);
    CHECK(g.data()[k] == Approx(wanted).epsilon(1e-5).margin(1e-5));
  }
}

template <int... N>
void check_programs(session& s, std::integer_sequence<int, N...>) {
  (check_program<N>(s), ...);
}

}  // namespace

TEST_CASE("gradients of what values tell apart have all their kernels", "[gradient]") {
  session here, there{onto_test::simulated_alone({.simulated_gpus = 1})};
  check_programs(here, std::make_integer_sequence<int, 9>{});
  check_programs(there, std::make_integer_sequence<int, 9>{});
}
