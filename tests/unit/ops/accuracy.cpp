// SPDX-License-Identifier: BSL-1.0
// How exact functions are on the packs that the CPU's kernels use, over all of a float's range. The bounds are those of
// docs/measurements/accuracy.md, where more values are tried.
#include <onto/backend/cpu/span.hpp>
#include <onto/kernel/program.hpp>
#include <onto/ops/all.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr int run = 64;

template <class Op, class T>
using one_operation = detail::program<detail::instruction<detail::load_input, element_of<T>, 0>,
                                      detail::instruction<Op, element_of<T>, 0>>;

/// The vectors that this test is at, of those that are compiled and that the machine has.
int vectors = detail::vector_bytes;

template <class Op, class T, int Count>
void apply_all(const T (&in)[Count], T (&out)[Count]) {
  using kernels = detail::vector_variants<detail::span_body<one_operation<Op, T>, detail::has_packs>,
                                          void(const detail::span_call&)>;
  const void* const operands[] = {in};
  kernels::at(vectors)({operands, out, 0, Count, nullptr});
}

/// Calls `check` for all vectors that can be tried here.
template <class Check>
void on_all_vectors(Check check) {
  for (const int bytes : {16, 32, 64}) {
    if ((detail::vector_sets & bytes) == 0 || bytes > detail::machine_vectors()) continue;
    vectors = bytes;
    INFO("vectors of " << bytes << " bytes");
    check();
  }
}

/// Calls `use(in, out)` for every 9973rd float and what the operation makes of it.
template <class Op, class Use>
void each_float(Use use) {
  float in[run], out[run];
  for (std::uint64_t first = 0; first < (std::uint64_t{1} << 32); first += run * 9973) {
    for (int k = 0; k < run; ++k) {
      const auto bits = static_cast<std::uint32_t>(first + static_cast<std::uint64_t>(k) * 9973);
      std::memcpy(&in[k], &bits, sizeof bits);
    }
    apply_all<Op>(in, out);
    for (int k = 0; k < run; ++k) use(in[k], out[k]);
  }
}

/// Tries every 9973rd float. `below`: the allowed error, in the least normal number, of results that are below it.
template <class Op, class Reference>
void check(Reference reference, double most, double below = 1.0e-6) {
  constexpr float least = std::numeric_limits<float>::min();
  double worst = 0;
  double tiny = 0;
  float at = 0;
  int wrong = 0;
  each_float<Op>([&](float in, float out) {
    const double wanted = reference(static_cast<double>(in));
    const auto rounded = static_cast<float>(wanted);
    if (!std::isfinite(rounded) || !std::isfinite(out)) {
      wrong += (std::isnan(rounded) && std::isnan(out)) || rounded == out ? 0 : 1;
      return;
    }
    const float size = std::fabs(rounded);
    const double error = std::fabs(static_cast<double>(out) - wanted);
    if (size < least) {
      tiny = std::fmax(tiny, error / static_cast<double>(least));
      return;
    }
    const double unit =
        static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity())) - static_cast<double>(size);
    if (error / unit <= worst) return;
    worst = error / unit;
    at = in;
  });
  INFO(Op::name << " is " << worst << " ulp off at " << at);
  CHECK(worst <= most);
  CHECK(tiny <= below);
  CHECK(wrong == 0);
}

/// Tries what is nearest to the multiples of pi/2, and its neighbours, as far as `turns` of them, every `step`-th.
template <class Op, class T, class Reference>
void check_turns(Reference reference, double most, long turns, long step) {
  constexpr int count = 192;
  double worst = 0;
  T at = 0;
  for (long first = 0; first < turns; first += count / 3 * step) {
    T in[count], out[count];
    for (int k = 0; k < count / 3; ++k) {
      const T x = static_cast<T>(static_cast<long double>(first + k * step) * 1.57079632679489661923132169163975144L);
      in[3 * k] = x;
      in[3 * k + 1] = -std::nextafter(x, std::numeric_limits<T>::infinity());
      in[3 * k + 2] = std::nextafter(x, T{0});
    }
    apply_all<Op>(in, out);
    for (int k = 0; k < count; ++k) {
      const long double wanted = reference(static_cast<long double>(in[k]));
      const T size = std::fabs(static_cast<T>(wanted));
      if (size < std::numeric_limits<T>::min()) continue;
      const long double unit =
          static_cast<long double>(std::nextafter(size, std::numeric_limits<T>::infinity())) - size;
      const auto error = static_cast<double>(std::fabs(static_cast<long double>(out[k]) - wanted) / unit);
      if (error <= worst) continue;
      worst = error;
      at = in[k];
    }
  }
  INFO(Op::name << " is " << worst << " ulp off at " << at);
  CHECK(worst <= most);
}

