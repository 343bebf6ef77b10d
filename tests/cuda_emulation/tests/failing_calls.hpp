// SPDX-License-Identifier: BSL-1.0
// Calls of the CUDA runtime that what a library launches is made of, each of which fails once.
#pragma once

#include "catch.hpp"
#include "control.hpp"

#include <onto/core/error.hpp>

#include <initializer_list>

namespace emulated_test {

/// `run`, which says whether it is right, throws where one of its calls fails, and is right the next time.
template <class F>
void check_failing_calls(const F& run,
                         std::initializer_list<const char*> names = {"cudaGetDevice", "cudaLaunchKernelExC"}) {
  REQUIRE(run());
  for (const char* name : names) {
    cuda_emulation::reset_calls();
    REQUIRE(run());
    const long count = cuda_emulation::calls()[name];
    INFO(name);
    REQUIRE(count > 0);
    for (long n = 1; n <= count; ++n) {
      cuda_emulation::fail_call(name, n, cudaErrorInvalidValue);
      CHECK_THROWS_AS(run(), onto::internal_error);
      CHECK(cuda_emulation::clear_faults() == 1);
      CHECK(cudaGetLastError() == cudaSuccess);
      CHECK(run());
    }
  }
}

}  // namespace emulated_test
