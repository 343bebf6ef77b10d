// SPDX-License-Identifier: BSL-1.0
// .npz archives: NumPy's are read, ours are NumPy's byte for byte where they are not compressed, and wrong ones are
// refused with a sentence.
#include <onto/npz.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../catch.hpp"

using namespace onto;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

std::string data(const std::string& name) { return (fs::path(ONTO_TESTS_DIR) / "data" / "npy" / name).string(); }

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A file of this test's own, gone when the test ends.
struct temporary_file {
  std::string path = (fs::temp_directory_path() / ("onto_npz_" + std::to_string(std::random_device{}()))).string();

  temporary_file() = default;
  temporary_file(const temporary_file&) = delete;
  ~temporary_file() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

std::span<const std::byte> as_bytes(const std::string& s) { return std::as_bytes(std::span(s.data(), s.size())); }

const tensor<float, 2, 3> halves{{-1, -0.5, 0}, {0.5, 1, 1.5}};
const tensor<std::int64_t, 4> counts{-3, -2, -1, 0};

void check_several(const npz_file& file) {
  CHECK(file.names() == std::vector<std::string>{"w", "turned", "n", "scalar", "zeros"});
  CHECK(file.load<float, dyn, dyn>("w") == halves);
  CHECK(file.load<float, 2, 3>("turned") == halves);
  CHECK(file.load<std::int64_t, dyn>("n") == counts);
  CHECK(file.load<double>("scalar") == 3.5);
  CHECK(file.load<double, dyn, dyn>("zeros") == tensor<double, 40, 25>());
}

/// What is said about an archive in memory whose array `w` is asked for.
std::string said(const std::string& bytes) {
  try {
    npz_file(as_bytes(bytes)).load<float, dyn, dyn>("w");
  } catch (const invalid_argument_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

/// `bytes` with those at `at` replaced.
std::string with(std::string bytes, std::size_t at, std::string_view by) { return bytes.replace(at, by.size(), by); }

}  // namespace

TEST_CASE("NumPy's archives are read", "[npz]") {
  check_several(npz_file(data("several.npz")));
  const std::string bytes = bytes_of(data("several.npz"));
  check_several(npz_file(as_bytes(bytes)));
  CHECK(load_npz<float, dyn, dyn>(data("archive.npz"), "arr_0") == halves);
}

#if ONTO_HAS_ZLIB
TEST_CASE("NumPy's compressed archives are read", "[npz]") {
  check_several(npz_file(data("compressed.npz")));
  const temporary_file out;
  std::mt19937 random(1);
  tensor<std::uint64_t, dyn> noise({100000});
  for (std::uint64_t& u : noise) u = random();
  save_npz_compressed(out.path,
                      {{"noise", noise}, {"zeros", tensor<double, 300, 1000>()}, {"none", tensor<float, 0>()}});
  CHECK(fs::file_size(out.path) < noise.size() * 8);
  const npz_file back(out.path);
  CHECK(back.load<std::uint64_t, dyn>("noise") == noise);
  CHECK(back.load<double, dyn, dyn>("zeros") == tensor<double, 300, 1000>());
  CHECK(back.load<float, dyn>("none").size() == 0);
}

TEST_CASE("compressed bytes that are wrong are refused", "[npz]") {
  const std::string whole = bytes_of(data("compressed.npz"));
  const std::size_t list = whole.find("PK\1\2"), values = 30 + 5 + 20;
  CHECK_THAT(said(with(whole, values, "\xff\xff\xff")), Contains("the compressed bytes are damaged or cut off"));
  // One that claims more than its bytes can become is given no memory.
  CHECK_THAT(said(with(whole, list + 24, "\xf0\xff\xff\x7f")), Contains("claims 2147483632 bytes and has"));
  CHECK_THAT(said(with(whole, list + 20, std::string("\x10\0", 2))), Contains("damaged or cut off"));
  CHECK_THAT(said(with(whole, list + 16, "abcd")), Contains("the checksum is wrong"));
}
#endif

TEST_CASE("archives are written byte for byte as NumPy writes them", "[npz]") {
  const temporary_file out;
  save_npz(out.path, {{"arr_0", halves}});
  CHECK(bytes_of(out.path) == bytes_of(data("archive.npz")));
  save_npz(out.path, {{"w", tensor_ref<float, 2, 3>(halves)}, {"\xc3\xa4", counts}, {"none", tensor<bool, 0, 2>()}});
  const npz_file back(out.path);
  CHECK(back.load<float, dyn, dyn>("w") == halves);
  CHECK(back.load<std::int64_t, 4>("\xc3\xa4") == counts);
  CHECK(back.load<bool, dyn, 2>("none").size() == 0);
  save_npz(out.path, {});
  CHECK(npz_file(out.path).names().empty());
}

TEST_CASE("vectors, arrays and spans are written as arrays of one axis", "[npz]") {
  const temporary_file out;
  const std::vector<float> v{1, 2};
  const std::array<double, 3> a{3, 4, 5};
  const std::int32_t c[] = {6, 7};
  save_npz(out.path, {{"v", v}, {"a", a}, {"s", std::span(v).subspan(1)}, {"c", c}});
  const npz_file back(out.path);
  CHECK(back.load<float, dyn>("v") == tensor<float, dyn>{1, 2});
  CHECK(back.load<double, 3>("a") == tensor<double, 3>{3, 4, 5});
  CHECK(back.load<float, 1>("s") == tensor<float, 1>{2});
  CHECK(back.load<std::int32_t, dyn>("c") == tensor<std::int32_t, dyn>{6, 7});
}

TEST_CASE("arrays that are not there are not found", "[npz]") {
  const npz_file file(data("several.npz"));
  CHECK_THROWS_AS((file.load<float, dyn>("v")), not_found_error);
  CHECK_THROWS_WITH((file.load<float, dyn>("v")),
                    Contains("there is no array 'v'; the archive has: w, turned, n, scalar, zeros"));
  CHECK_THROWS_AS(npz_file("no_such.npz"), not_found_error);
  CHECK_THROWS_WITH((file.load<double, dyn, dyn>("w")), Contains("several.npz: w.npy: the elements are float ('<f4')"));
  CHECK_THROWS_WITH((file.load<float, 2, 2>("w")), Contains("shape [2, 3] where shape [2, 2]"));
}

TEST_CASE("what cannot be written is refused", "[npz]") {
  const temporary_file out;
  CHECK_THROWS_WITH(save_npz(out.path, {{"w", halves}, {"w", counts}}), Contains("two arrays are named 'w'"));
  CHECK_THROWS_WITH(save_npz(out.path, {{"", halves}}), Contains("has no name"));
  CHECK_FALSE(fs::exists(out.path));
  CHECK_THROWS_AS(save_npz("no/folder.npz", {{"w", halves}}), not_found_error);
  if (fs::exists("/dev/full")) {
    CHECK_THROWS_AS(save_npz("/dev/full", {{"w", halves}}), internal_error);
  } else {
    WARN("skipped: the device that is always full is Linux's");
  }
}

TEST_CASE("archives that are wrong are refused", "[npz]") {
  const std::string whole = bytes_of(data("several.npz"));
  const std::size_t list = whole.find("PK\1\2"), end = whole.find("PK\5\6");
  CHECK(said("") ==
        "[onto.npz] the data: this is not a complete .npz archive: it does not end with a zip archive's list of "
        "entries");
  CHECK_THAT(said(bytes_of(data("f4.npy"))), Contains("not a complete .npz archive"));
  // A comment of any length, of which nothing is cut off.
  CHECK(said(with(whole, end + 20, std::string("\4\0", 2)) + "abcd") == "nothing was thrown");
  CHECK_THAT(said(with(whole, end + 20, std::string("\4\0", 2)) + "abc"), Contains("not a complete .npz archive"));
  CHECK_THAT(said(with(whole, end + 4, "\1")), Contains("parts in other files"));
  CHECK_THAT(said(with(whole, end + 10, "\xff\x7f")), Contains("shorter than it says"));
  CHECK_THAT(said(with(whole, end + 12, "\xff\xff\xff")), Contains("not where it says"));
  CHECK_THAT(said(with(whole, end + 16, "\xff\xff\xff")), Contains("not where it says"));
  CHECK_THAT(said(with(whole, list, "XX")), Contains("its list is cut off"));
  CHECK_THAT(said(with(whole, list + 28, "\xff\xff")), Contains("its list is cut off"));
  CHECK_THAT(said(with(whole, list + 8, "\1")), Contains("the entry is encrypted"));
  CHECK_THAT(said(with(whole, list + 10, "\x0c")), Contains("compressed by method 12"));
  CHECK_THAT(said(with(whole, list + 16, "abcd")), Contains("w.npy: the checksum is wrong"));
  CHECK_THAT(said(with(whole, list + 20, "\1")), Contains("its two lengths differ"));
  CHECK_THAT(said(with(whole, list + 20, "\xff\xff\xff\x7f\xff\xff\xff\x7f")), Contains("cut off in this entry"));
  CHECK_THAT(said(with(whole, list + 42, "\x7f")), Contains("not where the archive's list says"));
  CHECK_THAT(said(with(whole, list + 42, "\xff\xff\xff\x7f")), Contains("cut off in this entry"));
  CHECK_THAT(said(with(whole, whole.find("\x93NUMPY") + 130, "x")), Contains("the checksum is wrong"));
  std::string twice = whole;
  twice.replace(twice.find("n.npy", list), 5, "w.npy");
  CHECK_THAT(said(twice), Contains("two arrays are named 'w'"));
  for (std::size_t n = 0; n < whole.size(); n += 1 + n / 20) CHECK(said(whole.substr(0, n)) != "nothing was thrown");
}

TEST_CASE("archives of more than 4 GiB are read by the numbers of 64 bits", "[npz]") {
  // Entries behind a hole of 5 GiB, which no file system keeps; what a writer of such a file writes.
  const temporary_file out;
  const std::string w = detail::make_npy_header(element::float32, halves.extent_values()) +
                        std::string(reinterpret_cast<const char*>(halves.data()), halves.size() * 4);
  detail::crc32_sum sum;
  sum.add(w.data(), w.size());
  const std::uint64_t hole = std::uint64_t{5} << 30;
  using writer = detail::zip_writer;
  const writer::item item{"w.npy", hole, w.size(), w.size(), sum.value(), false};
  const std::string header = writer::local_header(item), list = writer::list_item(item);
  const std::uint64_t list_at = hole + header.size() + w.size();
  {
    std::ofstream file(out.path, std::ios::binary);
    file.seekp(static_cast<std::streamoff>(hole));
    file << header << w << list << writer::end_record(1, list.size(), list_at);
    REQUIRE(file.good());
  }
  CHECK(load_npz<float, 2, 3>(out.path, "w") == halves);
}

TEST_CASE("checksums are those of zip", "[npz]") {
  detail::crc32_sum whole, parts;
  const std::string_view text = "123456789";
  whole.add(text.data(), text.size());
  CHECK(whole.value() == 0xcbf43926u);
  parts.add(text.data(), 1);
  parts.add(text.data() + 1, 8);
  CHECK(parts.value() == whole.value());
}