template <class T>
void check_all_turns(long turns, long step) {
  check_turns<op::sin, T>([](long double x) { return std::sin(x); }, 1.1, turns, step);
  check_turns<op::cos, T>([](long double x) { return std::cos(x); }, 1.1, turns, step);
  check_turns<op::tan, T>([](long double x) { return std::tan(x); }, 2.6, turns, step);
}

}  // namespace

TEST_CASE("functions are exact to a few units of the last place over the whole range of float", "[ops]") {
  on_all_vectors([] {
    check<op::sqrt>([](double x) { return std::sqrt(x); }, 0.51);
    check<op::rsqrt>([](double x) { return 1 / std::sqrt(x); }, 1.51);
    check<op::exp>([](double x) { return std::exp(x); }, 2.6);
    check<op::expm1>([](double x) { return std::expm1(x); }, 2.6);
    check<op::log>([](double x) { return std::log(x); }, 1.1);
    check<op::log1p>([](double x) { return std::log1p(x); }, 1.1);
    check<op::sin>([](double x) { return std::sin(x); }, 1.1);
    check<op::cos>([](double x) { return std::cos(x); }, 1.1);
    check<op::tan>([](double x) { return std::tan(x); }, 2.6);
    check<op::asin>([](double x) { return std::asin(x); }, 2.6);
    check<op::acos>([](double x) { return std::acos(x); }, 2.1);
    check<op::atan>([](double x) { return std::atan(x); }, 2.6);
    check<op::sinh>([](double x) { return std::sinh(x); }, 3.1);
    check<op::cosh>([](double x) { return std::cosh(x); }, 3.1);
    check<op::tanh>([](double x) { return std::tanh(x); }, 6.0);
    check<op::erf>([](double x) { return std::erf(x); }, 2.1);
    check<op::sigmoid>([](double x) { return 1 / (1 + std::exp(-x)); }, 3.6);
    check<op::softplus>([](double x) { return std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0); }, 4.0);
    check<op::gelu>([](double x) { return x < -40 ? 0.0 : x * std::erfc(-x * 0.70710678118654752440) / 2; }, 7.0);
  });
}

namespace {

/// Whether every 9973rd number has a result within the two, and no number has none.
template <class Op>
bool stays_within(float least, float most) {
  bool good = true;
  each_float<Op>([&](float in, float out) {
    if (!std::isinf(in)) good = good && (std::isnan(in) ? std::isnan(out) : out >= least && out <= most);
  });
  return good;
}

}  // namespace

TEST_CASE("functions with bounds stay within them, as acos and log1p of theirs need", "[ops]") {
  on_all_vectors([] {
    CHECK(stays_within<op::tanh>(-1, 1));
    CHECK(stays_within<op::erf>(-1, 1));
    CHECK(stays_within<op::sin>(-1, 1));
    CHECK(stays_within<op::cos>(-1, 1));
    CHECK(stays_within<op::sigmoid>(0, 1));
    CHECK(stays_within<op::exp>(0, std::numeric_limits<float>::infinity()));
    const float infinite = std::numeric_limits<float>::infinity();
    const float in[4] = {infinite, -infinite, 8.5f, -12.0f};
    float out[4];
    apply_all<op::tanh>(in, out);
    CHECK((out[0] == 1 && out[1] == -1 && out[2] <= 1 && out[3] == -1));
  });
}

