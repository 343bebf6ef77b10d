// SPDX-License-Identifier: BSL-1.0
// A C++ program that libraries are measured with: it answers on standard output what it is asked on standard input, a
// line `WHAT ROW<tab>N`. `time`: the seconds of a run, of N, and those of the processors. `check`: a number that is to
// be the same for every library. `memory`: the bytes that the process has at most in N runs beyond those
// that it had before the row was made. `say`: what the row says of itself. benchmarks/beside/turns.py asks.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>

namespace beside {

struct row {
  std::function<void()> run;
  std::function<double()> check;
  double fact = 0;  ///< what `say` answers
};

/// Rows are made when they are first asked for.
using rows = std::map<std::string, std::function<row()>>;

namespace detail {

/// Bytes of this process by a line of /proc/self/status.
inline double memory_of_process(const std::string& which) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(which + ":", 0) == 0) return 1024 * std::atof(line.c_str() + which.size() + 1);
  return 0;
}

/// From now on VmHWM is counted anew.
inline void forget_the_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace detail

/// Answers until nobody asks any more.
inline int answer(const rows& all) {
  std::map<std::string, row> made;
  const auto row_of = [&](const std::string& name) -> row& {
    const auto found = made.find(name);
    return found != made.end() ? found->second : made.emplace(name, all.at(name)()).first->second;
  };
  std::string what, name;
  while (std::cin >> what && std::cin.ignore() && std::getline(std::cin, name, '\t')) {
    long runs = 0;
    std::cin >> runs;
    if (all.find(name) == all.end()) {
      std::printf("none\n");
    } else if (what == "check") {
      std::printf("%.9g\n", row_of(name).check());
    } else if (what == "say") {
      std::printf("%.9g\n", row_of(name).fact);
    } else if (what == "memory") {
      const double before = detail::memory_of_process("VmRSS");
      const row& r = row_of(name);
      detail::forget_the_peak();  // what it took to make the row
      for (long k = 0; k < runs; ++k) r.run();
      std::printf("%.9g\n", detail::memory_of_process("VmHWM") - before);
    } else {
      const row& r = row_of(name);
      const auto start = std::chrono::steady_clock::now();
      const std::clock_t worked = std::clock();
      for (long k = 0; k < runs; ++k) r.run();
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      const double processors = static_cast<double>(std::clock() - worked) / CLOCKS_PER_SEC;
      std::printf("%.9g %.9g\n", taken.count() / static_cast<double>(runs), processors / static_cast<double>(runs));
    }
    std::fflush(stdout);
  }
  return 0;
}

/// The same numbers as `numbers` in library.py: between -0.5 and 0.5 times `scale`, and `offset` on top.
inline float number(std::size_t k, int seed, double scale = 1, double offset = 0) {
  const auto n = static_cast<double>((k * 37 + static_cast<std::size_t>(seed) * 101 + (k / 101) * 13) % 1009);
  return static_cast<float>((n / 1009 - 0.5) * scale + offset);
}

}  // namespace beside
