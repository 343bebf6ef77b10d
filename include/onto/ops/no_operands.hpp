// SPDX-License-Identifier: BSL-1.0
// Words called with what none of their forms takes, `relu(0.5)`, `clip(total, 0, 1)`, `matmul(x, f)`: one sentence,
// where compilers would list each form and why it is not the one.
#pragma once
#pragma GCC system_header  // so that messages leave out how its macros expand

#include <onto/expr/shape_check.hpp>

namespace onto {

namespace detail {

// One struct a mistake, as in shape_check.hpp.
template <std::size_t Written>
struct arguments_are_no_operands : mistake {
  static constexpr bool ok = Written > 99;
  static_assert(
      ok == true,
      "[onto.operands] this word does not take these arguments, or not so many: its operands are expressions and data, "
      "tensors, vectors, arrays, spans; numbers alone are computed in C++: x * x, std::max(x, y), "
      "std::clamp(x, 0.0, 1.0), c ? x : y; a function of your own takes them neither");
};

}  // namespace detail

// The last that C++ chooses: after a program's own functions to whose parameters the arguments convert.
#define ONTO_TAKES_NOTHING_ELSE(word)                                                \
  template <auto... Written>                                                         \
  constexpr ill_formed word(...) {                                                   \
    return typename detail::arguments_are_no_operands<sizeof...(Written)>::result{}; \
  }
#define ONTO_TAKES_NO_OTHER_TYPES(word)                                           \
  template <class Written, class... More>                                         \
  constexpr ill_formed word(...) {                                                \
    return typename detail::arguments_are_no_operands<sizeof...(More)>::result{}; \
  }
ONTO_TAKES_NOTHING_ELSE(neg)
ONTO_TAKES_NOTHING_ELSE(abs)
ONTO_TAKES_NOTHING_ELSE(sign)
ONTO_TAKES_NOTHING_ELSE(square)
ONTO_TAKES_NOTHING_ELSE(sqrt)
ONTO_TAKES_NOTHING_ELSE(rsqrt)
ONTO_TAKES_NOTHING_ELSE(exp)
ONTO_TAKES_NOTHING_ELSE(expm1)
ONTO_TAKES_NOTHING_ELSE(log)
ONTO_TAKES_NOTHING_ELSE(log1p)
ONTO_TAKES_NOTHING_ELSE(sin)
ONTO_TAKES_NOTHING_ELSE(cos)
ONTO_TAKES_NOTHING_ELSE(tan)
ONTO_TAKES_NOTHING_ELSE(asin)
ONTO_TAKES_NOTHING_ELSE(acos)
ONTO_TAKES_NOTHING_ELSE(atan)
ONTO_TAKES_NOTHING_ELSE(sinh)
ONTO_TAKES_NOTHING_ELSE(cosh)
ONTO_TAKES_NOTHING_ELSE(tanh)
ONTO_TAKES_NOTHING_ELSE(erf)
ONTO_TAKES_NOTHING_ELSE(floor)
ONTO_TAKES_NOTHING_ELSE(ceil)
ONTO_TAKES_NOTHING_ELSE(round)
ONTO_TAKES_NOTHING_ELSE(relu)
ONTO_TAKES_NOTHING_ELSE(sigmoid)
ONTO_TAKES_NOTHING_ELSE(gelu)
ONTO_TAKES_NOTHING_ELSE(softplus)
ONTO_TAKES_NOTHING_ELSE(pow)
ONTO_TAKES_NOTHING_ELSE(atan2)
ONTO_TAKES_NOTHING_ELSE(mod)
ONTO_TAKES_NOTHING_ELSE(maximum)
ONTO_TAKES_NOTHING_ELSE(minimum)
ONTO_TAKES_NOTHING_ELSE(sum)
ONTO_TAKES_NOTHING_ELSE(prod)
ONTO_TAKES_NOTHING_ELSE(min)
ONTO_TAKES_NOTHING_ELSE(max)
ONTO_TAKES_NOTHING_ELSE(mean)
ONTO_TAKES_NOTHING_ELSE(any)
ONTO_TAKES_NOTHING_ELSE(all)
ONTO_TAKES_NOTHING_ELSE(argmin)
ONTO_TAKES_NOTHING_ELSE(argmax)
ONTO_TAKES_NOTHING_ELSE(var)
ONTO_TAKES_NOTHING_ELSE(stddev)
ONTO_TAKES_NOTHING_ELSE(norm)
ONTO_TAKES_NOTHING_ELSE(logsumexp)
ONTO_TAKES_NOTHING_ELSE(softmax)
ONTO_TAKES_NOTHING_ELSE(log_softmax)
ONTO_TAKES_NOTHING_ELSE(matmul)
ONTO_TAKES_NOTHING_ELSE(dot)
ONTO_TAKES_NOTHING_ELSE(outer)
ONTO_TAKES_NOTHING_ELSE(transpose)
ONTO_TAKES_NOTHING_ELSE(permute)
ONTO_TAKES_NOTHING_ELSE(reshape)
ONTO_TAKES_NOTHING_ELSE(squeeze)
ONTO_TAKES_NOTHING_ELSE(expand_dims)
ONTO_TAKES_NOTHING_ELSE(broadcast_to)
ONTO_TAKES_NOTHING_ELSE(flip)
ONTO_TAKES_NOTHING_ELSE(roll)
ONTO_TAKES_NOTHING_ELSE(tile)
ONTO_TAKES_NOTHING_ELSE(repeat)
ONTO_TAKES_NOTHING_ELSE(stack)
ONTO_TAKES_NOTHING_ELSE(concat)
ONTO_TAKES_NOTHING_ELSE(split)
ONTO_TAKES_NOTHING_ELSE(tril)
ONTO_TAKES_NOTHING_ELSE(triu)
ONTO_TAKES_NOTHING_ELSE(clip)
ONTO_TAKES_NOTHING_ELSE(where)
ONTO_TAKES_NOTHING_ELSE(add_n)
ONTO_TAKES_NOTHING_ELSE(zeros_like)
ONTO_TAKES_NOTHING_ELSE(ones_like)
ONTO_TAKES_NOTHING_ELSE(iota_like)
ONTO_TAKES_NOTHING_ELSE(full_like)
ONTO_TAKES_NOTHING_ELSE(one_hot)
ONTO_TAKES_NOTHING_ELSE(slice)
ONTO_TAKES_NOTHING_ELSE(dropout)
ONTO_TAKES_NOTHING_ELSE(layer_norm)
ONTO_TAKES_NOTHING_ELSE(batch_norm)
ONTO_TAKES_NOTHING_ELSE(mean_squared_error)
ONTO_TAKES_NOTHING_ELSE(huber)
ONTO_TAKES_NOTHING_ELSE(softmax_cross_entropy)
ONTO_TAKES_NOTHING_ELSE(sigmoid_cross_entropy)
ONTO_TAKES_NOTHING_ELSE(stop_gradient)
ONTO_TAKES_NOTHING_ELSE(assign)
ONTO_TAKES_NOTHING_ELSE(assign_add)
ONTO_TAKES_NOTHING_ELSE(assign_sub)
ONTO_TAKES_NOTHING_ELSE(gradient)
ONTO_TAKES_NOTHING_ELSE(gradients)
ONTO_TAKES_NOTHING_ELSE(group)
ONTO_TAKES_NOTHING_ELSE(constant)
ONTO_TAKES_NOTHING_ELSE(on)
ONTO_TAKES_NO_OTHER_TYPES(on)
ONTO_TAKES_NOTHING_ELSE(cast)
ONTO_TAKES_NO_OTHER_TYPES(cast)
ONTO_TAKES_NO_OTHER_TYPES(pad)
ONTO_TAKES_NO_OTHER_TYPES(slice)
#undef ONTO_TAKES_NOTHING_ELSE
#undef ONTO_TAKES_NO_OTHER_TYPES

}  // namespace onto
