// SPDX-License-Identifier: BSL-1.0
// Names that C and other libraries have for what is written otherwise here: each is one sentence. A program's own
// function of such a name comes first.
#pragma once
#pragma GCC system_header  // so that messages leave out how its macros expand

#include <onto/expr/shape_check.hpp>
#include <onto/ops/arguments.hpp>

namespace onto {

namespace detail {

// One struct a mistake, as in shape_check.hpp.
#define ONTO_OTHER_NAME(word, sentence)                     \
  template <class... X>                                     \
  struct word##_has_another_name : mistake {                \
    static constexpr bool ok = sizeof...(X) > 99;           \
    static_assert(ok == true, "[onto.operands] " sentence); \
  };
ONTO_OTHER_NAME(log2, "log2 is written log(x) / 0.6931471805599453")
ONTO_OTHER_NAME(log10, "log10 is written log(x) / 2.302585092994046")
ONTO_OTHER_NAME(exp2, "exp2 is written pow(2, x)")
ONTO_OTHER_NAME(cbrt, "cbrt is written sign(x) * pow(abs(x), 1.0 / 3)")
ONTO_OTHER_NAME(trunc, "trunc is written sign(x) * floor(abs(x))")
ONTO_OTHER_NAME(fabs, "fabs is written abs(x)")
ONTO_OTHER_NAME(rint, "rint is written round(x)")
ONTO_OTHER_NAME(fmod,
                "fmod is written x % y, which has the sign of y, or where(x < 0, -(abs(x) % abs(y)), abs(x) % abs(y))")
ONTO_OTHER_NAME(hypot, "hypot is written sqrt(x * x + y * y)")
ONTO_OTHER_NAME(copysign, "copysign is written where((y < 0) | (1 / y < 0), -abs(x), abs(x))")
ONTO_OTHER_NAME(remainder, "remainder is written x % y, as NumPy's, or x - round(x / y) * y, as C's")
ONTO_OTHER_NAME(fmax, "fmax is written maximum(x, y)")
ONTO_OTHER_NAME(fmin, "fmin is written minimum(x, y)")
ONTO_OTHER_NAME(erfc, "erfc is written 1 - erf(x)")
ONTO_OTHER_NAME(nearbyint, "nearbyint is written round(x)")
ONTO_OTHER_NAME(asinh, "asinh is written sign(x) * log1p(abs(x) + x * x / (1 + sqrt(x * x + 1)))")
ONTO_OTHER_NAME(acosh, "acosh is written log(x + sqrt(x - 1) * sqrt(x + 1))")
ONTO_OTHER_NAME(atanh, "atanh is written 0.5 * log((1 + x) / (1 - x))")
ONTO_OTHER_NAME(clamp, "clamp is written clip(x, 0, 1)")
ONTO_OTHER_NAME(mm, "mm is written matmul(x, y)")
ONTO_OTHER_NAME(cat, "cat is written concat<0>(x, y)")
ONTO_OTHER_NAME(concatenate, "concatenate is written concat<0>(x, y)")
ONTO_OTHER_NAME(arange,
                "arange is written iota<int, 5>(), or 2 + 3 * iota<int, 5>() from 2 in steps of 3; iota_like(x) is of "
                "an extent that the run knows")
ONTO_OTHER_NAME(percentile, "percentile is written quantile(x, 0.9), with <onto/sort.hpp>")
ONTO_OTHER_NAME(nonzero,
                "nonzero, or argwhere, would have as many elements as the mask has; the first K are "
                "-top_k<K>(where(mask, -iota_like<std::int64_t>(mask), -extent<0>(mask))).values, with <onto/sort.hpp>")
template <class... X>
using argwhere_has_another_name = nonzero_has_another_name<X...>;
ONTO_OTHER_NAME(inv,
                "inv, solve, det and cholesky are another library's, Eigen's or LAPACK's: compute it there and feed "
                "it; a 2 x 2 inverse is stack(stack(d, -b), stack(-c, a)) / (a * d - b * c)")
template <class... X>
using solve_has_another_name = inv_has_another_name<X...>;
template <class... X>
using det_has_another_name = inv_has_another_name<X...>;
template <class... X>
using cholesky_has_another_name = inv_has_another_name<X...>;
ONTO_OTHER_NAME(unsqueeze, "unsqueeze is written expand_dims<0>(x)")
ONTO_OTHER_NAME(subtract, "subtract is written x - y")
ONTO_OTHER_NAME(multiply, "multiply is written x * y")
ONTO_OTHER_NAME(vstack, "vstack is written concat<0>(x, y)")
ONTO_OTHER_NAME(hstack, "hstack is written concat<1>(x, y)")
ONTO_OTHER_NAME(flatten, "flatten is written reshape<dyn>(x)")
ONTO_OTHER_NAME(swapaxes, "swapaxes is written permute<1, 0>(x), which names every axis once, in its new order")
ONTO_OTHER_NAME(moveaxis, "moveaxis is written permute<1, 0>(x), which names every axis once, in its new order")
ONTO_OTHER_NAME(count_nonzero, "count_nonzero is written sum(cast<int>(x != 0))")
ONTO_OTHER_NAME(allclose, "allclose is written all(abs(x - y) <= 1e-8 + 1e-5 * abs(y))")
ONTO_OTHER_NAME(
    convolve,
    "convolve is written conv1d(x, flip<0>(w)), of signals with a batch and channels, with <onto/convolution.hpp>")
ONTO_OTHER_NAME(reduce_sum, "reduce_sum is written sum<0>(x), or sum(x) of all elements")
ONTO_OTHER_NAME(reduce_mean, "reduce_mean is written mean<0>(x), or mean(x) of all elements")
ONTO_OTHER_NAME(value_and_grad, "value_and_grad is written value_and_gradient(loss, w)")
#undef ONTO_OTHER_NAME

}  // namespace detail

