// SPDX-License-Identifier: BSL-1.0
// Towers of integers have no mean, which would not be an integer.
// FAIL: element_type_not_supported<.*onto::op::divide_by<2>.*int
// FAIL: \[onto\.element\] the operation has no kernel for this element type
#include <onto/ops/towers.hpp>

#ifdef ONTO_TWIN
#define JOIN add_n
#else
#define JOIN mean
#endif

using namespace onto;

constexpr auto a = placeholder<"a", int, 4>;
constexpr auto bad = JOIN(towers(boost::hana::tuple_t<gpu<0>, gpu<1>>, [](auto) { return a + a; }));
