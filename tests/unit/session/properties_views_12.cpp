// SPDX-License-Identifier: BSL-1.0
// Random programs in which every other operation is a look at the one before, seeds 1012 to 1023: every machine
// computes what the reference does, fused and split, and counts what the plan says.
#include "properties.hpp"

TEST_CASE("random programs of maps and views compute what the reference does: seeds 1012 to 1023", "[session]") {
  onto_test::check_programs<1012>(std::make_integer_sequence<unsigned, 12>{});
}
