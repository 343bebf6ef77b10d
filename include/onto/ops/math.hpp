// SPDX-License-Identifier: BSL-1.0
// The scalar functions that operations are made of, for host and device. An operation's `apply` names them unqualified,
// after `using math::exp;`, so that for SIMD packs the functions of the same names beside them are found instead.
#pragma once

#include <onto/core/config.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace onto::math {

/// Whether `T` holds several values: a SIMD pack.
template <class T>
inline constexpr bool is_pack = !std::is_arithmetic_v<T>;

template <class T, bool Pack = is_pack<T>>
struct lane {
  using type = T;
};
template <class T>
struct lane<T, true> {
  using type = typename T::value_type;
};
/// The type of a value, or of each value in a pack.
template <class T>
using lane_of = typename lane<T>::type;

// As variables: nvcc does not let device code call std::numeric_limits' functions, even for a constant.
template <class T>
inline constexpr T lowest_value = std::numeric_limits<T>::lowest();
template <class T>
inline constexpr T highest_value = std::numeric_limits<T>::max();
template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();

/// `value` as a `T`; in a pack, in every lane.
template <class T>
ONTO_HD constexpr T splat(double value) {
  if constexpr (is_pack<T>) {
    return T(static_cast<typename T::value_type>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// `chosen ? a : b`. Both are computed.
template <class T>
requires std::is_arithmetic_v<T> ONTO_HD ONTO_INLINE constexpr T select(bool chosen, T a, T b) {
  return chosen ? a : b;
}
/// The same in each lane of packs.
template <class Mask, class Pack>
  requires(is_pack<Pack>)
ONTO_INLINE Pack select(const Mask& chosen, const Pack& a, const Pack& b) {
  return select(chosen, a, b);  // that of packs, which is the more special one
}

/// Applies a scalar function to each lane of packs, for functions that packs have not: in the kernel itself, where that
/// is arithmetic.
template <class F, class Pack, class... More>
ONTO_INLINE Pack each_lane_here(F f, const Pack& x, const More&... more) {
  using value_type = typename Pack::value_type;
  constexpr int width = static_cast<int>(Pack::size);
  constexpr int count = 1 + static_cast<int>(sizeof...(More));
  value_type in[count][width];
  int row = 0;
  x.store_unaligned(in[row]);
  (more.store_unaligned(in[++row]), ...);
  for (int k = 0; k < width; ++k) {
    if constexpr (count == 1) {
      in[0][k] = f(in[0][k]);
    } else {
      in[0][k] = f(in[0][k], in[1][k]);
    }
  }
  return Pack::load_unaligned(in[0]);
}
/// The same in a function of its own, for those of the C library.
template <class F, class Pack, class... More>
Pack each_lane(F f, const Pack& x, const More&... more) {
  return each_lane_here(f, x, more...);
}
/// `f` of integers, or of each lane of packs of them.
template <class F, class T>
ONTO_HD ONTO_INLINE T of_integers(F f, const T& a, const T& b) {
  if constexpr (is_pack<T>)
    return each_lane_here(f, a, b);
  else
    return f(a, b);
}

/// The greater of two; NaN where one of them is.
template <class T>
ONTO_HD ONTO_INLINE constexpr T maximum(const T& a, const T& b) {
  return select(a >= b || !(a == a), a, b);
}
/// The smaller of two; NaN where one of them is.
template <class T>
ONTO_HD ONTO_INLINE constexpr T minimum(const T& a, const T& b) {
  return select(a <= b || !(a == a), a, b);
}

// Floating point: the standard library's, which under nvcc is CUDA's on the device.
template <std::floating_point T>
ONTO_HD T sqrt(T x) {
  return std::sqrt(x);
}
template <std::floating_point T>
ONTO_HD T exp(T x) {
  return std::exp(x);
}
template <std::floating_point T>
ONTO_HD T expm1(T x) {
  return std::expm1(x);
}
template <std::floating_point T>
ONTO_HD T log(T x) {
  return std::log(x);
}
template <std::floating_point T>
ONTO_HD T log1p(T x) {
  return std::log1p(x);
}
template <std::floating_point T>
ONTO_HD T sin(T x) {
  return std::sin(x);
}
template <std::floating_point T>
ONTO_HD T cos(T x) {
  return std::cos(x);
}
template <std::floating_point T>
ONTO_HD T tan(T x) {
  return std::tan(x);
}
template <std::floating_point T>
ONTO_HD T asin(T x) {
  return std::asin(x);
}
template <std::floating_point T>
ONTO_HD T acos(T x) {
  return std::acos(x);
}
template <std::floating_point T>
ONTO_HD T atan(T x) {
  return std::atan(x);
}
template <std::floating_point T>
ONTO_HD T sinh(T x) {
  return std::sinh(x);
}
template <std::floating_point T>
ONTO_HD T cosh(T x) {
  return std::cosh(x);
}
template <std::floating_point T>
ONTO_HD T tanh(T x) {
  return std::tanh(x);
}
template <std::floating_point T>
ONTO_HD T erf(T x) {
  return std::erf(x);
}
template <std::floating_point T>
ONTO_HD T erfc(T x) {
  return std::erfc(x);
}
template <std::floating_point T>
ONTO_HD T floor(T x) {
  return std::floor(x);
}
template <std::floating_point T>
ONTO_HD T ceil(T x) {
  return std::ceil(x);
}
/// The nearest integer; of two, the even one.
template <std::floating_point T>
ONTO_HD T nearbyint(T x) {
  return std::nearbyint(x);
}
template <std::floating_point T>
ONTO_HD T atan2(T y, T x) {
  return std::atan2(y, x);
}
/// A square is a product: exact to the last bit, as the power is not.
template <std::floating_point T>
ONTO_HD T pow(T base, T exponent) {
  return exponent == T{2} ? base * base : std::pow(base, exponent);
}
template <std::floating_point T>
ONTO_HD T abs(T x) {
  return std::fabs(x);
}

// Integers wrap around: computed without a sign, where overflow is defined, and in no fewer bits than `unsigned`, which
// shorter ones would become an `int` instead of.
template <class T>
using wrapping_t = decltype(std::make_unsigned_t<T>{} + 0u);

template <class T>
ONTO_HD ONTO_INLINE constexpr T add(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    using bits = wrapping_t<T>;
    return static_cast<T>(static_cast<bits>(a) + static_cast<bits>(b));
  } else {
    return a + b;
  }
}
template <class T>
ONTO_HD ONTO_INLINE constexpr T subtract(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    using bits = wrapping_t<T>;
    return static_cast<T>(static_cast<bits>(a) - static_cast<bits>(b));
  } else {
    return a - b;
  }
}
template <class T>
ONTO_HD ONTO_INLINE constexpr T multiply(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    using bits = wrapping_t<T>;
    return static_cast<T>(static_cast<bits>(a) * static_cast<bits>(b));
  } else {
    return a * b;
  }
}

