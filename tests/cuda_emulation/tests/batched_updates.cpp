// SPDX-License-Identifier: BSL-1.0
// Batches of updates on emulated GPUs: one launch whose blocks find their variable in a table.
#include "session/batched_updates.hpp"
#include "session/logistic_regression.hpp"

#include "catch.hpp"
#include "control.hpp"
#include "gpu/gpu.hpp"

using namespace gpu_test;

TEST_CASE("a batch of updates on a GPU writes variables of all sizes", "[gpu][training]") {
  session sess;
  batched_updates::check_steps(sess, [](const auto& e) { return e; });
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("logistic regression on a GPU is few kernels, numbers and values that are the same everywhere among them",
          "[gpu][training]") {
  const auto here = [](const auto& e) { return e; };
  logistic_regression::check_models([] { return session_options{}; }, here);
  session sess;
  logistic_regression::check_numbers(sess, here);
  logistic_regression::check_uniform(sess, here);
  CHECK(cuda_emulation::take_violations().empty());
}
