// SPDX-License-Identifier: BSL-1.0
// A network learns to read handwritten digits on a parameter server with workers that do not wait for each other: each
// takes the parameters as they are, computes a gradient and has the server make its step. Start it with mpirun -n 3, or
// with any other number of processes and one less as the argument.
#include <onto/asynchronous.hpp>
#include <onto/batches.hpp>
#include <onto/cluster.hpp>

#include "../digits.hpp"

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <tuple>

using namespace onto;

// [network]
inline constexpr auto x = placeholder<"x", std::uint8_t, 32, 8, 8>;
inline constexpr auto y = placeholder<"y", std::int32_t, 32>;
inline constexpr auto x_test = placeholder<"x_test", std::uint8_t, dyn, 8, 8>;
inline constexpr auto y_test = placeholder<"y_test", std::int32_t, dyn>;

// The parameters are on the server, and a worker computes.
template <class Initial>
constexpr auto on_server(const Initial& v) {
  return on<task<"ps", 0>>(v);
}

inline constexpr auto weights1 = on_server(variable<"hidden/weights", float, 64, 64>(he_normal<float, 64, 64>(1_c)));
inline constexpr auto bias1 = on_server(variable<"hidden/bias", float, 64>(zeros<float, 64>()));
inline constexpr auto weights2 =
    on_server(variable<"scores/weights", float, 64, 10>(glorot_normal<float, 64, 10>(2_c)));
inline constexpr auto bias2 = on_server(variable<"scores/bias", float, 10>(zeros<float, 10>()));
inline constexpr auto made = on_server(variable<"updates", std::int64_t>(zeros<std::int64_t>()));

constexpr auto scores(const auto& images) {
  const auto hidden = relu(matmul(reshape<dyn, 64>(cast<float>(images) * (1.0_c / 16.0_c)), weights1) + bias1);
  return matmul(hidden, weights2) + bias2;
}
inline constexpr auto loss = on<task<"worker", 0>>(softmax_cross_entropy(scores(x), y));
inline constexpr auto right =
    on<task<"worker", 0>>(sum(cast<float>(argmax<1>(scores(x_test)) == cast<std::int64_t>(y_test))));
// [network]

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::atoi(argv[1]) : 2;
  const auto all = digits::load();
  const auto fold = digits::stratified_folds(all.labels, 5, 2024)[0];
  const auto learned = digits::rows_of(all, fold.train), tested = digits::rows_of(all, fold.test);

  // [program]
  server node{argc, argv, {{"ps", 1}, {"worker", workers}}};
  run_asynchronously(node, "worker", [&](session& sess, int worker) {
    const auto update = minimize<adam{.rate = 0.005}>(loss);
    sess.run(initialize(update, made));  // by the worker that comes first

    const auto learn = sess.prepare(fetches(loss, update, assign_add(made, 1)));
    batches data(std::tie(learned.images, learned.labels), 32, {.shuffle = 1 + worker, .drop_last = true});
    for (int epoch = 0; epoch < 2; ++epoch)
      for (const auto& [images, labels] : data) learn(x = images, y = labels);

    // Worker 0 sees what all have made of it. It asks until they are done; `made` arrives in both its processes.
    const auto each = 2 * (learned.labels.shape()[0] / 32);
    if (worker > 0) return;
    const auto count = sess.prepare(made * 1_c);
    while (count() < each * workers) usleep(1000);
    const float read = sess.run(right * 1_c, x_test = tested.images, y_test = tested.labels);
    if (node.job() == "worker")
      std::printf("%d updates by %d workers; it reads %s of 10 digits\n", each * workers, workers,
                  10 * read >= 9 * static_cast<float>(tested.labels.shape()[0]) ? "9 or more" : "less than 9");
  });
  // [program]
}
