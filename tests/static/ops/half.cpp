// SPDX-License-Identifier: BSL-1.0
// Which operations take half and bfloat16, what they give, and what kernels are made of it.
#include <onto/onto.hpp>

#include <type_traits>

using namespace onto;

namespace {

using half = onto::half;  // and not CUDA's

constexpr auto h = placeholder<"h", half, 2, 3>;
constexpr auto b = placeholder<"b", bfloat16, 2, 3>;
constexpr auto f = placeholder<"f", float, 2, 3>;

template <class E>
constexpr element type_of(const E&) {
  return E::facts.type;
}
template <class Op>
constexpr bool takes(element e) {
  return Op::check(e, e) == detail::element_check::fine && Op::kernels.has(device_kind::cpu, e) &&
         Op::kernels.has(device_kind::gpu, e);
}

// Everything floating takes them, on CPU and GPU.
static_assert(takes<op::add>(element::float16) && takes<op::pow>(element::bfloat16) &&
              takes<op::less>(element::float16));
static_assert(takes<op::exp>(element::float16) && takes<op::gelu>(element::bfloat16));
static_assert(takes<op::matmul>(element::float16) && takes<op::matmul>(element::bfloat16));
static_assert(op::variable::kernels.has(device_kind::gpu, element::float16));

// Results keep the element type; comparisons are bool, places int64.
static_assert(type_of(exp(h) * h) == element::float16 && type_of(matmul(b, transpose(b))) == element::bfloat16);
static_assert(type_of(sum<0>(h)) == element::float16 && type_of(mean(b)) == element::bfloat16);
static_assert(type_of(h < h) == element::boolean && type_of(argmax(h)) == element::int64);
static_assert(type_of(softmax(h)) == element::float16 && type_of(concat<0>(b, b)) == element::bfloat16);
static_assert(type_of(cast<float>(h)) == element::float32 && type_of(cast<bfloat16>(h)) == element::bfloat16);
static_assert(type_of(zeros<half, 2>()) == element::float16 && type_of(iota<bfloat16, 3>()) == element::bfloat16);

// They fuse as float does, casts among them, and move half as many bytes.
static_assert(plan_of<world<cpu<0>>>(cast<float>(h * h) + f).kernels == 1);
static_assert(plan_of<world<cpu<0>, gpu<0>>>(on<gpu<0>>(tanh(h))).transfer_bytes == 2 * 12);
static_assert(plan_of<world<cpu<0>>>(relu(matmul(h, transpose(h)))).kernels == 1);

// On the CPU a program over them is the one over float: no kernel is compiled twice.
template <class E>
using cpu_program =
    decltype(detail::kernel_program<detail::graph_of<E>, detail::op_table<typename E::ops>,
                                    detail::graph_of<E>::view.count - 1, detail::extent_of_kernel::whole,
                                    detail::evaluation::once>::template make<true>());
static_assert(std::is_same_v<cpu_program<decltype(tanh(h) * h)>, cpu_program<decltype(tanh(f) * f)>>);
static_assert(std::is_same_v<cpu_program<decltype(tanh(b) * b)>, cpu_program<decltype(tanh(f) * f)>>);
static_assert(cpu_program<decltype(tanh(b) * b)>::packs.plain);

// To its own type a cast rounds what is computed; what is stored is itself.
static_assert(plan_of(cast<half>(h * h) * h).nodes == 4 && plan_of(cast<float>(f * f) * f).nodes == 3);
static_assert(std::is_same_v<decltype(cast<half>(h)), std::remove_cv_t<decltype(h)>>);

// A cast that is stored next is the store's; one that is computed with stays.
static_assert(std::is_same_v<cpu_program<decltype(cast<half>(f * f))>, cpu_program<decltype(cast<bfloat16>(f * f))>>);
static_assert(!std::is_same_v<cpu_program<decltype(cast<half>(f) * h)>, cpu_program<decltype(cast<bfloat16>(f) * b)>>);

}  // namespace