/// Whether `b` is -1, by which the lowest integer cannot be divided.
template <std::integral T>
ONTO_HD ONTO_INLINE constexpr bool is_minus_one(T b) {
  if constexpr (std::is_signed_v<T>) {
    return b == -1;
  } else {
    return false;
  }
}
/// The quotient cut off towards zero; `b` is neither 0 nor -1.
template <std::integral T>
ONTO_HD ONTO_INLINE constexpr T quotient(T a, T b) {
#if !defined(__CUDA_ARCH__) && !defined(__FAST_MATH__) && !defined(__RECIPROCAL_MATH__)
  // Processors have vectors for floating-point division alone; it is exact, since a quotient that is no integer is
  // further from the next one than it is rounded. That holds of no multiplication by 1 / b, which -ffast-math makes of
  // it.
  if constexpr (sizeof(T) <= 4) {
    using floating = std::conditional_t<sizeof(T) <= 2, float, double>;
    return static_cast<T>(static_cast<floating>(a) / static_cast<floating>(b));
  } else if constexpr (sizeof(T) == 8) {
    // So it is of 64 bits where both are numbers of a double's 53, in a fraction of the time.
    constexpr auto most = T{1} << 53;
    const bool few = std::is_signed_v<T> ? a < most && a > T(0) - most && b < most && b > T(0) - most : (a | b) < most;
    if (few) {
      const auto x = static_cast<double>(static_cast<std::int64_t>(a)),
                 y = static_cast<double>(static_cast<std::int64_t>(b));
      return static_cast<T>(static_cast<std::int64_t>(x / y));
    }
  }
#endif
  return static_cast<T>(a / b);
}
/// *Returns* for integers the quotient cut off towards zero, and 0 where `b` is 0.
template <class T>
ONTO_HD ONTO_INLINE constexpr T divide(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    // Without a branch, so that compilers have vectors for it. By -1 the lowest has no quotient.
    const T by = static_cast<int>(b == 0) | static_cast<int>(is_minus_one(b)) ? T{1} : b;
    const T sign = static_cast<T>(static_cast<int>(b != 0) - 2 * static_cast<int>(is_minus_one(b)));
    return multiply(quotient(a, by), sign);
  } else {
    return a / b;
  }
}
template <std::integral T>
ONTO_HD constexpr T abs(T x) {
  if constexpr (std::is_signed_v<T>) {
    return x < 0 ? subtract(T{0}, x) : x;
  } else {
    return x;
  }
}
/// By squaring. *Returns* for a negative exponent 0, and 1 or -1 where the base is one of them.
template <std::integral T>
ONTO_HD constexpr T pow(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 == 0 ? T{1} : T{-1};
      return 0;
    }
  }
  T r = 1;
  while (exponent > 0) {
    if (exponent % 2 != 0) r = multiply(r, base);
    base = multiply(base, base);
    exponent = static_cast<T>(exponent / 2);
  }
  return r;
}

