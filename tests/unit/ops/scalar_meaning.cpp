// SPDX-License-Identifier: BSL-1.0
// What each operation computes for one element, against the standard library in higher precision, and on edge values.
#include <onto/ops/all.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T lowest_of = std::numeric_limits<T>::min();
template <class T>
constexpr T highest_of = std::numeric_limits<T>::max();

/// How far `got` is from `wanted`, in units of the last place of a `T`; 0 for equal infinities and for two NaNs.
template <class T>
double ulps(T got, long double wanted) {
  const T rounded = static_cast<T>(wanted);
  if (std::isnan(got) && std::isnan(rounded)) return 0;
  if (got == rounded) return 0;
  if (!std::isfinite(got) || !std::isfinite(rounded)) return 1e30;
  const T next = std::nextafter(std::fabs(rounded), infinity<T>);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - wanted) /
                             (static_cast<long double>(next) - static_cast<long double>(std::fabs(rounded))));
}

/// Values to try: a range, evenly, and the edges of the type.
template <class T>
std::vector<T> samples(double low, double high) {
  std::vector<T> v{T(0),
                   T(-0.0),
                   T(1),
                   T(-1),
                   T(0.5),
                   T(1e-20),
                   std::numeric_limits<T>::min(),
                   infinity<T>,
                   not_a_number<T>,
                   -infinity<T>,
                   std::numeric_limits<T>::max(),
                   std::numeric_limits<T>::lowest()};
  for (int k = 0; k <= 1000; ++k) v.push_back(static_cast<T>(low + (high - low) * k / 1000));
  return v;
}

template <class Op, class T, class Reference>
void check_one(Reference reference, double low, double high, double tolerance) {
  for (const T x : samples<T>(low, high)) {
    const T got = Op::template apply<T>(x);
    INFO(Op::name << "(" << x << ") is " << got << ", wanted " << static_cast<double>(reference(x)));
    CHECK(ulps(got, reference(x)) <= tolerance);
  }
}

/// `apply` on float and on double against a reference in long double, to a number of units of the last place.
template <class Op, class Reference>
void check(Reference reference, double low, double high, double tolerance) {
  check_one<Op, float>(reference, low, high, tolerance);
  check_one<Op, double>(reference, low, high, tolerance);
}

template <class Op, class T, class Reference>
void check_two(Reference reference, double low, double high, double tolerance) {
  std::vector<T> all = samples<T>(low, high);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const T x = all[k], y = all[(k * 37 + 5) % all.size()];
    const T got = Op::template apply<T>(x, y);
    INFO(Op::name << "(" << x << ", " << y << ") is " << got << ", wanted " << static_cast<double>(reference(x, y)));
    CHECK(ulps(got, reference(x, y)) <= tolerance);
  }
}

}  // namespace

TEST_CASE("roots, exponentials and logarithms", "[ops]") {
  check<op::sqrt>([](long double x) { return std::sqrt(x); }, 0, 1000, 0.51);
  check<op::rsqrt>([](long double x) { return 1 / std::sqrt(x); }, 0.001, 1000, 1.6);
  check<op::exp>([](long double x) { return std::exp(x); }, -80, 88, 2);
  check<op::expm1>([](long double x) { return std::expm1(x); }, -2, 88, 2);
  check<op::log>([](long double x) { return std::log(x); }, 0.001, 1000, 2);
  check<op::log1p>([](long double x) { return std::log1p(x); }, -0.99, 100, 2);
}

TEST_CASE("angles", "[ops]") {
  check<op::sin>([](long double x) { return std::sin(x); }, -10, 10, 2);
  check<op::cos>([](long double x) { return std::cos(x); }, -10, 10, 2);
  check<op::tan>([](long double x) { return std::tan(x); }, -10, 10, 2);
  check<op::asin>([](long double x) { return std::asin(x); }, -1, 1, 2);
  check<op::acos>([](long double x) { return std::acos(x); }, -1, 1, 2);
  check<op::atan>([](long double x) { return std::atan(x); }, -10, 10, 2);
  check<op::sinh>([](long double x) { return std::sinh(x); }, -10, 10, 3);
  check<op::cosh>([](long double x) { return std::cosh(x); }, -10, 10, 3);
  check<op::tanh>([](long double x) { return std::tanh(x); }, -10, 10, 3);
  check_two<op::atan2, float>([](long double y, long double x) { return std::atan2(y, x); }, -10, 10, 2);
  check_two<op::atan2, double>([](long double y, long double x) { return std::atan2(y, x); }, -10, 10, 2);
}

