// SPDX-License-Identifier: BSL-1.0
// Random programs on emulated GPUs while calls of the CUDA runtime fail, each of them once: a run gives the right
// result or an error of onto's, the next run is right, and nothing is left behind.
#include <unistd.h>

#include <filesystem>
#include <string>

#include "../../unit/session/properties.hpp"
#include "control.hpp"

using namespace onto_test;

namespace {

template <class Step>
std::vector<value> values_of(const Step& step, const program_feeds& f) {
  return with_feeds<false>(f, [&](const auto&... feeds) {
    return std::apply([](const auto&... t) { return std::vector<value>{to_value(t)...}; }, step(feeds...));
  });
}

/// Runs something with call `n` failing. *Returns* whether a call failed.
template <class Run>
bool with_failing_call(long n, cudaError_t status, const reference& expected, const Run& run) {
  INFO("call " << n << " fails");
  cuda_emulation::fail_call("", n, status);
  try {
    check_all_close(run(), expected);
  } catch (const onto::error& e) {
    INFO(e.what());
    CHECK(std::string(e.what()).rfind("[onto.", 0) == 0);
  }
  const bool failed = cuda_emulation::clear_faults() > 0;
  CHECK(cudaGetLastError() == cudaSuccess);  // nothing stale is left for others to find
  return failed;
}

/// Each call of a run fails once, in a session of its own kind of run: plain, prepared, recorded, replayed, queued.
template <unsigned Seed>
void check_failing_calls(int gpus, cudaError_t status) {
  INFO("seed " << Seed << " on " << gpus << " GPUs, status " << static_cast<int>(status));
  const auto program = random_program<Seed, false, 2>();
  const program_feeds f(Seed);
  const reference expected = reference_of(program, fed_values<false>(f));
  session sess{machine_options(gpus)};
  check_all_close(run_on<false>(sess, program, f), expected);

  long n = 0;
  do REQUIRE(++n < 2000);
  while (with_failing_call(n, status, expected, [&] { return run_on<false>(sess, program, f); }));
  CHECK(n > 5);
  check_all_close(run_on<false>(sess, program, f), expected);

  for (int before = 0; before < 4; ++before) {
    INFO("prepared, run " << before);
    n = 0;
    bool failed = true;
    while (failed) {
      // Calls of few runs tell as much as those of all: every third.
      REQUIRE((n += before == 0 ? 3 : 1) < 2000);
      const auto step = sess.prepare(program);
      for (int k = 0; k < before; ++k) check_all_close(values_of(step, f), expected);
      failed = with_failing_call(n, status, expected, [&] { return values_of(step, f); });
      check_all_close(values_of(step, f), expected);
    }
    CHECK(n > 2);
  }

  n = 0;
  bool failed = true;
  while (failed) {
    REQUIRE((n += 2) < 2000);
    const auto step = sess.prepare(program);
    check_all_close(values_of(step, f), expected);
    failed = with_failing_call(n, status, expected, [&] {
      return with_feeds<false>(f, [&](const auto&... feeds) {
        auto first = step.async(feeds...);
        auto second = step.async(feeds...);
        const auto results = [](const auto& tuple) {
          return std::apply([](const auto&... t) { return std::vector<value>{to_value(t)...}; }, tuple);
        };
        try {
          (void)first.get();
        } catch (const onto::error&) {
        }
        return results(second.get());
      });
    });
  }
}

}  // namespace

TEST_CASE("each call of the CUDA runtime fails once, in every kind of run", "[emulator][session]") {
  for (const cudaError_t status : {cudaErrorNotSupported, cudaErrorMemoryAllocation}) {
    check_failing_calls<3>(1, status);
    check_failing_calls<6>(2, status);
  }
}

TEST_CASE("each call of the CUDA runtime fails once where variables are saved and restored", "[emulator][session]") {
  constexpr auto left = variable<"left", float, 300, 400>;
  constexpr auto right = variable<"right", float, 7>;
  const std::string path =
      (std::filesystem::temp_directory_path() / ("onto_emulated_" + std::to_string(::getpid()))).string();
  session sess{machine_options(2)};
  const auto set = [&](float v) { sess.run(fetches(assign(on<gpu<0>>(left), v), assign(on<gpu<1>>(right), v))); };
  set(1);
  sess.save(path + "1");
  set(2);
  sess.save(path + "2");
  for (const cudaError_t status : {cudaErrorNotSupported, cudaErrorMemoryAllocation}) {
    long n = 0;
    for (bool failed = true; failed;) {
      REQUIRE(++n < 500);
      INFO("call " << n << " fails");
      cuda_emulation::fail_call("", n, status);
      bool told = false;
      try {
        sess.save(path + "2");
        sess.restore(path + "1");
      } catch (const onto::error& e) {
        INFO(e.what());
        CHECK(std::string(e.what()).rfind("[onto.", 0) == 0);
        told = true;
      }
      failed = cuda_emulation::clear_faults() > 0;
      CHECK(cudaGetLastError() == cudaSuccess);
      const auto [l, r] = sess.run(fetches(left, right));
      const float now = told ? 2 : 1;
      CHECK((l(0, 0) == now && l(299, 399) == now && r(0) == now && r(6) == now));
      sess.restore(path + "2");
      CHECK(sess.run(right)(0) == 2);
    }
    CHECK(n > 10);
  }
  std::filesystem::remove(path + "1");
  std::filesystem::remove(path + "2");
}

TEST_CASE("a session that is gone leaves nothing behind", "[emulator][session]") {
  const auto program = random_program<8, false, 2>();
  const program_feeds f(8);
  const reference expected = reference_of(program, fed_values<false>(f));
  cuda_emulation::drain();
  const auto before = cuda_emulation::live_objects();
  for (int k = 0; k < 3; ++k) {
    session sess{machine_options(2)};
    check_all_close(run_on<false>(sess, program, f), expected);
    const auto step = sess.prepare(program);
    for (int run = 0; run < 4; ++run) check_all_close(values_of(step, f), expected);
  }
  cuda_emulation::drain();
  CHECK(cuda_emulation::live_objects() == before);
}

TEST_CASE("queued runs on emulated GPUs come in order, each with its own feeds", "[emulator][session]") {
  const auto program = random_program<10, false, 3>();
  const program_feeds f(10), g(11);
  const reference of_f = reference_of(program, fed_values<false>(f)),
                  of_g = reference_of(program, fed_values<false>(g));
  for (const int gpus : {1, 2}) {
    session sess{machine_options(gpus)};
    const auto step = sess.prepare(program);
    const auto start = [&](const program_feeds& feeds) {
      return with_feeds<false>(feeds, [&](const auto&... x) { return step.async(x...); });
    };
    const auto values = [](const auto& tuple) {
      return std::apply([](const auto&... t) { return std::vector<value>{to_value(t)...}; }, tuple);
    };
    for (int round = 0; round < 4; ++round) {
      auto first = start(f), second = start(g), third = start(f);
      check_all_close(values(second.get()), of_g);
      check_all_close(values(first.get()), of_f);
      check_all_close(values(third.get()), of_f);
    }
  }
}