/// The square roots, but of -0 and of -infinity what they are to the power of 1/2: 0 and infinity.
template <class Pack>
ONTO_INLINE Pack power_of_half(const Pack& a) {
  constexpr auto infinity = std::numeric_limits<typename Pack::value_type>::infinity();
  return select(a == Pack(-infinity), Pack(infinity), sqrt(a + Pack(0)));
}
/// Powers of packs: small whole and half exponents by products and roots, where all lanes have the same.
template <class Pack>
  requires(is_pack<Pack>)
ONTO_INLINE Pack pow(const Pack& a, const Pack& b) {
  using number = typename Pack::value_type;
  const auto is = [&](double k) { return all(b == Pack(static_cast<number>(k))); };
  if (is(2)) return a * a;
  if constexpr (std::is_floating_point_v<number>) {
    const Pack one(number{1});
    if (is(3)) return a * a * a;
    if (is(4)) return (a * a) * (a * a);
    if (is(-1)) return one / a;
    if (is(-2)) return one / a / a;
    if (is(0.5)) return power_of_half(a);
    if (is(-0.5)) return one / power_of_half(a);
    if (is(1.5)) return abs(power_of_half(a) * a);
    if (is(-1.5)) return abs(one / power_of_half(a) / a);
  }
  const auto of_one = [](number x, number y) { return math::pow(x, y); };
  if constexpr (std::is_same_v<number, float> && Pack::size > 4)  // four floats would take half as long again
    return power(a, b, of_one);                                   // that of packs
  else
    return each_lane(of_one, a, b);
}

/// The remainder with the sign of the divisor. *Returns* for integers 0 where `b` is 0.
template <class T>
  requires std::is_arithmetic_v<T> ONTO_HD T mod(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      const T by = static_cast<int>(b == 0) | static_cast<int>(is_minus_one(b)) ? T{1} : b;  // without a remainder
      const T r = subtract(a, multiply(quotient(a, by), by));
      if constexpr (std::is_signed_v<T>) {
        return static_cast<int>(r != 0) & static_cast<int>((r < 0) != (by < 0)) ? static_cast<T>(r + by) : r;
      } else {
        return r;
      }
    } else {
      const T r = std::fmod(a, b);
      if (r == 0) return std::copysign(T{0}, b);
      return (r < 0) != (b < 0) ? r + b : r;
    }
  }
template <class Pack>
  requires(is_pack<Pack>)
ONTO_INLINE Pack mod(const Pack& a, const Pack& b) {
  using number = lane_of<Pack>;
  const auto of_one = [](number x, number y) { return math::mod(x, y); };
  if constexpr (std::is_integral_v<number>) {
    const number n = b.first();
    if (n > 0 && (n & (n - 1)) == 0 && all(b == Pack(n))) return a & Pack(static_cast<number>(n - 1));
    return each_lane_here(of_one, a, b);
  } else if constexpr (std::is_same_v<number, float> && Pack::size > 4) {
    return floor_remainder(a, b, of_one);  // that of packs
  } else {
    return each_lane(of_one, a, b);
  }
}

/// Converts an element. *Returns* for floating point to integer the value cut off towards zero, the nearest integer
/// there is where it is outside the range, and 0 for NaN; to bool, whether it is not 0; to a narrower integer, the low
/// bits.
template <class To, class From>
ONTO_HD constexpr To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (std::is_same_v<From, bool> && std::is_floating_point_v<To>) {
    return static_cast<To>(static_cast<int>(x));  // g++ makes vectors of an integer's conversion, not of a bool's
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From lowest = static_cast<From>(lowest_value<To>);  // 0 or a power of two: exact
    if constexpr (sizeof(To) < 4) {  // choices among numbers, which compilers have vectors for
      constexpr From highest = static_cast<From>(highest_value<To>);
      const From below = x < highest ? x : highest, within = below > lowest ? below : lowest;
      return static_cast<To>(static_cast<std::int32_t>(x == x ? within : From{0}));
    } else {
      constexpr From above = static_cast<From>(highest_value<To> / 2 + 1) * 2;  // a power of two as well
      if (!(x == x)) return 0;
      if (x < lowest) return lowest_value<To>;
      if (x >= above) return highest_value<To>;
      return static_cast<To>(x);
    }
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace onto::math
