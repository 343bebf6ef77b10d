// SPDX-License-Identifier: BSL-1.0
// ALONE: with the whole of onto, a text beside an expression is a mistake with a sentence.
#include <onto/ops/arithmetic.hpp>

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", float, 2>;

template <class L, class R>
concept can_add = requires(L l, R r) {
  l + r;
};
static_assert(can_add<decltype(a), int>);
static_assert(!can_add<decltype(a), const char*>);

}  // namespace
