// SPDX-License-Identifier: BSL-1.0
// How exact the elementwise functions are, over their whole range: every float there is (or every STEP-th, as the first
// argument says), and doubles drawn from all exponents. Prints a table in Markdown.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace onto;

namespace {

template <class Op, class T>
using one_operation = detail::program<detail::instruction<detail::load_input, element_of<T>, 0>,
                                      detail::instruction<Op, element_of<T>, 0>>;

/// Calls an operation as the CPU's kernels do.
template <class Op, class T, int N>
void apply_all(const T (&in)[N], T (&out)[N]) {
  const void* const operands[] = {in};
  detail::chosen_span<one_operation<Op, T>>()({operands, out, 0, N, nullptr});
}

struct worst {
  double ulp = 0;
  double at = 0;
  double tiny = 0;          // the greatest error, in the smallest normal number, of what should be below it
  std::uint64_t wrong = 0;  // infinite or NaN where it should not be, or the other way around
  double wrong_at = 0;
};

template <class T, class Real>
void compare(worst& w, T x, T got, Real wanted) {
  const T rounded = static_cast<T>(wanted);
  if (!std::isfinite(rounded) || !std::isfinite(got)) {
    if ((std::isnan(rounded) && std::isnan(got)) || rounded == got) return;
    ++w.wrong;
    w.wrong_at = static_cast<double>(x);
    return;
  }
  constexpr T least = std::numeric_limits<T>::min();
  const T size = std::fabs(rounded);
  const Real error = std::fabs(static_cast<Real>(got) - wanted);
  if (size < least) {
    const auto tiny = static_cast<double>(error / static_cast<Real>(least));
    if (tiny > w.tiny) w.tiny = tiny;
    return;
  }
  const T next = std::nextafter(size, std::numeric_limits<T>::max());
  const Real unit = size < std::numeric_limits<T>::max()
                        ? static_cast<Real>(next) - static_cast<Real>(size)
                        : static_cast<Real>(size) - static_cast<Real>(std::nextafter(size, T{0}));
  const auto ulp = static_cast<double>(error / unit);
  if (ulp > w.ulp) {
    w.ulp = ulp;
    w.at = static_cast<double>(x);
  }
}

constexpr int run = 1024;

template <class Op, class Reference>
worst over_floats(Reference reference, std::uint64_t step) {
  worst w;
  float in[run], out[run];
  for (std::uint64_t first = 0; first < (std::uint64_t{1} << 32); first += run * step) {
    for (int k = 0; k < run; ++k) {
      const auto bits = static_cast<std::uint32_t>(first + static_cast<std::uint64_t>(k) * step);
      std::memcpy(&in[k], &bits, sizeof bits);
    }
    apply_all<Op>(in, out);
    for (int k = 0; k < run; ++k) compare(w, in[k], out[k], reference(static_cast<double>(in[k])));
  }
  return w;
}

template <class Op, class Reference>
worst over_doubles(Reference reference, int runs) {
  worst w;
  double in[run], out[run];
  std::uint64_t state = 88172645463325252u;
  for (int r = 0; r < runs; ++r) {
    for (int k = 0; k < run; ++k) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      std::uint64_t bits = state;
      // Every other one of ordinary size: 2^-12 to 2^10.
      if (k % 2 == 0) bits = (bits & 0x800fffffffffffffu) | ((1011 + (bits >> 52) % 22) << 52);
      std::memcpy(&in[k], &bits, sizeof bits);
    }
    apply_all<Op>(in, out);
    for (int k = 0; k < run; ++k) compare(w, in[k], out[k], reference(static_cast<long double>(in[k])));
  }
  return w;
}

std::uint64_t float_step = 1;

template <class Op, class Reference>
void report(Reference reference) {
  const worst f = over_floats<Op>(reference, float_step), d = over_doubles<Op>(reference, 2000);
  std::printf("| `%s` | %.2f at %.6g | %.2g | %.2f at %.6g | %.2g |", Op::name.data(), f.ulp, f.at, f.tiny, d.ulp, d.at,
              d.tiny);
  if (f.wrong != 0)
    std::printf(" float: %llu not finite, as %.9g", static_cast<unsigned long long>(f.wrong), f.wrong_at);
  if (d.wrong != 0)
    std::printf(" double: %llu not finite, as %.17g", static_cast<unsigned long long>(d.wrong), d.wrong_at);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) float_step = std::strtoull(argv[1], nullptr, 10);
  if (float_step == 0) float_step = 1;
  std::printf("| operation | float, ulp | below the least normal | double, ulp | below the least normal |\n");
  std::printf("|---|---|---|---|---|\n");
  report<op::sqrt>([](auto x) { return std::sqrt(x); });
  report<op::rsqrt>([](auto x) { return 1 / std::sqrt(x); });
  report<op::exp>([](auto x) { return std::exp(x); });
  report<op::expm1>([](auto x) { return std::expm1(x); });
  report<op::log>([](auto x) { return std::log(x); });
  report<op::log1p>([](auto x) { return std::log1p(x); });
  report<op::sin>([](auto x) { return std::sin(x); });
  report<op::cos>([](auto x) { return std::cos(x); });
  report<op::tan>([](auto x) { return std::tan(x); });
  report<op::asin>([](auto x) { return std::asin(x); });
  report<op::acos>([](auto x) { return std::acos(x); });
  report<op::atan>([](auto x) { return std::atan(x); });
  report<op::sinh>([](auto x) { return std::sinh(x); });
  report<op::cosh>([](auto x) { return std::cosh(x); });
  report<op::tanh>([](auto x) { return std::tanh(x); });
  report<op::erf>([](auto x) { return std::erf(x); });
  report<op::sigmoid>([](auto x) { return 1 / (1 + std::exp(-x)); });
  report<op::gelu>([](auto x) {
    using real = decltype(x);
    return x < -40 ? real{0} : x * std::erfc(-x * static_cast<real>(0.707106781186547524400844362104849039L)) / 2;
  });
  return 0;
}
