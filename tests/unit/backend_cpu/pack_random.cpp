// SPDX-License-Identifier: BSL-1.0
// Random numbers on packs: those of each element by itself, whatever the vectors, the length, the seed and the place in
// the tensor.
#include <onto/backend/cpu/span.hpp>
#include <onto/ops/all.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../catch.hpp"

using namespace onto;
using namespace onto::detail;

namespace {

template <template <class, int...> class Op, class T>
using of_a_scalar = program<instruction<load_scalar, element::int64, 0>, instruction<Op<T>, element_of<T>, 0>>;
template <template <class, int...> class Op, class T>
using of_an_input = program<instruction<load_input, element::int64, 0>, instruction<Op<T>, element_of<T>, 0>>;
// uniform < x
using compared =
    program<instruction<load_scalar, element::int64, 0>, instruction<load_input, element::float32, 0>,
            instruction<op::random_uniform<float>, element::float32, 0>, instruction<op::less, element::boolean, 2, 1>>;
static_assert(of_a_scalar<op::random_uniform, float>::packs.mixed && compared::packs.mixed);
static_assert(of_an_input<op::random_normal, double>::packs.mixed);
// Elements of half are made of fewer bits, one by one; a seed is for nothing else.
static_assert(!of_a_scalar<op::random_uniform, half>::packs.possible());
static_assert(!program<instruction<load_scalar, element::int64, 0>, instruction<op::cast<float>, element::float32, 0>,
                       instruction<op::random_uniform<float>, element::float32, 0>>::packs.possible());
// Seeds that the kernel computes are numbers beside the packs.
using seed_sum = program<instruction<load_scalar, element::int64, 0>, instruction<load_scalar, element::int64, 1>,
                         instruction<op::add, element::int64, 0, 1>, instruction<op::mul, element::int64, 2, 0>,
                         instruction<op::random_normal<float>, element::float32, 3>>;
using narrow_seed =
    program<instruction<load_scalar, element::int32, 0>, instruction<op::cast<std::int64_t>, element::int64, 0>,
            instruction<op::random_normal<float>, element::float32, 1>>;
using stored_seed = program<instruction<load_scalar, element::int64, 0>, instruction<op::add, element::int64, 0, 0>,
                            instruction<store_result, element::int64, 0, 1>,
                            instruction<op::random_normal<float>, element::float32, 1>>;
using used_seed =
    program<instruction<load_input, element::int64, 0>, instruction<op::add, element::int64, 0, 0>,
            instruction<op::random_normal<float>, element::float32, 1>,
            instruction<op::cast<float>, element::float32, 1>, instruction<op::add, element::float32, 2, 3>>;
using seed_of_float =
    program<instruction<load_input, element::float32, 0>, instruction<op::cast<std::int64_t>, element::int64, 0>,
            instruction<op::random_normal<float>, element::float32, 1>>;
static_assert(seed_sum::packs.mixed && narrow_seed::packs.mixed);
static_assert(!stored_seed::packs.possible() && !used_seed::packs.possible() && !seed_of_float::packs.possible());

constexpr std::int64_t seeds[] = {0, 7, -1, 0x7fffffff, std::int64_t{1} << 40, 0x7ff0000000000001};
// The last two are where the lower half of a counter ends.
constexpr std::int64_t begins[] = {0, 1, 1000003, (std::int64_t{1} << 32) - 21, (std::int64_t{1} << 33) - 8};

template <class Program>
std::size_t run(int bytes, std::int64_t seed, std::int64_t first, const void* input, int n, void* out) {
  const std::uint64_t scalars[] = {static_cast<std::uint64_t>(seed)};
  const std::vector<std::int64_t> seeds_in(static_cast<std::size_t>(n) + 1, seed);
  const void* in[] = {input ? input : seeds_in.data()};
  vector_variants<span_body<Program, has_packs>, void(const span_call&)>::at(bytes)({in, out, first, n, scalars});
  return 0;
}

/// Units of the last place between two numbers of one sign.
template <class T>
double apart(T a, T b) {
  if (a == b) return 0;
  const T next = std::nextafter(std::fabs(b), std::numeric_limits<T>::infinity());
  return std::fabs(static_cast<double>(a) - static_cast<double>(b)) / static_cast<double>(next - std::fabs(b));
}

/// The greatest distance from what `at` makes of each element.
template <template <class, int...> class Op, class T, class Program>
double greatest_distance(int bytes) {
  double most = 0;
  for (const std::int64_t seed : seeds)
    for (const std::int64_t first : begins)
      for (const int n : {0, 1, 3, 16, 33, 257}) {
        std::vector<T> out(static_cast<std::size_t>(n) + 1, T{9});
        run<Program>(bytes, seed, first, nullptr, n, out.data());
        for (int k = 0; k < n; ++k) {
          const double distance = apart(out[static_cast<std::size_t>(k)], Op<T>::template at<T>(first + k, seed));
          most = distance > most || std::isnan(distance) ? distance : most;
        }
        if (out.back() != T{9}) return 1e30;
      }
  return most;
}

}  // namespace

TEST_CASE("uniform random numbers are the same on all vectors, to the bit", "[backend_cpu]") {
  for (const int bytes : {16, 32, 64}) {
    if ((vector_sets & bytes) == 0 || bytes > machine_vectors()) continue;
    INFO("vectors of " << bytes << " bytes");
    CHECK(greatest_distance<op::random_uniform, float, of_a_scalar<op::random_uniform, float>>(bytes) == 0);
    CHECK(greatest_distance<op::random_uniform, double, of_a_scalar<op::random_uniform, double>>(bytes) == 0);
    CHECK(greatest_distance<op::random_uniform, float, of_an_input<op::random_uniform, float>>(bytes) == 0);
  }
}

TEST_CASE("normal random numbers are those of elements, but for the last bits that the C library's log and cos have",
          "[backend_cpu]") {
  for (const int bytes : {16, 32, 64}) {
    if ((vector_sets & bytes) == 0 || bytes > machine_vectors()) continue;
    INFO("vectors of " << bytes << " bytes");
    CHECK(greatest_distance<op::random_normal, float, of_a_scalar<op::random_normal, float>>(bytes) <= 1);
    CHECK(greatest_distance<op::random_normal, double, of_a_scalar<op::random_normal, double>>(bytes) <= 8);
    CHECK(greatest_distance<op::random_normal, double, of_an_input<op::random_normal, double>>(bytes) <= 8);
  }
}

TEST_CASE("random numbers are compared in the kernel that makes them", "[backend_cpu]") {
  std::vector<float> x(1000);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k) * 0.001f;
  for (const int bytes : {16, 32, 64}) {
    if ((vector_sets & bytes) == 0 || bytes > machine_vectors()) continue;
    for (const int n : {1, 15, 999, 1000}) {
      std::vector<unsigned char> out(x.size(), 2);
      run<compared>(bytes, 5, 77, x.data(), n, out.data());
      int wrong = 0;
      for (int k = 0; k < 1000; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const int less = op::random_uniform<float>::at<float>(std::int64_t{77} + k, 5) < x[at] ? 1 : 0;
        wrong += out[at] == (k < n ? less : 2) ? 0 : 1;
      }
      CHECK(wrong == 0);
    }
  }
}
