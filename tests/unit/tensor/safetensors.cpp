// SPDX-License-Identifier: BSL-1.0
// safetensors files: those of the Python package are read, ours are its byte for byte, wrong ones are refused with a
// sentence, and a file that is written is there whole or as it was before.
#include <onto/safetensors.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

namespace fs = std::filesystem;

std::string data(const std::string& name) {
  return (fs::path(ONTO_TESTS_DIR) / "data" / "safetensors" / name).string();
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A folder of its own, which goes with what is in it.
struct folder {
  fs::path path = fs::temp_directory_path() / ("onto_safetensors_" + std::to_string(::getpid()));
  folder() { fs::create_directory(path); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
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

/// A file of a header and `zeros` bytes of values.
std::string file_of(const std::string& header, std::size_t zeros = 0) {
  std::string s;
  for (int k = 0; k < 8; ++k) s += static_cast<char>(header.size() >> (8 * k) & 255);
  return s + header + std::string(zeros, '\0');
}
std::string opened(const std::string& bytes) {
  return refusal([&] { safetensors_file file(std::as_bytes(std::span(bytes))); });
}

template <class T>
tensor<T, 2, 3> counted() {
  tensor<T, 2, 3> t;
  for (int k = 0; k < 6; ++k)
    t(k / 3, k % 3) =
        std::is_same_v<T, bool> ? static_cast<T>(k % 2 == 0) : static_cast<T>(static_cast<T>(k) - static_cast<T>(1));
  return t;
}

template <class T>
void expect_counted(const safetensors_file& file, const char* name) {
  INFO(name);
  CHECK(file.load<T, dyn, dyn>(name) == counted<T>());
}

}  // namespace

TEST_CASE("every element type is read from, and written as, the Python package's file", "[safetensors]") {
  const folder here;
  const safetensors_file file(data("types.safetensors"));
  expect_counted<float>(file, "f4");
  expect_counted<double>(file, "f8");
  expect_counted<half>(file, "f2");
  expect_counted<bfloat16>(file, "bf2");
  expect_counted<std::int8_t>(file, "i1");
  expect_counted<std::int16_t>(file, "i2");
  expect_counted<std::int32_t>(file, "i4");
  expect_counted<std::int64_t>(file, "i8");
  expect_counted<std::uint8_t>(file, "u1");
  expect_counted<std::uint16_t>(file, "u2");
  expect_counted<std::uint32_t>(file, "u4");
  expect_counted<std::uint64_t>(file, "u8");
  expect_counted<bool>(file, "b1");
  save_safetensors(here / "a", {{"u8", counted<std::uint64_t>()},
                                {"f8", counted<double>()},
                                {"b1", counted<bool>()},
                                {"f4", counted<float>()},
                                {"f2", counted<half>()},
                                {"i1", counted<std::int8_t>()},
                                {"i2", counted<std::int16_t>()},
                                {"bf2", counted<bfloat16>()},
                                {"i4", counted<std::int32_t>()},
                                {"u2", counted<std::uint16_t>()},
                                {"i8", counted<std::int64_t>()},
                                {"u4", counted<std::uint32_t>()},
                                {"u1", counted<std::uint8_t>()}});
  CHECK(bytes_of(here / "a") == bytes_of(data("types.safetensors")));
}

TEST_CASE("shapes, names and notes are as the Python package has them", "[safetensors]") {
  const folder here;
  const tensor<float, 4> z{-1, 0, 1, 2};
  const tensor<float, 1, 2, 3> a{{{-1, 0, 1}, {2, 3, 4}}};
  save_safetensors(here / "shapes", {{"a", a},
                                     {"none", tensor<float, 0, 3>()},
                                     {"b", tensor<std::uint8_t, 3>{255, 0, 1}},
                                     {"scalar", tensor<std::int64_t>{-1}},
                                     {"Z", tensor_ref<float, dyn>(z)}});
  CHECK(bytes_of(here / "shapes") == bytes_of(data("shapes.safetensors")));
  CHECK(load_safetensors<float, 1, 2, 3>(data("shapes.safetensors"), "a") == a);
  CHECK(load_safetensors<std::int64_t>(data("shapes.safetensors"), "scalar") == -1);
  CHECK(load_safetensors<float, dyn, 3>(data("shapes.safetensors"), "none").shape()[0] == 0);

  const std::array<std::string, 6> names{
      "", "w/adam_m", "quote\" back\\ slash/", "\n\t\r\b\f\x01\x1f\x7f", "gr\u00f6\u00dfe \u2211 \U0001f600", "w"};
  const auto number = [](int k) { return tensor<std::int32_t, 1>{k}; };
  save_safetensors(here / "names", {{names[5], number(5)},
                                    {names[4], number(4)},
                                    {names[3], number(3)},
                                    {names[2], number(2)},
                                    {names[1], number(1)},
                                    {names[0], number(0)}});
  CHECK(bytes_of(here / "names") == bytes_of(data("names.safetensors")));
  const safetensors_file named(data("names.safetensors"));
  for (int k = 0; k < 6; ++k) CHECK(named.load<std::int32_t, 1>(names[static_cast<std::size_t>(k)])(0) == k);

  save_safetensors(here / "empty", {});
  CHECK(bytes_of(here / "empty") == bytes_of(data("empty.safetensors")));
  CHECK(safetensors_file(here / "empty").names().empty());
  CHECK(safetensors_file(data("noted.safetensors")).names() == std::vector<std::string>{"w"});
}

TEST_CASE("what the format leaves open is read", "[safetensors]") {
  for (
      const char* header : {
          " {\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}\n ",
          R"({"w":{"shape":[1],"data_offsets":[0,4],"new":{"a":[1.5e-3,{"b":null}],"c":[true,false,[],{}]},"dtype":"F32"}})",
          R"({"__metadata__":null,"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          R"({"\u0077":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"e":{"dtype":"U8","shape":[0,9],"data_offsets":[4,4]}})",
          R"({"\ud83d\ude00":{"dtype":"F4","shape":[2],"data_offsets":[4,5]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      }) {
    INFO(header);
    const std::string bytes = file_of(header, std::string_view(header).find("F4\"") == std::string_view::npos ? 4 : 5);
    const safetensors_file file(std::as_bytes(std::span(bytes)));
    CHECK(file.load<float, dyn>("w")(0) == 0);
  }
  // A byte of bool that is neither 0 nor 1 is no value; it is read as true.
  std::string bytes = file_of(R"({"b":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", 3);
  bytes.back() = '\x7f';
  CHECK(safetensors_file(std::as_bytes(std::span(bytes))).load<bool, 3>("b") == tensor<bool, 3>{false, false, true});
}

TEST_CASE("a wrong file is refused with one sentence", "[safetensors]") {
  const auto entry = [](const std::string& inner) { return "{\"w\":{" + inner + "}}"; };
  const std::string f32 = R"("dtype":"F32","shape":[1],"data_offsets":[0,4])";
  const std::string two = "{\"w\":{" + f32 + "},\"v\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":";
  std::string deep;
  for (int k = 0; k < 200; ++k) deep += "[";
  struct row {
    std::string bytes, says;
  };
  const row rows[] = {
      {"", "the file has 0 bytes and is no safetensors file"},
      {"1234567", "the file has 7 bytes and is no safetensors file"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), "the header is longer than 100000000 bytes"},
      {std::string("\x09\0\0\0\0\0\0\0{}", 10), "the header has 9 bytes and the file only 2 more"},
      {file_of(""), "malformed: there is no '{', at byte 0 of it"},
      {file_of("[]"), "malformed: there is no '{'"},
      {file_of("\xef\xbb\xbf{}"), "malformed: there is no '{'"},
      {file_of("{}x"), "malformed: something follows its '}'"},
      {file_of(std::string("{}\0", 3)), "malformed: something follows its '}'"},
      {file_of("{"), "malformed: there is no '\"'"},
      {file_of("{\"w"), "malformed: a string has no end"},
      {file_of("{\"w\\"), "malformed: a string has no end"},
      {file_of("{\"\\x\":1}"), "malformed: a string has an unknown escape"},
      {file_of("{\"\\u12g4\":1}"), "malformed: an escape has no four digits"},
      {file_of("{\"\\ud800\":1}"), "malformed: a string has half of a character"},
      {file_of("{\"\\udc00\":1}"), "malformed: a string has half of a character"},
      {file_of("{\"\\ud800\\u0041\":1}"), "malformed: a string has half of a character"},
      {file_of("{\"\n\":1}"), "malformed: a string has a control character"},
      {file_of("{\"\xff\":1}"), "malformed: it is no UTF-8"},
      {file_of("{\"\xed\xa0\x80\":1}"), "malformed: it is no UTF-8"},
      {file_of("{\"\xc0\x80\":1}"), "malformed: it is no UTF-8"},
      {file_of("{\"\xf4\x90\x80\x80\":1}"), "malformed: it is no UTF-8"},
      {file_of("{\"w\" 1}"), "malformed: there is no ':'"},
      {file_of("{\"w\":1}"), "malformed: there is no '{'"},
      {file_of(entry(f32) + "}", 4), "malformed: something follows its '}'"},
      {file_of("{\"w\":{" + f32 + "},}", 4), "malformed: there is no '\"'"},
      {file_of(entry(f32 + ",\"dtype\":\"F32\""), 4), "tensor 'w' has a field twice"},
      {file_of(entry(R"("dtype":"F32","shape":[1])"), 4),
       "tensor 'w' must have the fields dtype, shape and data_offsets"},
      {file_of(entry(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])"), 4),
       "tensor 'w' has the unknown dtype 'f32'"},
      {file_of(entry(R"("dtype":1,"shape":[1],"data_offsets":[0,4])"), 4), "malformed: there is no '\"'"},
      {file_of(entry(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), 4),
       "a number is not written as digits alone"},
      {file_of(entry(R"("dtype":"F32","shape":[1e0],"data_offsets":[0,4])"), 4),
       "a number is not written as digits alone"},
      {file_of(entry(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4),
       "there is no number that is whole and not negative"},
      {file_of(entry(R"("dtype":"F32","shape":[01],"data_offsets":[0,4])"), 4), "a number begins with 0"},
      {file_of(entry(R"("dtype":"F32","shape":[00],"data_offsets":[0,4])"), 4), "a number begins with 0"},
      {file_of(entry(R"("dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4])"), 4),
       "a number is 2^64 or more"},
      {file_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), 4), "malformed: there is no ']'"},
      {file_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), 4), "malformed: there is no ','"},
      {file_of(entry(f32 + ",\"x\":" + deep), 4), "malformed: values are nested too deeply"},
      {file_of(entry(f32 + ",\"x\":-"), 4), "malformed: a number has no digits"},
      {file_of(entry(f32 + ",\"x\":nul"), 4), "malformed: there is no value"},
      {file_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4), "tensor 'w' ends before it begins"},
      {file_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8), "tensor 'w' leaves a hole before it"},
      {file_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,18446744073709551615])"), 4),
       "tensor 'w' leaves a hole before it"},
      {file_of(two + "[5,7]}}", 7), "tensor 'v' leaves a hole before it"},
      {file_of(two + "[3,5]}}", 5), "tensor 'v' lies over the one before it"},
      {file_of(two + "[0,2]}}", 4), "tensor 'w' lies over the one before it"},
      {file_of(entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4),
       "tensor 'w' is not as long as its dtype and shape say"},
      {file_of(entry(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])"), 2), "tensor 'w' ends within a byte"},
      {file_of(entry(R"("dtype":"F32","shape":[1099511627776,1099511627776,0],"data_offsets":[0,0])")),
       "tensor 'w' has a shape of 2^64 elements or more"},
      {file_of(entry(f32), 3), "its tensors have 4 bytes and the file has 3; it was cut off"},
      {file_of(entry(f32), 5), "its tensors have 4 bytes and the file has 5; something follows them"},
      {file_of("{\"w\":{" + f32 + "},\"w\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}", 4),
       "tensor 'w' is there twice"},
      {file_of(R"({"__metadata__":{},"__metadata__":{}})"), "malformed: __metadata__ is there twice"},
      {file_of(R"({"__metadata__":{"a":1}})"), "malformed: a value of __metadata__ is no string"},
      {file_of(R"({"__metadata__":[]})"), "malformed: there is no '{'"},
  };
  for (const row& r : rows) {
    INFO(r.bytes.substr(0, 150));
    const std::string said = opened(r.bytes);
    INFO(said);
    CHECK(said.find("[onto.safetensors] the data: ") == 0);
    CHECK(said.find(r.says) != std::string::npos);
    CHECK(said.size() < 250);
  }
}

