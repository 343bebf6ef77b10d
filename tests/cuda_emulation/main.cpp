// SPDX-License-Identifier: BSL-1.0
// The main of tests on emulated GPUs: what the emulator found wrong fails the program, and so does what is left when
// everything is gone; a failure says the seed.
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"
#include "control.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

void say_seed() {
  std::printf("run again with ONTO_EMULATION_SEED=%llu\n", static_cast<unsigned long long>(cuda_emulation::seed()));
  std::fflush(stdout);
}

/// Registered before any session is made, so that it runs after those of static lifetime are gone.
void check_that_nothing_is_left() {
  cuda_emulation::drain();
  const auto left = cuda_emulation::live_objects();
  for (const auto& [kind, count] : left) std::printf("%ld %s are left at the end\n", count, kind.c_str());
  if (left.empty()) return;
  say_seed();
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  std::atexit(&check_that_nothing_is_left);
  const int result = Catch::Session().run(argc, argv);
  const std::size_t wrong = cuda_emulation::take_violations().size();
  if (wrong > 0) std::printf("the emulated GPU was used wrongly, %zu times; see above\n", wrong);
  if (result != 0 || wrong > 0) say_seed();
  return result != 0 ? result : wrong > 0 ? 1 : 0;
}
