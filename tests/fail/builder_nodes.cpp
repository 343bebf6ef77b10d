// SPDX-License-Identifier: BSL-1.0
// More nodes than one run may have: ten levels, and on each everything below is written over two things.
// FAIL: \[onto\.graph\] more than 2048 nodes in one run
// LINES: 12
// ALONE: it takes half a minute
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
#define LEVELS 3
#else
#define LEVELS 10
#endif

constexpr auto x = placeholder<"x", float, 2>;

template <int Levels>
constexpr auto grow(const auto& e) {
  if constexpr (Levels == 0)
    return e;
  else
    return grow<Levels - 1>(exp(e)) + grow<Levels - 1>(tanh(e));
}

auto result() {
  session sess;
  return sess.run(grow<LEVELS>(x), x = {1, 2});
}
