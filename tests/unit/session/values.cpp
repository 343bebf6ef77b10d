// SPDX-License-Identifier: BSL-1.0
// Random programs that hold values, seeds 0 to 11: equal, different and repeated ones compute what is written.
#include "values.hpp"

TEST_CASE("random programs with values compute what is written: seeds 0 to 11", "[session]") {
  CHECK(onto_test::check_programs_with_values<0>(std::make_integer_sequence<unsigned, 12>{}) >= 8);
}
