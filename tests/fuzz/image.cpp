// SPDX-License-Identifier: BSL-1.0
// Fuzzes pictures: any bytes are either refused with invalid_argument_error or are a picture that is no larger than its
// file. As a libFuzzer target, or with ONTO_FUZZ_STANDALONE as a program that mutates pictures of its own.
#include <onto/tensor/image.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void demand(bool holds, const char* what, std::string_view input) {
  if (holds) return;
  std::fprintf(stderr, "image: %s does not hold for the bytes", what);
  for (char c : input) std::fprintf(stderr, " %02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  std::fprintf(stderr, "\n");
  std::abort();
}

/// Whether the input was accepted as a picture with these channels.
template <int... Channels>
bool check_as(std::string_view input) {
  try {
    const auto t = onto::detail::parse_image<Channels...>(input);
    demand(t.size() <= input.size(), "a picture is no larger than its file", input);
    unsigned sum = 0;
    for (std::uint8_t v : t) sum += v;
    demand(sum <= 255 * t.size(), "a picture has values", input);
  } catch (const onto::invalid_argument_error& e) {
    const std::string_view said = e.what();
    demand(said.substr(0, 23) == "[onto.image] the data: ", "an error names the file", input);
    for (char c : said) demand(c >= ' ' && c <= '~', "an error is printable", input);
    demand(said.size() < 300, "an error is short", input);
    return false;
  }
  return true;
}

bool check_one(std::string_view input) {
  const bool grey = check_as<>(input);
  return check_as<3>(input) || grey;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_one({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifdef ONTO_FUZZ_STANDALONE

#include <memory>
#include <random>
#include <vector>

int main() {
  const std::vector<std::string> pictures{
      "P5\n3 2\n255\nabcdef", "P2\n3 2\n255\n0 1 2\n253 254 255\n",   std::string("P5 2 1 1\n\0\1", 11),
      "P6\n1 2\n255\nabcdef", "P3\n# colors\n1 2\n15\n1 2 3 4 5 6\n", "P5 0 7 255\n"};
  const std::vector<std::string> pieces{"P", "5", "2", "3", "6",   "0",   " ",     "#",          "\n",
                                        "-", "1", "9", ".", "255", "256", "65535", "2147483647", "99999999999"};
  std::mt19937 random(20160113);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  int accepted = 0;
  constexpr int runs = 100000;
  for (int k = 0; k < runs; ++k) {
    std::string input = pictures[below(pictures.size())];
    for (std::size_t edits = below(4); edits > 0; --edits) {
      const std::size_t at = below(input.size() + 1);
      switch (below(6)) {
        case 0: input.insert(at, pieces[below(pieces.size())]); break;
        case 1: input.replace(at, 1 + below(3), pieces[below(pieces.size())]); break;
        case 2: input.erase(at, 1 + below(4)); break;
        case 3:
          if (at < input.size()) input[at] = static_cast<char>(below(256));
          break;
        case 4: input += pieces[below(pieces.size())]; break;
        default: input.resize(below(input.size() + 1)); break;
      }
    }
    const std::unique_ptr<char[]> exact(new char[input.size()]);  // its own, so that a sanitizer sees one byte too far
    input.copy(exact.get(), input.size());
    accepted += check_one({exact.get(), input.size()}) ? 1 : 0;
  }
  std::printf("image: %d inputs, %d accepted\n", runs, accepted);
  // Mutations that were all refused, or all accepted, would have tested half of it.
  return accepted > runs / 20 && accepted < runs - runs / 20 ? 0 : 1;
}

#endif
