// SPDX-License-Identifier: BSL-1.0
// Fuzzes safetensors files: any bytes are either refused with a sentence, or are tensors that lie one after the other
// up to the end. The files of tests/data/safetensors are changed.
#include "fuzz.hpp"

#include <onto/tensor/safetensors.hpp>

namespace {

using fuzz::demand;
using onto::dyn;

template <class F>
bool accepted(std::string_view input, F f) {
  return fuzz::accepted(input, {{"[onto.safetensors] the data:"}, 900}, f);
}

/// Whether a tensor of a file was read.
bool check_one(std::string_view input) {
  bool read = false;
  const auto bytes = fuzz::bytes_of(input);
  accepted(input, [&] {
    const onto::detail::stored_tensors stored(bytes, "the data");
    std::uint64_t at = 0, rest = input.size() - 8;
    for (int k = 7; k >= 0; --k) at = at << 8 | static_cast<std::uint64_t>(bytes[static_cast<std::size_t>(k)]);
    rest -= at;
    at = 0;
    for (const auto* t = stored.header().first(); t; t = t->next) {
      demand(t->begin == at && t->end >= at, "tensors lie one after the other", input);
      demand(stored.header().find(t->name) == t, "a name is there once", input);
      at = t->end;
    }
    demand(at == rest, "they end with the file", input);

    const onto::safetensors_file file(bytes);
    for (const std::string& name : file.names()) {
      read |= accepted(input, [&] { file.load<float, dyn, dyn>(name); });
      read |= accepted(input, [&] { file.load<std::int32_t, dyn>(name); });
      read |= accepted(input, [&] { file.load<bool, 2, 3>(name); });
      read |= accepted(input, [&] { file.load<std::int64_t>(name); });
    }
  });
  return read;
}

/// Most inputs keep a header of the right length, so that what is in it is read.
void repair(std::string& input, std::size_t before, std::size_t at, fuzz::generator& random) {
  if (random.below(4) == 0 || input.size() < 2 || at < 8) return;
  const std::size_t header =
      static_cast<unsigned char>(input[0]) + 256u * static_cast<unsigned char>(input[1]) + input.size() - before;
  input[0] = static_cast<char>(header & 255);
  input[1] = static_cast<char>(header >> 8 & 255);
}

}  // namespace

const fuzz::target fuzz::under_test{
    .name = "safetensors",
    .check = check_one,
    .corpus = fuzz::files("data/safetensors", {"types", "shapes", "names", "noted", "empty"}, ".safetensors"),
    .pieces = {"0",
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
               "__metadata__"},
    .repair = repair,
};
