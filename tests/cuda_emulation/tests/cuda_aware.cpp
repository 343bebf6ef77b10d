// SPDX-License-Identifier: BSL-1.0
// Messages that begin and end in the memory of GPUs, as between tasks whose MPI takes it; and between tasks whose MPI
// does not, the pinned memory that they go through. The emulated GPUs know whose memory an address is, and have done
// nothing that nobody waited for.
#define ONTO_SUMS_ON_GPUS
#include "cluster/collectives.hpp"

#include "catch.hpp"
#include "cluster/simulated_tasks.hpp"
#include "control.hpp"
#include "emulator.hpp"

#include <map>

using namespace onto_test;
using namespace onto_test::sums;

namespace {

bool is_of_gpu(const void* data) {
  const std::lock_guard<std::mutex> lock(cuda_emulation::lock_of_everything());
  return cuda_emulation::is_device_address(data);
}
/// Between a GPU's memory and the host's.
void copy(void* to, const void* from, std::int64_t bytes) {
  const std::lock_guard<std::mutex> lock(cuda_emulation::lock_of_everything());
  const auto size = static_cast<std::size_t>(bytes);
  const auto seen = [&](const void* p) {
    return cuda_emulation::is_device_address(p) ? cuda_emulation::device_bytes(p, size, "MPI") : const_cast<void*>(p);
  };
  if (void* const target = seen(to), * const source = seen(from); target && source) std::memcpy(target, source, size);
}

/// Runs `check(session, rule_checker)` in three workers, between which messages take the memory of GPUs or do not.
/// *Returns* how many messages began there and how many ended there.
template <class F>
std::pair<int, int> in_three_workers(bool aware, const F& check) {
  memory_of_gpus memory{&is_of_gpu, &copy};
  taken_memory = aware ? &memory : nullptr;
  const outcome o = run_tasks({{"worker", 3}}, 1, [&](server& node) {
    session sess{node, {.allow_soft_placement = true, .timeout = 60}};
    rule_checker r(node.rank());
    check(sess, r);
    for (const std::string& failure : r.failures()) throw std::runtime_error(failure);
    if (r.checks() == 0) throw std::runtime_error("nothing was checked");
  });
  taken_memory = nullptr;
  for (const std::string& words : o.thrown) CHECK(words == "");
  CHECK(o.left_over == 0);
  CHECK(cuda_emulation::take_violations().empty());
  return {memory.sent, memory.received};
}

/// Values that go from GPU to GPU, from a GPU to a host, from a host to a GPU, and through all of them.
template <int Size>
constexpr auto round_trip() {
  constexpr auto first = on<worker<0>>(sin(iota<float, Size>() * 0.3_c));
  constexpr auto second = on<worker<1>>(first * 2_c);
  constexpr auto on_host = on<task<"worker", 2, cpu<0>>>(second + 1_c);
  constexpr auto third = on<worker<2>>(on_host * 0.5_c);
  constexpr auto back = on<worker<0>>(on_host - first);
  return fetches(on<worker<2>>(sum(square(third))), on<worker<0>>(sum(square(back))),
                 on<worker<1>>(sum(square(second))));
}
template <int Size>
void check_round_trip(session& s, rule_checker& r) {
  double expected[3] = {};
  for (int k = 0; k < Size; ++k) {
    const double x = std::sin(0.3f * static_cast<float>(k));
    expected[0] += (x + 0.5) * (x + 0.5);
    expected[1] += (x + 1) * (x + 1);
    expected[2] += 4 * x * x;
  }
  static constexpr auto program = round_trip<Size>();
  const auto step = s.prepare(program);
  for (int run = 0; run < 3; ++run) {
    const auto [a, b, c] = run == 0 ? s.run(program) : step();
    const double got[3] = {a.size() ? a() : expected[0], b.size() ? b() : expected[1], c.size() ? c() : expected[2]};
    for (int k = 0; k < 3; ++k)
      r.expect(std::abs(got[k] - expected[k]) < 1e-4 * expected[k], "result " + std::to_string(k));
  }
}

}  // namespace

TEST_CASE("messages begin and end in the memory of GPUs where what carries them takes it", "[gpu][cluster]") {
  const auto [sent, received] = in_three_workers(true, check_round_trip<5001>);
  // In each run from 0 to 1, from 1 to the host of 2, and from there to 0.
  CHECK(sent >= 2 * 3);
  CHECK(received >= 2 * 3);
  CHECK(in_three_workers(false, check_round_trip<5001>) == std::pair{0, 0});
}

TEST_CASE("programs with collectives are right beside such messages", "[gpu][cluster]") {
  const auto [sent, received] =
      in_three_workers(true, [](session& s, rule_checker& r) { check_random_collectives<2, 3>(s, r); });
  CHECK((sent > 0 && received > 0));
}

TEST_CASE("a failed kernel before such a message is told to all, and the session goes on", "[gpu][cluster]") {
  in_three_workers(true, [](session& s, rule_checker& r) {
    failing_kernels failing;
    s.inject(failing.hook());
    for (int k = 0; k < 2; ++k) {
      failing.now = true;
      bool thrown = false;
      try {
        s.run(round_trip<5001>());
      } catch (const error&) {
        thrown = true;
      }
      r.expect(thrown, "a kernel fails");
      failing.now = false;
      check_round_trip<5001>(s, r);
    }
    s.inject({});
  });
}

TEST_CASE("where it does not, what a program sends from GPUs again and again is pinned", "[gpu][cluster]") {
  cuda_emulation::reset_calls();
  in_three_workers(false, check_round_trip<300'001>);
  const std::map<std::string, long> calls = cuda_emulation::calls();
  CHECK(calls.at("cudaHostRegister") == 3);
  CHECK(calls.at("cudaHostUnregister") == 3);
}

TEST_CASE("a task that stops before such a message is named by those who wait", "[gpu][cluster]") {
  memory_of_gpus memory{&is_of_gpu, &copy};
  taken_memory = &memory;
  const auto go = [](session& sess) { sess.run(round_trip<5001>()); };
  CHECK(unnamed_stop(1, go, go) == "");
  taken_memory = nullptr;
  CHECK(memory.sent > 0);
  // MPI may still read what was to be sent: that stays, and nothing else.
  for (const std::string& words : cuda_emulation::take_violations())
    CHECK(words.find("a pool was destroyed while memory of it was in use") != std::string::npos);
  cuda_emulation::drain();
  for (const auto& [kind, count] : cuda_emulation::live_objects()) CHECK(kind == "pool allocations");
  cuda_emulation::forget_objects();
}
