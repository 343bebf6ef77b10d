// SPDX-License-Identifier: BSL-1.0
// Integers of 64 bits compute what NumPy computes.
#include "integers.hpp"

TEST_CASE("integers of 64 bits with a sign compute what NumPy computes", "[session]") {
  check_integers<std::int64_t>();
}
TEST_CASE("integers of 64 bits without a sign compute what NumPy computes", "[session]") {
  check_integers<std::uint64_t>();
}
