// SPDX-License-Identifier: BSL-1.0
// Kernels that divide their work among threads give what one thread gives: scans, sorts, takes and sums at indices.
#include <onto/indexing.hpp>
#include <onto/scan.hpp>
#include <onto/sort.hpp>

#include <cstdint>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto line = placeholder<"line", float, dyn>;
constexpr auto m = placeholder<"m", float, dyn, dyn>;
constexpr auto i = placeholder<"i", int, dyn>;

}  // namespace

TEST_CASE("taking and adding at indices is the same for any number of threads", "[session][threads]") {
  session one{{.cpu_threads = 1}}, several{{.cpu_threads = 6}};
  tensor<float, dyn, dyn> X({300, 70});
  for (std::size_t k = 0; k < X.size(); ++k) X.data()[k] = static_cast<float>(k % 31) * 0.1f;
  tensor<int, dyn> N({300});
  for (int k = 0; k < 300; ++k) N(k) = k * 7 % 40;
  const auto same = [&](const auto& e) { return one.run(e, m = X, i = N) == several.run(e, m = X, i = N); };
  CHECK(same(segment_sum<40>(m, i)));
  CHECK(same(take<0>(m, i)));
  CHECK(same(take<1>(m, i)));
}

TEST_CASE("a long sort is the same for any number of threads", "[session][threads]") {
  session one{{.cpu_threads = 1}}, many{{.cpu_threads = 7}};
  tensor<float, dyn> t({200000});
  std::uint32_t k = 1;
  for (float& v : t) v = static_cast<float>(static_cast<int>((k = k * 1664525u + 1013904223u) >> 8) % 81 - 40);
  CHECK(one.run(sort(line), line = t) == many.run(sort(line), line = t));
  CHECK(one.run(argsort(line, descending), line = t) == many.run(argsort(line, descending), line = t));
}

TEST_CASE("a long scan is the same for any number of threads", "[session][threads]") {
  tensor<float, dyn> in({200000});
  for (int k = 0; k < 200000; ++k) in(k) = static_cast<float>(k % 17) * 0.1f;
  session one{{.cpu_threads = 1}}, many{{.cpu_threads = 8}};
  CHECK(one.run(cumsum(line, reverse), line = in) == many.run(cumsum(line, reverse), line = in));
}
