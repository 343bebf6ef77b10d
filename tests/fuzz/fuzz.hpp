// SPDX-License-Identifier: BSL-1.0
// What the fuzz tests share. A test says what is fuzzed and what must hold of any bytes; driver.cpp changes a corpus at
// random, or is libFuzzer's entry.
#pragma once

#include <onto/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// Random numbers, the same every time.
class generator {
 public:
  explicit generator(std::uint32_t seed) : bits_(seed) {}
  /// A number from 0 to `n` - 1.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits_()) % n; }

 private:
  std::mt19937 bits_;
};

/// What is fuzzed. Each test defines one, `under_test`.
struct target {
  const char* name;
  /// Checks one input; whether it was accepted. What was refused was refused with a sentence (`accepted`).
  bool (*check)(std::string_view input);
  /// The inputs that are changed.
  std::vector<std::string> corpus;
  /// What the format is made of, to be put anywhere.
  std::vector<std::string> pieces;
  int runs = 20000;
  /// Where an input is changed, where not just anywhere: a position of it, or its end.
  std::size_t (*where)(const std::string& input, generator& random) = nullptr;
  /// Makes a changed input what it says it is: `before` bytes were there, the change was at `at`.
  void (*repair)(std::string& input, std::size_t before, std::size_t at, generator& random) = nullptr;
};
extern const target under_test;

/// Ends the process with the input unless `holds`.
inline void demand(bool holds, const char* what, std::string_view input) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s does not hold for the bytes", under_test.name, what);
  for (char c : input) std::fprintf(stderr, " %02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  std::fprintf(stderr, "\n");
  std::abort();
}

/// What the sentence of a refusal is: it begins with one of `beginnings`, says each of `words`, and is shorter than
/// `size`.
struct refusal {
  std::initializer_list<std::string_view> beginnings;
  std::size_t size;
  std::initializer_list<std::string_view> words = {};
};

/// Whether `f` was done; else it was refused as `said`.
template <class F>
bool accepted(std::string_view input, const refusal& said, F f) {
  try {
    f();
    return true;
  } catch (const onto::error& e) {
    const std::string_view what = e.what();
    bool begins = said.beginnings.size() == 0;
    for (std::string_view beginning : said.beginnings) begins = begins || what.substr(0, beginning.size()) == beginning;
    demand(begins, "an error begins with what it is about", input);
    for (std::string_view word : said.words) demand(what.find(word) != what.npos, "an error says all it must", input);
    for (char c : what) demand(c >= ' ' && c <= '~', "an error is printable", input);
    demand(what.size() < said.size, "an error is short", input);
    return false;
  }
}

inline std::span<const std::byte> bytes_of(std::string_view input) {
  return std::as_bytes(std::span(input.data(), input.size()));
}

/// What is in the files `<folder>/<name><ending>` of the tests.
inline std::vector<std::string> files(const std::string& folder, std::initializer_list<const char*> names,
                                      const char* ending) {
  std::vector<std::string> all;
  for (const char* name : names) {
    const std::string path = ONTO_TESTS_DIR "/" + folder + "/" + name + ending;
    std::ifstream in(path, std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (!all.back().empty()) continue;
    std::fprintf(stderr, "%s is not there\n", path.c_str());
    std::exit(1);
  }
  return all;
}

}  // namespace fuzz
