// SPDX-License-Identifier: BSL-1.0
// What towers are, and what joins them, as assertions the compiler checks.
#include <onto/ops/matmul.hpp>
#include <onto/ops/towers.hpp>
#include <onto/ops/unary.hpp>
#include <onto/ops/view.hpp>
#include <onto/plan/placeable.hpp>
#include <onto/plan/plan.hpp>

#include <tuple>
#include <type_traits>

using namespace onto;
namespace hana = boost::hana;

namespace {

constexpr auto a = placeholder<"a", float, 2, 3>;
constexpr auto b = placeholder<"b", float, 3, 2>;
constexpr auto batch = placeholder<"batch", float, 16, 4>;
constexpr auto n = placeholder<"n", std::int32_t, 2>;

constexpr auto two = hana::tuple_t<gpu<0>, gpu<1>>;
constexpr auto four = hana::tuple_t<gpu<0>, gpu<1>, gpu<2>, gpu<3>>;
constexpr auto eight = hana::tuple_t<gpu<0>, gpu<1>, gpu<2>, gpu<3>, gpu<4>, gpu<5>, gpu<6>, gpu<7>>;

constexpr auto product = [](auto) { return matmul(a, b); };
constexpr auto share = [](auto place) { return exp(slice<2 * place.index, 2 * place.index + 2>(batch)); };

template <class A, class B>
constexpr bool same(const A&, const B&) {
  return std::is_same_v<A, B>;
}
template <class E>
constexpr extents shape_of(const E&) {
  return E::facts.shape;
}
template <class Plan>
constexpr place where_is(const Plan& p, std::string_view operation, int nth = 0) {
  for (int k = 0; k < p.graph.count; ++k)
    if (p.graph[k].op->name == operation && nth-- == 0) return p.placement[k].where;
  return {};
}

// Towers are what on<D>(f(D{})) is for each device, in the order of the list.
static_assert(std::is_same_v<decltype(towers(hana::tuple_t<gpu<3>, gpu<2>>, product)),
                             hana::tuple<std::remove_const_t<decltype(on<gpu<3>>(matmul(a, b)))>,
                                         std::remove_const_t<decltype(on<gpu<2>>(matmul(a, b)))>>>);

// The list holds types or places themselves, and need not be Hana's.
static_assert(same(towers(two, product), towers(hana::make_tuple(gpu<0>{}, gpu<1>{}), product)));
static_assert(same(towers(two, product), towers(std::tuple{gpu<0>{}, gpu<1>{}}, product)));
static_assert(same(towers(hana::tuple_t<cpu<0>>, product), towers(std::tuple{cpu<0>{}}, product)));

// A function that does not look at the place need not take it; one that does has its index as a constant.
static_assert(same(towers(two, product), towers(two, [] { return matmul(a, b); })));
static_assert(shape_of(concat<0>(towers(four, share))) == extents(shape<8, 4>{}));

// add_n, mean and concat join towers as they join expressions, and one tower too.
constexpr auto sum_of_two = on<cpu<0>>(add_n(towers(two, product)));
static_assert(same(sum_of_two, on<cpu<0>>(add_n(on<gpu<0>>(matmul(a, b)), on<gpu<1>>(matmul(a, b))))));
static_assert(shape_of(add_n(towers(hana::tuple_t<gpu<0>>, product))) == extents(shape<2, 2>{}));
static_assert(shape_of(mean(towers(two, product))) == extents(shape<2, 2>{}));
static_assert(shape_of(mean(towers(hana::tuple_t<gpu<0>>, product))) == extents(shape<2, 2>{}));
static_assert(same(concat<0>(towers(hana::tuple_t<gpu<1>>, share)), concat<0>(on<gpu<1>>(share(gpu<1>{})))));
static_assert(shape_of(concat<-1>(towers(two, product))) == extents(shape<2, 4>{}));

// The plan of towers: a kernel each, and one that joins them; an operand to each device and a result back from each.
static_assert(plan_of(sum_of_two).kernels == 3);
static_assert(plan_of(sum_of_two).transfers == 6);
static_assert(plan_of(on<cpu<0>>(add_n(towers(eight, product)))).kernels == 9);
static_assert(plan_of(on<cpu<0>>(add_n(towers(eight, product)))).transfers == 24);
static_assert(plan_of<world<cpu<0>>>(sum_of_two).transfers == 0);
static_assert(plan_of(on<cpu<0>>(mean(towers(two, product)))).kernels == 3);
static_assert(plan_of(on<cpu<0>>(exp(mean(towers(two, product))))).kernels == 3);
static_assert(where_is(plan_of(sum_of_two), "MatMul", 1) == gpu<1>::value);
static_assert(where_is(plan_of(sum_of_two), "AddN") == cpu<0>::value);

// Where there are fewer devices than towers, they spread over those there are.
constexpr auto spread = on<cpu<0>>(add_n(towers(eight, share)));
static_assert(where_is(plan_of<world<cpu<0>, gpu<0>, gpu<1>>>(spread), "Exp", 4) == gpu<0>::value);
static_assert(where_is(plan_of<world<cpu<0>, gpu<0>, gpu<1>>>(spread), "Exp", 7) == gpu<1>::value);
static_assert(!placeable<world<cpu<0>, gpu<0>, gpu<1>>>(spread));

// Towers are fetched as they are.
static_assert(plan_of(fetches(towers(two, product))).kernels == 2);
static_assert(same(fetches(towers(two, product)), fetches(on<gpu<0>>(matmul(a, b)), on<gpu<1>>(matmul(a, b)))));

// Integers have a sum, not a mean.
static_assert(shape_of(add_n(towers(two, [](auto) { return n + n; }))) == extents(shape<2>{}));
static_assert(op::divide_by<2>::check(element::int32) == detail::element_check::unsupported);

}  // namespace