TEST_CASE("a tensor that onto or the caller cannot have is refused with one sentence", "[safetensors]") {
  const std::string bytes = file_of(
      R"({"c":{"dtype":"C64","shape":[1],"data_offsets":[0,8]},"n":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[8,9]},)"
      R"("l":{"dtype":"U8","shape":[0,1099511627776],"data_offsets":[9,9]},"w":{"dtype":"U8","shape":[3],"data_offsets":[9,12]}})",
      12);
  const safetensors_file file(std::as_bytes(std::span(bytes)));
  CHECK(refusal([&] { file.load<float, dyn>("c"); }) ==
        "[onto.safetensors] the data: tensor 'c' is of C64, an element type that onto has not; convert it where it was "
        "made");
  CHECK(refusal([&] { file.load<std::uint8_t, dyn>("n"); }) ==
        "[onto.safetensors] the data: tensor 'n' has 9 dimensions; reshape it to 8 or fewer");
  CHECK(refusal([&] { file.load<std::uint8_t, dyn, dyn>("l"); }) ==
        "[onto.safetensors] the data: tensor 'l' has an extent of more than 2^31 - 1; reshape it to smaller ones");
  CHECK(refusal([&] { file.load<float, dyn>("w"); }) ==
        "[onto.safetensors] the data: tensor 'w' is uint8[3], and is loaded as float[?]; use that type and shape");
  CHECK(refusal([&] { file.load<std::uint8_t, 4>("w"); }) ==
        "[onto.safetensors] the data: tensor 'w' is uint8[3], and is loaded as uint8[4]; use that type and shape");
  CHECK(refusal([&] { file.load<std::uint8_t, dyn>("x"); }) ==
        "[onto.safetensors] the data: there is no tensor 'x'; the file has: 'c', 'n', 'l', 'w'");
  CHECK_THROWS_AS(load_safetensors<float>("/nowhere/m.safetensors", "w"), not_found_error);
}

