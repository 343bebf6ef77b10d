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
template <class... X>
struct log2_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] log2 is written log(x) / 0.6931471805599453");
};
template <class... X>
struct log10_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] log10 is written log(x) / 2.302585092994046");
};
template <class... X>
struct exp2_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] exp2 is written pow(2, x)");
};
template <class... X>
struct cbrt_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] cbrt is written sign(x) * pow(abs(x), 1.0 / 3)");
};
template <class... X>
struct trunc_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] trunc is written sign(x) * floor(abs(x))");
};
template <class... X>
struct fabs_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] fabs is written abs(x)");
};
template <class... X>
struct rint_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] rint is written round(x)");
};
template <class... X>
struct fmod_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] fmod is written x % y, which has the sign of y, or where(x < 0, -(abs(x) % abs(y)), "
                "abs(x) % abs(y))");
};
template <class... X>
struct hypot_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] hypot is written sqrt(x * x + y * y)");
};
template <class... X>
struct copysign_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] copysign is written where((y < 0) | (1 / y < 0), -abs(x), abs(x))");
};
template <class... X>
struct remainder_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] remainder is written x % y, as NumPy's, or x - round(x / y) * y, as C's");
};
template <class... X>
struct fmax_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] fmax is written maximum(x, y)");
};
template <class... X>
struct fmin_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] fmin is written minimum(x, y)");
};
template <class... X>
struct erfc_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] erfc is written 1 - erf(x)");
};
template <class... X>
struct nearbyint_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] nearbyint is written round(x)");
};
template <class... X>
struct asinh_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] asinh is written sign(x) * log1p(abs(x) + x * x / (1 + sqrt(x * x + 1)))");
};
template <class... X>
struct acosh_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] acosh is written log(x + sqrt(x - 1) * sqrt(x + 1))");
};
template <class... X>
struct atanh_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] atanh is written 0.5 * log((1 + x) / (1 - x))");
};
template <class... X>
struct clamp_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] clamp is written clip(x, 0, 1)");
};
template <class... X>
struct mm_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] mm is written matmul(x, y)");
};
template <class... X>
struct cat_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] cat is written concat<0>(x, y)");
};
template <class... X>
struct concatenate_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] concatenate is written concat<0>(x, y)");
};
template <class... X>
struct arange_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] arange is written iota<int, 5>(), or 2 + 3 * iota<int, 5>() from 2 in steps of 3; "
                "iota_like(x) is of an extent that the run knows");
};
template <class... X>
struct percentile_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] percentile is written quantile(x, 0.9), with <onto/sort.hpp>");
};
template <class... X>
struct nonzero_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(
      ok == true,
      "[onto.operands] nonzero, or argwhere, would have as many elements as the mask has; the first K are "
      "-top_k<K>(where(mask, -iota_like<std::int64_t>(mask), -extent<0>(mask))).values, with <onto/sort.hpp>");
};
template <class... X>
using argwhere_has_another_name = nonzero_has_another_name<X...>;
template <class... X>
struct inv_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true,
                "[onto.operands] inv, solve, det and cholesky are another library's, Eigen's or LAPACK's: compute it "
                "there and feed it; a 2 x 2 inverse is stack(stack(d, -b), stack(-c, a)) / (a * d - b * c)");
};
template <class... X>
using solve_has_another_name = inv_has_another_name<X...>;
template <class... X>
using det_has_another_name = inv_has_another_name<X...>;
template <class... X>
using cholesky_has_another_name = inv_has_another_name<X...>;
template <class... X>
struct unsqueeze_has_another_name : mistake {
  static constexpr bool ok = sizeof...(X) > 99;
  static_assert(ok == true, "[onto.operands] unsqueeze is written expand_dims<0>(x)");
};

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
#undef ONTO_NAME_OF_OTHERS

}  // namespace onto
