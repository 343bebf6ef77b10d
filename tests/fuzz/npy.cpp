// SPDX-License-Identifier: BSL-1.0
// Fuzzes .npy files: any bytes are either refused with invalid_argument_error or are a tensor that is written and read
// back equal. As a libFuzzer target, or with ONTO_FUZZ_STANDALONE as a program that mutates the files of
// tests/data/npy.
#include <onto/tensor/npy.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace {

using onto::dyn;
using onto::tensor;
using bytes = std::span<const std::byte>;

void demand(bool holds, const char* what, bytes input) {
  if (holds) return;
  std::fprintf(stderr, "npy: %s does not hold for the bytes", what);
  for (std::byte b : input) std::fprintf(stderr, " %02x", static_cast<unsigned>(b));
  std::fprintf(stderr, "\n");
  std::abort();
}

/// Whether the input was accepted as this type.
template <class T, int... Dims>
bool check_as(bytes input) {
  tensor<T, Dims...> t;
  try {
    t = onto::detail::parse_npy<T, Dims...>(input);
  } catch (const onto::invalid_argument_error& e) {
    const std::string_view said = e.what();
    demand(said.substr(0, 21) == "[onto.npy] the data: ", "an error names the file", input);
    for (char c : said) demand(c >= ' ' && c <= '~', "an error is printable", input);
    demand(said.size() < 400, "an error is short", input);
    return false;
  }
  demand(t.size() * sizeof(T) <= input.size(), "a tensor is no larger than its file", input);
  std::string again = onto::detail::make_npy_header(onto::element_of<T>, t.extent_values());
  again.append(reinterpret_cast<const char*>(t.data()), t.size() * sizeof(T));
  const auto back = onto::detail::parse_npy<T, Dims...>(std::as_bytes(std::span(again.data(), again.size())));
  demand(back.shape() == t.shape(), "a shape is written and read back", input);
  demand(t.size() == 0 || std::memcmp(back.data(), t.data(), t.size() * sizeof(T)) == 0, "values are read back", input);
  return true;
}

bool check_one(bytes input) {
  bool accepted = check_as<float, dyn, dyn>(input);
  accepted |= check_as<float, 2, 3>(input);
  accepted |= check_as<float, dyn>(input);
  accepted |= check_as<double>(input);
  accepted |= check_as<double, dyn, dyn, dyn>(input);
  accepted |= check_as<std::int32_t, dyn, dyn>(input);
  accepted |= check_as<std::int64_t, dyn>(input);
  accepted |= check_as<bool, dyn, dyn>(input);
  accepted |= check_as<std::int8_t, dyn, dyn>(input);
  accepted |= check_as<std::uint16_t, dyn>(input);
  accepted |= check_as<std::uint64_t, dyn>(input);
  return accepted;
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
  for (const char* name : {"f4", "f4_fortran", "f4_big", "f4_version2", "f4_version3", "f4_row", "f4_empty", "f8",
                           "f8_fortran_big", "f8_scalar", "i4", "i4_fortran_big", "i8", "i8_big", "b1", "b1_fortran"}) {
    const std::string path = std::string(ONTO_TESTS_DIR "/data/npy/") + name + ".npy";
    std::ifstream in(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (files.back().empty()) {
      std::fprintf(stderr, "npy: %s is not there\n", path.c_str());
      return 1;
    }
  }

  const std::vector<std::string> pieces{"'",           "\"",    ",",       ", ", "(",     ")",     "{",
                                        "}",           ":",     "True",    "L",  "-",     "0",     "2147483647",
                                        "99999999999", "'<f4'", "4, ",     "O",  "'>f8'", "False", "f4",
                                        "shape",       "descr", "65536, ", "\n", "|b1",   "<"};
  std::mt19937 random(20160113);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  int accepted = 0;
  constexpr int runs = 100000;
  for (int k = 0; k < runs; ++k) {
    std::string input = files[below(files.size())];
    const bool near = below(4) != 0;  // most edits hit what the header says, not its padding or the values
    for (std::size_t edits = below(4); edits > 0; --edits) {
      const std::size_t at = below((near && input.size() > 80 ? 80 : input.size()) + 1);
      switch (below(7)) {
        case 0: input.insert(at, pieces[below(pieces.size())]); break;
        case 1: input.replace(at, 1 + below(3), pieces[below(pieces.size())]); break;
        case 2: input.insert(at, 1, static_cast<char>(below(256))); break;
        case 3: input.erase(at, 1 + below(4)); break;
        case 4:
          if (at < input.size()) input[at] = static_cast<char>(below(256));
          break;
        case 5:
          if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
          break;
        default: input.resize(below(input.size() + 1)); break;
      }
    }
    accepted += check_one(std::as_bytes(std::span(input.data(), input.size()))) ? 1 : 0;
  }
  std::printf("npy: %d inputs, %d accepted and read back\n", runs, accepted);
  // Mutations that were all refused, or all accepted, would have tested half of it.
  return accepted > runs / 20 && accepted < runs - runs / 20 ? 0 : 1;
}

#endif
