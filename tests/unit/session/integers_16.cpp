// SPDX-License-Identifier: BSL-1.0
// Integers of 16 bits compute what NumPy computes.
#include "integers.hpp"

TEST_CASE("integers of 16 bits with a sign compute what NumPy computes", "[session]") {
  check_integers<std::int16_t>();
}
TEST_CASE("integers of 16 bits without a sign compute what NumPy computes", "[session]") {
  check_integers<std::uint16_t>();
}
