// SPDX-License-Identifier: BSL-1.0
// Many prepared runs: nothing grows. benchmarks/soak.cpp does the same for longer.
#include <onto/onto.hpp>

#include "../catch.hpp"

#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <utility>

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4>;
constexpr auto w = variable<"w", float, 4>;

/// Bytes that the program has of its heap; 0 where the system does not say, as with AddressSanitizer, which has a heap
/// of its own and keeps what is freed.
std::int64_t heap() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33) && !defined(ONTO_ADDRESS_SANITIZER)
  const struct mallinfo2 now = mallinfo2();
  return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
#else
  return 0;
#endif
}

/// Bytes of the process in memory; 0 where the system does not say.
std::int64_t resident() {
#ifdef ONTO_ADDRESS_SANITIZER
  return 0;
#endif
  std::ifstream in("/proc/self/statm");
  std::int64_t size = 0, pages = 0;
  in >> size >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

struct footprint {
  std::int64_t in_use = 0, reserved = 0, heap = 0, resident = 0;
};
footprint of(const session& sess) {
  footprint f;
  for (const device_info& d : sess.devices()) {
    f.in_use += sess.memory(d.name).in_use;
    f.reserved += sess.memory(d.name).reserved;
  }
  f.heap = heap();
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
  CHECK(total(3) == static_cast<float>(runs));
  return {early, of(sess)};
}

}  // namespace

TEST_CASE("memory is flat over thousands of runs", "[session][soak]") {
  for (const int gpus : {0, 2}) {
    INFO("with " << gpus << " GPUs");
    const auto [early, late] = soak(gpus, gpus == 0 ? 20000 : 4000);
    CHECK(late.in_use == early.in_use);
    CHECK(late.reserved == early.reserved);
    CHECK(late.heap <= early.heap + 16 * 1024);
    // Other tests have left a heap of many pieces, of which more and more are touched for a while.
    CHECK(late.resident <= early.resident + 4 * 1024 * 1024);
  }
}

TEST_CASE("runs that are refused leave nothing behind", "[session][soak]") {
  constexpr auto v = placeholder<"v", float, dyn>;
  session sess;
  tensor<float, dyn> both(std::vector<float>(1000, 1.0f));
  const auto step = sess.prepare(fetches(v + 1.f, v + 2.f));
  footprint early;
  for (int k = 1; k <= 300; ++k) {
    // The first output is read, too, and staged; the second is where the first is.
    CHECK_THROWS_AS(sess.run_to(std::tie(both, both), fetches(v + 1.f, v + 2.f), v = both), invalid_argument_error);
    CHECK_THROWS_AS(step.to(std::tie(both, both))(v = both), invalid_argument_error);
    if (k == 30) early = of(sess);
  }
  const footprint late = of(sess);
  CHECK(late.in_use == early.in_use);
  CHECK(late.heap <= early.heap + 16 * 1024);
}
