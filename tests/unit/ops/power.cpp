// SPDX-License-Identifier: BSL-1.0
// Powers of floating-point numbers: a square is a product to the last bit, alone and among other exponents. And truth
// values, which runs read as bytes.
#include <onto/onto.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr int count = 1003;  // no whole number of packs

template <class T>
tensor<T, count> some_numbers() {
  tensor<T, count> x;
  for (int k = 0; k < count; ++k) x(k) = static_cast<T>(k - 500) * static_cast<T>(0.37);
  x(0) = std::numeric_limits<T>::infinity();
  x(1) = -std::numeric_limits<T>::infinity();
  x(2) = std::numeric_limits<T>::quiet_NaN();
  x(3) = std::numeric_limits<T>::max();
  x(4) = std::numeric_limits<T>::denorm_min();
  x(5) = T{-0.0};
  return x;
}

/// Equal to the bit, or both no number.
template <class T>
bool same(T a, T b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T>
void check_squares() {
  const tensor<T, count> x = some_numbers<T>();
  const auto base = placeholder<"x", T, count>;
  const auto exponent = placeholder<"p", T, count>;
  tensor<T, count> exponents;
  for (int k = 0; k < count; ++k) exponents(k) = k < 500 || k % 3 == 0 ? T{2} : static_cast<T>(k % 7 - 3);
  session sess({.cpu_threads = 1});
  const tensor<T, count> squares = sess.run(pow(base, 2), base = x);
  const tensor<T, count> powers = sess.run(pow(base, exponent), base = x, exponent = exponents);
  int wrong = 0, far = 0;
  for (int k = 0; k < count; ++k) {
    wrong += !same(squares(k), x(k) * x(k));
    if (exponents(k) == T{2})
      wrong += !same(powers(k), x(k) * x(k));
    else
      far += !same(powers(k), std::pow(x(k), exponents(k)));
  }
  CHECK(wrong == 0);
  CHECK(far == 0);
}

TEST_CASE("A square is a product to the last bit", "[ops][pow]") {
  check_squares<float>();
  check_squares<double>();
}

TEST_CASE("Truth values are read as what they are, in runs of any length", "[ops][logic]") {
  const auto m = placeholder<"m", bool, count>;
  const auto x = placeholder<"x", float, count>;
  const tensor<float, count> numbers = some_numbers<float>();
  tensor<bool, count> truth;
  for (int k = 0; k < count; ++k) truth(k) = k % 3 == 0;
  session sess({.cpu_threads = 1});
  const tensor<bool, count> opposite = sess.run(!m, m = truth);
  const tensor<bool, count> both = sess.run(m && (x > 1.f), m = truth, x = numbers);
  const tensor<int, count> ones = sess.run(cast<int>(m), m = truth);
  int wrong = 0;
  for (int k = 0; k < count; ++k) {
    wrong += opposite(k) == truth(k);
    wrong += both(k) != (truth(k) && numbers(k) > 1.f);
    wrong += ones(k) != static_cast<int>(k % 3 == 0);
  }
  CHECK(wrong == 0);
}

}  // namespace
