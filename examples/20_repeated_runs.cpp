// SPDX-License-Identifier: BSL-1.0
// A training step that is prepared once and repeated: it takes its memory once, and runs without being waited for.
#include <onto/onto.hpp>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <utility>

using namespace onto;

inline constexpr auto x = placeholder<"x", float, dyn, 3>;
inline constexpr auto y = placeholder<"y", float, dyn>;
inline constexpr auto w = variable<"w", float, 3>;

// [member]
auto prediction() { return sum<1>(x * w); }

/// A class that keeps a prepared program.
class predictor {
 public:
  explicit predictor(session& sess) : predict_(sess.prepare(prediction())) {}
  tensor<float, dyn> operator()(const tensor<float, dyn, 3>& rows) { return predict_(x = rows); }

 private:
  decltype(std::declval<session&>().prepare(prediction())) predict_;
};
// [member]

int main() {
  session sess{{.allow_soft_placement = true, .log = nullptr, .simulated_gpus = 1}};

  // [prepare]
  const auto weights = on<gpu<0>>(w);
  const auto loss = on<gpu<0>>(mean(square(sum<1>(x * weights) - y)));
  const auto gradient = on<gpu<0>>(mean<0>(reshape<dyn, 1>(sum<1>(x * weights) - y) * x) * 2.0f);
  auto step = sess.prepare(fetches(loss, assign_sub(weights, gradient * 0.1f)));

  sess.run(assign(weights, zeros<float, 3>()));
  const tensor<float, dyn, 3> inputs{{1, 0, 2}, {0, 1, 1}, {3, 1, 0}, {1, 1, 1}};
  const tensor<float, dyn> targets{5, 3, 5, 4};  // x . (1, 2, 2) and a little off
  for (int k = 0; k < 3; ++k) {
    const auto [error, updated] = step(x = inputs, y = targets);
    std::cout << "loss " << std::setprecision(3) << static_cast<float>(error) << '\n';
  }
  // [prepare]

  // [memory]
  const memory_info before = sess.memory(gpu<0>{});
  for (int k = 0; k < 100; ++k) step(x = inputs, y = targets);
  const memory_info after = sess.memory(gpu<0>{});
  std::cout << "in use " << before.in_use << " bytes, and after 100 more runs " << after.in_use << '\n';
  // [memory]

  // [async]
  auto first = step.async(x = inputs, y = targets);  // returns at once; inputs and targets must live
  auto second = step.async(x = inputs, y = targets);
  // ... the next batch is read meanwhile ...
  const float loss_before = std::get<0>(first.get());  // waits; throws what the run threw
  const float loss_now = std::get<0>(second.get());
  std::cout << std::boolalpha << "below 0.1: " << (loss_before < 0.1f && loss_now < 0.1f) << '\n';
  // [async]

  predictor predict(sess);
  std::cout << "of a row of ones: " << std::round(predict({{1, 1, 1}})(0)) << '\n';
}
