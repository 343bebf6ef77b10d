// SPDX-License-Identifier: BSL-1.0
// What GPUs of several tasks do among themselves through an emulated NCCL: what it comes to, what goes through the
// hosts beside it, and what becomes of a session when a call fails or a task does not come.
#define ONTO_SUMS_ON_GPUS
#include "cluster/collectives.hpp"

#include "catch.hpp"
#include "cluster/simulated_tasks.hpp"
#include "control.hpp"
#include "nccl.hpp"
#include "unit/session/properties.hpp"
#include "unit/words_of.hpp"

using namespace onto_test;
using sums::worker;

namespace {

/// Runs `check(session, rule_checker)` in a session of so many workers. *Returns* what NCCL had to do.
template <class F>
cuda_emulation::nccl_counts in_workers(int count, session_options options, const F& check) {
  (void)cuda_emulation::take_nccl_counts();
  cuda_emulation::set_machine({.devices = count});
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
/// What went to other tasks from hosts' memory, and what from GPUs'.
struct sent {
  std::int64_t by_hosts = 0, by_gpus = 0;
};
sent sent_in(session& s) {
  sent all;
  for (const device_info& d : s.devices())
    (d.name.kind() == "GPU" ? all.by_gpus : all.by_hosts) += s.statistics(d.name).transfer_bytes;
  return all;
}

/// Every task uses the sum, and tells one number of it.
template <int... K>
constexpr auto norms(std::integer_sequence<int, K...> tasks) {
  constexpr auto total = sum_of_sines(std::integer_sequence<int, K...>{});
  (void)tasks;
  return fetches(on<worker<K>>(sum(square(total)))...);
}
constexpr auto two_norms = norms(std::make_integer_sequence<int, 2>{});

/// Each call of NCCL's that is not in `two_norms`.
constexpr auto numbers = iota<float, 40>();
constexpr auto sum_of_both = on<worker<0>>(numbers * 2_c) + on<worker<1>>(numbers * 3_c);
constexpr auto other_sum = on<worker<0>>(numbers * 5_c) + on<worker<1>>(numbers * 7_c);
constexpr auto two_parts = concat<0>(on<worker<0>>(numbers * 2_c), on<worker<1>>(numbers * 3_c));
constexpr auto odd_parts = concat<0>(on<worker<0>>(slice<0, 9>(numbers) * 2_c), on<worker<1>>(numbers * 3_c));
constexpr auto everything =
    fetches(on<worker<0>>(sum(slice<0, 20>(sum_of_both))), on<worker<1>>(sum(slice<20, 40>(sum_of_both))),
            on<worker<0>>(sum(slice<0, 5>(other_sum))), on<worker<1>>(sum(slice<20, 40>(other_sum))),
            on<worker<0>>(sum(two_parts)), on<worker<1>>(sum(two_parts)), on<worker<0>>(sum(odd_parts)),
            on<worker<1>>(sum(odd_parts)), on<worker<0>>(sum(on<worker<1>>(exp(numbers)))));

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

TEST_CASE("random programs with collectives on GPUs of several tasks compute what the reference does",
          "[gpu][cluster]") {
  const auto of_three = in_workers(3, {}, [](session& s, rule_checker& r) { check_random_collectives<2, 3>(s, r); });
  CHECK((of_three.sums > 0 && of_three.copies > 0 && of_three.messages > 0));
  const auto of_four = in_workers(4, {}, [](session& s, rule_checker& r) { check_random_collectives<5, 4>(s, r); });
  CHECK((of_four.sums > 0 && of_four.copies > 0));
}

TEST_CASE("values of all types go to GPUs of all tasks, side by side and as rows of sums", "[gpu][cluster]") {
  const auto done = in_workers(2, {}, [](session& s, rule_checker& r) { check_shared_types<2>(s, r); });
  CHECK(done.sums == 5 * 2);
  CHECK(done.copies == 5 * 2 * 2);
}

TEST_CASE("parts of several sizes go to GPUs of all tasks", "[gpu][cluster]") {
  constexpr auto x = iota<float, 40>();
  constexpr auto all = concat<0>(on<worker<2>>(x + 1_c), on<worker<0>>(slice<0, 7>(x) * 3_c), on<worker<1>>(x * 2_c));
  constexpr auto total = on<worker<0>>(x * 1_c) + on<worker<1>>(x * 2_c) + on<worker<2>>(x * 4_c);
  constexpr auto low = on<worker<1>>(sum(slice<0, 3>(total)));
  constexpr auto high = on<worker<0>>(sum(slice<20, 40>(total)));
  constexpr auto middle = on<worker<2>>(sum(slice<3, 12>(total)));
  constexpr auto program =
      fetches(on<worker<0>>(sum(all)), on<worker<1>>(sum(all)), on<worker<2>>(sum(all)), low, high, middle);
  static_assert(plan_of(program).all_gathers == 1 && plan_of(program).reduce_scatters == 1);
  const auto done = in_workers(3, {}, [&](session& s, rule_checker& r) {
    const auto [a, b, c, l, h, m] = s.run(program);
    r.expect(a() == 2443 && b() == 2443 && c() == 2443, "all of them");
    r.expect(l() == 21 && h() == 4130 && m() == 441, "rows of a sum");
    r.expect(sent_in(s).by_hosts < 100, "nothing goes through the hosts");
  });
  CHECK(done.copies == 9);
  CHECK(done.sums == 9);
}

TEST_CASE("what one task makes goes from GPU to GPU", "[gpu][cluster]") {
  constexpr auto x = sin(iota<float, 5001>() * 0.3_c);
  const auto check = [&](session& s, rule_checker& r, const auto& program) {
    const auto got = s.run(program);
    std::apply(
        [&](const auto& first, const auto&... more) {
          r.expect(((std::abs(first() - more()) < 1e-3f * first()) && ...) && first() > 1000, "all have the same");
        },
        got);
    r.expect(sent_in(s).by_hosts < 100, "nothing goes through the hosts");
  };
  // From one to one, and on to a third; and one way and the other at the same time.
  constexpr auto there = on<worker<1>>(x * 2_c);
  constexpr auto back = on<worker<0>>(x * 2_c);
  constexpr auto chain = fetches(on<worker<0>>(sum(square(there))), on<worker<1>>(sum(square(back))),
                                 on<worker<2>>(sum(square(on<worker<0>>(there * 1_c)))));
  static_assert(plan_of(chain).messages >= 3 && plan_of(chain).direct == 3 && plan_of(chain).direct_bytes == 3 * 20004);
  CHECK(plan_of(chain).text().find("/gpu:1 to /job:worker/task:0/gpu:0, 20004 bytes, direct\n") != std::string::npos);
  for (const bool in_order : {false, true}) {  // nothing is added up on the way
    const auto done =
        in_workers(3, {.deterministic = in_order}, [&](session& s, rule_checker& r) { check(s, r, chain); });
    CHECK(done.messages == 2 * 3);
    CHECK(done.sums == 0);
  }
  // To many.
  constexpr auto to_all = fetches(on<worker<0>>(sum(square(there))), on<worker<1>>(sum(square(there))),
                                  on<worker<2>>(sum(square(there))), on<worker<3>>(sum(square(there))));
  static_assert(plan_of(to_all).broadcasts == 1);
  const auto done = in_workers(4, {}, [&](session& s, rule_checker& r) { check(s, r, to_all); });
  CHECK(done.copies == 4);
  CHECK(done.messages == 0);
}

TEST_CASE("each set of GPUs has a communicator, whichever of its tasks' GPUs they are", "[gpu][cluster]") {
  constexpr auto x = iota<float, 12>();
  using first = task<"worker", 0, gpu<0>>;
  constexpr auto near = on<first>(x * 2_c) + on<task<"worker", 1, gpu<1>>>(x * 3_c);
  constexpr auto far = on<first>(x * 5_c) + on<task<"worker", 1, gpu<2>>>(x * 7_c);
  const auto done = in_workers(3, {.timeout = 60}, [&](session& s, rule_checker& r) {
    const auto [a, b] = s.run(fetches(near, far));
    for (int k = 0; k < 12; ++k)
      r.expect(a(k) == 5.f * static_cast<float>(k) && b(k) == 12.f * static_cast<float>(k), "a sum");
  });
  CHECK(done.sums == 4);
}

TEST_CASE("random programs over GPUs of several tasks compute what the reference does", "[gpu][cluster]") {
  constexpr unsigned Seed = 4;
  // Two of the tasks share a GPU.
  const char* const guards[] = {"/job:worker/task:0/gpu:0", "/job:worker/task:1/gpu:1", "/job:worker/task:2/gpu:2",
                                "/job:worker/task:2/gpu:0"};
  for (int k = 0; k < 4; ++k) guard_names[k] = guards[k];
  const auto program = boost::hana::unpack(random_program<Seed, false, 2, true>().expressions,
                                           [](const auto&... e) { return fetches(e...); });
  const program_feeds f(Seed);
  const reference expected = reference_of(program, fed_values<false>(f));
  const auto done = in_workers(3, {.allow_soft_placement = true}, [&](session& s, rule_checker& r) {
    for (int run = 0; run < 2; ++run) {
      const std::vector<value> got = run_on<false>(s, program, f);
      for (std::size_t k = 0; k < got.size(); ++k) check_close(got[k], expected.fetch(static_cast<int>(k)));
    }
    r.expect(true, "it was run");
  });
  CHECK(done.messages > 0);
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
                                    "ncclGroupStart", "ncclAllReduce", "ncclGroupEnd", "ncclReduceScatter",
                                    "ncclReduce", "ncclAllGather", "ncclBroadcast", "ncclSend", "ncclRecv");
  cuda_emulation::set_machine({.devices = 3});
  {
    session sess{{.simulated_tasks = {{"worker", 2}}, .timeout = 60}};
    cuda_emulation::fail_call(call, 1, cudaErrorNotPermitted);
    const std::string words = words_of([&] {
      sess.run(two_norms);
      sess.run(everything);
    });
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
  cuda_emulation::set_machine({.devices = 3});
  const auto go = [](session& sess) { sess.run(program); };
  const auto before = [&](session& sess) {
    if (!at_first) go(sess);  // the communicator is there, and GPUs wait for each other
  };
  CHECK(unnamed_stop(stopped, before, go) == "");
  CHECK(cuda_emulation::take_violations().empty());
}

TEST_CASE("a task that does not send to another one's GPU is named by those who wait", "[gpu][cluster]") {
  // From each to the next: who waits for the one that stopped, and who waits for that one.
  static constexpr auto link = [](auto from, auto to, auto number) {
    return on<decltype(to)>(sum(on<decltype(from)>(sin(iota<float, 5001>() * number))));
  };
  static constexpr auto round = fetches(link(worker<0>{}, worker<1>{}, 0.1_c), link(worker<1>{}, worker<2>{}, 0.2_c),
                                        link(worker<2>{}, worker<0>{}, 0.3_c));
  cuda_emulation::set_machine({.devices = 3});
  const int stopped = GENERATE(0, 2);
  const auto go = [](session& sess) { sess.run(round); };
  CHECK(unnamed_stop(stopped, go, go) == "");
  CHECK(cuda_emulation::take_violations().empty());
}
