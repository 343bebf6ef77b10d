// SPDX-License-Identifier: BSL-1.0
// TensorFlow's CIFAR-10 tutorial: its convolutional network, trained in towers on several devices. Variables are on the
// CPU and shared; each tower takes its part of the batch, and gradients come together on the CPU.
//   --data=FOLDER  where data_batch_1.bin to data_batch_5.bin and test_batch.bin are; without it, a generated set
//   --towers=N     1, 2 or 4 towers, on gpu:0 to gpu:N-1: real ones, or simulated where there are fewer
//   --steps=N      of 128 pictures each
//   --log          where each operation runs
//   --picture=F    the plan, for Graphviz
// RUN: --steps=2 --towers=2 --log
// WITHOUT: nvcc
#include "model.hpp"

#include "data.hpp"

#include <onto/batches.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <tuple>

using namespace onto;

namespace {

struct options {
  std::string data, picture;
  int towers = 1, steps = 20;
  bool log = false;
};

/// The files' pictures, or generated ones in files of the same format.
struct sets {
  cifar10::examples train, test;
};
sets load(const std::string& folder) {
  if (!folder.empty())
    return {cifar10::read(cifar10::training_files(folder)), cifar10::read({cifar10::test_file(folder)})};
  std::printf(
      "No --data: a generated set of ten kinds of stripes. The real one is cifar-10-binary.tar.gz of\n"
      "https://www.cs.toronto.edu/~kriz/cifar.html; unpack it and say --data=cifar-10-batches-bin\n");
  const auto here = std::filesystem::temp_directory_path() / "onto_cifar10";
  std::filesystem::create_directories(here);
  const std::string train = (here / "data_batch_1.bin").string(), test = (here / "test_batch.bin").string();
  cifar10::write_generated(train, 2560, 1);
  cifar10::write_generated(test, 256, 2);
  return {cifar10::read({train}), cifar10::read({test})};
}

/// The share of the test that the averaged parameters recognize.
double accuracy(session& sess, const cifar10::examples& test) {
  int right = 0, all = 0;
  for (const auto& [images, labels] :
       batches(std::tie(test.images, test.labels), cifar10::batch, {.drop_last = true})) {
    const auto guesses = sess.run(cifar10::guesses, cifar10::x = cifar10::central(images));
    for (int k = 0; k < cifar10::batch; ++k) right += guesses(k) == labels(k) ? 1 : 0;
    all += cifar10::batch;
  }
  return all > 0 ? static_cast<double>(right) / all : 0;
}

/// Copies from one GPU to another.
template <class Plan>
constexpr int between_gpus(const Plan& p) {
  int count = 0;
  for (int k = 0; k < p.step_count; ++k)
    count += p.steps[k].kind == step_kind::transfer && p.steps[k].from.kind == device_kind::gpu &&
             p.steps[k].at.kind == device_kind::gpu;
  return count;
}

template <int Towers>
void train(const options& o, const sets& data) {
  constexpr auto step = cifar10::training_step<Towers>();
  // [plan]
  constexpr auto step_plan = plan_of(step);
  static_assert(step_plan.kernels == 53 * Towers + 1);
  // To each tower its pictures, their kinds and ten parameters; the GPUs add up the gradients, and the sums come back.
  static_assert(step_plan.transfers == 23 * Towers + 4 && between_gpus(step_plan) == 10 * (Towers - 1));
  // New parameters and averages on the CPU; on a GPU what its part of the batch takes.
  static_assert(step_plan.peak_bytes(cpu<0>{}) < 17'000'000);
  static_assert(step_plan.peak_bytes(gpu<0>{}) < 96'000'000 / Towers);
  // [plan]
  std::printf("a step in %d towers: %d kernels, %d transfers\n", Towers, step_plan.kernels, step_plan.transfers);
  session_options how{.allow_soft_placement = true};
  if (session probe; static_cast<int>(probe.devices().size()) <= Towers) how.simulated_gpus = Towers;
  session sess{how};
  if (o.log) std::cout << sess.placement(step) << std::flush;
  if (!o.picture.empty()) std::ofstream(o.picture) << step_plan.dot();

  sess.initialize(step);
  auto learn = sess.prepare(step);
  batches shuffled(std::tie(data.train.images, data.train.labels), cifar10::batch,
                   {.shuffle = 1, .prefetch = 2, .drop_last = true},
                   [](std::int64_t number, const auto& images, const auto& labels) {
                     return std::tuple(cifar10::augmented(images, 1, number), labels);
                   });
  using clock = std::chrono::steady_clock;
  auto last = clock::now();
  int counted = 0;
  for (int k = 0; k < o.steps;)
    for (const auto& [images, labels] : shuffled) {
      const float loss = learn(cifar10::x = images, cifar10::y = labels);
      ++counted;
      if (++k % 10 == 0 || k == o.steps) {
        const double seconds = std::chrono::duration<double>(clock::now() - last).count();
        std::printf("step %d: loss %.3f, %.0f images/s\n", k, static_cast<double>(loss),
                    counted * cifar10::batch / seconds);
        std::fflush(stdout);
        last = clock::now();
        counted = 0;
      }
      if (k == o.steps) break;
    }
  std::printf("%d steps in %d towers: %.1f %% of the test\n", o.steps, Towers, 100 * accuracy(sess, data.test));
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto value_of = [&](const std::string& name) {
      return word.rfind(name, 0) == 0 ? argv[k] + name.size() : nullptr;
    };
    if (const char* const data = value_of("--data=")) {
      o.data = data;
    } else if (const char* const towers = value_of("--towers=")) {
      o.towers = std::atoi(towers);
    } else if (const char* const steps = value_of("--steps=")) {
      o.steps = std::atoi(steps);
    } else if (const char* const picture = value_of("--picture=")) {
      o.picture = picture;
    } else if (word == "--log") {
      o.log = true;
    } else {
      std::fprintf(
          stderr,
          "cifar10: %s is no option; there are --data=FOLDER, --towers=1, 2 or 4, --steps=N, --log, --picture=FILE\n",
          argv[k]);
      return 2;
    }
  }
  try {
    const sets data = load(o.data);
    switch (o.towers) {
      case 1: train<1>(o, data); break;
      case 2: train<2>(o, data); break;
      case 4: train<4>(o, data); break;
      default: std::fprintf(stderr, "cifar10: there may be 1, 2 or 4 towers, not %d\n", o.towers); return 2;
    }
  } catch (const error& e) {
    std::fprintf(stderr, "cifar10: %s\n", e.what());
    return 1;
  }
}