TEST_CASE("what cannot be a file of safetensors is not written", "[safetensors]") {
  const folder here;
  const tensor<float, 1> w{1};
  save_safetensors(here / "m", {{"w", w}});
  const std::string before = bytes_of(here / "m");
  CHECK(refusal([&] {
          save_safetensors(here / "m", {{"w", w}, {"w", w}});
        }).find("tensor 'w' is there twice") != std::string::npos);
  CHECK(refusal([&] {
          save_safetensors(here / "m", {{"__metadata__", w}});
        }).find("the name that the format keeps") != std::string::npos);
  CHECK(refusal([&] {
          save_safetensors(here / "m", {{"\xff", w}});
        }).find("tensor '?' has a name that is no UTF-8") != std::string::npos);
  CHECK_THROWS_AS(save_safetensors(here / "nowhere/m", {{"w", w}}), not_found_error);
  CHECK(refusal([&] {
          save_safetensors(here.path.string(), {{"w", w}});
        }).find("writing failed: Is a directory") != std::string::npos);
  CHECK(!fs::exists(here.path.string() + ".part"));
  CHECK(bytes_of(here / "m") == before);
}

namespace {
int calls_left = -1, reason = 0;
std::vector<std::string> calls;
int fail_later(const char* call) {
  calls.emplace_back(call);
  return calls_left-- == 0 ? reason : 0;
}
}  // namespace

