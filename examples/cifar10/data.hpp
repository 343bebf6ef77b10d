// SPDX-License-Identifier: BSL-1.0
// CIFAR-10: its binary files read and checked, a generated set of the same format for machines that have no files, and
// what is done to the pictures on the CPU before a step sees them.
#pragma once

#include <onto/onto.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace cifar10 {

constexpr int classes = 10, side = 32, crop = 24, channels = 3;
constexpr std::size_t plane = side * side, record = 1 + channels * plane;
constexpr int pictures_per_file = 10000;

/// Pictures with their channels last, as convolutions of this library take them, and their classes.
struct examples {
  onto::tensor<std::uint8_t, onto::dyn, side, side, channels> images;
  onto::tensor<std::int32_t, onto::dyn> labels;
};

/// Reads files of records: a class, then the picture's red, green and blue, row by row.
/// *Throws* `onto::not_found_error` where one is not there, `onto::invalid_argument_error` where one is not as it
/// should be. *Source* https://www.cs.toronto.edu/~kriz/cifar.html
inline examples read(const std::vector<std::string>& files) {
  std::vector<char> all;
  for (const std::string& file : files) {
    const auto wrong = [&](const std::string& what) { throw onto::invalid_argument_error(file + ": " + what); };
    std::error_code unknown;
    const auto size = std::filesystem::file_size(file, unknown);
    std::ifstream in(file, std::ios::binary);
    if (unknown || !in)
      throw onto::not_found_error(
          file + " is not there; unpack cifar-10-binary.tar.gz, and name its folder cifar-10-batches-bin");
    if (size == 0) wrong("the file is empty; unpack it once more");
    if (size % record != 0)
      wrong(size % (record + 1) == 0
                ? "its records have " + std::to_string(record + 1) + " bytes, as those of CIFAR-100; take CIFAR-10"
                : "it has " + std::to_string(size) + " bytes, and records have " + std::to_string(record) +
                      "; it was cut off, or is no binary file of CIFAR-10");
    if (size / record > pictures_per_file) wrong("it has more than 10000 pictures; it is no file of CIFAR-10");
    const std::size_t before = all.size();
    all.resize(before + size);
    in.read(all.data() + before, static_cast<std::streamsize>(size));
    if (!in) wrong("it could not be read to its end");
    for (std::size_t at = before; at < all.size(); at += record)
      if (static_cast<unsigned char>(all[at]) >= classes)
        wrong("picture " + std::to_string((at - before) / record) + " is of class " +
              std::to_string(static_cast<unsigned char>(all[at])) +
              "; classes are 0 to 9. It is no binary file of CIFAR-10");
  }
  const auto count = static_cast<int>(all.size() / record);
  examples e{onto::tensor<std::uint8_t, onto::dyn, side, side, channels>({count, side, side, channels}),
             onto::tensor<std::int32_t, onto::dyn>({count})};
  for (std::size_t n = 0; n < static_cast<std::size_t>(count); ++n) {
    const char* const from = all.data() + n * record;
    e.labels(static_cast<int>(n)) = from[0];
    std::uint8_t* const to = e.images.data() + n * plane * channels;
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t p = 0; p < plane; ++p) to[p * channels + c] = static_cast<std::uint8_t>(from[1 + c * plane + p]);
  }
  return e;
}

inline std::vector<std::string> training_files(const std::string& folder) {
  std::vector<std::string> files;
  for (int k = 1; k <= 5; ++k) files.push_back(folder + "/data_batch_" + std::to_string(k) + ".bin");
  return files;
}
inline std::string test_file(const std::string& folder) { return folder + "/test_batch.bin"; }

