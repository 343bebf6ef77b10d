// SPDX-License-Identifier: BSL-1.0
// Random programs, seeds 0 to 11: every machine computes what the reference does, and counts what the plan says.
#include "properties.hpp"

TEST_CASE("random programs compute what the reference does, and run as planned: seeds 0 to 11", "[session]") {
  onto_test::check_programs<0>(std::make_integer_sequence<unsigned, 12>{});
}
