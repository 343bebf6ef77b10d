// SPDX-License-Identifier: BSL-1.0
// Functions of one tensor, element by element.
#pragma once

#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>

namespace onto {

namespace op {

// What derivatives are made of, each before it is there.
struct cos;
struct cosh;
struct less;
struct where;

struct abs : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "Abs";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::abs;
    return abs(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return make<where>(make<less>(x, 0), -g, g);
  }
};

struct sign : detail::packed_elementwise<numeric_elements, 2>, detail::integer_packs {
  static constexpr std::string_view name = "Sign";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::select;
    const T zero = math::splat<T>(0);
    if constexpr (std::is_unsigned_v<math::lane_of<T>>) {
      return select(x > zero, math::splat<T>(1), zero);
    } else {
      return select(x > zero, math::splat<T>(1), select(x < zero, math::splat<T>(-1), select(x == zero, zero, x)));
    }
  }
  static constexpr bool flat = true;
};

struct square : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "Square";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    return math::multiply(x, x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * (x * 2);
  }
};

struct sqrt : detail::packed_elementwise<floating_elements, 4> {
  static constexpr std::string_view name = "Sqrt";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::sqrt;
    return sqrt(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto y, auto) {
    return g * 0.5 / y;
  }
};

struct rsqrt : detail::packed_elementwise<floating_elements, 5> {
  static constexpr std::string_view name = "Rsqrt";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::sqrt;
    return math::splat<T>(1) / sqrt(x);  // a processor's own rsqrt has 12 bits
  }
  template <int>
  static constexpr auto derivative(auto g, auto y, auto x) {
    return g * -0.5 * (y / x);
  }
};

struct exp : detail::packed_elementwise<floating_elements, 10> {
  static constexpr std::string_view name = "Exp";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::exp;
    return exp(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto y, auto) {
    return g * y;
  }
};

struct expm1 : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Expm1";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::expm1;
    return expm1(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto y, auto) {
    return g * (y + 1);
  }
};

struct log : detail::packed_elementwise<floating_elements, 10> {
  static constexpr std::string_view name = "Log";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::log;
    return log(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g / x;
  }
};

struct log1p : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Log1p";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::log1p;
    return log1p(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g / (x + 1);
  }
};

struct sin : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Sin";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::sin;
    return sin(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * make<cos>(x);
  }
};

struct cos : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Cos";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::cos;
    return cos(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * -make<sin>(x);
  }
};

struct tan : detail::packed_elementwise<floating_elements, 16> {
  static constexpr std::string_view name = "Tan";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::tan;
    return tan(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto y, auto) {
    return g * (y * y + 1);
  }
};

struct asin : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Asin";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::asin;
    return asin(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * make<rsqrt>(1 - x * x);
  }
};

struct acos : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Acos";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::acos;
    return acos(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * -make<rsqrt>(1 - x * x);
  }
};

struct atan : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Atan";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::atan;
    return atan(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g / (x * x + 1);
  }
};

struct sinh : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Sinh";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::sinh;
    return sinh(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * make<cosh>(x);
  }
};

struct cosh : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Cosh";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::cosh;
    return cosh(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * make<sinh>(x);
  }
};

struct tanh : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Tanh";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::tanh;
    return tanh(x);
  }
  template <int>
  static constexpr auto derivative(auto g, auto y, auto) {
    return g * (1 - y * y);
  }
};

struct erf : detail::packed_elementwise<floating_elements, 20> {
  static constexpr std::string_view name = "Erf";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    using math::erf;
    if constexpr (math::is_pack<T> && sizeof(math::lane_of<T>) == 8) {
      return math::each_lane([](auto v) { return math::erf(v); }, x);
    } else {
      return erf(x);
    }
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto x) {
    return g * 1.1283791670955126 * make<exp>(-(x * x));
  }
};

}  // namespace op

/// The absolute value. The lowest integer has none and stays as it is.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto abs(const E& x) {
  return make<op::abs>(x);
}
/// 1, 0 or -1 by the sign of the element; NaN stays NaN.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto sign(const E& x) {
  return make<op::sign>(x);
}
/// `x * x`.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto square(const E& x) {
  return make<op::square>(x);
}
/// The square root. *Mandates*, here and below, a floating-point type.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto sqrt(const E& x) {
  return make<op::sqrt>(x);
}
/// `1 / sqrt(x)`.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto rsqrt(const E& x) {
  return make<op::rsqrt>(x);
}
/// `e` to the power of `x`.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto exp(const E& x) {
  return make<op::exp>(x);
}
/// `exp(x) - 1`, exact near 0.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto expm1(const E& x) {
  return make<op::expm1>(x);
}
/// The natural logarithm.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto log(const E& x) {
  return make<op::log>(x);
}
/// `log(1 + x)`, exact near 0.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto log1p(const E& x) {
  return make<op::log1p>(x);
}
/// The sine of an angle in radians.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto sin(const E& x) {
  return make<op::sin>(x);
}
/// The cosine of an angle in radians.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto cos(const E& x) {
  return make<op::cos>(x);
}
/// The tangent of an angle in radians.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto tan(const E& x) {
  return make<op::tan>(x);
}
/// The angle whose sine is `x`, in -pi/2 to pi/2.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto asin(const E& x) {
  return make<op::asin>(x);
}
/// The angle whose cosine is `x`, in 0 to pi.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto acos(const E& x) {
  return make<op::acos>(x);
}
/// The angle whose tangent is `x`, in -pi/2 to pi/2.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto atan(const E& x) {
  return make<op::atan>(x);
}
/// The hyperbolic sine.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto sinh(const E& x) {
  return make<op::sinh>(x);
}
/// The hyperbolic cosine.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto cosh(const E& x) {
  return make<op::cosh>(x);
}
/// The hyperbolic tangent.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto tanh(const E& x) {
  return make<op::tanh>(x);
}
/// The error function.
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto erf(const E& x) {
  return make<op::erf>(x);
}

}  // namespace onto
