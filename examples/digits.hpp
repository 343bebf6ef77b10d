// SPDX-License-Identifier: BSL-1.0
// The handwritten digits of examples/data/digits, and their division into folds for cross-validation.
#pragma once

#include <onto/batches.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

namespace digits {

constexpr int classes = 10;

/// Pictures of 8 by 8, ink from 0 to 16, and which digit each is.
struct examples {
  onto::tensor<std::uint8_t, onto::dyn, 8, 8> images;
  onto::tensor<std::int32_t, onto::dyn> labels;
};

inline std::string folder() { return (std::filesystem::path(__FILE__).parent_path() / "data" / "digits").string(); }

/// *Throws* `onto::error` where the files are not there or not as they should be.
inline examples load(const std::string& from = folder()) {
  auto images = onto::load_npy<std::uint8_t, onto::dyn, 8, 8>(from + "/images.npy");
  const auto labels = onto::load_npy<std::uint8_t, onto::dyn>(from + "/labels.npy");
  if (images.shape()[0] != labels.shape()[0])
    throw onto::invalid_argument_error(
        from + ": images.npy and labels.npy have different numbers of rows; take both from one place");
  onto::tensor<std::int32_t, onto::dyn> as_numbers({labels.shape()[0]});
  for (int k = 0; k < labels.shape()[0]; ++k) {
    if (labels(k) >= classes)
      throw onto::invalid_argument_error(from + "/labels.npy: row " + std::to_string(k) + " is " +
                                         std::to_string(labels(k)) + "; a digit is 0 to 9");
    as_numbers(k) = labels(k);
  }
  return {std::move(images), std::move(as_numbers)};
}

/// The rows that a fold is tested with, and all others.
struct fold {
  std::vector<int> train, test;
};

/// Shuffles the rows and deals those of each class to the folds in turn: every row is in the test of one fold, and the
/// folds have as many of each class, but for one. A function of the labels and the seed.
inline std::vector<fold> stratified_folds(const onto::tensor<std::int32_t, onto::dyn>& labels, int count,
                                          std::uint64_t seed) {
  const int rows = labels.shape()[0];
  std::vector<int> numbers(static_cast<std::size_t>(rows));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<fold> folds(static_cast<std::size_t>(count));
  // One class after the other begins where the last one ended, so that the folds are equally large, too.
  std::array<std::vector<int>, classes> of_class;
  for (const auto& shuffled : onto::batches(numbers, rows, {.shuffle = seed}))
    for (const int row : shuffled) of_class[static_cast<std::size_t>(labels(row))].push_back(row);
  int turn = 0;
  for (const auto& members : of_class)
    for (const int row : members) {
      const int tested = turn++ % count;
      for (int f = 0; f < count; ++f) {
        fold& each = folds[static_cast<std::size_t>(f)];
        (f == tested ? each.test : each.train).push_back(row);
      }
    }
  return folds;
}

/// Some rows of the examples.
inline examples rows_of(const examples& all, const std::vector<int>& rows) {
  const int count = static_cast<int>(rows.size());
  examples some{onto::tensor<std::uint8_t, onto::dyn, 8, 8>({count, 8, 8}),
                onto::tensor<std::int32_t, onto::dyn>({count})};
  for (int k = 0; k < count; ++k) {
    const int row = rows[static_cast<std::size_t>(k)];
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) some.images(k, i, j) = all.images(row, i, j);
    some.labels(k) = all.labels(row);
  }
  return some;
}

}  // namespace digits
