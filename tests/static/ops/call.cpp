// SPDX-License-Identifier: BSL-1.0
// What an operation of one's own is, as assertions the compiler checks.
#include <onto/graph/lowering.hpp>
#include <onto/ops/call.hpp>
#include <onto/ops/math.hpp>
#include <onto/ops/unary.hpp>

using namespace onto;

// [leaky_relu]
struct leaky_relu : elementwise<floating_elements> {
  static constexpr std::string_view name = "LeakyRelu";

  template <class T>
  ONTO_HD static T apply(T x, T slope) {
    return x > 0 ? x : slope * x;
  }
};

constexpr auto x = placeholder<"x", float, dyn, 3>;
auto y = call<leaky_relu>(exp(x), 0.125);
// [/leaky_relu]

namespace {

constexpr auto slopes = placeholder<"slopes", float, 3>;
constexpr auto e = call<leaky_relu>(x, slopes);

// It is a map: its operands broadcast, and it fuses like the built-in ones.
static_assert(decltype(e)::facts.shape == extents(shape<dyn, 3>{}));
static_assert(decltype(e)::facts.type == element::float32);
static_assert(decltype(e)::operation::kind == op_kind::map);
static_assert(decltype(y)::facts.shape == extents(shape<dyn, 3>{}));

// Written twice it is one node.
static_assert(detail::graph_of<decltype(e), decltype(call<leaky_relu>(x, slopes))>::view.count == 3);

// It takes what its base says, on every kind of device; not SIMD packs unless it says so itself.
static_assert(leaky_relu::check(element::int32, element::int32) == detail::element_check::unsupported);
static_assert(leaky_relu::kernels.has(device_kind::gpu, element::float64));
static_assert(!leaky_relu::packs && op::exp::packs);

}  // namespace
