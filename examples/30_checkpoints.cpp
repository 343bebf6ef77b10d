// SPDX-License-Identifier: BSL-1.0
// A training that stops and goes on: variables and the optimizer's state in a file, and data in shuffled batches whose
// position is the number of steps.
#include <onto/batches.hpp>
#include <onto/safetensors.hpp>

#include <cstdint>
#include <cstdio>
#include <iostream>

using namespace onto;

inline constexpr auto x = placeholder<"x", float, dyn, 2>;
inline constexpr auto y = placeholder<"y", float, dyn, 1>;

// [state]
constexpr auto w = variable<"w", float, 2, 1>(zeros<float, 2, 1>());
constexpr auto momentum = variable<"w/momentum", float, 2, 1>(zeros<float, 2, 1>());
constexpr auto steps = variable<"steps", std::int64_t>(zeros<std::int64_t>());
// [state]

float train(session& sess, const tensor<float, dyn, 2>& xs, const tensor<float, dyn, 1>& ys, int until) {
  constexpr auto loss = mean(square(matmul(x, w) - y));
  constexpr auto faster = assign(momentum, 0.9_c * momentum + gradient(loss, w));
  auto step = sess.prepare(fetches(loss, assign_sub(w, 0.05_c * faster), assign_add(steps, 1_c)));
  float last = 0;

  // [resume]
  batches data(std::tie(xs, ys), 16, {.shuffle = 7});
  data.seek(sess.run(steps));
  while (data.position() < until)
    for (const auto& [in, out] : data) {
      last = std::get<0>(step(x = in, y = out));
      if (data.position() == until) break;
    }
  // [resume]
  return last;
}

int main() {
  const tensor<float, dyn, 2> xs(evaluate(random_normal<float, 100, 2>(1)));
  const tensor<float, dyn, 1> ys(evaluate(matmul(x, constant({{2.f}, {-3.f}})), x = xs));

  // [save]
  session sess;
  sess.run(initialize(w, momentum, steps));
  train(sess, xs, ys, 30);  // in the middle of the fifth epoch
  sess.save("line.safetensors");
  // [save]
  const float whole = train(sess, xs, ys, 60);

  // [restore]
  session later;
  later.restore("line.safetensors");
  const float resumed = train(later, xs, ys, 60);
  std::printf("%s\n", resumed == whole ? "the same to the last bit" : "another training");
  // [restore]

  // [some]
  sess.save("weights.safetensors", w);          // w alone
  later.restore("line.safetensors", w);         // or of a file with more
  std::cout << later.run(steps) << " steps\n";  // not restored
  // [some]

  // [tensors]
  const safetensors_file file("line.safetensors");
  for (const std::string& name : file.names()) std::cout << name << '\n';
  const auto saved = file.load<float, 2, 1>("w");
  save_safetensors("pair.safetensors", {{"w", saved}, {"examples", xs}});
  // [tensors]

  // [wrong]
  try {
    later.restore("pair.safetensors");
  } catch (const invalid_argument_error& e) {
    std::cout << e.what() << '\n';
  }
  // [wrong]
}
