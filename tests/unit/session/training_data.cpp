// SPDX-License-Identifier: BSL-1.0
// The data of the examples that train: the digits and their folds; CIFAR-10's files, read, generated and changed on
// their way into a step.
#include <onto/batches.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../../../examples/cifar10/data.hpp"
#include "../../../examples/digits.hpp"
#include "../catch.hpp"

using namespace onto;

namespace {

namespace fs = std::filesystem;

/// A folder of its own, which goes with what is in it.
struct folder {
  fs::path path = fs::temp_directory_path() / ("onto_training_data_" + std::to_string(::getpid()));
  folder() { fs::create_directory(path); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const onto::error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

}  // namespace

TEST_CASE("the digits are those of scikit-learn", "[training_data]") {
  const auto all = digits::load(ONTO_TESTS_DIR "/../examples/data/digits");
  REQUIRE(all.images.shape()[0] == 1797);
  long ink = 0, order = 0;
  int most = 0;
  for (const auto v : all.images) {
    ink += v;
    most = std::max<int>(most, v);
  }
  for (int k = 0; k < 1797; ++k) order += static_cast<long>(k) * all.labels(k);
  // Sums that numpy has of load_digits().
  CHECK(ink == 561718);
  CHECK(order == 7264791);
  CHECK(most == 16);
  CHECK(refusal([] { digits::load("/nowhere"); }).find("/nowhere/images.npy") != std::string::npos);
  const folder here;
  save_npy(here / "images.npy", tensor<std::uint8_t, 2, 8, 8>());
  save_npy(here / "labels.npy", tensor<std::uint8_t, 3>());
  CHECK(refusal([&] { digits::load(here.path.string()); }).find("different numbers of rows") != std::string::npos);
  save_npy(here / "labels.npy", tensor<std::uint8_t, 2>{9, 10});
  CHECK(refusal([&] { digits::load(here.path.string()); }).find("row 1 is 10; a digit is 0 to 9") != std::string::npos);
}

TEST_CASE("folds have every row once and every class alike", "[training_data]") {
  const auto all = digits::load(ONTO_TESTS_DIR "/../examples/data/digits");
  const auto folds = digits::stratified_folds(all.labels, 5, 2026);
  std::set<int> tested;
  std::map<int, int> least, most;
  for (const auto& f : folds) {
    CHECK((f.test.size() == 359 || f.test.size() == 360));
    CHECK(f.test.size() + f.train.size() == 1797);
    tested.insert(f.test.begin(), f.test.end());
    std::set<int> rows(f.train.begin(), f.train.end());
    rows.insert(f.test.begin(), f.test.end());
    CHECK(rows.size() == 1797);
    std::map<int, int> of;
    for (const int row : f.test) ++of[all.labels(row)];
    for (int c = 0; c < 10; ++c) {
      least[c] = least.contains(c) ? std::min(least[c], of[c]) : of[c];
      most[c] = std::max(most[c], of[c]);
    }
  }
  CHECK(tested.size() == 1797);
  for (int c = 0; c < 10; ++c) CHECK(most[c] - least[c] <= 1);
  CHECK(digits::stratified_folds(all.labels, 5, 2026)[3].test == folds[3].test);
  CHECK(digits::stratified_folds(all.labels, 5, 2027)[3].test != folds[3].test);
  // Neighbours, who are of one writer, do not stay together.
  int together = 0;
  for (const auto& f : folds) {
    const std::set<int> rows(f.test.begin(), f.test.end());
    for (const int row : f.test) together += rows.contains(row + 1) ? 1 : 0;
  }
  CHECK(together < 1797 / 3);

  const auto some = digits::rows_of(all, {5, 1796});
  CHECK(some.labels(1) == all.labels(1796));
  CHECK(std::equal(some.images.data(), some.images.data() + 64, all.images.data() + 5 * 64));
}

TEST_CASE("files of CIFAR-10 are read, and wrong ones refused with a sentence", "[training_data]") {
  const folder here;
  // Two pictures whose values say where they are: channel 100, row and column.
  std::string bytes;
  for (int n = 0; n < 2; ++n) {
    bytes += static_cast<char>(n ? 9 : 3);
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 32; ++i)
        for (int j = 0; j < 32; ++j) bytes += static_cast<char>((n * 7 + c * 100 + i * 3 + j) % 256);
  }
  write(here / "a.bin", bytes);
  write(here / "b.bin", bytes.substr(0, cifar10::record));
  const auto e = cifar10::read({here / "a.bin", here / "b.bin"});
  CHECK(e.labels == tensor<std::int32_t, dyn>{3, 9, 3});
  for (int n = 0; n < 3; ++n)
    for (const int c : {0, 2})
      for (const int i : {0, 31})
        for (const int j : {0, 1, 31}) CHECK(e.images(n, i, j, c) == (n % 2 * 7 + c * 100 + i * 3 + j) % 256);

