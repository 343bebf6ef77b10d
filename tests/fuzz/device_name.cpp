// SPDX-License-Identifier: BSL-1.0
// Fuzzes device names: any bytes are either refused with invalid_argument_error or are a name that prints and parses
// back equal. As a libFuzzer target, or with ONTO_FUZZ_STANDALONE as a program that mutates the conformance rows.
#include <onto/device/device_name.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void demand(bool holds, const char* what, std::string_view input) {
  if (holds) return;
  std::fprintf(stderr, "device_name: %s does not hold for the bytes", what);
  for (char c : input) std::fprintf(stderr, " %02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  std::fprintf(stderr, "\n");
  std::abort();
}

/// Whether the input was accepted.
bool check_one(std::string_view input) {
  using onto::device_name;
  device_name name;
  try {
    name = device_name::parse(input);
  } catch (const onto::invalid_argument_error& e) {
    const std::string_view said = e.what();
    demand(said.find("column ") != said.npos, "an error names a column", input);
    for (char c : said) demand(c >= ' ' && c <= '~', "an error is printable", input);
    demand(said.size() < 900, "an error is short", input);  // twice 72 bytes as \xNN, and the words
    return false;
  }
  const std::string text = name.to_string();
  const device_name again = device_name::parse(text);
  demand(again == name, "a printed name parses back equal", input);
  demand(again.to_string() == text, "a canonical name prints as it is", input);
  demand(name.constrains_nothing() == text.empty(), "what constrains nothing prints nothing", input);
  demand(name.merge(name) == name, "merging with itself changes nothing", input);
  demand(name.matches(name), "a name matches itself", input);
  demand(name.index() < 0 || !name.kind().empty(), "an index has a kind", input);
  if (name.has_place() && !name.kind().empty())
    demand(device_name(name.to_place()).matches(name), "the place of a name is a part of it", input);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_one({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifdef ONTO_FUZZ_STANDALONE

#include <fstream>
#include <random>
#include <vector>

int main() {
  const char* table = ONTO_TESTS_DIR "/conformance/device_names.tsv";
  std::ifstream file(table);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') rows.push_back(line.substr(0, line.find('\t')));
  if (rows.empty()) {
    std::fprintf(stderr, "device_name: no rows in %s\n", table);
    return 1;
  }

  const std::vector<std::string> pieces{
      "/",    ":",  "*",    "/job:", "/replica:",  "/task:", "/device:", "/gpu:", "cpu",
      "2147", "48", "3647", "_",     "2147483647", " ",      "-",        "0",     "9"};
  std::mt19937 random(20160113);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  int accepted = 0;
  constexpr int runs = 200000;
  for (int k = 0; k < runs; ++k) {
    std::string input = rows[below(rows.size())];
    for (std::size_t edits = below(4); edits > 0; --edits) {
      const std::size_t at = below(input.size() + 1);
      switch (below(6)) {
        case 0: input.insert(at, pieces[below(pieces.size())]); break;
        case 1: input.insert(at, 1, static_cast<char>(below(256))); break;
        case 2: input.erase(at, 1 + below(4)); break;
        case 3:
          if (at < input.size()) input[at] = static_cast<char>(below(256));
          break;
        case 4: input += rows[below(rows.size())]; break;
        default:
          if (at < input.size()) input[at] = static_cast<char>(input[at] ^ 0x20);
          break;
      }
    }
    accepted += check_one(input) ? 1 : 0;
  }
  std::printf("device_name: %d inputs, %d accepted and printed back\n", runs, accepted);
  // Mutations that were all refused, or all accepted, would have tested half of it.
  return accepted > runs / 20 && accepted < runs - runs / 20 ? 0 : 1;
}

#endif
