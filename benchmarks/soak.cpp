// SPDX-License-Identifier: BSL-1.0
// 100,000 prepared runs that read, write and copy: what memory they hold after a tenth of them and at the end.
// tests/unit/session/soak.cpp asks the same of fewer. The figures are in docs/measurements/soak.md.
#include <benchmark/benchmark.h>

#include <onto/onto.hpp>

#include <unistd.h>

#include <fstream>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 64>;
constexpr auto w = variable<"w", float, 64>;
constexpr int runs = 100000;

struct footprint {
  double in_use = 0, reserved = 0, resident = 0;  // KiB
};
footprint of(const session& sess) {
  footprint f;
  for (const device_info& d : sess.devices()) {
    f.in_use += static_cast<double>(sess.memory(d.name).in_use) / 1024;
    f.reserved += static_cast<double>(sess.memory(d.name).reserved) / 1024;
  }
  std::ifstream in("/proc/self/statm");
  double size = 0, pages = 0;
  in >> size >> pages;
  f.resident = pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
  return f;
}

/// With so many simulated GPUs, and each tenth run started with `async`.
void soak(benchmark::State& state) {
  session_options o;
  o.allow_soft_placement = true;
  o.simulated_gpus = static_cast<int>(state.range(0));
  session sess{o};
  sess.run(assign(on<gpu<0>>(w), 0));
  const auto step = sess.prepare(fetches(assign_add(on<gpu<0>>(w), x), on<gpu<1>>(softmax(w + x))));
  tensor<float, 64> one;
  for (float& e : one) e = 1;
  footprint early;
  int k = 0;
  for (auto _ : state) {
    if (++k % 10 == 0)
      step.async(x = one).get();
    else
      step(x = one);
    if (k == runs / 10) early = of(sess);
  }
  const footprint late = of(sess);
  const tensor<float, 64> counted = sess.run(w);
  if (counted(63) != static_cast<float>(runs)) state.SkipWithError("a run was lost");
  state.counters["in_use_KiB"] = late.in_use;
  state.counters["in_use_grown"] = late.in_use - early.in_use;
  state.counters["reserved_KiB"] = late.reserved;
  state.counters["reserved_grown"] = late.reserved - early.reserved;
  state.counters["resident_KiB"] = late.resident;
  state.counters["resident_grown"] = late.resident - early.resident;
}
BENCHMARK(soak)->ArgName("gpus")->Arg(0)->Arg(2)->Iterations(runs)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
