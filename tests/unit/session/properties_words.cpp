// SPDX-License-Identifier: BSL-1.0
// Random programs in which every other operation is a word made of others (flip, tile, pad, stddev, take, ...), seeds
// 2000 to 2011: every machine computes what the reference does, fused and split, and counts what the plan says.
#include "properties.hpp"

TEST_CASE("random programs of words compute what the reference does: seeds 2000 to 2011", "[session]") {
  onto_test::check_programs<2000>(std::make_integer_sequence<unsigned, 12>{});
}
