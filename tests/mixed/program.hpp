// SPDX-License-Identifier: BSL-1.0
// A program that two files of one executable run, one compiled by the host's compiler and one by nvcc.
#pragma once

#include <onto/onto.hpp>
#include <onto/scan.hpp>

#include <sstream>
#include <string>

namespace mixed {

using namespace onto;

inline constexpr auto x = placeholder<"x", float, dyn, dyn>;
inline constexpr auto y = placeholder<"y", float, dyn, dyn>;
inline constexpr auto w = variable<"w", float, 2>;

struct results {
  tensor<float, dyn, dyn> product, row_shares, running;
  tensor<float> total;
  tensor<std::int64_t> place_of_largest;
  tensor<float, 2> weights;
  std::string log;
};

/// Runs the same expressions in each file. Static: each file has its own.
[[maybe_unused]] static results run() {
  results r;
  std::ostringstream log;
  session sess{{.allow_soft_placement = true, .log_device_placement = true, .log = &log}};
  const tensor<float, dyn, dyn> a{{1, -2, 3}, {4, 5, -6}, {7, 8, 9}}, b{{0, 1, 0}, {2, 0, 1}, {1, 1, 1}};
  const auto h = named<"h">(exp(x * 0.125f) - 1.0f);
  std::tie(r.product, r.row_shares, r.running, r.total, r.place_of_largest) = sess.run(
      fetches(relu(matmul(x, y) + h), softmax(h * y), cumsum<0>(x), sum(tanh(h) + x), argmax(x)), x = a, y = b);
  sess.run(initialize(w({1, 2})));
  r.weights = sess.run(on<gpu<0>>(assign_add(w, w * 2.0f)));
  r.log = log.str();
  return r;
}

results by_host();
results by_nvcc();

}  // namespace mixed