TEST_CASE("where a write, a sync or the rename fails, the file from before is there", "[safetensors]") {
  const folder here;
  const tensor<float, 2> old{1, 2}, fresh{3, 4};
  const auto save = [&](const tensor<float, 2>& t) { save_safetensors(here / "m", {{"w", t}, {"v", t}}); };
  save(old);
  detail::fail_file = fail_later;
  calls_left = -1;
  calls.clear();
  save(old);
  CHECK(calls == std::vector<std::string>{"open", "ftruncate", "write", "write", "write", "write", "fsync", "rename",
                                          "open folder", "fsync folder"});
  const int all = static_cast<int>(calls.size());
  for (const int why : {EIO, ENOSPC})
    for (int k = 0; k < all; ++k) {
      INFO("call " << k << ", " << calls[static_cast<std::size_t>(k)]);
      calls_left = k;
      reason = why;
      const std::string said = refusal([&] { save(fresh); });
      INFO(said);
      CHECK(said.find("[onto.safetensors] " + here.path.string()) == 0);
      CHECK(said.find(why == EIO ? "Input/output error" : "No space left on device") != std::string::npos);
      // From the rename on the new file is there, and it is whole.
      CHECK(load_safetensors<float, 2>(here / "m", "w") == (k < 8 ? old : fresh));
      CHECK(load_safetensors<float, 2>(here / "m", "v") == (k < 8 ? old : fresh));
      CHECK(!fs::exists(here / "m.part"));
      calls_left = -1;
      save(old);
    }
  detail::fail_file = nullptr;
}

