// SPDX-License-Identifier: BSL-1.0
// Fuzzes lists of visible devices: any bytes are either refused with invalid_argument_error or are a list of GPUs that
// are there, each once, which prints and parses back equal. As a libFuzzer target, or with ONTO_FUZZ_STANDALONE as a
// program that mutates lists.
#include <onto/session/device_options.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

void demand(bool holds, const char* what, std::string_view input) {
  if (holds) return;
  std::fprintf(stderr, "visible_devices: %s does not hold for the bytes", what);
  for (char c : input) std::fprintf(stderr, " %02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  std::fprintf(stderr, "\n");
  std::abort();
}

/// Whether the input was accepted where there are `count` GPUs.
bool check_one(std::string_view input, int count) {
  // Exactly as much room as the function asks for, so that a sanitizer sees a step beyond it.
  std::vector<int> visible(static_cast<std::size_t>(count));
  int found = 0;
  try {
    found = onto::detail::parse_visible_devices(input, count, visible.data());
  } catch (const onto::invalid_argument_error& e) {
    const std::string_view said = e.what();
    demand(said.find("[onto.option] gpu.visible_device_list '") == 0, "an error names the option", input);
    demand(said.find(": entry ") != said.npos, "an error names the entry", input);
    demand(said.find("; there ") != said.npos, "an error says how many GPUs there are", input);
    for (char c : said) demand(c >= ' ' && c <= '~', "an error is printable", input);
    demand(said.size() < 900, "an error is short", input);  // twice 72 bytes as \xNN, and the words
    return false;
  }
  demand(found <= count, "a list is no longer than there are GPUs", input);
  std::vector<bool> seen(static_cast<std::size_t>(count));
  std::string printed;
  for (int k = 0; k < found; ++k) {
    const int index = visible[static_cast<std::size_t>(k)];
    demand(index >= 0 && index < count, "a GPU in the list is there", input);
    demand(!seen[static_cast<std::size_t>(index)], "a GPU is in the list once", input);
    seen[static_cast<std::size_t>(index)] = true;
    printed += (k ? "," : "") + std::to_string(index);
  }
  std::vector<int> again(static_cast<std::size_t>(count));
  demand(onto::detail::parse_visible_devices(printed, count, again.data()) == found && again == visible,
         "a printed list parses back equal", input);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (int count : {0, 1, 8, 1024}) check_one(input, count);
  return 0;
}

#ifdef ONTO_FUZZ_STANDALONE

#include <random>

int main() {
  const std::vector<std::string> lists{"0", "1,0", "5,3", "7,6,5,4,3,2,1,0", "2,02", "1023,0,511", "", "0,1,2,3"};
  const std::vector<std::string> pieces{",", "0", "1", ",2", "2147483647", "2147483648", " ", "-", ";", "99999999999"};
  std::mt19937 random(20160114);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  constexpr int counts[] = {0, 1, 2, 8, 1024};
  int accepted = 0;
  constexpr int runs = 200000;
  for (int k = 0; k < runs; ++k) {
    std::string input = lists[below(lists.size())];
    for (std::size_t edits = below(4); edits > 0; --edits) {
      const std::size_t at = below(input.size() + 1);
      switch (below(5)) {
        case 0: input.insert(at, pieces[below(pieces.size())]); break;
        case 1: input.insert(at, 1, static_cast<char>(below(256))); break;
        case 2: input.erase(at, 1 + below(3)); break;
        case 3:
          if (at < input.size()) input[at] = static_cast<char>('0' + below(10));
          break;
        default: input += "," + lists[below(lists.size())]; break;
      }
    }
    accepted += check_one(input, counts[below(5)]) ? 1 : 0;
  }
  std::printf("visible_devices: %d inputs, %d accepted and printed back\n", runs, accepted);
  // Mutations that were all refused, or all accepted, would have tested half of it.
  return accepted > runs / 20 && accepted < runs - runs / 20 ? 0 : 1;
}

#endif
