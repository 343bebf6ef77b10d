// SPDX-License-Identifier: BSL-1.0
// Batches of updates on emulated GPUs: one launch whose blocks find their variable in a table.
#include "session/batched_updates.hpp"

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

TEST_CASE("a batch of updates on a GPU writes variables of all sizes", "[gpu][training]") {
  session sess;
  batched_updates::check_steps(sess, [](const auto& e) { return e; });
  CHECK(cuda_emulation::take_violations().empty());
}
