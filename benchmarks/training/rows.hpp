// SPDX-License-Identifier: BSL-1.0
// What the rows of ./run bench training have in common on onto's side: numbers to begin with, and a step as a row.
#pragma once

#include <onto/onto.hpp>

#include "../beside/answer.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace training {

/// Steps of which the last one's loss is compared.
constexpr int compared_steps = 5;

template <int... Dims>
onto::tensor<float, Dims...> numbers(int seed, double scale = 1, double offset = 0) {
  onto::tensor<float, Dims...> t;
  for (std::size_t k = 0; k < t.size(); ++k) t.data()[k] = beside::number(k, seed, scale, offset);
  return t;
}

/// A class for each of `N` examples.
template <int N>
onto::tensor<std::int32_t, N> labels() {
  onto::tensor<std::int32_t, N> t;
  for (int k = 0; k < N; ++k) t(k) = (k * 7 + k / 10) % 10;
  return t;
}

/// `variables` are set to `values`; a run of the row is a step of training on the same batch, and its check the loss
/// of the last of the first few.
template <class Step, class Feeds, class... Setting>
beside::row row_of(int threads, const Step& step, std::int64_t peak_bytes, Feeds feeds, const Setting&... settings) {
  auto sess = std::make_shared<onto::session>(
      onto::session_options{.allow_soft_placement = true, .log = nullptr, .cpu_threads = threads});
  sess->initialize(step);
  (settings(*sess), ...);
  auto learn = std::make_shared<decltype(sess->prepare(step))>(sess->prepare(step));
  const auto data = std::make_shared<Feeds>(std::move(feeds));
  const auto once = [sess, learn, data] { return static_cast<double>(static_cast<float>((*data)(*learn))); };
  return {once,
          [once] {
            for (int k = 1; k < compared_steps; ++k) once();
            return once();
          },
          static_cast<double>(peak_bytes)};
}

/// Sets a variable to `numbers`, which are gone afterwards.
template <int... Dims, class Variable>
auto set(const Variable& w, int seed, double scale = 1) {
  return [w, seed, scale](onto::session& sess) {
    const onto::tensor<float, Dims...> values = numbers<Dims...>(seed, scale);
    sess.run(assign(w, values));
  };
}

beside::row perceptron(int threads);
beside::row digits(int threads);
beside::row cifar10(int threads);
beside::row transformer(int threads);
beside::row tiny(int threads);

}  // namespace training