TEST_CASE("threads that write one file do it one after the other", "[safetensors][threads]") {
  const folder here;
  std::vector<std::thread> writers;
  for (int k = 0; k < 4; ++k)
    writers.emplace_back([&, k] {
      tensor<float, 1000> t;
      for (int i = 0; i < 1000; ++i) t(i) = static_cast<float>(k);
      for (int round = 0; round < 20; ++round) {
        save_safetensors(here / "m", {{"w", t}});
        const auto there = load_safetensors<float, 1000>(here / "m", "w");
        for (int i = 1; i < 1000; ++i)
          if (there(i) != there(0)) std::abort();
      }
    });
  for (std::thread& t : writers) t.join();
  CHECK(load_safetensors<float, 1000>(here / "m", "w")(999) < 4);
  CHECK(!fs::exists(here / "m.part"));
}

TEST_CASE("a program that is killed while it writes leaves the last whole file", "[safetensors]") {
  const folder here;
  constexpr int count = 5000;
  const auto filled = [](int with) {
    tensor<float, count> t;
    for (int i = 0; i < count; ++i) t(i) = static_cast<float>(with);
    return t;
  };
  save_safetensors(here / "m", {{"first", filled(0)}, {"last", filled(0)}});
  int last = 0, grown = 0;
  unsigned random = 1;
  for (int k = 0; k < 200; ++k) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int n = last + 1;; ++n) {
        const auto t = filled(n);
        save_safetensors(here / "m", {{"first", t}, {"last", t}});
      }
    }
    REQUIRE(child > 0);
    random = random * 1664525u + 1013904223u;
    ::usleep(random >> 16 & 4095u);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const safetensors_file file(here / "m");
    const auto first = file.load<float, count>("first");
    const int now = static_cast<int>(first(0));
    REQUIRE(now >= last);
    REQUIRE(first == filled(now));
    REQUIRE(file.load<float, count>("last") == filled(now));
    grown += now > last;
    last = now;
  }
  CHECK(grown > 20);  // else nothing was interrupted
  CHECK(bytes_of(here / "m").size() > 8 * count);
}
