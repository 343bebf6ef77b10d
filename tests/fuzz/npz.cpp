// SPDX-License-Identifier: BSL-1.0
// Fuzzes .npz archives: of any bytes, each array is either refused with a sentence or has the values that NumPy wrote
// or whose checksum is there. As a libFuzzer target, or with ONTO_FUZZ_STANDALONE as a program that mutates the
// archives of tests/data/npy.
#include <onto/tensor/npz.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace {

using onto::dyn;
using bytes = std::span<const std::byte>;

void demand(bool holds, const char* what, bytes input) {
  if (holds) return;
  std::fprintf(stderr, "npz: %s does not hold for the bytes", what);
  for (std::byte b : input) std::fprintf(stderr, " %02x", static_cast<unsigned>(b));
  std::fprintf(stderr, "\n");
  std::abort();
}

/// Whether `f` gave an array; else it was refused with a sentence.
template <class F>
bool accepted(bytes input, F f) {
  try {
    // What is compressed becomes at most 1032 times as long.
    demand(f().size() <= input.size() * 1032, "an array is no larger than what can be in the file", input);
    return true;
  } catch (const onto::error& e) {
    const std::string_view said = e.what();
    demand(said.substr(0, 19) == "[onto.npz] the data" || said.substr(0, 19) == "[onto.npy] the data",
           "an error names the file", input);
    for (char c : said) demand(c >= ' ' && c <= '~', "an error is printable", input);
    demand(said.size() < 900, "an error is short", input);
    return false;
  }
}

/// How many arrays of an archive were read.
int check_one(bytes input) {
  int read = 0;
  accepted(input, [&] {
    const onto::npz_file file(input);
    for (const std::string& name : file.names()) {
      read += accepted(input, [&] { return file.load<float, dyn, dyn>(name); });
      read += accepted(input, [&] { return file.load<std::int64_t, dyn>(name); });
      read += accepted(input, [&] { return file.load<double>(name); });
      read += accepted(input, [&] { return file.load<double, dyn, dyn>(name); });
    }
    return file.names();
  });
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_one(std::as_bytes(std::span(data, size)));
  return 0;
}

#ifdef ONTO_FUZZ_STANDALONE

#include <fstream>
#include <iterator>
#include <random>
#include <vector>

int main() {
  std::vector<std::string> files;
  for (const char* name : {"archive", "several", "compressed"}) {
    const std::string path = std::string(ONTO_TESTS_DIR "/data/npy/") + name + ".npz";
    std::ifstream in(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (files.back().empty()) {
      std::fprintf(stderr, "npz: %s is not there\n", path.c_str());
      return 1;
    }
  }
  std::mt19937 random(20160113);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  constexpr int runs = 20000;
  int some = 0, none = 0;
  for (int k = 0; k < runs; ++k) {
    std::string input = files[below(files.size())];
    for (std::size_t edits = below(4); edits > 0; --edits) {
      // Most edits hit a header, an item of the list or the end: there are marks before them.
      std::size_t at = below(input.size() + 1);
      if (below(4) != 0) {
        const std::size_t mark = input.find("PK", at);
        if (mark != std::string::npos) at = mark + below(60);
      }
      if (at >= input.size()) continue;
      switch (below(6)) {
        case 0: input[at] = static_cast<char>(below(256)); break;
        case 1: input[at] = static_cast<char>(input[at] ^ (1 << below(8))); break;
        case 2: input.replace(at, 4, "\xff\xff\xff\xff"); break;
        case 3: input.erase(at, 1 + below(8)); break;
        case 4: input.insert(at, input.substr(below(input.size()), below(64))); break;
        default: input.resize(at); break;
      }
    }
    const std::vector<char> exact(input.begin(), input.end());  // a sanitizer sees one byte too far
    ++(check_one(std::as_bytes(std::span(exact))) > 0 ? some : none);
  }
  std::printf("npz: %d inputs, of %d arrays were read\n", runs, some);
  // Mutations that were all refused, or all accepted, would have tested half of it.
  return some > runs / 20 && none > runs / 20 ? 0 : 1;
}

#endif
