// SPDX-License-Identifier: BSL-1.0
// What is computed of an element hangs on that element alone: not on what stands beside it in a pack, nor where it
// stands.
#include <onto/onto.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Numbers of every kind: each of them sends some function another way.
template <class T>
T any_number(std::mt19937& random) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T special[] = {0,
                           -T{0},
                           1,
                           -1,
                           T(0.5),
                           T(1.5707963267948966),
                           T(3.141592653589793),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::max(),
                           inf,
                           -inf,
                           std::numeric_limits<T>::quiet_NaN()};
  const auto unit = [&] { return static_cast<T>(random()) / static_cast<T>(4294967296.0); };
  switch (random() % 6) {
    case 0: return special[random() % std::size(special)];
    case 1: return 2 * unit() - 1;
    case 2: return 20 * unit() - 10;
    case 3: return 2000 * unit() - 1000;
    case 4: return static_cast<T>(random() % 100000) * T(1.5707963267948966);
    default: return std::ldexp(unit() - T(0.5), static_cast<int>(random() % 200) - 100);
  }
}

constexpr int rounds = 400;

/// Each element of random packs beside others, and alone in its pack.
template <class Op, class T, std::size_t Operands>
void check_packs() {
  if constexpr (detail::has_packs) {
    using lanes = detail::pack<T>;
    constexpr std::size_t width = lanes::size;
    std::mt19937 random(17);
    for (int round = 0; round < rounds; ++round) {
      T in[2][width];
      for (auto& operand : in)
        for (T& x : operand) x = any_number<T>(random);
      const auto apply = [](const lanes& a, const lanes& b) {
        T out[width];
        if constexpr (Operands == 1) {
          static_cast<void>(b);
          lanes(Op::apply(a)).store_unaligned(out);
        } else {
          lanes(Op::apply(a, b)).store_unaligned(out);
        }
        return std::vector<T>(out, out + width);
      };
      const std::vector<T> beside = apply(lanes::load_unaligned(in[0]), lanes::load_unaligned(in[1]));
      for (std::size_t k = 0; k < width; ++k) {
        const std::vector<T> alone = apply(lanes(in[0][k]), lanes(in[1][k]));
        if (same(beside[k], alone[0])) continue;
        INFO(Op::name << " of " << in[0][k] << ", " << in[1][k] << " is " << beside[k] << " beside others, " << alone[0]
                      << " alone");
        CHECK(false);
        return;
      }
    }
  }
  SUCCEED();
}

template <class T, class... Op>
void check_unary() {
  (check_packs<Op, T, 1>(), ...);
}
template <class T, class... Op>
void check_binary() {
  (check_packs<Op, T, 2>(), ...);
}

template <class T>
void check_functions() {
  check_unary<T, op::abs, op::sign, op::square, op::sqrt, op::rsqrt, op::exp, op::expm1, op::log, op::log1p, op::sin,
              op::cos, op::tan, op::asin, op::acos, op::atan, op::sinh, op::cosh, op::tanh, op::erf, op::floor,
              op::ceil, op::round, op::sigmoid, op::softplus, op::relu, op::gelu, op::neg>();
  check_binary<T, op::add, op::sub, op::mul, op::div, op::mod, op::pow, op::atan2, op::maximum, op::minimum>();
}

/// Expressions over arrays, of which every kernel takes as many elements at a time as it likes.
template <class T, class E>
void check_permuted(session& sess, const E& e, const char* what) {
  constexpr auto x = placeholder<"x", T, dyn>;
  std::mt19937 random(23);
  for (const int count : {1, 3, 8, 17, 31, 64, 100}) {
    tensor<T, dyn> in({count}), moved({count});
    std::vector<int> at(static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) {
      if constexpr (std::is_integral_v<T>)
        in(k) = static_cast<T>(random());
      else
        in(k) = static_cast<T>(any_number<computed_of<T>>(random));
      at[static_cast<std::size_t>(k)] = k;
    }
    std::shuffle(at.begin(), at.end(), random);
    for (int k = 0; k < count; ++k) moved(k) = in(at[static_cast<std::size_t>(k)]);
    const auto y = sess.run(e, x = in), z = sess.run(e, x = moved);
    int wrong = 0;
    for (int k = 0; k < count; ++k)
      wrong += same(static_cast<computed_of<T>>(z(k)), static_cast<computed_of<T>>(y(at[static_cast<std::size_t>(k)])))
                   ? 0
                   : 1;
    INFO(what << " of " << count << " elements");
    CHECK(wrong == 0);
  }
}

template <class T>
void check_arrays(session& sess) {
  constexpr auto x = placeholder<"x", T, dyn>;
  check_permuted<T>(sess, sin(x), "sin");
  check_permuted<T>(sess, cos(x), "cos");
  check_permuted<T>(sess, tan(x) + exp(x), "tan + exp");
  check_permuted<T>(sess, log(x) * erf(x), "log * erf");
}

}  // namespace

TEST_CASE("what is computed of an element does not depend on its neighbours in a pack", "[ops]") {
  check_functions<float>();
  check_functions<double>();
}

TEST_CASE("an array that is put in another order has the same values in that order", "[ops]") {
  session sess;
  check_arrays<float>(sess);
  check_arrays<double>(sess);
  check_arrays<half>(sess);
  check_arrays<bfloat16>(sess);
  constexpr auto n = placeholder<"x", std::int32_t, dyn>;
  constexpr auto m = placeholder<"x", std::int64_t, dyn>;
  check_permuted<std::int32_t>(sess, abs(n) * n + sign(n), "int32");
  check_permuted<std::int64_t>(sess, abs(m) * m + sign(m), "int64");
}
