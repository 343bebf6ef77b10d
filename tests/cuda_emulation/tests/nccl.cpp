// SPDX-License-Identifier: BSL-1.0
// Sums over GPUs of several tasks through an emulated NCCL: what they come to, what goes through the hosts beside them,
// and what becomes of a session when a call fails or a task does not come.
#define ONTO_SUMS_ON_GPUS
#include "cluster/all_reduces.hpp"

#include "catch.hpp"
#include "cluster/simulated_tasks.hpp"
#include "control.hpp"
#include "nccl.hpp"

using namespace onto_test;
using namespace onto_test::sums;

namespace {

/// Runs `check(session, rule_checker)` in a session of so many workers. *Returns* what NCCL had to do.
template <class F>
cuda_emulation::nccl_counts in_workers(int count, session_options options, const F& check) {
  (void)cuda_emulation::take_nccl_counts();
  options.simulated_tasks = {{"worker", count}};
  options.timeout = 60;
  {
    session sess{options};
    rule_checker r(-1);
    check(sess, r);
    for (const std::string& failure : r.failures()) FAIL_CHECK(failure);
    CHECK(r.checks() > 0);
  }
  CHECK(cuda_emulation::take_violations().empty());
  return cuda_emulation::take_nccl_counts();
}

template <int... K>
constexpr auto sum_of_sines(std::integer_sequence<int, K...>) {
  return add_n(on<worker<K>>(sin(iota<float, 5001>() * c<0.3f * (K + 1)>))...);
}
/// Every task uses the sum, and tells one number of it.
template <int... K>
constexpr auto norms(std::integer_sequence<int, K...> tasks) {
  constexpr auto total = sum_of_sines(std::integer_sequence<int, K...>{});
  (void)tasks;
  return fetches(on<worker<K>>(sum(square(total)))...);
}
constexpr auto two_norms = norms(std::make_integer_sequence<int, 2>{});

template <class F>
std::string words_of(const F& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("random programs with sums over GPUs of several tasks compute what the reference does", "[gpu][cluster]") {
  const auto done = in_workers(3, {}, [](session& s, rule_checker& r) { check_random_sums<11, 3>(s, r); });
  CHECK(done.sums >= 3 * 3 * 2);
}

TEST_CASE("numbers of all types that NCCL has are added up on GPUs", "[gpu][cluster]") {
  const auto done = in_workers(2, {}, [](session& s, rule_checker& r) { check_types<2>(s, r); });
  CHECK(done.sums == 2 * 7);
  // Half and bfloat16 are rounded once, which NCCL does of two terms alone.
  const auto of_three = in_workers(3, {}, [](session& s, rule_checker& r) {
    check_multiples<onto::half, 150, 3>(s, r, "half");
    check_multiples<bfloat16, 12, 3>(s, r, "bfloat16");
    check_multiples<float, 12, 3>(s, r, "float");
  });
  CHECK(of_three.sums == 3);
}

TEST_CASE("a sum over GPUs of several tasks does not go through the hosts", "[gpu][cluster]") {
  const auto copies = [](bool in_order) {
    std::int64_t bytes = 0;
    const auto done = in_workers(2, {.deterministic = in_order}, [&](session& s, rule_checker& r) {
      const auto [a, b] = s.run(two_norms);
      for (const device_info& d : s.devices()) bytes += s.statistics(d.name).transfer_bytes;
      r.expect(std::abs(a() - b()) < 1e-3f * a() && a() > 1000, "both have the sum");
    });
    CHECK(done.sums == (in_order ? 0 : 2));
    return bytes;
  };
  CHECK(copies(false) < 100);
  CHECK(copies(true) > 4 * 5001 * 4);
}

TEST_CASE("tasks that share a GPU add up on the hosts", "[gpu][cluster]") {
  constexpr auto x = iota<float, 12>();
  constexpr auto total = on<task<"worker", 0, gpu<1>>>(x * 2_c) + on<task<"worker", 1, gpu<1>>>(x * 3_c);
  const auto done = in_workers(2, {}, [&](session& s, rule_checker& r) {
    const auto got = s.run(total);
    for (int k = 0; k < 12; ++k) r.expect(got(k) == 5.f * static_cast<float>(k), "a sum");
  });
  CHECK(done.sums == 0);
}

TEST_CASE("towers on GPUs of two tasks take the steps of one tower", "[gpu][cluster]") {
  const auto done = in_workers(2, {}, [](session& s, rule_checker& r) {
    check_training(
        s, r, [](const auto& loss) { return minimize(sgd{.rate = 0.2, .momentum = 0.9}, loss); }, "sgd");
  });
  CHECK(done.sums >= 12 * 2 * 3);
  CHECK(done.groups < done.sums);  // several values are one call
}

TEST_CASE("after a failed kernel the sums are done all the same, and the session goes on", "[gpu][cluster]") {
  in_workers(2, {}, [](session& s, rule_checker& r) {
    const auto before = std::get<0>(s.run(two_norms))();
    failing_kernels failing;
    s.inject(failing.hook());
    for (int k = 0; k < 3; ++k) {
      failing.now = true;
      r.expect(words_of([&] { s.run(two_norms); }) != "nothing was thrown", "a kernel fails");
      failing.now = false;
      r.expect(std::abs(std::get<0>(s.run(two_norms))() - before) < 1e-3f * before, "the same after a failure");
    }
    s.inject({});
  });
}

TEST_CASE("a call of NCCL's that fails ends the session in all tasks, with NCCL's words", "[gpu][cluster]") {
  const std::string call = GENERATE("ncclGetUniqueId", "ncclCommInitRankConfig", "ncclCommGetAsyncError",
                                    "ncclGroupStart", "ncclAllReduce", "ncclGroupEnd");
  {
    session sess{{.simulated_tasks = {{"worker", 2}}, .timeout = 60}};
    cuda_emulation::fail_call(call, 1, cudaErrorNotPermitted);
    const std::string words = words_of([&] { sess.run(two_norms); });
    INFO(words);
    CHECK(words.find("[onto.cuda] " + call + " failed: unhandled cuda error: Cuda failure") != std::string::npos);
    CHECK(words.find("; in /job:worker/task:") != std::string::npos);
    CHECK(cuda_emulation::clear_faults() == 1);
    CHECK(words_of([&] { sess.run(two_norms); }) == words);
  }
  session sess{{.simulated_tasks = {{"worker", 2}}, .timeout = 60}};
  CHECK(std::get<1>(sess.run(two_norms))() > 1000);
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a task that does not come to a sum on GPUs is named by those who wait", "[gpu][cluster]") {
  const int stopped = GENERATE(0, 1, 2);
  const bool at_first = stopped == 1;
  static constexpr auto program = norms(std::make_integer_sequence<int, 3>{});
  const auto go = [](session& sess) { sess.run(program); };
  const auto before = [&](session& sess) {
    if (!at_first) go(sess);  // the communicator is there, and GPUs wait for each other
  };
  CHECK(unnamed_stop(stopped, before, go) == "");
  CHECK(cuda_emulation::take_violations().empty());
}