  const auto said = [&](const std::string& text) {
    write(here / "c.bin", text);
    return refusal([&] { cifar10::read({here / "a.bin", here / "c.bin"}); });
  };
  const std::string file = here / "c.bin";
  CHECK(said("") == file + ": the file is empty; unpack it once more");
  CHECK(said(bytes.substr(1)) ==
        file + ": it has 6145 bytes, and records have 3073; it was cut off, or is no binary file of CIFAR-10");
  CHECK(said(std::string(3074, '\0')) == file + ": its records have 3074 bytes, as those of CIFAR-100; take CIFAR-10");
  std::string class_ten = bytes;
  class_ten[cifar10::record] = 10;
  CHECK(said(class_ten) == file + ": picture 1 is of class 10; classes are 0 to 9. It is no binary file of CIFAR-10");
  CHECK(said(std::string(10001 * cifar10::record, '\0')) ==
        file + ": it has more than 10000 pictures; it is no file of CIFAR-10");
  CHECK(refusal([&] {
          cifar10::read(cifar10::training_files(here.path.string()));
        }).find("data_batch_1.bin is not there; unpack cifar-10-binary.tar.gz") != std::string::npos);
}

TEST_CASE("a generated set has CIFAR-10's format, and classes that can be told apart", "[training_data]") {
  const folder here;
  cifar10::write_generated(here / "a.bin", 300, 1);
  cifar10::write_generated(here / "b.bin", 300, 1);
  cifar10::write_generated(here / "c.bin", 300, 2);
  const auto bytes = [&](const char* name) {
    std::ifstream in(here / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  CHECK(bytes("a.bin").size() == 300 * cifar10::record);
  CHECK(bytes("a.bin") == bytes("b.bin"));
  CHECK(bytes("a.bin") != bytes("c.bin"));
  const auto e = cifar10::read({here / "a.bin"}), other = cifar10::read({here / "c.bin"});
  std::set<int> seen(e.labels.begin(), e.labels.end());
  CHECK(seen.size() == 10);
  // The nearest mean of amplitudes knows more than chance, and not everything: frequencies say the class, phases hide
  // it.
  const auto spectrum = [](const auto& set, int n) {
    std::vector<double> power;
    for (int a = 0; a < 10; ++a) {
      double re = 0, im = 0;
      for (int i = 0; i < 32; ++i)
        for (int j = 0; j < 32; ++j) {
          const double at = (0.5 + 0.08 * (a % 3)) *
                            (std::cos(3.14159265358979 * a / 10) * j + std::sin(3.14159265358979 * a / 10) * i);
          re += std::cos(at) * set.images(n, i, j, 0);
          im += std::sin(at) * set.images(n, i, j, 0);
        }
      power.push_back(re * re + im * im);
    }
    return std::max_element(power.begin(), power.end()) - power.begin();
  };
  int right = 0;
  for (int n = 0; n < 100; ++n) right += spectrum(other, n) == other.labels(n);
  CHECK(right > 60);
}

TEST_CASE("pictures are cropped, mirrored and made brighter, as a number says", "[training_data]") {
  // Value 4 * column + 1 in every channel: a crop is a ramp, whose slope and sign can be read.
  tensor<std::uint8_t, dyn, 32, 32, 3> images({64, 32, 32, 3});
  for (int n = 0; n < 64; ++n)
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < 32; ++j)
        for (int c = 0; c < 3; ++c) images(n, i, j, c) = static_cast<std::uint8_t>(4 * j + i);

  const auto middle = cifar10::central(cifar10::pictures(images));
  double sum = 0, squares = 0;
  for (int k = 0; k < 24 * 24 * 3; ++k) {
    const double v = static_cast<double>(middle.data()[k]);
    sum += v;
    squares += v * v;
  }
  CHECK(std::abs(sum / 1728) < 1e-5);
  CHECK(std::abs(squares / 1728 - 1) < 1e-4);
  // (v - mean) / deviation of the values 4 * (4 + j) + 4 + i, by hand: 16 and 1 times the variance of 0 to 23, which is
  // 575 / 12.
  const double deviation = std::sqrt(17 * 575.0 / 12);
  CHECK(std::abs(static_cast<double>(middle(0, 0, 0, 0)) - (-4 * 11.5 - 11.5) / deviation) < 1e-5);
  CHECK(std::abs(static_cast<double>(middle(63, 23, 0, 2)) - (-4 * 11.5 + 11.5) / deviation) < 1e-5);

  const auto a = cifar10::augmented(cifar10::pictures(images), 1, 5);
  CHECK(a == cifar10::augmented(cifar10::pictures(images), 1, 5));
  CHECK(!(a == cifar10::augmented(cifar10::pictures(images), 1, 6)));
  CHECK(!(a == cifar10::augmented(cifar10::pictures(images), 2, 5)));
  int mirrored = 0;
  for (int n = 0; n < 64; ++n) {
    // What is done to all values alike is gone once they have mean 0 and variance 1; the sides are not.
    mirrored += a(n, 0, 0, 0) > a(n, 0, 23, 0) ? 1 : 0;
    for (const int j : {0, 7, 23}) {
      const int column = a(n, 0, 0, 0) > a(n, 0, 23, 0) ? 23 - j : j;
      CHECK(std::abs(a(n, 9, j, 1) - middle(n, 9, column, 1)) < 1e-4f);
    }
  }
  CHECK(mirrored > 15);
  CHECK(mirrored < 49);

  // Where a crop begins, and how much brighter it is, shows beside a white corner.
  for (int n = 0; n < 64; ++n) images(n, 16, 16, 0) = 255;
  std::set<int> rows, columns;
  const auto cropped = cifar10::augmented(cifar10::pictures(images), 3, 0);
  for (int n = 0; n < 64; ++n)
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j)
        if (cropped(n, i, j, 0) - cropped(n, i, j, 1) > 1) {
          rows.insert(16 - i);
          columns.insert(j);
        }
  CHECK(rows == std::set<int>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(columns == std::set<int>{7, 8, 9, 10, 11, 12, 13, 14, 15, 16});  // 16 - left, or mirrored 7 + left

  // A picture of one colour has no variance.
  std::fill(images.data(), images.data() + images.size(), std::uint8_t{77});
  float most = 0;
  for (const float v : cifar10::augmented(cifar10::pictures(images), 1, 1)) most = std::max(most, std::abs(v));
  CHECK(most < 1e-2f);

  // Ahead of a step, by a thread.
  const std::vector<std::int32_t> labels(64, 1);
  batches data(std::tie(images, labels), 16, {.shuffle = 1}, [](std::int64_t number, const auto& x, const auto& y) {
    return std::pair(cifar10::augmented(x, 1, number), y);
  });
  int count = 0;
  for (const auto& [x, y] : data) count += x.shape()[0] * y(0);
  CHECK(count == 64);
}
