// SPDX-License-Identifier: BSL-1.0
// The main of tests on emulated GPUs: what the emulator found wrong fails the program, and a failure says the seed.
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"
#include "control.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  const int result = Catch::Session().run(argc, argv);
  const std::size_t wrong = cuda_emulation::take_violations().size();
  if (wrong > 0) std::printf("the emulated GPU was used wrongly, %zu times; see above\n", wrong);
  if (result != 0 || wrong > 0)
    std::printf("run again with ONTO_EMULATION_SEED=%llu\n", static_cast<unsigned long long>(cuda_emulation::seed()));
  return result != 0 ? result : wrong > 0 ? 1 : 0;
}
