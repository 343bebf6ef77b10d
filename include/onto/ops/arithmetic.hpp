// SPDX-License-Identifier: BSL-1.0
// Arithmetic between tensors, element by element with NumPy's broadcasting: + - * / and their like.
#pragma once

#include <onto/ops/math.hpp>
#include <onto/ops/operation_base.hpp>

#include <tuple>

namespace onto {

namespace op {

// What derivatives are made of, before it is there.
struct equal;
struct floor;
struct greater;
struct less;
struct log;
struct where;

/// The gradient where an operand is the greater one; of two that are equal, half of it is each's.
constexpr auto half_of_ties(auto g, auto wins, auto ties) {
  return make<where>(wins, g, make<where>(ties, g * 0.5, 0));
}

struct add : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "Add";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    return math::add(a, b);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto, auto) {
    if constexpr (K == 0)
      return g;
    else
      return g;
  }
};

struct sub : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "Sub";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    return math::subtract(a, b);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto, auto) {
    if constexpr (K == 0)
      return g;
    else
      return -g;
  }
};

struct mul : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "Mul";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    return math::multiply(a, b);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto a, auto b) {
    if constexpr (K == 0)
      return g * b;
    else
      return g * a;
  }
};

struct div : detail::packed_elementwise<>, detail::integer_lanes {
  static constexpr std::string_view name = "Div";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    if constexpr (std::is_integral_v<math::lane_of<T>>)
      return math::of_integers([](auto x, auto y) { return math::divide(x, y); }, a, b);
    else
      return math::divide(a, b);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto y, auto, auto b) {
    if constexpr (K == 0)
      return g / b;
    else
      return -(g * y / b);
  }
};

struct mod : detail::packed_elementwise<numeric_elements, 8>, detail::integer_lanes {
  static constexpr std::string_view name = "FloorMod";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    return math::mod(a, b);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto a, auto b) {
    if constexpr (K == 0)
      return g;
    else
      return -(g * make<floor>(a / b));
  }
};

struct pow : detail::packed_elementwise<numeric_elements, 20>, detail::integer_lanes {
  static constexpr std::string_view name = "Pow";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    return math::pow(a, b);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto y, auto a, auto b) {
    if constexpr (K == 0)
      return g * make<where>(make<equal>(b, 0), 0, b * make<pow>(a, b - 1));  // 0 by x where x is not in it
    else
      return g * (y * make<log>(make<where>(make<equal>(a, 0), 1, a)));
  }
};

struct atan2 : detail::packed_elementwise<floating_elements, 20> {
  static constexpr std::string_view name = "Atan2";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T y, T x) {
    if constexpr (math::is_pack<T>) {
      return math::each_lane([](auto b, auto a) { return math::atan2(b, a); }, y, x);
    } else {
      return math::atan2(y, x);
    }
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto y, auto x) {
    if constexpr (K == 0)
      return g * (x / (x * x + y * y));
    else
      return g * -(y / (x * x + y * y));
  }
};

struct maximum : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "Maximum";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    return math::maximum(a, b);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto a, auto b) {
    if constexpr (K == 0)
      return half_of_ties(g, make<greater>(a, b), make<equal>(a, b));
    else
      return half_of_ties(g, make<greater>(b, a), make<equal>(a, b));
  }
};

struct minimum : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "Minimum";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T a, T b) {
    return math::minimum(a, b);
  }
  template <int K>
  static constexpr auto derivative(auto g, auto, auto a, auto b) {
    if constexpr (K == 0)
      return half_of_ties(g, make<less>(a, b), make<equal>(a, b));
    else
      return half_of_ties(g, make<less>(b, a), make<equal>(a, b));
  }
};

struct neg : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "Neg";
  template <class T>
  ONTO_HD ONTO_INLINE static T apply(T x) {
    if constexpr (std::is_integral_v<T>) {
      return math::subtract(T{0}, x);
    } else {
      return -x;
    }
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto) {
    return -g;
  }
};

/// The sum of any number of operands of one shape.
struct add_n : detail::packed_elementwise<>, detail::integer_packs {
  static constexpr std::string_view name = "AddN";

