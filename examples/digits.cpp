// SPDX-License-Identifier: BSL-1.0
// A convolutional network learns to read handwritten digits: the 1,797 of the UCI set, in five folds. Four fifths are
// learned from, the others are the test.
//   --fold=K    which fold is the test, 0 to 4; `all` trains five networks, each from the beginning
//   --epochs=N  how often it sees all that it learns from
//   --curve=F   a learning curve as a picture, digits.svg
// RUN: --epochs=3 --curve=
#include "digits_model.hpp"

#include "digits.hpp"
#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

using namespace onto;

namespace {

constexpr std::uint64_t seed = 2024;
constexpr int batch_size = 32;

inline constexpr auto x = placeholder<"x", std::uint8_t, dyn, 8, 8>;
inline constexpr auto y = placeholder<"y", std::int32_t, dyn>;

// [model]
constexpr auto features = digits::features(x, digits::as_they_are);
constexpr auto guesses = argmax<1>(digits::scores_of(features, digits::as_they_are));
constexpr auto loss = softmax_cross_entropy(digits::scores_of(dropout(features, 0.3_c, 5_c), digits::as_they_are), y);
constexpr auto step = minimize<adam{.rate = 1e-3}>(loss);
// [model]

// The whole step, forward, backward and update, is known before anything runs.
// [plan]
constexpr auto step_plan = plan_of<world<cpu<0>>>(step);
static_assert(step_plan.transfers == 0);
static_assert(step_plan.kernels == 33);
// [plan]

/// Pictures moved by up to a pixel each way: a function of the batch's number, so that a training can be repeated.
auto moved(std::int64_t number, const auto& images, const auto& labels) {
  tensor<std::uint8_t, dyn, 8, 8> out({images.shape()[0], 8, 8});
  const auto draws = evaluate(random_uniform<float, batch_size, 2>(number));
  for (int k = 0; k < images.shape()[0]; ++k) {
    const int down = static_cast<int>(3 * draws(k, 0)) - 1, right = static_cast<int>(3 * draws(k, 1)) - 1;
    for (int i = std::max(0, down); i < std::min(8, 8 + down); ++i)
      for (int j = std::max(0, right); j < std::min(8, 8 + right); ++j) out(k, i, j) = images(k, i - down, j - right);
  }
  return std::tuple(std::move(out), labels);
}

report::confusion_matrix test(session& sess, const digits::examples& examples) {
  report::confusion_matrix found(digits::classes);
  const auto taken_for = sess.run(guesses, x = examples.images);
  for (int k = 0; k < examples.labels.shape()[0]; ++k) found.add(examples.labels(k), static_cast<int>(taken_for(k)));
  return found;
}

/// Trains with all folds but one. *Returns* what that one is taken for.
report::confusion_matrix train(const digits::examples& all, const digits::fold& fold, int epochs,
                               const std::string& curve) {
  const auto learned = digits::rows_of(all, fold.train), tested = digits::rows_of(all, fold.test);
  session sess;
  sess.initialize(step);
  auto learn = sess.prepare(step);
  batches data(
      std::tie(learned.images, learned.labels), batch_size, {.shuffle = seed},
      [](std::int64_t number, const auto& images, const auto& labels) { return moved(number, images, labels); });

  report::progress progress(epochs);
  std::vector<double> losses, accuracies;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double sum = 0;
    int steps = 0;
    for (const auto& [images, labels] : data) {
      sum += static_cast<double>(static_cast<float>(learn(x = images, y = labels)));
      ++steps;
    }
    losses.push_back(sum / steps);
    accuracies.push_back(test(sess, tested).accuracy());
    progress.print(epoch, learned.labels.shape()[0], losses.back(), accuracies.back());
  }
  if (!curve.empty())
    report::write_svg(curve, "digits: learning curve",
                      {{"loss", "firebrick", losses}, {"accuracy of the test", "steelblue", accuracies}});
  auto found = test(sess, tested);
  std::printf("%d epochs in %.1f s\n", epochs, progress.seconds());
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  std::string fold = "0", curve = "digits.svg";
  int epochs = 60;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word.rfind("--fold=", 0) == 0) {
      fold = word.substr(7);
    } else if (word.rfind("--epochs=", 0) == 0) {
      epochs = std::atoi(word.c_str() + 9);
    } else if (word.rfind("--curve=", 0) == 0) {
      curve = word.substr(8);
    } else {
      std::fprintf(stderr, "digits: %s is no option; there are --fold=0 to 4 or all, --epochs=N, --curve=FILE\n",
                   argv[k]);
      return 2;
    }
  }
  if ((fold != "all" && (fold.size() != 1 || fold[0] < '0' || fold[0] > '4')) || epochs < 1) {
    std::fprintf(stderr, "digits: a fold is 0 to 4 or all, and there is at least one epoch\n");
    return 2;
  }
  try {
    const auto all = digits::load();
    const auto folds = digits::stratified_folds(all.labels, 5, seed);
    std::printf("%d digits; a step of training is %d kernels\n", all.labels.shape()[0], step_plan.kernels);
    double sum = 0, least = 1;
    int count = 0;
    for (int k = 0; k < 5; ++k) {
      if (fold != "all" && fold[0] - '0' != k) continue;
      const auto found = train(all, folds[static_cast<std::size_t>(k)], epochs, curve);
      std::printf("fold %d: %.2f %% of %zu digits\n%s", k, 100 * found.accuracy(),
                  folds[static_cast<std::size_t>(k)].test.size(), found.text().c_str());
      sum += found.accuracy();
      least = std::min(least, found.accuracy());
      ++count;
    }
    if (count > 1) std::printf("mean of %d folds: %.2f %%, the least %.2f %%\n", count, 100 * sum / count, 100 * least);
  } catch (const error& e) {
    std::fprintf(stderr, "digits: %s\n", e.what());
    return 1;
  }
}
