// SPDX-License-Identifier: BSL-1.0
// Random programs whose every step is fetched as well, so that little can be fused away: seeds 48 to 55.
#include "properties.hpp"

namespace {

template <unsigned... K>
void check_all_fetched(std::integer_sequence<unsigned, K...>) {
  const int guarded = (int{onto_test::check_program<48 + K, K % 2 == 1, 7>()} + ... + 0);
  CHECK(guarded >= 6);
}

}  // namespace

TEST_CASE("random programs of which every step is fetched: seeds 48 to 55", "[session]") {
  check_all_fetched(std::make_integer_sequence<unsigned, 8>{});
}
