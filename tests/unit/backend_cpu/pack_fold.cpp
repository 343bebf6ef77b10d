// SPDX-License-Identifier: BSL-1.0
// Folds of packs in registers against folds in long double: every length, NaN and infinities, and how exact sums are.
#include <onto/backend/cpu/pack_fold.hpp>

#include <cmath>
#include <limits>

#include "reference.hpp"

using namespace backend_cpu;
using onto::detail::folds_packs;
using onto::detail::has_packs;
using onto::detail::number_state;

namespace {

static_assert(folds_packs<fold::sum, float> == has_packs && folds_packs<fold::max, double> == has_packs);
static_assert(!folds_packs<fold::sum, std::int32_t> && !folds_packs<fold::argmax, float> &&
              !folds_packs<fold::any, bool>);

template <fold F, class T>
auto folded(const T* x, std::int64_t n) {
  using lanes = onto::detail::pack<T>;
  onto::detail::pack_fold<F, T> f;
  constexpr std::int64_t w = decltype(f)::width;
  const auto p = [x](std::int64_t k) { return lanes::load_unaligned(x + k); };
  std::int64_t k = 0;
  for (; k + 4 * w <= n; k += 4 * w) f.add(p(k), p(k + w), p(k + 2 * w), p(k + 3 * w));
  for (; k + w <= n; k += w) f.add(p(k));
  if (k < n) {
    T rest[w];
    // What is in the other lanes does not matter.
    for (std::int64_t j = 0; j < w; ++j) rest[j] = k + j < n ? x[k + j] : std::numeric_limits<T>::quiet_NaN();
    f.add_first(lanes::load_unaligned(rest), n - k);
  }
  static_assert(std::is_same_v<decltype(f.total()), typename number_state<F, T>::type>);
  return f.total();
}

template <class T>
void check_every_length() {
  if constexpr (folds_packs<fold::sum, T>) {
    rng r(1);
    for (int n = 0; n <= 300; ++n) {
      std::vector<T> x(static_cast<std::size_t>(n));
      long double sum = 0, product = 1, magnitude = 0;
      T least = std::numeric_limits<T>::infinity(), greatest = -least;
      for (T& v : x) {
        v = random_value<T>(r);
        sum += static_cast<long double>(v);
        magnitude += std::abs(static_cast<long double>(v));
        product *= static_cast<long double>(v);
        least = std::min(least, v);
        greatest = std::max(greatest, v);
      }
      INFO("length " << n);
      const long double u = std::numeric_limits<T>::epsilon() / 2;
      CHECK(std::abs(static_cast<long double>(folded<fold::sum>(x.data(), n)) - sum) <=
            (sizeof(T) == 4 ? 2.1L : 7) * u * magnitude);
      CHECK(std::abs(static_cast<long double>(folded<fold::prod>(x.data(), n)) - product) <=
            std::numeric_limits<double>::epsilon() * (n + 1) * std::abs(product));
      CHECK(folded<fold::min>(x.data(), n) == least);
      CHECK(folded<fold::max>(x.data(), n) == greatest);
      for (int k = 0; k < n; k += 1 + n / 9) {  // a NaN anywhere is the answer, and nothing else is
        const T kept = x[static_cast<std::size_t>(k)];
        x[static_cast<std::size_t>(k)] = std::numeric_limits<T>::quiet_NaN();
        CHECK(std::isnan(folded<fold::min>(x.data(), n)));
        CHECK(std::isnan(folded<fold::max>(x.data(), n)));
        CHECK(std::isnan(folded<fold::sum>(x.data(), n)));
        x[static_cast<std::size_t>(k)] = -std::numeric_limits<T>::infinity();
        CHECK(folded<fold::min>(x.data(), n) == x[static_cast<std::size_t>(k)]);
        CHECK(folded<fold::sum>(x.data(), n) == x[static_cast<std::size_t>(k)]);
        if (n > 1) CHECK(std::isfinite(folded<fold::max>(x.data(), n)));
        x[static_cast<std::size_t>(k)] = kept;
      }
    }
  }
}

template <class T>
void check_exactness(long double allowed) {
  if constexpr (folds_packs<fold::sum, T>) {
    std::vector<T> x(1 << 22);
    rng r(2);
    long double sum = 0;
    for (T& v : x) sum += static_cast<long double>(v = static_cast<T>(uniform(r, 0, 1)));
    const auto got = static_cast<long double>(folded<fold::sum>(x.data(), static_cast<std::int64_t>(x.size())));
    CHECK(std::abs(got - sum) <= allowed * sum);
  }
}

}  // namespace

TEST_CASE("packs fold in registers whatever the length, NaN and infinities included") {
  check_every_length<float>();
  check_every_length<double>();
}

TEST_CASE("a sum of packs is more exact than pairwise summation") {
  check_exactness<float>(1e-9L);
  check_exactness<double>(2e-16L);
}
