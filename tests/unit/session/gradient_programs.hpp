// SPDX-License-Identifier: BSL-1.0
// Random programs and their gradients beside JAX (tests/conformance/gradients.py).
#pragma once

#include <onto/onto.hpp>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../catch.hpp"
#include "conformance/gradients.hpp"

namespace onto_test {

using gradient_table = std::map<std::string, std::vector<double>>;

/// What JAX has of program `number`: the loss, what it is of, and the gradients.
inline gradient_table read_gradients(int number) {
  std::ifstream file(ONTO_TESTS_DIR "/conformance/gradients.tsv");
  gradient_table t;
  for (std::string text; std::getline(file, text);) {
    std::istringstream in(text);
    std::string of, what;
    std::getline(in, of, '\t');
    if (of != std::to_string(number)) continue;
    std::getline(in, what, '\t');
    for (std::string value; in >> value;) t[what].push_back(std::strtod(value.c_str(), nullptr));
  }
  return t;
}

template <class Tensor>
Tensor filled(const std::vector<double>& values, Tensor t) {
  REQUIRE(static_cast<std::size_t>(t.size()) == values.size());
  for (std::size_t k = 0; k < values.size(); ++k) t.data()[k] = values[k];
  return t;
}
template <class Tensor>
void check_equal(const std::string& what, const Tensor& found, const std::vector<double>& wanted) {
  INFO(what);
  REQUIRE(static_cast<std::size_t>(found.size()) == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    INFO("element " << k);
    CHECK(found.data()[k] == Approx(wanted[k]).margin(1e-11).epsilon(1e-10));
  }
}

/// Every value of a program where it is written.
template <int>
struct put_nowhere {
  constexpr auto operator()(auto, const auto& e) const { return e; }
};

/// Each value of program `N` on one of three GPUs, on the CPU, or where its operands are, at random.
template <int N>
struct put_at_random {
  template <int K>
  constexpr auto operator()(std::integral_constant<int, K>, const auto& e) const {
    constexpr std::uint64_t r = onto::detail::hash_mix(0x706c616365, 64 * N + K) >> 20;
    if constexpr (r % 5 == 0)
      return e;
    else if constexpr (r % 5 == 1)
      return onto::on<onto::cpu<0>>(e);
    else
      return onto::on<onto::gpu<static_cast<int>(r % 5) - 2>>(e);
  }
};

/// Program `N`, with extents in the type or of the run; `place` says where it runs, and `Put` where each value is.
template <int N, template <int> class Put = put_nowhere, class Run, class Place>
void check_gradients(Run& run, Place place) {
  constexpr bool known = N % 2 == 0;
  constexpr auto d = [](int n) { return known ? n : dyn; };
  constexpr auto x = placeholder<"x", double, d(4), d(3)>;
  constexpr auto y = placeholder<"y", double, d(3)>;
  constexpr auto w = placeholder<"w", double, d(3), d(5)>;
  auto t = read_gradients(N);
  const auto loss = place(gradient_program<N>::loss(x, y, w, Put<N>{}));
  const auto at = [&](auto&& step) {
    return step(x = filled(t["x"], tensor<double, d(4), d(3)>({4, 3})), y = filled(t["y"], tensor<double, d(3)>({3})),
                w = filled(t["w"], tensor<double, d(3), d(5)>({3, 5})));
  };
  const auto [value, by_x, by_y, by_w] = at([&](const auto&... feeds) {
    return std::apply([&](const auto&... e) { return run.run(fetches(e...), feeds...); },
                      value_and_gradient(loss, x, y, w));
  });
  INFO("program " << N);
  CHECK(static_cast<double>(value) == Approx(t["loss"].at(0)).epsilon(1e-12));
  check_equal("by x", by_x, t["by x"]);
  check_equal("by y", by_y, t["by y"]);
  check_equal("by w", by_w, t["by w"]);
}

template <class Run, class Place, int... N>
void check_gradients_of(Run& run, Place place, std::integer_sequence<int, N...>) {
  (check_gradients<N>(run, place), ...);
}

}  // namespace onto_test
