// SPDX-License-Identifier: BSL-1.0
// Functions of one tensor, element by element.
#pragma once

#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>

namespace onto {

namespace op {

struct abs : detail::packed_elementwise<> {
  static constexpr std::string_view name = "Abs";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::abs;
    return abs(x);
  }
};

struct sign : detail::packed_elementwise<numeric_elements, 2> {
  static constexpr std::string_view name = "Sign";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::select;
    const T zero = math::splat<T>(0);
    if constexpr (std::is_unsigned_v<T>) {
      return static_cast<T>(x > zero);
    } else {
      return select(x > zero, math::splat<T>(1), select(x < zero, math::splat<T>(-1), select(x == zero, zero, x)));
    }
  }
};

struct square : detail::packed_elementwise<> {
  static constexpr std::string_view name = "Square";
  template <class T>
  ONTO_HD static T apply(T x) {
    return math::multiply(x, x);
  }
};

struct sqrt : detail::packed_elementwise<floating_elements, 4> {
  static constexpr std::string_view name = "Sqrt";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::sqrt;
    return sqrt(x);
  }
};

struct rsqrt : detail::packed_elementwise<floating_elements, 5> {
  static constexpr std::string_view name = "Rsqrt";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::sqrt;
    return math::splat<T>(1) / sqrt(x);  // a processor's own rsqrt has 12 bits
  }
};

struct exp : detail::packed_elementwise<floating_elements, 10> {
  static constexpr std::string_view name = "Exp";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::exp;
    using math::select;
    if constexpr (math::pack_functions<T>::known) {
      return math::pack_functions<T>::exp(x);
    } else if constexpr (math::is_pack<T>) {
      // xsimd 8 is infinite from 88.376 (709.436) on, half a unit too early: the last stretch is e * exp(x - 1).
      const auto high = x > math::splat<T>(sizeof(typename T::value_type) == 4 ? 88 : 709);
      const T e = math::splat<T>(2.718281828459045);
      const T one = math::splat<T>(1);
      return exp(x - select(high, one, math::splat<T>(0))) * select(high, e, one);
    } else {
      return exp(x);
    }
  }
};

struct expm1 : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Expm1";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::expm1;
    using math::select;
    if constexpr (math::is_pack<T>) {
      const auto high = x > math::splat<T>(sizeof(typename T::value_type) == 4 ? 88 : 709);  // as exp
      const T e = math::splat<T>(2.718281828459045);
      const T one = math::splat<T>(1);
      return expm1(x - select(high, one, math::splat<T>(0))) * select(high, e, one);
    } else {
      return expm1(x);
    }
  }
};

struct log : detail::packed_elementwise<floating_elements, 10> {
  static constexpr std::string_view name = "Log";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::log;
    if constexpr (math::is_pack<T> && sizeof(math::lane_of<T>) == 8) {
      // xsimd 8 is wrong below the least normal double: there it is log(2^54 x) - log(2^54).
      using math::select;
      const auto low = x < math::splat<T>(2.2250738585072014e-308);
      const T zero = math::splat<T>(0);
      return log(select(low, x * math::splat<T>(18014398509481984.0), x)) -
             select(low, math::splat<T>(37.429947750237048), zero);
    } else {
      return log(x);
    }
  }
};

struct log1p : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Log1p";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::log1p;
    return log1p(x);
  }
};

struct sin : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Sin";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::sin;
    if constexpr (math::pack_angles<T>::known) {
      return math::pack_angles<T>::sin(x);
    } else {
      return sin(x);
    }
  }
};

struct cos : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Cos";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::cos;
    if constexpr (math::pack_angles<T>::known) {
      return math::pack_angles<T>::cos(x);
    } else {
      return cos(x);
    }
  }
};

struct tan : detail::packed_elementwise<floating_elements, 16> {
  static constexpr std::string_view name = "Tan";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::tan;
    if constexpr (math::pack_angles<T>::known) {
      return math::pack_angles<T>::tan(x);
    } else {
      return tan(x);
    }
  }
};

struct asin : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Asin";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::asin;
    return asin(x);
  }
};

struct acos : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Acos";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::acos;
    return acos(x);
  }
};

struct atan : detail::packed_elementwise<floating_elements, 12> {
  static constexpr std::string_view name = "Atan";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::atan;
    return atan(x);
  }
};

struct sinh : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Sinh";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::sinh;
    return sinh(x);
  }
};

struct cosh : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Cosh";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::cosh;
    return cosh(x);
  }
};

