// SPDX-License-Identifier: BSL-1.0
// Fuzzes lists of visible devices: any bytes are either refused with invalid_argument_error or are a list of GPUs that
// are there, each once, which prints and parses back equal.
#include "fuzz.hpp"

#include <onto/session/device_options.hpp>

namespace {

using fuzz::demand;

/// Whether the input was accepted where there are `count` GPUs.
bool check_with(std::string_view input, int count) {
  // Exactly as much room as the function asks for, so that a sanitizer sees a step beyond it.
  std::vector<int> visible(static_cast<std::size_t>(count));
  int found = 0;
  // Twice 72 bytes as \xNN, and the words.
  const fuzz::refusal refused{{"[onto.option] gpu.visible_device_list '"}, 900, {": entry ", "; there "}};
  if (!fuzz::accepted(input, refused,
                      [&] { found = onto::detail::parse_visible_devices(input, count, visible.data()); }))
    return false;
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

/// Whether the input was accepted where there are 8 GPUs.
bool check_one(std::string_view input) {
  for (int count : {0, 1, 2, 1024}) check_with(input, count);
  return check_with(input, 8);
}

}  // namespace

const fuzz::target fuzz::under_test{
    .name = "visible_devices",
    .check = check_one,
    .corpus = {"0", "1,0", "5,3", "7,6,5,4,3,2,1,0", "2,02", "1023,0,511", "", "0,1,2,3"},
    .pieces = {",", "0", "1", ",2", "2147483647", "2147483648", " ", "-", ";", "99999999999"},
    .runs = 20000,
};
