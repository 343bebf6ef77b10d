// SPDX-License-Identifier: BSL-1.0
// Fuzzes device names: any bytes are either refused with invalid_argument_error or are a name that prints and parses
// back equal. The conformance rows are changed.
#include "fuzz.hpp"

#include <onto/device/device_name.hpp>

#include <sstream>

namespace {

using fuzz::demand;

/// Whether the input was accepted.
bool check_one(std::string_view input) {
  using onto::device_name;
  device_name name;
  // Twice 72 bytes as \xNN, and the words.
  if (!fuzz::accepted(input, {{}, 900, {"column "}}, [&] { name = device_name::parse(input); })) return false;
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

/// The names of the conformance table.
std::vector<std::string> rows() {
  std::istringstream table(fuzz::files("conformance", {"device_names"}, ".tsv")[0]);
  std::vector<std::string> all;
  for (std::string line; std::getline(table, line);)
    if (!line.empty() && line[0] != '#') all.push_back(line.substr(0, line.find('\t')));
  return all;
}

}  // namespace

const fuzz::target fuzz::under_test{
    .name = "device_name",
    .check = check_one,
    .corpus = rows(),
    .pieces = {"/", ":", "*", "/job:", "/replica:", "/task:", "/device:", "/gpu:", "cpu", "2147", "48", "3647", "_",
               "2147483647", " ", "-", "0", "9"},
    .runs = 200000,
};
