// SPDX-License-Identifier: BSL-1.0
// Constants of nested lists have the shape of the list, by every compiler.
#include <onto/onto.hpp>

namespace {

using namespace onto;

const auto vector = constant({1.f, 2.f, 3.f});
const auto matrix = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
const auto named_matrix = constant<"m">({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
const auto stack_of_two = constant({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}});
const auto texts = constant<"t">({"a", "b"});

static_assert(decltype(vector)::facts.shape == extents(shape<3>{}));
static_assert(decltype(matrix)::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(named_matrix)::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(stack_of_two)::facts.shape == extents(shape<2, 2, 2>{}));
static_assert(decltype(texts)::facts.shape == extents(shape<2>{}));

}  // namespace
