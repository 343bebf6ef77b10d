// SPDX-License-Identifier: BSL-1.0
// Fuzzes .npz archives: of any bytes, each array is either refused with a sentence or has the values that NumPy wrote
// or whose checksum is there. The archives of tests/data/npy are changed.
#include "fuzz.hpp"

#include <onto/tensor/npz.hpp>

namespace {

using onto::dyn;

/// Whether `f` gave an array.
template <class F>
bool accepted(std::string_view input, F f) {
  return fuzz::accepted(input, {{"[onto.npz] the data", "[onto.npy] the data"}, 900}, [&] {
    // What is compressed becomes at most 1032 times as long.
    fuzz::demand(f().size() <= input.size() * 1032, "an array is no larger than what can be in the file", input);
  });
}

/// Whether an array of an archive was read.
bool check_one(std::string_view input) {
  bool read = false;
  accepted(input, [&] {
    const onto::npz_file file(fuzz::bytes_of(input));
    for (const std::string& name : file.names()) {
      read |= accepted(input, [&] { return file.load<float, dyn, dyn>(name); });
      read |= accepted(input, [&] { return file.load<std::int64_t, dyn>(name); });
      read |= accepted(input, [&] { return file.load<double>(name); });
      read |= accepted(input, [&] { return file.load<double, dyn, dyn>(name); });
    }
    return file.names();
  });
  return read;
}

/// Most changes hit a header, an item of the list or the end: there are marks before them.
std::size_t where(const std::string& input, fuzz::generator& random) {
  const std::size_t at = random.below(input.size() + 1);
  const std::size_t mark = random.below(4) != 0 ? input.find("PK", at) : std::string::npos;
  return mark == std::string::npos ? at : mark + random.below(60);
}

}  // namespace

const fuzz::target fuzz::under_test{
    .name = "npz",
    .check = check_one,
    .corpus = fuzz::files("data/npy", {"archive", "several", "compressed"}, ".npz"),
    .pieces = {"\xff\xff\xff\xff"},
    .where = where,
};
