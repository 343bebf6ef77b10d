// SPDX-License-Identifier: BSL-1.0
// The network of TensorFlow's CIFAR-10 tutorial, and a step of its training in towers.
#pragma once

#include <onto/convolution.hpp>

#include <cstdint>
#include <utility>

namespace cifar10 {

constexpr int batch = 128, input = 24;

inline constexpr auto x = onto::placeholder<"x", float, batch, input, input, 3>;
inline constexpr auto y = onto::placeholder<"y", std::int32_t, batch>;

namespace parameters {

using namespace onto;

constexpr auto conv1 = variable<"conv1/weights", float, 5, 5, 3, 64>(truncated_normal<float, 5, 5, 3, 64>(0.05_c, 1_c));
constexpr auto conv1_bias = variable<"conv1/biases", float, 64>(zeros<float, 64>());
constexpr auto conv2 =
    variable<"conv2/weights", float, 5, 5, 64, 64>(truncated_normal<float, 5, 5, 64, 64>(0.05_c, 2_c));
constexpr auto conv2_bias = variable<"conv2/biases", float, 64>(fill<float, 64>(0.1_c));
constexpr auto local3 = variable<"local3/weights", float, 2304, 384>(truncated_normal<float, 2304, 384>(0.04_c, 3_c));
constexpr auto local3_bias = variable<"local3/biases", float, 384>(fill<float, 384>(0.1_c));
constexpr auto local4 = variable<"local4/weights", float, 384, 192>(truncated_normal<float, 384, 192>(0.04_c, 4_c));
constexpr auto local4_bias = variable<"local4/biases", float, 192>(fill<float, 192>(0.1_c));
constexpr auto softmax =
    variable<"softmax_linear/weights", float, 192, 10>(truncated_normal<float, 192, 10>(c<1.0 / 192>, 5_c));
constexpr auto softmax_bias = variable<"softmax_linear/biases", float, 10>(zeros<float, 10>());

}  // namespace parameters

/// The parameters, on the CPU, as they are; and what `moving_average` keeps of them: the tutorial tests with that.
inline constexpr auto as_they_are = [](const auto& w) { return onto::on<onto::cpu<0>>(w); };
inline constexpr auto averaged = [](const auto& w) { return onto::average_of(as_they_are(w)); };

// [model]
/// A score for each class of each picture.
constexpr auto scores(const auto& images, const auto& read) {
  using namespace onto;
  namespace p = parameters;
  const auto conv1 = relu(conv2d<same>(images, read(p::conv1)) + read(p::conv1_bias));
  const auto norm1 = local_response_norm<4>(max_pool2d<window<3>, strides<2>, same>(conv1), 1_c, c<0.001 / 9>, 0.75_c);
  const auto conv2 = relu(conv2d<same>(norm1, read(p::conv2)) + read(p::conv2_bias));
  const auto norm2 = local_response_norm<4>(conv2, 1_c, c<0.001 / 9>, 0.75_c);
  const auto flat = reshape<dyn, 2304>(max_pool2d<window<3>, strides<2>, same>(norm2));
  const auto local3 = relu(matmul(flat, read(p::local3)) + read(p::local3_bias));
  const auto local4 = relu(matmul(local3, read(p::local4)) + read(p::local4_bias));
  return matmul(local4, read(p::softmax)) + read(p::softmax_bias);
}

/// The mean loss of the batch. Each place has a tower, with its part of the pictures.
template <class... Place, int... Tower>
constexpr auto loss_of_places(std::integer_sequence<int, Tower...>) {
  using namespace onto;
  constexpr int part = batch / static_cast<int>(sizeof...(Place));
  const auto decay = [](const auto& w) { return sum(square(as_they_are(w))) * c<0.004 / 2>; };
  const auto losses = add_n(on<Place>([=] {
    return softmax_cross_entropy<reduction::sum>(scores(slice<Tower * part, (Tower + 1) * part>(x), as_they_are),
                                                 slice<Tower * part, (Tower + 1) * part>(y));
  })...);
  return on<cpu<0>>(losses * c<1.0 / batch> + decay(parameters::local3) + decay(parameters::local4));
}
template <class... Place>
constexpr auto loss_of_places() {
  return loss_of_places<Place...>(std::make_integer_sequence<int, static_cast<int>(sizeof...(Place))>{});
}
template <int... Tower>
constexpr auto loss_of_towers(std::integer_sequence<int, Tower...>) {
  return loss_of_places<onto::gpu<Tower>...>();
}

/// One step: forward, backward and update, on all devices. The result does not depend on the number of towers, beyond
/// rounding.
template <int Towers>
constexpr auto training_step() {
  using namespace onto;
  return minimize<sgd{}>(learning_rate(exponential_decay<true>(0.1_c, c<136718>, 0.1_c)), moving_average(0.9999_c),
                         loss_of_towers(std::make_integer_sequence<int, Towers>{}));
}
// [model]

// [workers]
/// The mean loss of a worker's part of a batch. Each worker has parameters of its own, which stay the same.
constexpr auto loss_of_worker(auto worker, const auto& images, const auto& labels) {
  using namespace onto;
  const auto read = [=](const auto& w) { return replica(worker, w); };
  const auto decay = [=](const auto& w) { return sum(square(read(w))) * c<0.004 / 2>; };
  return softmax_cross_entropy(scores(images, read), labels) + decay(parameters::local3) + decay(parameters::local4);
}

/// One step of all workers, by the mean of their gradients: the same as `training_step`, beyond rounding. `Part`: a
/// worker's placeholders.
template <class Part>
constexpr auto step_of_workers(const auto& workers) {
  using namespace onto;
  return minimize<sgd{}>(learning_rate(exponential_decay<true>(0.1_c, c<136718>, 0.1_c)), moving_average(0.9999_c),
                         towers(workers, [](auto worker) {
                           return loss_of_worker(worker, Part::template images<worker.index>(),
                                                 Part::template labels<worker.index>());
                         }));
}
// [workers]

/// What the test's pictures are taken for.
inline constexpr auto guesses = onto::argmax<1>(scores(x, averaged));

}  // namespace cifar10
