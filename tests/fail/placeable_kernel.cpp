// SPDX-License-Identifier: BSL-1.0
// GPUs multiply no matrices of int32: in a world that is known, the compiler says so.
// FAIL: operation_cannot_run_there<.*onto::gpu<0>
// FAIL: \[onto\.placement\] the operation has no kernel on that device
#include <onto/onto.hpp>

using namespace onto;

#ifdef ONTO_TWIN
constexpr auto a = placeholder<"a", float, 2, 2>;
#else
constexpr auto a = placeholder<"a", int, 2, 2>;
#endif

constexpr auto product = on<gpu<0>>(matmul(a, a));
static_assert(expect_placeable<world<cpu<0>, gpu<0>>>(product));
