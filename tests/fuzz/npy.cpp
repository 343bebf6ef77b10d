// SPDX-License-Identifier: BSL-1.0
// Fuzzes .npy files: any bytes are either refused with invalid_argument_error or are a tensor that is written and read
// back equal. The files of tests/data/npy are changed.
#include "fuzz.hpp"

#include <onto/tensor/npy.hpp>

#include <cstring>

namespace {

using fuzz::demand;
using onto::dyn;
using onto::tensor;

/// Whether the input was accepted as this type.
template <class T, int... Dims>
bool check_as(std::string_view input) {
  tensor<T, Dims...> t;
  const fuzz::refusal refused{{"[onto.npy] the data: "}, 400};
  if (!fuzz::accepted(input, refused, [&] { t = onto::detail::parse_npy<T, Dims...>(fuzz::bytes_of(input)); }))
    return false;
  demand(t.size() * sizeof(T) <= input.size(), "a tensor is no larger than its file", input);
  std::string again = onto::detail::make_npy_header(onto::element_of<T>, t.extent_values());
  again.append(reinterpret_cast<const char*>(t.data()), t.size() * sizeof(T));
  const auto back = onto::detail::parse_npy<T, Dims...>(fuzz::bytes_of(again));
  demand(back.shape() == t.shape(), "a shape is written and read back", input);
  demand(t.size() == 0 || std::memcmp(back.data(), t.data(), t.size() * sizeof(T)) == 0, "values are read back", input);
  return true;
}

bool check_one(std::string_view input) {
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

/// Most changes hit what the header says, not its padding or the values.
std::size_t where(const std::string& input, fuzz::generator& random) {
  return random.below((random.below(4) != 0 && input.size() > 80 ? 80 : input.size()) + 1);
}

}  // namespace

const fuzz::target fuzz::under_test{
    .name = "npy",
    .check = check_one,
    .corpus = fuzz::files("data/npy",
                          {"f4", "f4_fortran", "f4_big", "f4_version2", "f4_version3", "f4_row", "f4_empty", "f8",
                           "f8_fortran_big", "f8_scalar", "i4", "i4_fortran_big", "i8", "i8_big", "b1", "b1_fortran"},
                          ".npy"),
    .pieces = {"'",     "\"",    ",",  ", ",    "(",          ")",           "{",     "}",   ":",
               "True",  "L",     "-",  "0",     "2147483647", "99999999999", "'<f4'", "4, ", "O",
               "'>f8'", "False", "f4", "shape", "descr",      "65536, ",     "\n",    "|b1", "<"},
    .runs = 100000,
    .where = where,
};
