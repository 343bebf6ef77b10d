// SPDX-License-Identifier: BSL-1.0
// How a product is cut into parts for threads.
#include <onto/backend/cpu/gemm_partition.hpp>

#include <cstdint>

#include "../catch.hpp"

using onto::detail::gemm_partition;
using onto::detail::partition_gemm;

TEST_CASE("the parts of a product cover it, are as many as threads at most, and alike") {
  for (std::int64_t m : {1, 7, 64, 257, 1000})
    for (std::int64_t n : {1, 16, 33, 512, 4097})
      for (std::int64_t threads : {1, 2, 3, 7, 16, 64, 96}) {
        const gemm_partition p = partition_gemm(m, n, threads, {10, 8});
        INFO(m << " x " << n << " for " << threads);
        REQUIRE(p.high > 0);
        REQUIRE(p.wide > 0);
        const std::int64_t down = (m + p.high - 1) / p.high;
        CHECK(p.across == (n + p.wide - 1) / p.wide);
        CHECK(p.count == down * p.across);
        CHECK(p.count <= threads);
      }
  // By columns or by rows, as the operands cost; both where there are many threads.
  CHECK(partition_gemm(256, 512, 2, {10, 8}).wide == 256);
  CHECK(partition_gemm(256, 512, 2, {5, 12}).high == 128);
  CHECK(partition_gemm(1000, 3, 4, {10, 8}).high == 252);
  const gemm_partition many = partition_gemm(1024, 1024, 64, {10, 8});
  CHECK(many.count == 64);
  CHECK(many.high == 128);
}
