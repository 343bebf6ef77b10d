// SPDX-License-Identifier: BSL-1.0
// A perceptron with one hidden layer learns which of three arms of a spiral a point is on.
#include <onto/onto.hpp>

#include <cmath>
#include <cstdio>

using namespace onto;

constexpr int classes = 3, hidden = 32, points = 300;

inline constexpr auto x = placeholder<"x", float, dyn, 2>;
inline constexpr auto y = placeholder<"y", float, dyn, classes>;  // one-hot

int main() {
  tensor<float, dyn, 2> xs({points, 2});
  tensor<float, dyn, classes> ys({points, classes});
  for (int k = 0; k < points; ++k) {
    const float r = 0.1f + 0.9f * static_cast<float>(k) / points;
    const float angle = 4.f * r + 2.0944f * static_cast<float>(k % classes);
    xs(k, 0) = r * std::cos(angle);
    xs(k, 1) = r * std::sin(angle);
    ys(k, k % classes) = 1.f;
  }
  tensor<float, 2, hidden> first;
  tensor<float, hidden, classes> second;
  for (int k = 0; k < first.size(); ++k) first.data()[k] = 0.8f * std::sin(1.f + 3.f * static_cast<float>(k));
  for (int k = 0; k < second.size(); ++k) second.data()[k] = 0.3f * std::sin(2.f + 5.f * static_cast<float>(k));

  const auto w1 = variable<"w1", float, 2, hidden>(first);
  const auto b1 = variable<"b1", float, hidden>(zeros<float, hidden>());
  const auto w2 = variable<"w2", float, hidden, classes>(second);
  const auto b2 = variable<"b2", float, classes>(zeros<float, classes>());

  const auto h = relu(matmul(x, w1) + b1);
  const auto logits = matmul(h, w2) + b2;
  const auto p = softmax(logits);
  const auto loss = -mean(sum<1>(y * log_softmax(logits)));
  const auto accuracy = mean(cast<float>(argmax<1>(logits) == argmax<1>(y)));

  const auto d_logits = (p - y) / static_cast<float>(points);
  const auto d_h = where(h > 0.f, matmul(d_logits, transpose(w2)), 0.f);
  const float rate = 1.f;
  const auto train =
      fetches(loss, accuracy, assign_sub(w1, rate * matmul(transpose(x), d_h)), assign_sub(b1, rate * sum<0>(d_h)),
              assign_sub(w2, rate * matmul(transpose(h), d_logits)), assign_sub(b2, rate * sum<0>(d_logits)));

  session sess;
  sess.run(initialize(w1, b1, w2, b2));
  auto step = sess.prepare(train);
  for (int k = 0; k <= 200; ++k) {
    const auto result = step(x = xs, y = ys);
    if (k % 40 == 0)
      std::printf("step %d: loss %.3f, accuracy %.2f\n", k, double(std::get<0>(result)), double(std::get<1>(result)));
  }
}
