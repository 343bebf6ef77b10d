// SPDX-License-Identifier: BSL-1.0
// What a matrix product gives, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/matmul.hpp>
#include <onto/ops/view.hpp>

using namespace onto;

namespace {

constexpr inferred product(extents l, extents r) {
  const extents operands[] = {l, r};
  return op::matmul::infer(operands, 2);
}

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto b = placeholder<"b", float, 3, 5>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;

// (M, K) x (K, N) is (M, N).
static_assert(decltype(matmul(a, b))::facts.shape == extents(shape<2, 5>{}));
static_assert(decltype(matmul(transpose(b), transpose(a)))::facts.shape == extents(shape<5, 2>{}));
static_assert(decltype(matmul(open, b))::facts.shape == extents(shape<dyn, 5>{}));
static_assert(decltype(matmul(open, open))::facts.shape == extents(shape<dyn, dyn>{}));

// Dimensions before the last two are a batch, and broadcast.
static_assert(product(shape<7, 2, 3>{}, shape<7, 3, 5>{}).shape == extents(shape<7, 2, 5>{}));
static_assert(product(shape<7, 2, 3>{}, shape<3, 5>{}).shape == extents(shape<7, 2, 5>{}));
static_assert(product(shape<8, 1, 2, 3>{}, shape<7, 3, 5>{}).shape == extents(shape<8, 7, 2, 5>{}));
static_assert(product(shape<dyn, 2, 3>{}, shape<7, 3, 5>{}).shape == extents(shape<7, 2, 5>{}));
static_assert(product(shape<6, 2, 3>{}, shape<7, 3, 5>{}).fault == shape_fault::broadcast);

// Nothing times nothing has a shape too.
static_assert(product(shape<2, 0>{}, shape<0, 5>{}).shape == extents(shape<2, 5>{}));

// Inner extents must agree as far as they are known, and there must be two dimensions.
static_assert(product(shape<2, 3>{}, shape<4, 5>{}).fault == shape_fault::inner);
static_assert(product(shape<2, dyn>{}, shape<4, 5>{}).fault == shape_fault::none);
static_assert(product(shape<3>{}, shape<3, 5>{}).fault == shape_fault::rank);
static_assert(product(shape<2, 3>{}, shape<3>{}).fault == shape_fault::rank);

// Numbers of one element type; no GPU kernel for integers, which is what soft placement is for.
static_assert(op::matmul::check(element::float32, element::float64) == detail::element_check::differ);
static_assert(op::matmul::check(element::boolean, element::boolean) == detail::element_check::unsupported);
static_assert(op::matmul::kernels.has(device_kind::cpu, element::int32));
static_assert(op::matmul::kernels.has(device_kind::cpu, element::uint64));
static_assert(!op::matmul::kernels.has(device_kind::cpu, element::int16));
static_assert(!op::matmul::kernels.has(device_kind::gpu, element::uint32));
static_assert(op::matmul::kernels.has(device_kind::gpu, element::float64));
static_assert(!op::matmul::kernels.has(device_kind::gpu, element::int32));

// A product written twice runs once.
static_assert(detail::graph_of<decltype(matmul(open, matmul(open, open))), decltype(matmul(open, open))>::view.count ==
              3);

}  // namespace
