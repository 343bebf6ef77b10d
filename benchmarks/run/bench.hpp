// SPDX-License-Identifier: BSL-1.0
// What the peers of the running-time benchmarks share: the cases and their sizes, the data, and how a peer's answer to
// a case is checked and timed. Each peer is one source file, the only one that includes its library.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

/// One case at one size. Matrices are row-major; what is one-dimensional has `rows == 1`.
struct problem {
  std::string name;  ///< of the case, "triad"
  std::string size;  ///< as in the benchmark's name, "1e5" or "4096x1024"
  std::int64_t rows = 1, cols = 1;
  double bytes = 0;         ///< what has to be read and written at least
  double flops = 0;         ///< counting an elementary function as one
  double tolerance = 1e-4;  ///< relative to the element and to the root mean square of all
  int threads = 1;

  std::int64_t n() const { return rows * cols; }
  std::string key() const { return name + '/' + size; }
};

/// The problems of a case, in the mode that the program was started in.
const std::vector<problem>& problems_of(const std::string& name);

/// The numbers of threads that are compared: 1, and as many as the process may use.
std::vector<int> thread_counts(const problem& p);
int all_threads();

/// Input `k` of every peer: values in (-1, 1), `count` of them at least.
const float* input(int k, std::int64_t count);
/// Where peers that can write into given memory write their result, and memory for what is in between.
float* output(std::int64_t count);
float* scratch(int k, std::int64_t count);

/// Registers what tells a library how many threads to use; called before every timing.
void on_threads(void (*set)(int));

/// A static object of each peer's file: has its cases registered when the program starts.
struct peer {
  explicit peer(void (*register_cases)());
};

/// Remembers what a library says of itself, for the report.
void say_version(const std::string& peer, const std::string& version);

// ---- one timing -------------------------------------------------------------------------------------------

/// Says the number of threads to every library and waits until the threads of the one before are asleep.
void settle(const problem& p, const std::string& peer);
/// How long a repetition takes at least, in seconds, and how many there are.
double least_time();
int repetitions(const problem& p);
/// Whether `key` of `peer` was not checked yet.
bool to_be_checked(const problem& p, const std::string& peer);
/// How far a peer's result may be off. Sums of floats are added with more or less care; measured.
double tolerance_of(const problem& p, const std::string& peer);
/// What is wrong with the result, beside the reference (the hand-written loop; a sum in double); empty if nothing is.
std::string check(const problem& p, const std::string& peer, const std::vector<float>& result);
/// Ends the program with a sentence on standard error.
[[noreturn]] void give_up(const std::string& why);
/// Registers the function that makes the reference of a case.
void reference(const std::string& name, std::function<std::vector<float>(const problem&)> make);
std::int64_t result_count(const problem& p);
double now();
bool selected(const std::string& full_name);

/// The result that `run()` left in `output()` or returned.
template <class Run>
std::vector<float> result_of(const problem& p, Run& run) {
  std::vector<float> values;
  const std::int64_t count = result_count(p);
  if constexpr (std::is_void_v<decltype(run())>) {
    run();
    const float* r = output(count);
    values.assign(r, r + count);
  } else {
    auto&& r = run();
    if constexpr (requires { r.data(); }) {
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(r.size()); ++i)
        values.push_back(static_cast<float>(r.data()[i]));
    } else {
      values.push_back(static_cast<float>(r));
    }
  }
  return values;
}

/// Makes the peer's function for `p`, checks its result once, warms up, and times it.
template <class Make>
void time(benchmark::State& state, const problem& p, const std::string& peer, const Make& make) {
  settle(p, peer);
  auto run = make(p);
  if (to_be_checked(p, peer)) {
    const std::string wrong = check(p, peer, result_of(p, run));
    // Google Benchmark cannot have an error in one of several interleaved repetitions.
    if (!wrong.empty()) give_up(p.key() + '/' + std::to_string(p.threads) + ": " + wrong);
  }
  auto* const known = &run;  // its operands too are memory that ClobberMemory is about
  benchmark::DoNotOptimize(known);
  // Twice, and for a while: until threads are where they stay, and memory that a library keeps is there.
  const double begin = now();
  int runs = 0;
  do {
    if constexpr (std::is_void_v<decltype(run())>)
      run();
    else
      benchmark::DoNotOptimize(run());
  } while (++runs < 2 || now() - begin < 1e-2);
  for (auto _ : state) {
    if constexpr (std::is_void_v<decltype(run())>)
      run();
    else
      benchmark::DoNotOptimize(run());
    benchmark::ClobberMemory();
  }
  state.counters["bytes"] = p.bytes;
  state.counters["flops"] = p.flops;
}

/// Registers a peer's answer to a case at all its sizes. `make(problem)` returns a function that computes it once and
/// either leaves the result in `output()` or returns it.
template <class Make>
void add(const std::string& peer, const std::string& name, Make make) {
  for (const problem& each : problems_of(name)) {
    if (tolerance_of(each, peer) > 0.1) continue;  // no answer any more
    for (const int threads : thread_counts(each)) {
      problem p = each;
      p.threads = threads;
      if (p.name == "limit_fma") p.flops *= threads;  // each thread has its own
      const std::string full = p.key() + '/' + std::to_string(threads) + '/' + peer;
      if (!selected(full)) continue;
      benchmark::RegisterBenchmark(full.c_str(), [=](benchmark::State& state) { time(state, p, peer, make); })
          ->UseRealTime()
          ->MinTime(least_time())
          ->Repetitions(repetitions(p))
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace bench
