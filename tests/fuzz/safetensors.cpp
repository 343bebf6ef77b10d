// SPDX-License-Identifier: BSL-1.0
// Fuzzes safetensors files: any bytes are either refused with a sentence, or are tensors that lie one after the other
// up to the end. As a libFuzzer target, or with ONTO_FUZZ_STANDALONE as a program that mutates the files of
// tests/data/safetensors.
#include <onto/tensor/safetensors.hpp>

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
  std::fprintf(stderr, "safetensors: %s does not hold for the bytes", what);
  for (std::byte b : input) std::fprintf(stderr, " %02x", static_cast<unsigned>(b));
  std::fprintf(stderr, "\n");
  std::abort();
}

/// Whether `f` was done; else it was refused with a sentence.
template <class F>
bool accepted(bytes input, F f) {
  try {
    f();
    return true;
  } catch (const onto::error& e) {
    const std::string_view said = e.what();
    demand(said.substr(0, 28) == "[onto.safetensors] the data:", "an error names the file", input);
    for (char c : said) demand(c >= ' ' && c <= '~', "an error is printable", input);
    demand(said.size() < 900, "an error is short", input);
    return false;
  }
}

/// How many tensors of a file were read.
int check_one(bytes input) {
  int read = 0;
  accepted(input, [&] {
    const onto::detail::stored_tensors stored(input, "the data");
    std::uint64_t at = 0, rest = input.size() - 8;
    for (int k = 7; k >= 0; --k) at = at << 8 | static_cast<std::uint64_t>(input[static_cast<std::size_t>(k)]);
    rest -= at;
    at = 0;
    for (const auto* t = stored.header().first(); t; t = t->next) {
      demand(t->begin == at && t->end >= at, "tensors lie one after the other", input);
      demand(stored.header().find(t->name) == t, "a name is there once", input);
      at = t->end;
    }
    demand(at == rest, "they end with the file", input);

    const onto::safetensors_file file(input);
    for (const std::string& name : file.names()) {
      read += accepted(input, [&] { file.load<float, dyn, dyn>(name); });
      read += accepted(input, [&] { file.load<std::int32_t, dyn>(name); });
      read += accepted(input, [&] { file.load<bool, 2, 3>(name); });
      read += accepted(input, [&] { file.load<std::int64_t>(name); });
    }
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
  for (const char* name : {"types", "shapes", "names", "noted", "empty"}) {
    const std::string path = std::string(ONTO_TESTS_DIR "/data/safetensors/") + name + ".safetensors";
    std::ifstream in(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (files.back().empty()) {
      std::fprintf(stderr, "safetensors: %s is not there\n", path.c_str());
      return 1;
    }
  }
  std::mt19937 random(20231031);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  const std::string_view pieces[] = {"0",
                                     "9",
                                     "-",
                                     ".",
                                     "{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     ":",
                                     "\"",
                                     "\\u00e9",
                                     "\\ud83d\\ude00",
                                     "99999999999999999999",
                                     "\"w\":",
                                     "null",
                                     "[[[[[[[[",
                                     "\xff",
                                     "F32",
                                     "BOOL",
                                     "__metadata__"};
  constexpr int runs = 20000;
  int some = 0, none = 0;
  for (int k = 0; k < runs; ++k) {
    std::string input = files[below(files.size())];
    for (std::size_t edits = below(4); edits > 0; --edits) {
      const std::size_t at = below(input.size() + 1), size = input.size();
      if (at >= size) continue;
      switch (below(6)) {
        case 0: input[at] = static_cast<char>(below(256)); break;
        case 1: input[at] = static_cast<char>(input[at] ^ (1 << below(8))); break;
        case 2: input.insert(at, pieces[below(std::size(pieces))]); break;
        case 3: input.erase(at, 1 + below(8)); break;
        case 4: input.insert(at, input.substr(below(size), below(64))); break;
        default: input.resize(at); break;
      }
      // Most keep a header of the right length, so that what is in it is read.
      if (input.size() != size && below(4) != 0) {
        const std::size_t header = static_cast<unsigned char>(input.size() > 1 ? input[0] : 0) +
                                   256u * static_cast<unsigned char>(input.size() > 1 ? input[1] : 0) + input.size() -
                                   size;
        if (input.size() < 2 || at < 8) continue;
        input[0] = static_cast<char>(header & 255);
        input[1] = static_cast<char>(header >> 8 & 255);
      }
    }
    const std::vector<char> exact(input.begin(), input.end());  // a sanitizer sees one byte too far
    ++(check_one(std::as_bytes(std::span(exact))) > 0 ? some : none);
  }
  std::printf("safetensors: %d inputs, of %d tensors were read\n", runs, some);
  // Mutations that were all refused, or all accepted, would have tested half of it.
  return some > runs / 20 && none > runs / 20 ? 0 : 1;
}

#endif
