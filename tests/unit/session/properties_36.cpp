// SPDX-License-Identifier: BSL-1.0
// Random programs, seeds 36 to 47: every machine computes what the reference does, and counts what the plan says.
#include "properties.hpp"

TEST_CASE("random programs compute what the reference does, and run as planned: seeds 36 to 47", "[session]") {
  onto_test::check_programs<36>(std::make_integer_sequence<unsigned, 12>{});
}