TEST_CASE("functions of neural networks", "[ops]") {
  check<op::erf>([](long double x) { return std::erf(x); }, -4, 4, 2);
  check<op::sigmoid>([](long double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 4);
  check<op::softplus>([](long double x) { return std::log1p(std::exp(-std::abs(x))) + (x > 0 ? x : 0.0L); }, -80, 80,
                      4);
  CHECK(op::softplus::apply(-1000.0) == 0.0);
  CHECK(op::softplus::apply(1000.0f) == 1000.0f);
  check<op::relu>([](long double x) { return std::isnan(x) || x > 0 ? x : 0.0L; }, -10, 10, 0);
  const auto gelu = [](long double x) { return x < -40 ? 0.0L : x * std::erfc(-x * std::sqrt(0.5L)) / 2; };
  check_one<op::gelu, float>(gelu, -13, 10, 8);
  check_one<op::gelu, double>(gelu, -4, 10, 20);
  // In the left tail erfc amplifies the rounding of its argument, about x * x units.
  check_one<op::gelu, double>(gelu, -30, -4, 1300);
  CHECK(op::gelu::apply(-infinity<float>) == 0.0f);
  CHECK(op::sigmoid::apply(-1000.0) == 0.0);
  CHECK(op::sigmoid::apply(1000.0f) == 1.0f);
  CHECK(op::relu::apply(std::int32_t{-3}) == 0);
  CHECK(op::relu::apply(std::int64_t{3}) == 3);
}

TEST_CASE("rounding", "[ops]") {
  check<op::floor>([](long double x) { return std::floor(x); }, -3, 3, 0);
  check<op::ceil>([](long double x) { return std::ceil(x); }, -3, 3, 0);
  check<op::round>([](long double x) { return std::nearbyint(x); }, -3, 3, 0);
  // Halves go to the even neighbour.
  CHECK(op::round::apply(0.5f) == 0.0f);
  CHECK(op::round::apply(1.5f) == 2.0f);
  CHECK(op::round::apply(2.5) == 2.0);
  CHECK(op::round::apply(-1.5) == -2.0);
  CHECK(std::signbit(op::round::apply(-0.25)));
}

TEST_CASE("sign, magnitude and negative", "[ops]") {
  check<op::abs>([](long double x) { return std::fabs(x); }, -3, 3, 0);
  check<op::neg>([](long double x) { return -x; }, -3, 3, 0);
  check<op::square>([](long double x) { return x * x; }, -3, 3, 0.51);
  CHECK(!std::signbit(op::abs::apply(-0.0f)));
  CHECK(op::sign::apply(-2.5f) == -1.0f);
  CHECK(op::sign::apply(0.25) == 1.0);
  CHECK(op::sign::apply(-0.0) == 0.0);
  CHECK(std::isnan(op::sign::apply(not_a_number<float>)));
  CHECK(op::sign::apply(std::int64_t{-7}) == -1);
  CHECK(op::sign::apply(std::int32_t{0}) == 0);
}

TEST_CASE("arithmetic of floating point", "[ops]") {
  check_two<op::add, float>([](long double a, long double b) { return a + b; }, -3, 3, 0.51);
  check_two<op::sub, double>([](long double a, long double b) { return a - b; }, -3, 3, 0.51);
  check_two<op::mul, float>([](long double a, long double b) { return a * b; }, -3, 3, 0.51);
  check_two<op::div, double>([](long double a, long double b) { return a / b; }, -3, 3, 0.51);
  check_two<op::pow, float>([](long double a, long double b) { return std::pow(a, b); }, 0, 9, 2);
  check_two<op::pow, double>([](long double a, long double b) { return std::pow(a, b); }, 0, 9, 2);
  CHECK(op::pow::apply(-2.0f, 3.0f) == -8.0f);
  CHECK(op::add_n::apply(1.0f, 2.0f, 3.0f, 4.0f) == 10.0f);
  CHECK(op::add_n::apply(2.5) == 2.5);
}

TEMPLATE_TEST_CASE("integers wrap around", "[ops]", std::int32_t, std::int64_t) {
  using T = TestType;
  CHECK(op::add::apply(highest_of<T>, T{1}) == lowest_of<T>);
  CHECK(op::sub::apply(lowest_of<T>, T{1}) == highest_of<T>);
  CHECK(op::mul::apply(highest_of<T>, T{2}) == T{-2});
  CHECK(op::mul::apply(lowest_of<T>, T{-1}) == lowest_of<T>);
  CHECK(op::neg::apply(lowest_of<T>) == lowest_of<T>);
  CHECK(op::abs::apply(lowest_of<T>) == lowest_of<T>);
  CHECK(op::abs::apply(T{-5}) == 5);
  CHECK(op::square::apply(static_cast<T>(highest_of<T> / 2 + 1)) == 0);
  CHECK(op::add_n::apply(highest_of<T>, T{1}, T{1}) == static_cast<T>(lowest_of<T> + 1));
}

TEMPLATE_TEST_CASE("integer division is cut off, the remainder has the sign of the divisor", "[ops]", std::int32_t,
                   std::int64_t) {
  using T = TestType;
  for (T a = -9; a <= 9; ++a) {
    for (T b = -4; b <= 4; ++b) {
      INFO(a << " and " << b);
      if (b == 0) {
        CHECK(op::div::apply(a, b) == 0);
        CHECK(op::mod::apply(a, b) == 0);
      } else {
        CHECK(op::div::apply(a, b) == static_cast<T>(std::trunc(static_cast<double>(a) / static_cast<double>(b))));
        const double q = std::floor(static_cast<double>(a) / static_cast<double>(b));
        CHECK(op::mod::apply(a, b) == static_cast<T>(static_cast<double>(a) - q * static_cast<double>(b)));
      }
    }
  }
  // The lowest integer has no negative.
  CHECK(op::div::apply(lowest_of<T>, T{-1}) == lowest_of<T>);
  CHECK(op::mod::apply(lowest_of<T>, T{-1}) == 0);
  CHECK(op::mod::apply(lowest_of<T>, highest_of<T>) == static_cast<T>(highest_of<T> - 1));
}

TEMPLATE_TEST_CASE("the remainder of floating point has the sign of the divisor", "[ops]", float, double) {
  using T = TestType;
  CHECK(op::mod::apply(T(5.5), T(2)) == T(1.5));
  CHECK(op::mod::apply(T(-5.5), T(2)) == T(0.5));
  CHECK(op::mod::apply(T(5.5), T(-2)) == T(-0.5));
  CHECK(op::mod::apply(T(-5.5), T(-2)) == T(-1.5));
  CHECK(!std::signbit(op::mod::apply(T(-4), T(2))));
  CHECK(std::signbit(op::mod::apply(T(4), T(-2))));
  CHECK(op::mod::apply(T(1), infinity<T>) == T(1));
  CHECK(op::mod::apply(T(-1), infinity<T>) == infinity<T>);
  CHECK(std::isnan(op::mod::apply(T(1), T(0))));
  CHECK(std::isnan(op::mod::apply(infinity<T>, T(2))));
  CHECK(std::isnan(op::mod::apply(not_a_number<T>, T(2))));
}

TEMPLATE_TEST_CASE("powers of integers", "[ops]", std::int32_t, std::int64_t) {
  using T = TestType;
  CHECK(op::pow::apply(T{3}, T{4}) == 81);
  CHECK(op::pow::apply(T{-2}, T{5}) == -32);
  CHECK(op::pow::apply(T{0}, T{0}) == 1);
  CHECK(op::pow::apply(T{7}, T{1}) == 7);
  CHECK(op::pow::apply(T{2}, static_cast<T>(sizeof(T) * 8)) == 0);
  CHECK(op::pow::apply(T{2}, static_cast<T>(sizeof(T) * 8 - 1)) == lowest_of<T>);
  CHECK(op::pow::apply(T{2}, T{-1}) == 0);
  CHECK(op::pow::apply(T{1}, T{-5}) == 1);
  CHECK(op::pow::apply(T{-1}, T{-5}) == -1);
  CHECK(op::pow::apply(T{-1}, T{-4}) == 1);
  CHECK(op::pow::apply(T{-1}, lowest_of<T>) == 1);
  CHECK(op::pow::apply(T{0}, T{-1}) == 0);
}

TEMPLATE_TEST_CASE("the greater and the smaller of two", "[ops]", float, double) {
  using T = TestType;
  CHECK(op::maximum::apply(T(1), T(2)) == T(2));
  CHECK(op::minimum::apply(T(1), T(2)) == T(1));
  CHECK(op::maximum::apply(-infinity<T>, T(2)) == T(2));
  CHECK(op::minimum::apply(infinity<T>, infinity<T>) == infinity<T>);
  // NaN on either side is the answer.
  CHECK(std::isnan(op::maximum::apply(not_a_number<T>, T(2))));
  CHECK(std::isnan(op::maximum::apply(T(2), not_a_number<T>)));
  CHECK(std::isnan(op::minimum::apply(not_a_number<T>, T(2))));
  CHECK(std::isnan(op::minimum::apply(T(2), not_a_number<T>)));
  CHECK(std::isnan(op::relu::apply(not_a_number<T>)));
  CHECK(op::maximum::apply(std::int32_t{-3}, std::int32_t{4}) == 4);
  CHECK(op::minimum::apply(lowest_of<std::int64_t>, std::int64_t{4}) == lowest_of<std::int64_t>);
}

TEST_CASE("comparisons, logic and choice", "[ops]") {
  CHECK(op::equal::apply(1.0f, 1.0f));
  CHECK(!op::equal::apply(not_a_number<float>, not_a_number<float>));
  CHECK(op::not_equal::apply(not_a_number<double>, not_a_number<double>));
  CHECK(op::not_equal::apply(true, false));
  CHECK(op::less::apply(1, 2));
  CHECK(!op::less::apply(not_a_number<float>, 1.0f));
  CHECK(!op::greater_equal::apply(not_a_number<float>, 1.0f));
  CHECK(op::less_equal::apply(2.0, 2.0));
  CHECK(op::greater::apply(std::int64_t{3}, std::int64_t{2}));
  CHECK(op::equal::apply(0.0f, -0.0f));
  static_assert(std::is_same_v<decltype(op::less::apply(1.0f, 2.0f)), bool>);

  CHECK(op::logical_and::apply(true, true));
  CHECK(!op::logical_and::apply(true, false));
  CHECK(op::logical_or::apply(false, true));
  CHECK(op::logical_not::apply(false));

  CHECK(op::where::apply(true, 1.0f, not_a_number<float>) == 1.0f);
  CHECK(op::where::apply(false, 1, 2) == 2);
  CHECK(op::where::apply(true, true, false));
}

TEST_CASE("cast cuts off, keeps to the range and never traps", "[ops]") {
  CHECK(op::cast<std::int32_t>::apply(2.75f) == 2);
  CHECK(op::cast<std::int32_t>::apply(-2.75) == -2);
  CHECK(op::cast<std::int32_t>::apply(3e9) == highest_of<std::int32_t>);
  CHECK(op::cast<std::int32_t>::apply(2147483648.0f) == highest_of<std::int32_t>);
  CHECK(op::cast<std::int32_t>::apply(2147483647.0) == highest_of<std::int32_t>);
  CHECK(op::cast<std::int32_t>::apply(-2147483648.0f) == lowest_of<std::int32_t>);
  CHECK(op::cast<std::int32_t>::apply(-infinity<float>) == lowest_of<std::int32_t>);
  CHECK(op::cast<std::int64_t>::apply(infinity<double>) == highest_of<std::int64_t>);
  CHECK(op::cast<std::int64_t>::apply(9223372036854775808.0) == highest_of<std::int64_t>);
  CHECK(op::cast<std::int64_t>::apply(not_a_number<float>) == 0);
  CHECK(op::cast<std::int32_t>::apply(std::int64_t{0x100000007}) == 7);
  CHECK(op::cast<bool>::apply(0.25f));
  CHECK(!op::cast<bool>::apply(-0.0));
  CHECK(op::cast<bool>::apply(not_a_number<float>));
  CHECK(op::cast<bool>::apply(std::int64_t{0x100000000}));
  CHECK(op::cast<float>::apply(true) == 1.0f);
  CHECK(op::cast<float>::apply(1e300) == infinity<float>);
  CHECK(op::cast<double>::apply(0.1f) == static_cast<double>(0.1f));
}

TEST_CASE("tensors made of nothing", "[ops]") {
  CHECK(op::zeros<float, 3>::at<float>(2) == 0.0f);
  CHECK(op::ones<bool, 3>::at<bool>(2));
  CHECK(op::fill<double, 3>::at<double>(1, 2.5) == 2.5);
  CHECK(op::iota<std::int64_t, 5>::at<std::int64_t>(4) == 4);
  CHECK(op::iota<float, 5>::at<float>(3) == 3.0f);
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 5; ++column)
      for (int diagonal = -1; diagonal <= 1; ++diagonal) {
        const int at = row * 5 + column;
        const float got = diagonal < 0   ? op::eye<float, 2, 5, -1>::at<float>(at)
                          : diagonal > 0 ? op::eye<float, 2, 5, 1>::at<float>(at)
                                         : op::eye<float, 2, 5, 0>::at<float>(at);
        CHECK(got == (row + diagonal == column ? 1.0f : 0.0f));
      }
  CHECK(op::zeros_like::apply(not_a_number<float>) == 0.0f);
  CHECK(op::ones_like::apply(std::int32_t{7}) == 1);
}