// Those of <cmath>, to whose numbers an expression would be converted. What takes any number of operands is what the
// compiler takes last.
#define ONTO_NAME_OF_C(word)                                               \
  template <expression E, class... More>                                   \
  constexpr auto word(const E&, const More&...) {                          \
    return typename detail::word##_has_another_name<E, More...>::result{}; \
  }
ONTO_NAME_OF_C(log2)
ONTO_NAME_OF_C(log10)
ONTO_NAME_OF_C(exp2)
ONTO_NAME_OF_C(cbrt)
ONTO_NAME_OF_C(trunc)
ONTO_NAME_OF_C(fabs)
ONTO_NAME_OF_C(rint)
ONTO_NAME_OF_C(fmod)
ONTO_NAME_OF_C(hypot)
ONTO_NAME_OF_C(copysign)
ONTO_NAME_OF_C(remainder)
ONTO_NAME_OF_C(fmax)
ONTO_NAME_OF_C(fmin)
ONTO_NAME_OF_C(erfc)
ONTO_NAME_OF_C(nearbyint)
ONTO_NAME_OF_C(asinh)
ONTO_NAME_OF_C(acosh)
ONTO_NAME_OF_C(atanh)
#undef ONTO_NAME_OF_C

// Those of other libraries: each argument is converted, so that a function that takes it as it is comes first.
#define ONTO_NAME_OF_OTHERS(word)                                                                         \
  template <int... Written>                                                                               \
  constexpr auto word(detail::stray_argument, detail::stray_argument = {}, detail::stray_argument = {}) { \
    return typename detail::word##_has_another_name<shape<Written...>>::result{};                         \
  }
ONTO_NAME_OF_OTHERS(clamp)
ONTO_NAME_OF_OTHERS(mm)
ONTO_NAME_OF_OTHERS(cat)
ONTO_NAME_OF_OTHERS(concatenate)
ONTO_NAME_OF_OTHERS(unsqueeze)
ONTO_NAME_OF_OTHERS(arange)
ONTO_NAME_OF_OTHERS(percentile)
ONTO_NAME_OF_OTHERS(nonzero)
ONTO_NAME_OF_OTHERS(argwhere)
ONTO_NAME_OF_OTHERS(inv)
ONTO_NAME_OF_OTHERS(solve)
ONTO_NAME_OF_OTHERS(det)
ONTO_NAME_OF_OTHERS(cholesky)
ONTO_NAME_OF_OTHERS(subtract)
ONTO_NAME_OF_OTHERS(multiply)
ONTO_NAME_OF_OTHERS(vstack)
ONTO_NAME_OF_OTHERS(hstack)
ONTO_NAME_OF_OTHERS(flatten)
ONTO_NAME_OF_OTHERS(swapaxes)
ONTO_NAME_OF_OTHERS(moveaxis)
ONTO_NAME_OF_OTHERS(count_nonzero)
ONTO_NAME_OF_OTHERS(allclose)
ONTO_NAME_OF_OTHERS(convolve)
ONTO_NAME_OF_OTHERS(reduce_sum)
ONTO_NAME_OF_OTHERS(reduce_mean)
ONTO_NAME_OF_OTHERS(value_and_grad)
#undef ONTO_NAME_OF_OTHERS

}  // namespace onto
