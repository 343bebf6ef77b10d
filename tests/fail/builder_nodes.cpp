// SPDX-License-Identifier: BSL-1.0
// Scalars have no identity, so what is written over them is new each time: 12 levels are 4096 times the first.
// FAIL: \[onto\.graph\] more than 2048 nodes in one run
#include <onto/onto.hpp>

using namespace onto;

constexpr auto x = placeholder<"x", float, 2>;

template <int Levels>
auto grow() {
  if constexpr (Levels == 0) {
    return x * 2.0f;
#ifdef ONTO_TWIN
  } else if constexpr (Levels == 6) {
    const auto below = named<"half">(grow<Levels - 1>());
    return exp(below) * below;
#endif
  } else {
    const auto below = grow<Levels - 1>();
    return exp(below) * below;
  }
}

auto result() {
  session sess;
  return sess.run(grow<12>(), x = {1, 2});
}
