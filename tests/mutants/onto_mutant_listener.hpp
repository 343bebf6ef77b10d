// SPDX-License-Identifier: BSL-1.0
// At the end of the tests' main program, in a copy with mutants: which test case comes by which of them, and how long
// it takes. With ONTO_MUTANTS_MET=FILE each adds a line to the file: seconds, its name and the numbers, tabs between
// them. What is met outside of test cases stays for the end of the process, which adds a number a line.
#pragma once

#include "onto_mutant.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace onto_mutant {

#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR < 3
using listener_base = Catch::TestEventListenerBase;
#else
using listener_base = Catch::EventListenerBase;
#endif

class listener : public listener_base {
 public:
  using listener_base::listener_base;

  void testCaseStarting(const Catch::TestCaseInfo&) override {
    std::copy(std::begin(state.met), std::end(state.met), outside_);
    std::fill(std::begin(state.met), std::end(state.met), false);
    begin_ = std::chrono::steady_clock::now();
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
    const char* name = std::getenv("ONTO_MUTANTS_MET");
    std::FILE* file = name ? std::fopen(name, "a") : nullptr;
    if (file) {
      std::fprintf(file, "%.4f\t%s\t", took.count(), std::string(stats.testInfo.name).c_str());
      for (int n = 0; n < most; ++n)
        if (state.met[n]) std::fprintf(file, "%d ", n);
      std::fprintf(file, "\n");
      std::fclose(file);
    }
    std::copy(std::begin(outside_), std::end(outside_), state.met);
  }

 private:
  std::chrono::steady_clock::time_point begin_;
  bool outside_[most] = {};
};

}  // namespace onto_mutant

using onto_mutant_listener = onto_mutant::listener;
CATCH_REGISTER_LISTENER(onto_mutant_listener)
