// SPDX-License-Identifier: BSL-1.0
// .npy files: NumPy's are read as they are, ours are NumPy's byte for byte, and wrong ones are refused with a sentence.
#include "../catch.hpp"
#include "../words_of.hpp"

#include <onto/tensor/npy.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace onto;
using onto_test::words_of;

namespace {

namespace fs = std::filesystem;

std::string data(const std::string& name) { return (fs::path(ONTO_TESTS_DIR) / "data" / "npy" / name).string(); }

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A folder of this test's own, gone when the test ends.
struct folder {
  fs::path path = fs::temp_directory_path() / ("onto_npy_" + std::to_string(std::random_device{}()));

  folder() { fs::create_directories(path); }
  folder(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }

  std::string file(const std::string& name) const { return (path / name).string(); }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
};

/// A file in memory: the magic, a version, a header of the length it has or claims, and values.
std::string npy(const std::string& header, const std::string& values = "", int version = 1, std::uint32_t claims = 0) {
  std::string s = "\x93NUMPY";
  s += static_cast<char>(version);
  s += '\0';
  const std::uint32_t length = claims ? claims : static_cast<std::uint32_t>(header.size());
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) s += static_cast<char>(length >> (8 * k) & 0xff);
  return s + header + values;
}

template <class T, int... Dims>
tensor<T, Dims...> parsed(const std::string& bytes) {
  return detail::parse_npy<T, Dims...>(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

/// What is said about a header that is to be a 2 by 2 matrix of float with 16 bytes of values.
std::string said(const std::string& header, int version = 1, std::uint32_t claims = 0) {
  return words_of<invalid_argument_error>(
      [&] { parsed<float, dyn, dyn>(npy(header, std::string(16, '\0'), version, claims)); });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const tensor<float, 2, 3> halves{{-1, -0.5, 0}, {0.5, 1, 1.5}};

}  // namespace

TEST_CASE("NumPy's files are read, whatever their version, order and bytes", "[npy]") {
  for (const char* name : {"f4.npy", "f4_fortran.npy", "f4_big.npy", "f4_version2.npy", "f4_version3.npy"}) {
    INFO(name);
    CHECK(load_npy<float, dyn, dyn>(data(name)) == halves);
    CHECK(load_npy<float, 2, dyn>(data(name)) == halves);
    CHECK(load_npy<float, 2, 3>(data(name)) == halves);
  }
  for (const char* name : {"f2.npy", "f2_fortran_big.npy"})
    CHECK(load_npy<half, dyn, dyn>(data(name)) == tensor<half, 2, 3>{{-1, -0.5, 0}, {0.5, 1, 1.5}});
  CHECK(load_npy<float, dyn>(data("f4_row.npy")) == tensor<float, 5>{-1, -0.5, 0, 0.5, 1});
  CHECK(load_npy<float, dyn, dyn>(data("f4_empty.npy")).shape() == std::array{0, 3});
  CHECK(load_npy<double>(data("f8_scalar.npy")) == 3.5);
  for (const char* name : {"f8.npy", "f8_fortran_big.npy"}) {
    INFO(name);
    const auto t = load_npy<double, dyn, dyn, dyn>(data(name));
    REQUIRE(t.shape() == std::array{2, 3, 4});
    for (std::size_t k = 0; k < 24; ++k) CHECK(t.data()[k] == static_cast<double>(k) / 2 - 1);
  }
  for (const char* name : {"i4.npy", "i4_fortran_big.npy"})
    CHECK(load_npy<std::int32_t, dyn, dyn>(data(name)) == tensor<std::int32_t, 3, 2>{{-3, -2}, {-1, 0}, {1, 2}});
  for (const char* name : {"i8.npy", "i8_big.npy"}) {
    const std::int64_t unit = std::int64_t{1} << 40;
    CHECK(load_npy<std::int64_t, dyn>(data(name)) == tensor<std::int64_t, 4>{-3 * unit, -2 * unit, -unit, 0});
  }
  CHECK(load_npy<std::int8_t, dyn, dyn>(data("i1.npy")) == tensor<std::int8_t, 2, 3>{{-3, -2, -1}, {0, 1, 2}});
  for (const char* name : {"u1.npy", "u1_fortran.npy"})
    CHECK(load_npy<std::uint8_t, dyn, dyn>(data(name)) == tensor<std::uint8_t, 2, 3>{{253, 254, 255}, {0, 1, 2}});
  for (const char* name : {"i2.npy", "i2_big.npy"})
    CHECK(load_npy<std::int16_t, dyn>(data(name)) == tensor<std::int16_t, 4>{-3, -2, -1, 0});
  CHECK(load_npy<std::uint16_t, dyn>(data("u2.npy")) == tensor<std::uint16_t, 4>{65533, 65534, 65535, 0});
  CHECK(load_npy<std::uint32_t, dyn>(data("u4.npy")) == tensor<std::uint32_t, 4>{0u - 3, 0u - 2, 0u - 1, 0});
  CHECK(load_npy<std::uint32_t, 2, 2>(data("u4_fortran_big.npy")) ==
        tensor<std::uint32_t, 2, 2>{{0u - 3, 0u - 2}, {0u - 1, 0}});
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  CHECK(load_npy<std::uint64_t, dyn>(data("u8.npy")) == tensor<std::uint64_t, 4>{most - 2, most - 1, most, 0});
  for (const char* name : {"b1.npy", "b1_fortran.npy"})
    CHECK(load_npy<bool, dyn, dyn>(data(name)) == tensor<bool, 2, 3>{{true, false, true}, {false, true, false}});
}

TEST_CASE("files are written byte for byte as NumPy writes them", "[npy]") {
  const folder temporary;
  const std::string path = temporary.file("out.npy");
  const auto same = [&](const auto& t, const char* name) {
    INFO(name);
    save_npy(path, t);
    CHECK(bytes_of(path) == bytes_of(data(name)));
  };
  same(load_npy<half, dyn, dyn>(data("f2_fortran_big.npy")), "f2.npy");
  same(load_npy<float, dyn, dyn>(data("f4.npy")), "f4.npy");
  same(load_npy<float, dyn, dyn>(data("f4_fortran.npy")), "f4.npy");
  same(load_npy<float, dyn>(data("f4_row.npy")), "f4_row.npy");
  same(load_npy<float, dyn, dyn>(data("f4_empty.npy")), "f4_empty.npy");
  same(load_npy<double, 2, 3, 4>(data("f8_fortran_big.npy")), "f8.npy");
  same(load_npy<double>(data("f8_scalar.npy")), "f8_scalar.npy");
  same(load_npy<std::int32_t, dyn, dyn>(data("i4.npy")), "i4.npy");
  same(load_npy<std::int64_t, dyn>(data("i8.npy")), "i8.npy");
  same(load_npy<std::int8_t, dyn, dyn>(data("i1.npy")), "i1.npy");
  same(load_npy<std::uint8_t, dyn, dyn>(data("u1_fortran.npy")), "u1.npy");
  same(load_npy<std::int16_t, dyn>(data("i2_big.npy")), "i2.npy");
  same(load_npy<std::uint16_t, dyn>(data("u2.npy")), "u2.npy");
  same(load_npy<std::uint32_t, dyn>(data("u4.npy")), "u4.npy");
  same(load_npy<std::uint64_t, dyn>(data("u8.npy")), "u8.npy");
  same(load_npy<bool, dyn, dyn>(data("b1.npy")), "b1.npy");
  same(tensor_ref<float, 2, 3>(halves), "f4.npy");
}

TEST_CASE("what is written is read back", "[npy]") {
  const folder temporary;
  const std::string path = temporary.file("big.npy");
  tensor<double, dyn, dyn> t({700, 900});
  for (std::size_t k = 0; k < t.size(); ++k) t.data()[k] = static_cast<double>(k) * 0.3;
  save_npy(path, t);
  CHECK(load_npy<double, dyn, dyn>(path) == t);
  CHECK(load_npy<double, 700, 900>(path) == t);
  save_npy(path, halves);  // over a longer file
  CHECK(load_npy<float, 2, 3>(path) == halves);
  CHECK(fs::file_size(path) == 128 + 24);
  const tensor<std::int32_t, 1, 1, 1, 1, 1, 1, 1, 1> eight({1, 1, 1, 1, 1, 1, 1, 1});
  const std::vector<float> values{1, 2, 3};
  save_npy(path, values);
  CHECK(load_npy<float, 3>(path) == tensor<float, 3>{1, 2, 3});
  save_npy(path, std::span(values).first(2));
  CHECK(load_npy<float, dyn>(path) == tensor<float, 2>{1, 2});
  save_npy(path, eight);
  CHECK(load_npy<std::int32_t, 1, 1, 1, 1, dyn, dyn, dyn, dyn>(path) == eight);
}

TEST_CASE("headers as other programs write them are read", "[npy]") {
  const std::string values(16, '\0');
  const auto shape_of = [&](const std::string& header) { return parsed<float, dyn, dyn>(npy(header, values)).shape(); };
  const std::array square{2, 2};
  CHECK(shape_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}") == square);
  CHECK(shape_of("{\"shape\":(2,2,),\"fortran_order\":True,\"descr\":\"<f4\"}\n") == square);
  CHECK(shape_of("  {'fortran_order' : False , 'shape' : ( 2L , 2L ) , 'descr' : '=f4' , }  \n") == square);
  CHECK(shape_of("{'descr': 'f4', 'fortran_order': False, 'shape': (2, 2), }") == square);
}

TEST_CASE("a byte of a truth other than 0 is true", "[npy]") {
  const auto t =
      parsed<bool, dyn>(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", {'\0', '\1', '\2', '\xff'}));
  CHECK(t == tensor<bool, 4>{false, true, true, true});
}

TEST_CASE("what follows the values is ignored, as NumPy does", "[npy]") {
  const folder temporary;
  const std::string path = temporary.file("tail.npy", bytes_of(data("f4.npy")) + "and more");
  CHECK(load_npy<float, dyn, dyn>(path) == halves);
}

TEST_CASE("files that are not there are not found", "[npy]") {
  const folder temporary;
  const std::string missing = temporary.file("missing.npy");
  CHECK(words_of<not_found_error>([&] { load_npy<float, dyn>(missing); }) ==
        "[onto.npy] " + missing + ": the file cannot be opened: No such file or directory; check the path");
  CHECK_THROWS_AS((load_npy<float, dyn>(temporary.file("no/folder.npy"))), not_found_error);
  CHECK_THROWS_AS(save_npy(temporary.file("no/folder.npy"), halves), not_found_error);
  CHECK(
      has(words_of<invalid_argument_error>([&] { load_npy<float, dyn>(temporary.path.string()); }), "cannot be read"));
  CHECK(has(words_of<invalid_argument_error>([&] { save_npy(temporary.path.string(), halves); }), "cannot be created"));
}

TEST_CASE("writing that fails is an error", "[npy]") {
  if (!fs::exists("/dev/full")) {
    WARN("skipped: the device that is always full is Linux's");
    return;
  }
  CHECK(has(words_of<internal_error>([] { save_npy("/dev/full", halves); }), "writing failed"));
  const tensor<double, dyn> large({100000});
  CHECK(has(words_of<internal_error>([&] { save_npy("/dev/full", large); }), "the file is not complete"));
}

TEST_CASE("element types must be those of the file", "[npy]") {
  const std::string f4 = data("f4.npy");
  CHECK(words_of<invalid_argument_error>([&] { load_npy<double, dyn, dyn>(f4); }) ==
        "[onto.npy] " + f4 +
            ": the elements are float ('<f4') where double was asked for; ask for float, or convert the array with "
            "astype");
  CHECK(has(words_of<invalid_argument_error>([] { load_npy<std::int64_t, dyn, dyn>(data("i4.npy")); }),
            "int32 ('<i4') where int64"));
  CHECK(has(words_of<invalid_argument_error>([] { load_npy<std::uint16_t, dyn>(data("i2.npy")); }),
            "int16 ('<i2') where uint16"));
  CHECK(has(words_of<invalid_argument_error>([] { load_npy<float, dyn>(data("complex.npy")); }),
            "'<c8', and these can be read: f4, f8, i4, i8, b1, f2, i1, u1, i2, u2, u4, u8; convert"));
  CHECK(has(words_of<invalid_argument_error>([] { load_npy<float, dyn>(data("text.npy")); }), "'<U2'"));
  CHECK(has(words_of<invalid_argument_error>([] { load_npy<float, dyn>(data("object.npy")); }), "Python objects"));
  CHECK(has(words_of<invalid_argument_error>([] { load_npy<float, dyn>(data("structure.npy")); }), "structures"));
}

TEST_CASE("ranks and extents must be those of the file", "[npy]") {
  const std::string f4 = data("f4.npy");
  CHECK(words_of<invalid_argument_error>([&] { load_npy<float, 2, 2>(f4); }) ==
        "[onto.npy] " + f4 +
            ": the array has shape [2, 3] where shape [2, 2] was asked for; ask for the shape of the file, or dyn "
            "where an "
            "extent varies");
  CHECK(has(words_of<invalid_argument_error>([&] { load_npy<float, dyn>(f4); }), "[2, 3] where shape [?]"));
  CHECK_THROWS_AS(load_npy<float>(f4), invalid_argument_error);
  CHECK_THROWS_AS((load_npy<float, dyn, dyn, dyn>(f4)), invalid_argument_error);
}

TEST_CASE("what is no .npy file is refused", "[npy]") {
  const folder temporary;
  const auto refused = [&](const std::string& bytes) {
    const std::string path = temporary.file("wrong.npy", bytes);
    return words_of<invalid_argument_error>([&] { load_npy<float, dyn, dyn>(path); });
  };
  CHECK(has(refused(""), "not an .npy file"));
  CHECK(has(refused("1, 2, 3\n"), "not an .npy file"));
  CHECK(has(refused("\x93NUMPX"), "not an .npy file"));
  CHECK(has(refused(bytes_of(data("archive.npz"))), ".npz archive"));
  CHECK(has(refused(npy("{}", "", 4)), "version is 4.0"));
  CHECK(has(refused(npy("{}", "", 0)), "version is 0.0"));
}

TEST_CASE("a file that is cut off anywhere is refused", "[npy]") {
  const folder temporary;
  const std::string whole = bytes_of(data("f4.npy"));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    INFO("the first " << n << " bytes");
    CHECK_THROWS_AS((parsed<float, dyn, dyn>(whole.substr(0, n))), invalid_argument_error);
    if (n % 16 == 0)
      CHECK_THROWS_AS((load_npy<float, dyn, dyn>(temporary.file("cut.npy", whole.substr(0, n)))),
                      invalid_argument_error);
  }
  const std::string path = temporary.file("cut.npy", whole.substr(0, whole.size() - 1));
  CHECK(words_of<invalid_argument_error>([&] { load_npy<float, dyn, dyn>(path); }) ==
        "[onto.npy] " + path +
            ": the file is cut off: shape [2, 3] of float needs more than the 23 bytes that follow the "
            "header");
}

TEST_CASE("headers that lie are refused before memory is taken", "[npy]") {
  CHECK(has(said("{'descr': '<f4', 'fortran_order': False, 'shape': (2147483647, 2147483647), }"), "cut off"));
  CHECK(has(said("{'descr': '<f4', 'fortran_order': False, 'shape': (65536, 65536), }"), "cut off"));
  CHECK(has(said("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
            "more than 2147483647"));
  CHECK(has(said("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999999, 0), }"),
            "more than 2147483647"));
  CHECK(has(said("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -2), }"), "extent 0 of the shape is -2"));
  CHECK(has(said("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }"), "more than 8"));
  CHECK(has(said("{", 2, 0xffffffffu), "claims 4294967295 bytes"));
  CHECK(has(said("{", 3, 1u << 20), "at most 10000"));
  CHECK(has(said("{", 1, 9000), "cut off in its header"));
  // Extents beside a zero do not multiply to anything.
  CHECK(parsed<float, dyn, dyn, dyn>(
            npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2147483647, 2147483647, 0), }"))
            .size() == 0);
}

TEST_CASE("headers that are malformed are refused", "[npy]") {
  for (const char* header : {
           "",
           "{",
           "}",
           "[]",
           "{}",
           "{'descr'}",
           "{'descr': }",
           "{'descr': '<f4'}",
           "{'descr': '<f4, 'fortran_order': False, 'shape': (2, 2), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), ",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), } x",
           "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 2), }",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), }",
           "{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (2, 2), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 2], }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2 2), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (4), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, , 2), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (,), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0, 2), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), 'more': 1, }",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }",
           "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2, 2), }",
       }) {
    INFO(header);
    CHECK(has(said(header), "the header is malformed"));
  }
  CHECK(has(said("{'descr': '', 'fortran_order': False, 'shape': (2, 2), }"), "element type is ''"));
  CHECK(has(said("{'descr': '<<f4', 'fortran_order': False, 'shape': (2, 2), }"), "'<<f4'"));
  CHECK(has(said("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" + std::string(1, '\0')),
            "follows its '}'"));
}

TEST_CASE("the program of docs/reference/tensor.md", "[npy]") {
  const folder temporary;
  const std::string path = temporary.file("a.npy");
  // [tensors]
  tensor<float, dyn, dyn> zeros({2, 3});  // parentheses and extents: zeros of that shape
  tensor<float, 2, 2> a{{1, 2}, {3, 4}};  // braces: values
  tensor<float, dyn> row{1, 2, 3};        // dyn: the extent is known at run time
  tensor<float, dyn, dyn> open = a;       // forgetting extents is implicit
  tensor<float, 2, 2> known(open);        // learning them is explicit, and checked
  float m[2][2] = {{5, 6}, {7, 8}};
  tensor_ref<float, 2, 2> seen = m;    // refers to m, copies nothing
  zeros(1, 2) = a(0, 1) + seen(1, 0);  // 9
  save_npy(path, zeros);
  auto back = load_npy<float, dyn, 3>(path);
  // [/tensors]
  CHECK(back(1, 2) == 9.0f);
  CHECK(row.size() == 3);
  CHECK(known == a);
}
