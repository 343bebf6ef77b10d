// SPDX-License-Identifier: BSL-1.0
// Pictures: PGM and PPM files are read and written, and wrong ones are refused with a sentence.
#include <onto/image.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "../catch.hpp"

using namespace onto;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;
using grey = tensor<std::uint8_t, dyn, dyn>;
using color = tensor<std::uint8_t, dyn, dyn, 3>;

/// A file of this test's own, gone when the test ends.
struct temporary_file {
  std::string path = (fs::temp_directory_path() / ("onto_image_" + std::to_string(std::random_device{}()))).string();

  temporary_file() = default;
  explicit temporary_file(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  temporary_file(const temporary_file&) = delete;
  ~temporary_file() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

const grey steps{{0, 1, 2}, {253, 254, 255}};
const color rainbow{{{255, 0, 0}, {0, 255, 0}}, {{0, 0, 255}, {1, 2, 3}}, {{10, 35, 32}, {9, 13, 12}}};

std::string said(const std::string& bytes) {
  try {
    detail::parse_image<>(bytes);
  } catch (const invalid_argument_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("pictures are written and read back", "[image]") {
  const temporary_file file;
  save_pgm(file.path, steps);
  CHECK(bytes_of(file.path) == std::string("P5\n3 2\n255\n\0\1\2\xfd\xfe\xff", 17));
  CHECK(load_pgm(file.path) == steps);
  save_ppm(file.path, rainbow);
  CHECK(bytes_of(file.path).substr(0, 14) == "P6\n2 3\n255\n\xff" + std::string(2, '\0'));
  CHECK(load_ppm(file.path) == rainbow);
  save_pgm(file.path, tensor<std::uint8_t, 2, 2>{{1, 2}, {3, 4}});
  CHECK(load_pgm(file.path) == tensor<std::uint8_t, 2, 2>{{1, 2}, {3, 4}});
  save_pgm(file.path, tensor<std::uint8_t, 0, 5>());
  CHECK(load_pgm(file.path).shape() == std::array{0, 5});
}

TEST_CASE("pictures of other programs are read", "[image]") {
  CHECK(detail::parse_image<>("P2 # grey\n# by hand\n3 2 #\n255\n0 1 2\n253\t254 # last\n255") == steps);
  CHECK(detail::parse_image<3>("P3\n1 2\n255\n1 2 3 4 5 6\n") == color{{{1, 2, 3}}, {{4, 5, 6}}});
  CHECK(detail::parse_image<>("P5 3#w\r2\t255 \1\2\3\4\5\6 and more") == grey{{1, 2, 3}, {4, 5, 6}});
  CHECK(detail::parse_image<>("P5 2 1 255\n##") == grey{{'#', '#'}});  // values, no comment
  // White is what the header says.
  CHECK(detail::parse_image<>("P2 4 1 15 0 1 14 15") == grey{{0, 17, 238, 255}});
  CHECK(detail::parse_image<>("P2 3 1 9 4 5 6") == grey{{113, 142, 170}});
  CHECK(detail::parse_image<>(std::string("P5 2 1 1\n\0\1", 11)) == grey{{0, 255}});
}

TEST_CASE("what is no such picture is refused", "[image]") {
  CHECK(said("") ==
        "[onto.image] the data: this is no PGM or PPM file: it does not begin with P2, P3, P5 or P6; convert "
        "the picture to one");
  CHECK_THAT(said("\x89PNG\r\n"), Contains("no PGM or PPM file"));
  CHECK_THAT(said("P4 8 1 \xff"), Contains("no PGM or PPM file"));
  CHECK_THAT(said("P6 1 1 255 abc"), Contains("the picture has colors; load it with load_ppm"));
  CHECK_THROWS_WITH(detail::parse_image<3>("P5 1 1 255 a"), Contains("the picture is grey; load it with load_pgm"));
  CHECK_THROWS_WITH(load_pgm("no_such.pgm"), Contains("[onto.image] no_such.pgm: the file cannot be opened"));
  CHECK_THROWS_AS(load_ppm("no_such.ppm"), not_found_error);
  CHECK_THROWS_AS(load_pgm(fs::temp_directory_path().string()), invalid_argument_error);
  CHECK_THROWS_AS(save_pgm("no/folder.pgm", steps), not_found_error);
  if (fs::exists("/dev/full")) {
    CHECK_THROWS_AS(save_pgm("/dev/full", steps), internal_error);
  } else {
    WARN("skipped: the device that is always full is Linux's");
  }
}

TEST_CASE("pictures that lie or are cut off are refused before memory is taken", "[image]") {
  CHECK(said("P5 3 2 255 abcde") ==
        "[onto.image] the data: the file is cut off: 3 by 2 pixels need more than the 5 bytes that follow the header");
  CHECK_THAT(said("P5 2147483647 2147483647 255 abc"), Contains("is cut off"));
  CHECK_THAT(said("P2 2147483647 2147483647 255 1 2 3"), Contains("is cut off"));
  CHECK_THAT(said("P2 4 1 255 1 2 3"), Contains("4 by 1 pixels need more than the 5 bytes"));
  CHECK_THAT(said("P5 2147483648 1 255 a"), Contains("the width at byte 3 is more than 2147483647"));
  CHECK_THAT(said("P5 99999999999999999999999999 1 255 a"), Contains("is more than 2147483647"));
  CHECK_THAT(said("P5 1 1 65535 ab"), Contains("the greatest value at byte 7 is more than 255"));
  CHECK_THAT(said("P5 1 1 0 a"), Contains("the greatest value is 0"));
  CHECK_THAT(said("P5 1 1 255"), Contains("cut off, or malformed, after its header"));
  CHECK_THAT(said("P5 1 1 255a"), Contains("cut off, or malformed, after its header"));
  CHECK_THAT(said("P5 1 -1 255 a"), Contains("malformed: there is no height"));
  CHECK_THAT(said("P5 1 #"), Contains("cut off: there is no height"));
  CHECK_THAT(said("P2 2 1 255 1 "), Contains("cut off: there is no value"));
  CHECK_THAT(said("P2 2 1 255 1 x"), Contains("malformed: there is no value"));
  CHECK_THAT(said("P2 1 1 255 256"), Contains("the value at byte 11 is more than 255"));
  CHECK_THAT(said("P2 1 1 9 10"), Contains("is more than 9"));
  CHECK_THAT(said("P5 2 1 9 \1\x0a"), Contains("value 1 is 10 where the header says at most 9"));
}