TEST_CASE("assignments", "[ops]") {
  CHECK(op::assign::apply(1.0f, 2.0f) == 2.0f);
  CHECK(op::assign_add::apply(highest_of<std::int32_t>, 1) == lowest_of<std::int32_t>);
  CHECK(op::assign_sub::apply(1.5, 2.0) == -0.5);
}

TEST_CASE("Philox gives the published words", "[ops][random]") {
  // The known-answer vectors of Random123 for philox4x32 with 10 rounds.
  const auto same = [](detail::philox_words got, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    CHECK(got.word[0] == a);
    CHECK(got.word[1] == b);
    CHECK(got.word[2] == c);
    CHECK(got.word[3] == d);
  };
  constexpr std::uint32_t ones = 0xffffffff;
  same(detail::philox({{0, 0, 0, 0}}, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
  same(detail::philox({{ones, ones, ones, ones}}, ones, ones), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  same(detail::philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0), 0xd16cfe09,
       0x94fdcceb, 0x5001e420, 0x24126ea1);
  // An index and a seed use all of their 64 bits.
  same(detail::random_bits(0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
  CHECK(detail::random_bits(1, 0).word[0] != detail::random_bits(std::int64_t{1} << 32, 0).word[0]);
  CHECK(detail::random_bits(0, 1).word[0] != detail::random_bits(0, std::int64_t{1} << 32).word[0]);
  CHECK(detail::random_bits(0, -1).word[0] != detail::random_bits(0, 0xffffffff).word[0]);
}

TEMPLATE_TEST_CASE("uniform random numbers fill [0, 1) evenly", "[ops][random]", float, double) {
  using T = TestType;
  constexpr int count = 200000;
  int bins[20] = {};
  double sum = 0, product = 0;
  bool in_range = true;
  T previous = 0;
  for (int k = 0; k < count; ++k) {
    const T x = op::random_uniform<T, count>::template at<T>(k, 42);
    in_range = in_range && x >= 0 && x < 1;
    ++bins[x >= 0 && x < 1 ? static_cast<int>(x * 20) : 0];
    sum += static_cast<double>(x);
    product += static_cast<double>(x) * static_cast<double>(previous);
    previous = x;
  }
  REQUIRE(in_range);
  // Five standard deviations: sqrt(1 / 12 / count) of the mean, sqrt(7) / 12 / sqrt(count) of the product of
  // neighbours.
  CHECK(std::fabs(sum / count - 0.5) < 5 * std::sqrt(1.0 / 12 / count));
  CHECK(std::fabs(product / count - 0.25) < 5 * std::sqrt(7.0) / 12 / std::sqrt(count));
  double chi = 0;
  for (int n : bins) chi += (n - count / 20.0) * (n - count / 20.0) / (count / 20.0);
  CHECK(chi < 50);  // 19 degrees of freedom: one seed in 7000
  CHECK(chi > 4);
}

TEMPLATE_TEST_CASE("normal random numbers have the moments of the normal distribution", "[ops][random]", float,
                   double) {
  using T = TestType;
  constexpr int count = 200000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  int inside = 0;
  bool finite = true;
  for (int k = 0; k < count; ++k) {
    const double x = static_cast<double>(op::random_normal<T, count>::template at<T>(k, 7));
    finite = finite && std::isfinite(x);
    m1 += x;
    m2 += x * x;
    m3 += x * x * x;
    m4 += x * x * x * x;
    inside += std::fabs(x) < 1;
  }
  REQUIRE(finite);
  // Five standard deviations of each: 1, sqrt(2), sqrt(15), sqrt(96) over sqrt(count).
  const double unit = 5 / std::sqrt(count);
  CHECK(std::fabs(m1 / count) < unit);
  CHECK(std::fabs(m2 / count - 1) < unit * std::sqrt(2.0));
  CHECK(std::fabs(m3 / count) < unit * std::sqrt(15.0));
  CHECK(std::fabs(m4 / count - 3) < unit * std::sqrt(96.0));
  CHECK(std::fabs(inside / double(count) - 0.6826894921370859) < unit * 0.4655);
}

namespace {

template <class T>
bool divides_as_defined(T a, T b) {
  using wide = std::int64_t;
  const wide x = a, y = b;
  const wide q = y == 0 ? 0 : x / y, r = y == 0 ? 0 : ((x % y) + y) % y;
  return math::divide(a, b) == static_cast<T>(q) && math::mod(a, b) == static_cast<T>(r);
}

template <class T>
bool edges_divide() {
  using limits = std::numeric_limits<T>;
  bool good = true;
  std::vector<T> near_edges;
  for (int k = 0; k < 70; ++k)
    for (const T edge : {limits::min(), limits::max(), T{0}, static_cast<T>(limits::max() / 3)})
      for (const int by : {k, -k}) near_edges.push_back(static_cast<T>(static_cast<std::int64_t>(edge) + by));
  for (const T a : near_edges)
    for (const T b : near_edges) {
      good = good && divides_as_defined(a, b);
      const auto product = static_cast<T>(static_cast<std::uint64_t>(a) *
                                          static_cast<std::uint64_t>(b));  // and what is next to a multiple
      good = good && divides_as_defined(product, b) &&
             divides_as_defined(static_cast<T>(static_cast<std::int64_t>(product) - 1), b);
    }
  return good;
}

}  // namespace

TEST_CASE("integers of up to 32 bits are divided exactly, though by floating-point numbers") {
  for (int a = -128; a < 256; ++a) {
    bool good = true;
    for (int b = -128; b < 256; ++b)
      good = good && divides_as_defined(static_cast<std::int8_t>(a), static_cast<std::int8_t>(b)) &&
             divides_as_defined(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b));
    INFO(a);
    CHECK(good);
  }
  CHECK(edges_divide<std::int16_t>());
  CHECK(edges_divide<std::uint16_t>());
  CHECK(edges_divide<std::int32_t>());
  CHECK(edges_divide<std::uint32_t>());
}

TEMPLATE_TEST_CASE("integers of 64 bits are divided exactly, though small ones by floating-point numbers", "[ops]",
                   std::int64_t, std::uint64_t) {
  using T = TestType;
  std::vector<T> numbers{1, 2, 3, 7, 10, 49, 1000};
  for (const int power : {31, 52, 53, 54, 62})
    for (const int by : {-3, -2, -1, 0, 1, 2}) numbers.push_back(static_cast<T>((T{1} << power) + static_cast<T>(by)));
  numbers.push_back(highest_of<T>);
  if constexpr (std::is_signed_v<T>) {
    const std::vector<T> positive = numbers;
    for (const T n : positive) numbers.push_back(-n);
    numbers.push_back(lowest_of<T>);
  }
  int wrong = 0, tried = 0;
  for (const T by : numbers) {
    if (by == static_cast<T>(-1)) continue;
    for (const T n : numbers)
      for (const int near : {-1, 0, 1}) {
        const T a = math::add(static_cast<T>(n / by * by), static_cast<T>(near)),
                b = math::add(n, static_cast<T>(near));
        wrong +=
            math::quotient(a, by) == static_cast<T>(a / by) && math::quotient(b, by) == static_cast<T>(b / by) ? 0 : 1;
        ++tried;
      }
  }
  CHECK(wrong == 0);
  CHECK(tried > 3000);
}

TEST_CASE("a scalar is rounded to floating elements; an integer beside integers must fit", "[ops]") {
  constexpr auto x = placeholder<"x", float, 2>;
  constexpr auto n = placeholder<"n", std::int32_t, 2>;
  CHECK_NOTHROW(x * 2);
  CHECK_NOTHROW(0.5 + x);
  CHECK_NOTHROW(x * 0.1);
  CHECK_NOTHROW(x + 16777217);
  CHECK_NOTHROW(n > 3u);
  CHECK_THROWS_AS(n - 3000000000, invalid_argument_error);
  CHECK_THROWS_AS((fill<std::int32_t, 2>(3000000000)), invalid_argument_error);
}
