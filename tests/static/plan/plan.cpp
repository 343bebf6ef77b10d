// SPDX-License-Identifier: BSL-1.0
// What a plan counts does not wrap around: where no number holds it, it is the greatest there is.
#include <onto/onto.hpp>

#include <cstdint>
#include <limits>

using namespace onto;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// 2^30 x 2^30 floats are 2^62 bytes: a value as large as they come.
constexpr auto a = placeholder<"a", float, 1 << 30, 1 << 30>;
constexpr auto b = placeholder<"b", float, 1 << 30, 1 << 30>;

static_assert(extents(shape<1 << 30, 1 << 30>{}).fits(4));
static_assert(!extents(shape<1 << 30, 1 << 30, 2>{}).fits(4));
static_assert(extents(shape<1 << 30, 1 << 30, 1 << 30, 0>{}).fits(4));
static_assert(extents(shape<1 << 30, 1 << 30, 1 << 30, dyn>{}).fits(4));
static_assert(extents(shape<1 << 30, 1 << 30, 1 << 30, 0>{}).size() == 0);
static_assert(extents(shape<1 << 30, 1 << 30, 1 << 30>{}).size() == most);
static_assert(extents(shape<2147483647, 2147483647, 2>{}).size() == 2 * (std::int64_t{2147483647} * 2147483647));

// One product is 2 * 2^90 operations.
static_assert(plan_of(matmul(a, b)).flops == most);
static_assert(plan_of(sum(matmul(a, b))).flops == most);

// One addition is 2^60, eight of them less than 2^63, one of them seven dear functions.
static_assert(plan_of(sum(a + b)).flops == std::int64_t{1} << 61);
static_assert(plan_of(sum(exp(exp(exp(exp(exp(a + b))))))).flops == most);

// Three of them come to the GPU, of which each has 2^62 bytes.
constexpr auto c = placeholder<"c", float, 1 << 30, 1 << 30>;
static_assert(plan_of(on<gpu<0>>(sum(a + b))).transfer_bytes == most);
static_assert(plan_of(on<gpu<0>>(sum(a + b))).peak_bytes(gpu<0>{}) == most);
static_assert(plan_of(on<gpu<0>>(sum(a))).transfer_bytes == (std::int64_t{1} << 62) + 4);
static_assert(plan_of(on<gpu<0>>(sum(a + b + c))).peak_bytes(gpu<0>{}) == most);

// And it takes long.
static_assert(estimate(plan_of(on<gpu<0>>(matmul(a, b))), h200).seconds > 1e5);

}  // namespace