TEST_CASE("sine, cosine and tangent are exact near the multiples of pi/2", "[ops]") {
  on_all_vectors([] {
    check_all_turns<double>(100'000, 7);
    check_all_turns<double>(1'100'000, 1009);  // to where each angle goes to the C library
    check_all_turns<double>(1'000'000'000'000, 100'000'000'007);
    check_all_turns<float>(10'000, 1);
  });
}

TEST_CASE("sine and tangent of zero keep its sign, and of what is tiny are that", "[ops]") {
  on_all_vectors([] {
    double in[8] = {0.0, -0.0, 5e-324, -5e-324, 1e-310, -1e-300, 1e-20, -1e-9};
    double out[8];
    const auto same = [&] {
      for (int k = 0; k < 8; ++k) CHECK((out[k] == in[k] && std::signbit(out[k]) == std::signbit(in[k])));
    };
    apply_all<op::sin>(in, out);
    same();
    apply_all<op::tan>(in, out);
    same();
    in[7] = 1.0;  // and beside an angle that is not
    apply_all<op::sin>(in, out);
    in[7] = out[7];
    same();
  });
}

TEST_CASE("the logarithm of a subnormal double is right", "[ops]") {
  on_all_vectors([] {
    const double in[8] = {5e-324, 1e-310, 2.2250738585072009e-308, 2.2250738585072014e-308, 1e-300, 1e-20, 1.5, 1e300};
    double out[8];
    apply_all<op::log>(in, out);
    for (int k = 0; k < 8; ++k) CHECK(out[k] == Approx(std::log(in[k])).epsilon(1e-15));
  });
}

namespace {

template <class Op>
using of_two_floats = detail::program<detail::instruction<detail::load_input, element::float32, 0>,
                                      detail::instruction<detail::load_input, element::float32, 1>,
                                      detail::instruction<Op, element::float32, 0, 1>>;

/// Calls `use(x, y, result)` for pairs of floats: of what is special, of any bits, and of bits and small numbers.
template <class Op, class Use>
void each_pair(Use use) {
  using kernels =
      detail::vector_variants<detail::span_body<of_two_floats<Op>, detail::has_packs>, void(const detail::span_call&)>;
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f,     -0.0f,    1.0f,    -1.0f,    2.0f,     -2.0f,     0.5f, -0.5f,       3.0f, -3.0f,
                           1.0e-45f, 1.2e-38f, 3.4e38f, -3.4e38f, infinity, -infinity, nan,  16777216.0f, 1.5f, -7.25f};
  constexpr int specials = static_cast<int>(sizeof special / sizeof special[0]), pairs = 30000 * run;
  float in[2][run], out[run];
  const void* const operands[] = {in[0], in[1]};
  std::uint32_t bits[2] = {1, 2};
  for (int first = 0; first < pairs; first += run) {
    for (int k = 0; k < run; ++k) {
      const int n = first + k;
      for (std::uint32_t& b : bits) b = b * 1664525u + 1013904223u;
      const std::uint32_t a = bits[0] ^ bits[0] >> 15, b = bits[1] ^ bits[1] >> 13;
      if (n < specials * specials) {
        in[0][k] = special[n / specials];
        in[1][k] = special[n % specials];
        continue;
      }
      std::memcpy(&in[0][k], &a, sizeof a);
      std::memcpy(&in[1][k], &b, sizeof b);
      if (n % 3 > 0) in[1][k] = (static_cast<float>(b >> 8) - 8388608.0f) / (n % 3 == 1 ? 65536.0f : 4194304.0f);
      if (n % 7 > 2) in[0][k] = static_cast<float>(a >> 8) / (n % 7 == 3 ? 16777216.0f : 262144.0f);
    }
    kernels::at(vectors)({operands, out, 0, run, nullptr});
    for (int k = 0; k < run; ++k) use(in[0][k], in[1][k], out[k]);
  }
}

std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

}  // namespace

TEST_CASE("powers of floats are exact to 0.51 units of the last place, or to what the C library's are", "[ops]") {
  on_all_vectors([] {
    double worst = 0;
    float of = 0, to = 0;
    int wrong = 0, tried = 0;
    each_pair<op::pow>([&](float x, float y, float out) {
      const double wanted = std::pow(static_cast<double>(x), static_cast<double>(y));
      const auto rounded = static_cast<float>(wanted);
      if (!std::isfinite(rounded) || rounded == 0 || !(x > 0)) {
        const bool same = std::isnan(rounded) ? std::isnan(out) : bits_of(out) == bits_of(rounded);
        // Of a negative base it is what the C library rounds.
        wrong += same || (x < 0 && std::fabs(out - rounded) <= std::fabs(rounded) * 1.2e-7f) ? 0 : 1;
        return;
      }
      ++tried;
      const float size = std::fabs(rounded);
      const double unit =
          static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity())) - static_cast<double>(size);
      const double error = std::fabs(static_cast<double>(out) - wanted) / unit;
      if (error <= worst) return;
      worst = error;
      of = x;
      to = y;
    });
    INFO(of << " to the power of " << to << " is " << worst << " ulp off");
    CHECK(worst <= (vectors > 16 ? 0.51 : 0.9));  // four floats go one by one
    CHECK(wrong == 0);
    CHECK(tried > 100000);
  });
}

TEST_CASE("remainders of floats are those of fmod with the divisor's sign, to the bit", "[ops]") {
  on_all_vectors([] {
    int wrong = 0, tried = 0;
    float of = 0, by = 0;
    each_pair<op::mod>([&](float x, float y, float out) {
      const float wanted = math::mod(x, y);
      tried += std::isnan(wanted) ? 0 : 1;
      if (std::isnan(wanted) ? std::isnan(out) : bits_of(out) == bits_of(wanted)) return;
      ++wrong;
      of = x;
      by = y;
    });
    INFO(wrong << " are wrong, as " << of << " % " << by);
    CHECK(wrong == 0);
    CHECK(tried > 100000);
  });
}
