// SPDX-License-Identifier: BSL-1.0
// Integers of 8 bits compute what NumPy computes.
#include "integers.hpp"

TEST_CASE("integers of 8 bits with a sign compute what NumPy computes", "[session]") { check_integers<std::int8_t>(); }
TEST_CASE("integers of 8 bits without a sign compute what NumPy computes", "[session]") {
  check_integers<std::uint8_t>();
}
