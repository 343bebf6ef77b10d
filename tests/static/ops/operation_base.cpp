// SPDX-License-Identifier: BSL-1.0
// What all operations have in common, as assertions the compiler checks.
#include <onto/expr/named.hpp>
#include <onto/graph/lowering.hpp>
#include <onto/ops/all.hpp>

#include <type_traits>

using namespace onto;

namespace {

constexpr auto a = placeholder<"a", float, 2, 2>;

// After a mistake there is one expression that goes with everything, so that a mistake is reported once.
static_assert(std::is_same_v<decltype(ill_formed{} + a), ill_formed>);
static_assert(std::is_same_v<decltype(2.5 * exp(ill_formed{}) > true), ill_formed>);
static_assert(std::is_same_v<decltype(sum<5>(matmul(ill_formed{}, a))), ill_formed>);
static_assert(std::is_same_v<decltype(where(ill_formed{}, a, 1)), ill_formed>);
static_assert(std::is_same_v<decltype(concat<0>(a, ill_formed{})), ill_formed>);
static_assert(std::is_same_v<decltype(assign(ill_formed{}, a)), ill_formed>);
static_assert(std::is_same_v<decltype(cast<double>(zeros_like(ill_formed{}))), ill_formed>);
static_assert(std::is_same_v<decltype(named<"h">(softmax(slice<0, 1>(transpose(ill_formed{}))))), ill_formed>);

// Operations are told apart by name and attributes.
static_assert(op_info_of<op::add>.hash != op_info_of<op::sub>.hash);
static_assert(op_info_of<op::permute<0, 1>>.hash != op_info_of<op::permute<1, 0>>.hash);
static_assert(op_info_of<op::add>.attributes == 0);

// Every operation has kernels on the CPU for all it accepts.
template <class... Op>
constexpr bool run_on_cpu() {
  return ((Op::kernels.cpu != 0) && ...) &&
         ((static_cast<element_set>(Op::kernels.gpu & ~Op::kernels.cpu) == 0) && ...);
}
static_assert(run_on_cpu<op::add, op::exp, op::less, op::where, op::cast<int>, op::zeros<int, 2>,
                         op::random_normal<float, 2>, op::reduce<fold::sum, false>, op::reshape<2>, op::matmul,
                         op::softmax<false, 0>, op::concat<0>, op::assign>());

}  // namespace
