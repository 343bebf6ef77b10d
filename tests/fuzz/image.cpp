// SPDX-License-Identifier: BSL-1.0
// Fuzzes pictures: any bytes are either refused with invalid_argument_error or are a picture that is no larger than its
// file.
#include "fuzz.hpp"

#include <onto/tensor/image.hpp>

namespace {

using fuzz::demand;

/// Whether the input was accepted as a picture with these channels.
template <int... Channels>
bool check_as(std::string_view input) {
  return fuzz::accepted(input, {{"[onto.image] the data: "}, 300}, [&] {
    const auto t = onto::detail::parse_image<Channels...>(input);
    demand(t.size() <= input.size(), "a picture is no larger than its file", input);
    unsigned sum = 0;
    for (std::uint8_t v : t) sum += v;
    demand(sum <= 255 * t.size(), "a picture has values", input);
  });
}

bool check_one(std::string_view input) {
  const bool grey = check_as<>(input);
  return check_as<3>(input) || grey;
}

}  // namespace

const fuzz::target fuzz::under_test{
    .name = "image",
    .check = check_one,
    .corpus = {"P5\n3 2\n255\nabcdef", "P2\n3 2\n255\n0 1 2\n253 254 255\n", std::string("P5 2 1 1\n\0\1", 11),
               "P6\n1 2\n255\nabcdef", "P3\n# colors\n1 2\n15\n1 2 3 4 5 6\n", "P5 0 7 255\n"},
    .pieces = {"P", "5", "2", "3", "6", "0", " ", "#", "\n", "-", "1", "9", ".", "255", "256", "65535", "2147483647",
               "99999999999"},
    .runs = 100000,
};