/// A number from 0 to below 1 for each `key` and `draw`. *Source* G. L. Steele et al., SplitMix64, OOPSLA 2014.
inline double uniform(std::uint64_t key, std::uint64_t draw) {
  std::uint64_t z = key * 0xd1342543de82ef95u + (draw + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// Writes a file of the format with pictures that can be told apart: stripes whose direction, width and colour are
/// those of the class, moved, dimmed and with noise.
inline void write_generated(const std::string& file, int count, std::uint64_t seed) {
  std::vector<char> all(static_cast<std::size_t>(count) * record);
  for (int n = 0; n < count; ++n) {
    const std::uint64_t key = seed * 0x10001u + static_cast<std::uint64_t>(n);
    const int label = static_cast<int>(uniform(key, 0) * classes);
    const double angle = 3.141592653589793 * label / classes, phase = 6.283185307179586 * uniform(key, 1);
    const double light = 60 + 60 * uniform(key, 2), width = 0.5 + 0.08 * (label % 3);
    char* const to = all.data() + static_cast<std::size_t>(n) * record;
    to[0] = static_cast<char>(label);
    for (std::size_t p = 0; p < plane; ++p) {
      const double along =
          std::cos(angle) * static_cast<double>(p % side) + std::sin(angle) * static_cast<double>(p / side);
      const double wave = std::sin(width * along + phase);
      for (std::size_t c = 0; c < channels; ++c) {
        const double tint = static_cast<std::size_t>(label) % channels == c ? 1 : 0.6;
        const double value = light + 70 * tint * wave + 60 * (uniform(key, 3 + p * channels + c) - 0.5) + 60;
        to[1 + c * plane + p] = static_cast<char>(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
      }
    }
  }
  std::ofstream out(file, std::ios::binary);
  out.write(all.data(), static_cast<std::streamsize>(all.size()));
  if (!out.flush()) throw onto::invalid_argument_error(file + " cannot be written; name a folder that can");
}

/// Pictures as a step takes them.
using prepared = onto::tensor<float, onto::dyn, crop, crop, channels>;
using pictures = onto::tensor_ref<std::uint8_t, onto::dyn, side, side, channels>;

namespace detail {

/// A part of a picture, perhaps mirrored, brighter and of another contrast; then with mean 0 and variance 1.
struct view_of_picture {
  int top = (side - crop) / 2, left = (side - crop) / 2;
  bool mirrored = false;
  float brighter = 0, contrast = 1;

  void write(const std::uint8_t* from, float* to) const {
    constexpr int values = crop * crop * channels;
    float mean[channels] = {};
    for (int i = 0; i < crop; ++i)
      for (int j = 0; j < crop; ++j)
        for (int c = 0; c < channels; ++c) {
          const int column = left + (mirrored ? crop - 1 - j : j);
          const float v = static_cast<float>(from[((top + i) * side + column) * channels + c]) + brighter;
          to[(i * crop + j) * channels + c] = v;
          mean[c] += v / (crop * crop);
        }
    double sum = 0, squares = 0;
    for (int k = 0; k < values; ++k) {
      to[k] = (to[k] - mean[k % channels]) * contrast + mean[k % channels];
      sum += static_cast<double>(to[k]);
    }
    const double middle = sum / values;
    for (int k = 0; k < values; ++k)
      squares += (static_cast<double>(to[k]) - middle) * (static_cast<double>(to[k]) - middle);
    // A picture of one colour has no variance; as the tutorial has it, it is divided by as much as one of few values.
    const double scale = std::max(std::sqrt(squares / values), 1 / std::sqrt(static_cast<double>(values)));
    for (int k = 0; k < values; ++k) to[k] = static_cast<float>((static_cast<double>(to[k]) - middle) / scale);
  }
};

template <class View>
prepared each(const pictures& images, View view) {
  prepared out({images.shape()[0], crop, crop, channels});
  for (int n = 0; n < images.shape()[0]; ++n) view(n).write(&images(n, 0, 0, 0), &out(n, 0, 0, 0));
  return out;
}

}  // namespace detail

/// The middle of every picture with mean 0 and variance 1, as a network is tested.
inline prepared central(const pictures& images) {
  return detail::each(images, [](int) { return detail::view_of_picture{}; });
}

/// The tutorial's changes for training: a part of 24 by 24 anywhere, mirrored or not, up to 63 darker or brighter,
/// contrast times 0.2 to 1.8; then mean 0 and variance 1. A function of the pictures, the seed, the batch's number and
/// the place of the first of these pictures in it.
inline prepared augmented(const pictures& images, std::uint64_t seed, std::int64_t number, int first = 0) {
  return detail::each(images, [&](int n) {
    const std::uint64_t key =
        (seed << 40) + static_cast<std::uint64_t>(number) * 65536u + static_cast<std::uint64_t>(first + n);
    detail::view_of_picture v;
    v.top = static_cast<int>(uniform(key, 0) * (side - crop + 1));
    v.left = static_cast<int>(uniform(key, 1) * (side - crop + 1));
    v.mirrored = uniform(key, 2) < 0.5;
    v.brighter = static_cast<float>(126 * uniform(key, 3) - 63);
    v.contrast = static_cast<float>(0.2 + 1.6 * uniform(key, 4));
    return v;
  });
}

}  // namespace cifar10
