// SPDX-License-Identifier: BSL-1.0
// Mapped .npy files: used where they lie, or refused with a sentence that says why they cannot be.
#include <onto/map_file.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>

#include "../catch.hpp"

using namespace onto;

namespace {

namespace fs = std::filesystem;

std::string data(const std::string& name) { return (fs::path(ONTO_TESTS_DIR) / "data" / "npy" / name).string(); }

/// A file of this test's own, gone when the test ends.
struct file {
  std::string path = (fs::temp_directory_path() / ("onto_map_" + std::to_string(std::random_device{}()))).string();

  file() = default;
  explicit file(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  file(const file&) = delete;
  ~file() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

std::string npy(const std::string& header, const std::string& values) {
  std::string s("\x93NUMPY\1\0", 8);
  s += static_cast<char>(header.size() & 0xff);
  s += static_cast<char>(header.size() >> 8);
  return s + header + values;
}

const tensor<float, 2, 3> halves{{-1, -0.5, 0}, {0.5, 1, 1.5}};

template <class T, int... Dims>
void check_refused(const std::string& path, const std::string& why) {
  INFO(path);
  CHECK_THROWS_AS((load_npy<T, Dims...>(path, map_file)), invalid_argument_error);
  CHECK_THROWS_WITH((load_npy<T, Dims...>(path, map_file)), Catch::Contains(path + ": ") && Catch::Contains(why));
}

}  // namespace

TEST_CASE("a mapped file is what a read one is", "[npy]") {
  for (const char* name : {"f4.npy", "f4_version2.npy", "f4_version3.npy"})
    CHECK(load_npy<float, dyn, dyn>(data(name), map_file) == halves);
  CHECK(load_npy<float, 2, 3>(data("f4.npy"), map_file) == halves);
  CHECK(load_npy<half, dyn, dyn>(data("f2.npy"), map_file) == load_npy<half, dyn, dyn>(data("f2.npy")));
  CHECK(load_npy<double>(data("f8_scalar.npy"), map_file).data()[0] == 3.5);
  CHECK(load_npy<double, dyn, dyn, dyn>(data("f8.npy"), map_file) == load_npy<double, 2, 3, 4>(data("f8.npy")));
  CHECK(load_npy<std::uint8_t, dyn, dyn>(data("u1.npy"), map_file) == load_npy<std::uint8_t, 2, 3>(data("u1.npy")));
  CHECK(load_npy<bool, dyn, dyn>(data("b1.npy"), map_file) == load_npy<bool, 2, 3>(data("b1.npy")));
  CHECK(load_npy<float, dyn, dyn>(data("f4_empty.npy"), map_file).shape() == std::array{0, 3});
}

TEST_CASE("a mapped file is fed where it lies, for as long as somebody has it", "[npy]") {
  constexpr auto x = placeholder<"x", float, dyn, dyn>;
  session sess;
  const file temporary;
  save_npy(temporary.path, halves);
  const auto mapped = load_npy<float, dyn, dyn>(temporary.path, map_file);
  CHECK((x = mapped).data == mapped.data());
  CHECK(sess.run(2 * x, x = mapped) == tensor<float, 2, 3>{{-2, -1, 0}, {1, 2, 3}});
  CHECK(sess.run(mapped + 2 * x, x = mapped) == tensor<float, 2, 3>{{-3, -1.5, 0}, {1.5, 3, 4.5}});
  CHECK(evaluate(max(mapped)) == tensor<float>(1.5f));
  const file copy;
  save_npy(copy.path, mapped);
  CHECK(load_npy<float, 2, 3>(copy.path) == halves);
  fs::remove(temporary.path);  // a file lives on as long as it is mapped
  const auto kept = std::move(mapped);
  CHECK(sess.run(2 * x, x = kept) == tensor<float, 2, 3>{{-2, -1, 0}, {1, 2, 3}});
  CHECK(sess.run(2 * x, x = load_npy<float, dyn, dyn>(data("f4.npy"), map_file)) ==
        tensor<float, 2, 3>{{-2, -1, 0}, {1, 2, 3}});
}

TEST_CASE("what cannot be used where it lies is refused", "[npy]") {
  check_refused<float, dyn, dyn>(data("f4_fortran.npy"), "in Fortran order, column by column");
  check_refused<float, dyn, dyn>(data("f4_big.npy"), "the bytes are in the other order");
  const file odd(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "abcd"));
  check_refused<float, dyn>(odd.path, "which is no multiple of 4; load it without map_file");
  CHECK(load_npy<float, dyn>(odd.path).size() == 1);
  const std::string truths = npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", {'\1', '\2'});
  const file truth(truths);
  check_refused<bool, dyn>(truth.path, "neither 0 nor 1");
  CHECK(load_npy<bool, dyn>(truth.path) == tensor<bool, 2>{true, true});
  // Bytes have no order, and an array of one axis none of its axes.
  const file bytes(npy("{'descr': '>u1', 'fortran_order': True, 'shape': (2,), }", "ab"));
  CHECK(load_npy<std::uint8_t, dyn>(bytes.path, map_file) == tensor<std::uint8_t, 2>{'a', 'b'});
}

TEST_CASE("files that are wrong are refused as load_npy refuses them", "[npy]") {
  CHECK_THROWS_AS((load_npy<float, dyn>("no_such_file.npy", map_file)), not_found_error);
  check_refused<float, dyn>(fs::temp_directory_path().string(), "the file cannot be mapped");
  check_refused<double, dyn, dyn>(data("f4.npy"), "the elements are float ('<f4') where double was asked for");
  check_refused<float, 2, 2>(data("f4.npy"), "shape [2, 3] where shape [2, 2]");
  const file empty("");
  check_refused<float, dyn>(empty.path, "not an .npy file");
  const file cut(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "abcdefg"));
  check_refused<float, dyn>(cut.path, "the file is cut off");
}
