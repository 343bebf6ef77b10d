// SPDX-License-Identifier: BSL-1.0
// All-reduces and other collectives over tasks that are threads: what they come to, in which order, and what becomes of
// them after a failure.
#include "../../cluster/collectives.hpp"
#include "../../cluster/simulated_tasks.hpp"
#include "../catch.hpp"

#include <atomic>

using namespace onto_test;
using namespace onto_test::sums;

namespace {

void expect_no_failure(const rule_checker& r) {
  for (const std::string& failure : r.failures()) FAIL_CHECK(failure);
  CHECK(r.checks() > 0);
}

/// Runs `check(session, rule_checker)` in a session of so many simulated workers.
template <class F>
void in_simulated_workers(int count, session_options options, const F& check) {
  options.simulated_tasks = {{"worker", count}};
  session sess{options};
  rule_checker r(-1);
  check(sess, r);
  expect_no_failure(r);
}

/// The same in each of so many workers, and then in all of them at once.
template <class F>
void in_each_worker(int count, const session_options& options, const F& check) {
  std::vector<rule_checker> checkers;
  for (int r = 0; r < count; ++r) checkers.emplace_back(r);
  const outcome o = run_tasks({{"worker", count}}, static_cast<unsigned>(count), [&](server& node) {
    session sess{node, options};
    check(sess, checkers[static_cast<std::size_t>(node.rank())]);
  });
  for (const rule_checker& r : checkers) expect_no_failure(r);
  for (const std::string& words : o.thrown) CHECK(words == "");
  CHECK(o.left_over == 0);
  in_simulated_workers(count, options, check);
}

}  // namespace

TEST_CASE("random programs with sums over tasks compute what the reference does", "[cluster][threads]") {
  in_each_worker(3, {.timeout = 60}, [](session& s, rule_checker& r) { check_random_sums<11, 3>(s, r); });
  in_each_worker(4, {.allow_soft_placement = true, .simulated_gpus = 1, .timeout = 60},
                 [](session& s, rule_checker& r) { check_random_sums<3, 4>(s, r); });
}

TEST_CASE("random programs with collectives compute what the reference does", "[cluster][threads]") {
  in_each_worker(3, {.timeout = 60}, [](session& s, rule_checker& r) { check_random_collectives<2, 3>(s, r); });
  in_each_worker(5, {.timeout = 60}, [](session& s, rule_checker& r) { check_random_collectives<5, 5>(s, r); });
  in_each_worker(4, {.allow_soft_placement = true, .simulated_gpus = 1, .timeout = 60},
                 [](session& s, rule_checker& r) { check_random_collectives<6, 4>(s, r); });
}

TEST_CASE("values of all types go to all tasks, side by side and as rows of sums", "[cluster][threads]") {
  in_each_worker(4, {.timeout = 60}, [](session& s, rule_checker& r) { check_shared_types<4>(s, r); });
}

TEST_CASE("numbers of all types are added up over tasks", "[cluster][threads]") {
  in_each_worker(3, {.timeout = 60}, [](session& s, rule_checker& r) { check_types<3>(s, r); });
}

TEST_CASE("numbers are added up over more tasks than messages are for", "[cluster][threads]") {
  const auto check = [](session& s, rule_checker& r) {
    check_multiples<float, 12, 10>(s, r, "float, over many tasks");
    check_multiples<half, 12, 10>(s, r, "half, over many tasks");
  };
  in_simulated_workers(10, {.timeout = 60}, check);
  in_simulated_workers(10, {.timeout = 60, .deterministic = true}, check);
}

TEST_CASE("where order is asked for, sums are in the order of the tasks", "[cluster][threads]") {
  in_each_worker(2, {.timeout = 60, .deterministic = true}, [](session& s, rule_checker& r) { check_order(s, r); });
}

TEST_CASE("towers with replicas over tasks take the steps of one tower", "[cluster][threads]") {
  in_each_worker(2, {.timeout = 60}, [](session& s, rule_checker& r) {
    check_training(
        s, r, [](const auto& loss) { return minimize(sgd{.rate = 0.2, .momentum = 0.9}, loss); }, "sgd");
  });
  in_each_worker(2, {.timeout = 60}, [](session& s, rule_checker& r) {
    check_training(
        s, r,
        [](const auto& loss) {
          return minimize(adam{.rate = 0.02}, learning_rate(0.02_c), clip_by_global_norm(0.1_c), loss);
        },
        "adam, with clipped gradients");
  });
}

TEST_CASE("the same towers take the same steps in one process", "[cluster]") {
  const auto by = [](const auto& loss) { return minimize(sgd{.rate = 0.2, .momentum = 0.9}, loss); };
  session two{{.simulated_gpus = 2}}, one;
  const auto towers_on_gpus = by(two_towers<gpu<0>, gpu<1>>);
  two.initialize(towers_on_gpus);
  const auto whole = by(
      model_loss(concat<0>(rows<0>().first, rows<1>().first), concat<0>(rows<0>().second, rows<1>().second), w, b, v));
  one.initialize(whole);
  const auto got = train(two, towers_on_gpus, w, b, v), expected = train(one, whole, w, b, v);
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) CHECK(got[k] == Approx(expected[k]).margin(2e-5));
}

TEST_CASE("after a failure before or in an all-reduce the session goes on", "[cluster][threads]") {
  constexpr auto sum = sum_over_tasks<1>(x, std::make_integer_sequence<int, 3>{});
  constexpr auto others = shared::random_collectives<4>(std::make_integer_sequence<int, 4>{});
  in_each_worker(4, {.timeout = 60}, [&](session& s, rule_checker& r) {
    const int me = static_cast<int>(s.devices().size());  // of all tasks: the same everywhere
    r.expect(me == 4, "four devices");
    const tensor<float, 2, 3> xs(std::vector<float>(6, 0.5f));
    const tensor<float, 3, 3> ms(std::vector<float>(9, 0.25f));
    const auto step = s.prepare(fetches(tanh(sum), sum * 0.5_c));
    const auto before = s.run(sum, x = xs, m = ms);
    failing_kernels failing;
    s.inject(failing.hook());
    static std::atomic<int> taken{0};
    for (int k = 0; k < 3; ++k) {
      failing.now = taken.fetch_add(1) % 4 == k;  // some of them, whoever comes first
      try {
        step(x = xs, m = ms);
        s.run(others, x = xs, m = ms);
        s.run(sum, x = xs, m = ms);
      } catch (const resource_exhausted_error&) {
      }
      failing.now = false;
      const auto after = s.run(sum, x = xs, m = ms);
      bool same = true;
      for (std::size_t j = 0; j < 6; ++j) same = same && after.data()[j] == before.data()[j];
      r.expect(same, "the same after a failure");
    }
    s.inject({});
    check_against_reference(s, r, others, "collectives after failures");
  });
}

TEST_CASE("who stops in the middle of a run is named by those who wait for its part in a sum", "[cluster][threads]") {
  const int stopped = GENERATE(0, 1, 2);
  constexpr auto sum = sum_over_tasks<1>(x, std::make_integer_sequence<int, 3>{});
  CHECK(unnamed_stop(
            stopped, [](session&) {},
            [&](session& sess) { sess.run(sum, x = tensor<float, 2, 3>(), m = tensor<float, 3, 3>()); }) == "");
}
