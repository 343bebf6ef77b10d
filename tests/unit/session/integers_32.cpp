// SPDX-License-Identifier: BSL-1.0
// Integers of 32 bits compute what NumPy computes.
#include "integers.hpp"

TEST_CASE("integers of 32 bits with a sign compute what NumPy computes", "[session]") {
  check_integers<std::int32_t>();
}
TEST_CASE("integers of 32 bits without a sign compute what NumPy computes", "[session]") {
  check_integers<std::uint32_t>();
}
