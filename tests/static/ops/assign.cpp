// SPDX-License-Identifier: BSL-1.0
// What assignments to variables give, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/assign.hpp>
#include <onto/ops/generate.hpp>

using namespace onto;

namespace {

template <class Op>
constexpr inferred write(extents variable, extents value) {
  const extents operands[] = {variable, value};
  return Op::infer(operands, 2);
}

constexpr auto w = variable<"w", float, 2, 3>;
constexpr auto x = placeholder<"x", float, 3>;

// The result is the new value: of the variable's shape and element type.
static_assert(decltype(assign(w, x))::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(assign_add(w, x))::facts.type == element::float32);
static_assert(decltype(assign_sub(w, 1))::facts.shape == extents(shape<2, 3>{}));

template <class E>
constexpr bool can_be_written(const E&) {
  return detail::is_variable<E>;
}

// What is assigned to is a variable, placed or not, with a first value or without.
static_assert(can_be_written(w));
static_assert(can_be_written(w(zeros<float, 2, 3>())));
static_assert(can_be_written(on<gpu<0>>(w)));
static_assert(!can_be_written(x) && !can_be_written(on<gpu<0>>(x)));
static_assert(decltype(assign(on<cpu<0>>(w), x))::facts.shape == extents(shape<2, 3>{}));

// A value is broadcast to the variable's shape, never the other way round.
static_assert(write<op::assign>(shape<2, 3>{}, shape<2, 1>{}).shape == extents(shape<2, 3>{}));
static_assert(write<op::assign>(shape<2, 3>{}, extents{}).fault == shape_fault::none);
static_assert(write<op::assign>(shape<1, 3>{}, shape<2, 3>{}).fault == shape_fault::value);
static_assert(write<op::assign>(shape<3>{}, shape<1, 3>{}).fault == shape_fault::value);
static_assert(write<op::assign>(shape<3>{}, shape<dyn>{}).fault == shape_fault::none);
static_assert(write<op::assign>(shape<dyn>{}, shape<4>{}).shape == extents(shape<4>{}));

// One element type; adding is for numbers.
static_assert(op::assign::check(element::float32, element::float64) == detail::element_check::differ);
static_assert(op::assign::check(element::boolean, element::boolean) == detail::element_check::fine);
static_assert(op::assign_add::check(element::boolean, element::boolean) == detail::element_check::unsupported);

// int32 state stays in host memory, as in TensorFlow.
static_assert(op::assign_add::kernels.has(device_kind::cpu, element::int32));
static_assert(!op::assign_add::kernels.has(device_kind::gpu, element::int32));
static_assert(op::assign::kernels.has(device_kind::gpu, element::int64));

// Reading a variable and writing it is one variable.
static_assert(detail::graph_of<decltype(assign_add(w, x)), decltype(w)>::view.count == 3);

}  // namespace