struct tanh : detail::packed_elementwise<floating_elements, 14> {
  static constexpr std::string_view name = "Tanh";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::tanh;
    if constexpr (math::pack_functions<T>::known) {
      return math::pack_functions<T>::tanh(x);
    } else {
      return tanh(x);
    }
  }
};

struct erf : detail::packed_elementwise<floating_elements, 20> {
  static constexpr std::string_view name = "Erf";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::erf;
    if constexpr (math::is_pack<T> && sizeof(math::lane_of<T>) == 8) {
      return math::each_lane([](auto v) { return math::erf(v); }, x);  // xsimd 8: 68 ulp in double, NaN for large x
    } else {
      return erf(x);
    }
  }
};

struct floor : detail::packed_elementwise<floating_elements> {
  static constexpr std::string_view name = "Floor";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::floor;
    return floor(x);
  }
};

struct ceil : detail::packed_elementwise<floating_elements> {
  static constexpr std::string_view name = "Ceil";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::ceil;
    return ceil(x);
  }
};

struct round : detail::packed_elementwise<floating_elements> {
  static constexpr std::string_view name = "Round";
  template <class T>
  ONTO_HD static T apply(T x) {
    using math::nearbyint;
    return nearbyint(x);
  }
};

}  // namespace op

/// The absolute value. The lowest integer has none and stays as it is.
template <expression E>
constexpr auto abs(const E& x) {
  return make<op::abs>(x);
}
/// 1, 0 or -1 by the sign of the element; NaN stays NaN.
template <expression E>
constexpr auto sign(const E& x) {
  return make<op::sign>(x);
}
/// `x * x`.
template <expression E>
constexpr auto square(const E& x) {
  return make<op::square>(x);
}
/// The square root. *Mandates*, here and below, a floating-point type.
template <expression E>
constexpr auto sqrt(const E& x) {
  return make<op::sqrt>(x);
}
/// `1 / sqrt(x)`.
template <expression E>
constexpr auto rsqrt(const E& x) {
  return make<op::rsqrt>(x);
}
/// `e` to the power of `x`.
template <expression E>
constexpr auto exp(const E& x) {
  return make<op::exp>(x);
}
/// `exp(x) - 1`, exact near 0.
template <expression E>
constexpr auto expm1(const E& x) {
  return make<op::expm1>(x);
}
/// The natural logarithm.
template <expression E>
constexpr auto log(const E& x) {
  return make<op::log>(x);
}
/// `log(1 + x)`, exact near 0.
template <expression E>
constexpr auto log1p(const E& x) {
  return make<op::log1p>(x);
}
/// The sine of an angle in radians.
template <expression E>
constexpr auto sin(const E& x) {
  return make<op::sin>(x);
}
/// The cosine of an angle in radians.
template <expression E>
constexpr auto cos(const E& x) {
  return make<op::cos>(x);
}
/// The tangent of an angle in radians.
template <expression E>
constexpr auto tan(const E& x) {
  return make<op::tan>(x);
}
/// The angle whose sine is `x`, in -pi/2 to pi/2.
template <expression E>
constexpr auto asin(const E& x) {
  return make<op::asin>(x);
}
/// The angle whose cosine is `x`, in 0 to pi.
template <expression E>
constexpr auto acos(const E& x) {
  return make<op::acos>(x);
}
/// The angle whose tangent is `x`, in -pi/2 to pi/2.
template <expression E>
constexpr auto atan(const E& x) {
  return make<op::atan>(x);
}
/// The hyperbolic sine.
template <expression E>
constexpr auto sinh(const E& x) {
  return make<op::sinh>(x);
}
/// The hyperbolic cosine.
template <expression E>
constexpr auto cosh(const E& x) {
  return make<op::cosh>(x);
}
/// The hyperbolic tangent.
template <expression E>
constexpr auto tanh(const E& x) {
  return make<op::tanh>(x);
}
/// The error function.
template <expression E>
constexpr auto erf(const E& x) {
  return make<op::erf>(x);
}
/// The greatest integer that is not above `x`, as floating point.
template <expression E>
constexpr auto floor(const E& x) {
  return make<op::floor>(x);
}
/// The least integer that is not below `x`, as floating point.
template <expression E>
constexpr auto ceil(const E& x) {
  return make<op::ceil>(x);
}
/// The nearest integer, as floating point; of two that are as near, the even one.
template <expression E>
constexpr auto round(const E& x) {
  return make<op::round>(x);
}

}  // namespace onto
