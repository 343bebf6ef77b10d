// SPDX-License-Identifier: BSL-1.0
// What a run knows of scalars beside matrix products.
#include "../catch.hpp"

#include <onto/session/execute.hpp>

#include <cstdint>
#include <string>

using namespace onto;

TEST_CASE("factors of matrix products are read in the type they are computed in", "[session]") {
  const std::uint64_t single = __builtin_bit_cast(std::uint32_t, 2.5f);
  CHECK(detail::factor_of(element::float32, single) == 2.5);
  CHECK(detail::factor_of(element::float16, single) == 2.5);
  CHECK(detail::factor_of(element::bfloat16, single) == 2.5);
  CHECK(detail::factor_of(element::float64, __builtin_bit_cast(std::uint64_t, 0.1)) == 0.1);
}

TEST_CASE("a factor of another type is refused, and not taken for a float", "[session]") {
  for (const element e : {element::int32, element::uint8, element::uint64, element::boolean}) {
    std::string said;
    try {
      (void)detail::factor_of(e, 1);
    } catch (const internal_error& error) {
      said = error.what();
    }
    CHECK(said == "[onto.matmul] a product of " + std::string(name_of(e)) + " has no factors in its kernel");
  }
}
