// SPDX-License-Identifier: BSL-1.0
// Many prepared runs: nothing grows. benchmarks/soak.cpp does the same for longer.
#include <onto/onto.hpp>

#include "../catch.hpp"

#include <unistd.h>

#include <fstream>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4>;
constexpr auto w = variable<"w", float, 4>;

/// Bytes of this process in memory; 0 where the system does not say.
std::int64_t resident() {
  std::ifstream in("/proc/self/statm");
  std::int64_t size = 0, pages = 0;
  in >> size >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

struct footprint {
  std::int64_t in_use = 0, reserved = 0, resident = 0;
};
footprint of(const session& sess) {
  footprint f;
  for (const device_info& d : sess.devices()) {
    f.in_use += sess.memory(d.name).in_use;
    f.reserved += sess.memory(d.name).reserved;
  }
  f.resident = resident();
  return f;
}

/// Runs that read, write and copy, in all three ways. *Returns* the footprint after a tenth and at the end.
std::pair<footprint, footprint> soak(int gpus, int runs) {
  session_options o;
  o.allow_soft_placement = true;
  o.simulated_gpus = gpus;
  session sess{o};
  sess.run(assign(on<gpu<0>>(w), 0));
  const auto step = sess.prepare(fetches(assign_add(on<gpu<0>>(w), x), on<gpu<1>>(softmax(w + x))));
  const tensor<float, 4> one{1, 1, 1, 1};
  footprint early;
  for (int k = 1; k <= runs; ++k) {
    if (k % 10 == 0)
      step.async(x = one).get();
    else if (k % 10 == 5)
      sess.run(fetches(assign_add(on<gpu<0>>(w), x), on<gpu<1>>(softmax(w + x))), x = one);
    else
      step(x = one);
    if (k == runs / 10) early = of(sess);
  }
  const tensor<float, 4> total = sess.run(w);
  CHECK(total == tensor<float, 4>{static_cast<float>(runs), static_cast<float>(runs), static_cast<float>(runs),
                                  static_cast<float>(runs)});
  return {early, of(sess)};
}

}  // namespace

TEST_CASE("memory is flat over thousands of runs", "[session][soak]") {
  for (const int gpus : {0, 2}) {
    INFO("with " << gpus << " GPUs");
    const auto [early, late] = soak(gpus, gpus == 0 ? 20000 : 4000);
    CHECK(late.in_use == early.in_use);
    CHECK(late.reserved == early.reserved);
    CHECK(late.resident <= early.resident + 512 * 1024);
  }
}
