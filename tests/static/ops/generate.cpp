// SPDX-License-Identifier: BSL-1.0
// What tensors made of nothing are, as assertions the compiler checks; random ones too.
#include <onto/graph/lowering.hpp>
#include <onto/ops/random.hpp>
#include <onto/session/kernel_entry.hpp>

#include <type_traits>

using namespace onto;

namespace {

template <class... E>
constexpr int nodes = detail::graph_of<E...>::view.count;

constexpr auto open = placeholder<"open", float, dyn, 3>;
constexpr auto fixed = placeholder<"fixed", double, 2, 3>;

// The shape is in the type.
static_assert(decltype(zeros<float, 2, 3>())::facts.shape == extents(shape<2, 3>{}));
static_assert(decltype(ones<bool>())::facts.shape == extents{});
static_assert(decltype(eye<double, 3>())::facts.shape == extents(shape<3, 3>{}));
static_assert(decltype(eye<double, 2, 5>())::facts.shape == extents(shape<2, 5>{}));
static_assert(decltype(iota<std::int64_t, 7>())::facts.shape == extents(shape<7>{}));
static_assert(decltype(fill<std::int32_t, 4>(1))::facts.type == element::int32);
static_assert(decltype(random_uniform<float, 2, 2>(1))::facts.type == element::float32);
static_assert(decltype(random_normal<double, 0>(1))::facts.shape == extents(shape<0>{}));

// Written twice they are one node; other extents or another type are another node.
static_assert(nodes<decltype(zeros<float, 2>()), decltype(zeros<float, 2>())> == 1);
static_assert(nodes<decltype(zeros<float, 2>()), decltype(zeros<float, 3>()), decltype(zeros<double, 2>())> == 3);
static_assert(nodes<decltype(eye<float, 2>()), decltype(zeros<float, 2, 2>())> == 2);
static_assert(nodes<decltype(fill<float, 2>(1)), decltype(fill<float, 2>(1))> == 2);

// Their identities differ as well, which is what named() goes by.
static_assert(decltype(zeros<float, 2>())::facts.id != decltype(zeros<float, 3>())::facts.id);
static_assert(decltype(zeros<float, 2>())::facts.id != decltype(zeros<double, 2>())::facts.id);
static_assert(decltype(zeros<float, 2, 3>())::facts.id != decltype(zeros<float, 3, 2>())::facts.id);

// zeros_like needs its operand only where the compiler does not know the shape.
static_assert(nodes<decltype(zeros_like(fixed))> == 1);
static_assert(nodes<decltype(ones_like(open))> == 2);
static_assert(decltype(ones_like(fixed))::facts.type == element::float64);
static_assert(decltype(zeros_like(open))::facts.shape == extents(shape<dyn, 3>{}));

// An element is a function of its index.
static_assert(op::eye<float, 2, 3, 0>::name == "Eye");

// A kernel is one for all shapes of it.
template <class E>
using cpu_program =
    decltype(detail::kernel_program<detail::graph_of<E>, detail::op_table<typename E::ops>,
                                    detail::graph_of<E>::view.count - 1, detail::extent_of_kernel::whole,
                                    detail::evaluation::once>::template make<true>());
template <class L, class R>
constexpr bool one_kernel = std::is_same_v<cpu_program<L>, cpu_program<R>>;
static_assert(one_kernel<decltype(random_normal<float, 8, 16>(1)), decltype(random_normal<float, 4>(2))>);
static_assert(one_kernel<decltype(random_uniform<float, 8, 16>(1)), decltype(random_uniform<float, 4>(2))>);
static_assert(one_kernel<decltype(zeros<float, 2>()), decltype(zeros<float, 3, 4>())>);
static_assert(one_kernel<decltype(ones<int, 2>()), decltype(ones<int, 3, 4>())>);
static_assert(one_kernel<decltype(fill<int, 2>(1)), decltype(fill<int, 3, 4>(2))>);
static_assert(one_kernel<decltype(iota<int, 2>()), decltype(iota<int, 3>())>);
static_assert(!one_kernel<decltype(eye<float, 2>()), decltype(eye<float, 3>())>);  // its columns count
static_assert(!one_kernel<decltype(zeros<float, 2>()), decltype(zeros<double, 2>())>);

}  // namespace
