// SPDX-License-Identifier: BSL-1.0
// What functions of one tensor give, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/activation.hpp>
#include <onto/ops/rounding.hpp>
#include <onto/ops/unary.hpp>

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", double, 2, dyn>;

template <class Op>
constexpr bool takes(element e) {
  return Op::check(e) == detail::element_check::fine && Op::result(e) == e;
}

// Shape and element type stay.
static_assert(decltype(exp(a))::facts.shape == extents(shape<2, dyn>{}));
static_assert(decltype(relu(gelu(sigmoid(a))))::facts.type == element::float64);

// Roots, logarithms and angles are for floating point; signs and squares for integers too; none for bool.
static_assert(takes<op::sqrt>(element::float32) && takes<op::tanh>(element::float64) &&
              takes<op::floor>(element::float32));
static_assert(!takes<op::sqrt>(element::int32) && !takes<op::log>(element::int64) && !takes<op::round>(element::int32));
static_assert(takes<op::abs>(element::int32) && takes<op::sign>(element::int64) && takes<op::square>(element::int32));
static_assert(takes<op::relu>(element::int32) && !takes<op::gelu>(element::int32));
static_assert(!takes<op::abs>(element::boolean) && !takes<op::exp>(element::boolean));

// A chain is a constant of the compiler, and equal chains are one.
constexpr auto chain = tanh(sin(cos(tan(asin(acos(atan(sinh(cosh(erf(a))))))))));
static_assert(detail::graph_of<decltype(chain), decltype(tanh(chain))>::view.count == 12);
static_assert(detail::graph_of<decltype(log1p(expm1(a))), decltype(rsqrt(expm1(a)))>::view.count == 4);

// Names are TensorFlow's.
static_assert(op::rsqrt::name == "Rsqrt" && op::log1p::name == "Log1p" && op::sigmoid::name == "Sigmoid");

}  // namespace
