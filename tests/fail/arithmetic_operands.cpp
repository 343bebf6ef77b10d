// SPDX-License-Identifier: BSL-1.0
// More operands than an operation can take.
// FAIL: too_many_operands<.*65
// FAIL: \[onto\.operands\] an operation takes at most 64 operands
#include <onto/ops/arithmetic.hpp>

#include <utility>

#ifdef ONTO_TWIN
#define COUNT 64
#else
#define COUNT 65
#endif

using namespace onto;

constexpr auto a = placeholder<"a", float, 2>;

template <int... K>
constexpr auto many(std::integer_sequence<int, K...>) {
  return add_n((void(K), a)...);
}
constexpr auto bad = many(std::make_integer_sequence<int, COUNT>{});