  ONTO_BEGIN_RUNS_ONCE
  static constexpr inferred infer(const extents* operands, int count) {
    inferred r;
    r.shape = operands[0];
    for (int n = 1; n < count; ++n) {
      if (operands[n].rank != r.shape.rank) return {r.shape, shape_fault::addends};
      for (int k = 0; k < r.shape.rank; ++k) {
        if (r.shape[k] == dyn) {
          r.shape[k] = operands[n][k];
        } else if (operands[n][k] != dyn && operands[n][k] != r.shape[k]) {
          return {r.shape, shape_fault::addends};
        }
      }
    }
    return r;
  }
  ONTO_END_RUNS_ONCE

  template <class T, class... More>
  ONTO_HD ONTO_INLINE static T apply(T first, More... more) {
    ((first = math::add(first, static_cast<T>(more))), ...);
    return first;
  }
  template <int>
  static constexpr auto derivative(auto g, auto, auto...) {
    return g;
  }
};

}  // namespace op

/// `a + b`, element by element. One operand may be a scalar. Integers wrap around.
/// *Mandates* operands of one element type, of numbers, whose shapes broadcast.
/// *Throws* `invalid_argument_error` where an integer does not fit the integers beside it.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator+(const L& l, const R& r) { return make<op::add>(l, r); }

/// `a - b`, as `+`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator-(const L& l, const R& r) { return make<op::sub>(l, r); }

/// `a * b`, element by element, as `+`. The product of matrices is `matmul`.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator*(const L& l, const R& r) { return make<op::mul>(l, r); }

/// `a / b`, as `+`. Integers are cut off towards zero as in C++; `x / 0` is 0 for them.
template <class L, class R>
  requires detail::operands<L, R>
constexpr auto operator/(const L& l, const R& r) { return make<op::div>(l, r); }

/// The negative of each element.
template <expression E>
constexpr auto operator-(const E& x) {
  return make<op::neg>(x);
}
template <class E, detail::only_if<expression<E>> = 0>
constexpr auto neg(const E& x) {
  return make<op::neg>(x);
}

/// The remainder of `a / b` with the sign of `b`, as NumPy's `%`; for integers `mod(x, 0)` is 0.
template <class L, class R, detail::only_if<detail::operands<L, R>> = 0>
constexpr auto mod(const L& l, const R& r) {
  return make<op::mod>(l, r);
}

/// `a` to the power of `b`. Integers wrap around; their negative powers are 0 unless `a` is 1 or -1.
template <class L, class R, detail::only_if<detail::operands<L, R>> = 0>
constexpr auto pow(const L& l, const R& r) {
  return make<op::pow>(l, r);
}

/// The angle of the point (`x`, `y`), in -pi to pi.
template <class L, class R, detail::only_if<detail::operands<L, R>> = 0>
constexpr auto atan2(const L& y, const R& x) {
  return make<op::atan2>(y, x);
}

/// The greater of two elements; NaN where one of them is. The greatest element of a tensor is `max`.
template <class L, class R, detail::only_if<detail::operands<L, R>> = 0>
constexpr auto maximum(const L& l, const R& r) {
  return make<op::maximum>(l, r);
}

/// The smaller of two elements; NaN where one of them is.
template <class L, class R, detail::only_if<detail::operands<L, R>> = 0>
constexpr auto minimum(const L& l, const R& r) {
  return make<op::minimum>(l, r);
}

/// The elements, each at least `low` and at most `high`: `minimum(maximum(x, low), high)`. NaN stays.
template <class E, class Low, class High,
          detail::only_if<(expression<E> && detail::operand<Low> && detail::operand<High>)> = 0>
constexpr auto clip(const E& x, const Low& low, const High& high) {
  return minimum(maximum(x, low), high);
}

/// The sum of tensors of one shape, added from left to right.
/// *Mandates* 1 to 64 operands of equal extents, as far as they are known: nothing is broadcast.
template <expression First, expression... More>
constexpr auto add_n(const First& first, const More&... more) {
  constexpr int count = 1 + static_cast<int>(sizeof...(More));
  if constexpr (count <= 64) {
    return make<op::add_n>(first, more...);
  } else {
    return typename detail::too_many_operands<count>::result{};
  }
}
/// The same for the results of towers: `add_n(std::tuple{c1, c2})`.
template <expression... E>
constexpr auto add_n(const std::tuple<E...>& towers) {
  return std::apply([](const auto&... e) { return add_n(e...); }, towers);
}

}  // namespace onto
