// SPDX-License-Identifier: BSL-1.0
// Random programs over random tasks compute what the reference does, however late messages are.
#include "../../cluster/simulated_tasks.hpp"
#include "../session/properties.hpp"

#include <atomic>

using namespace onto_test;

namespace {

using task_results = std::vector<value>;

/// The program of a seed under guards, and of each fetch something that no task is asked for.
template <unsigned Seed, bool Open>
auto program_over_tasks() {
  return boost::hana::unpack(random_program<Seed, Open, 2, true>().expressions,
                             [](const auto&... e) { return fetches(e..., tanh(cast<float>(e))...); });
}

template <class... E>
bool is_refused(session& sess, const fetch_list<E...>& program) {
  try {
    sess.placement(program);
    return false;
  } catch (const invalid_argument_error&) {  // one operation under two guards
    return true;
  }
}

/// Runs it three times, prepared and not.
template <bool Open, class Program>
std::vector<task_results> run_thrice(session& sess, const Program& program, const program_feeds& f) {
  std::vector<task_results> all{run_on<Open>(sess, program, f)};
  const auto step = sess.prepare(program);
  for (int k = 0; k < 2; ++k)
    all.push_back(with_feeds<Open>(f, [&](const auto&... feeds) {
      return std::apply([](const auto&... t) { return task_results{to_value(t)...}; }, step(feeds...));
    }));
  return all;
}

/// Runs it in every task, and in all of them as one session. A result that a task is asked for is there alone.
template <unsigned Seed, bool Open>
void check_over_tasks(std::initializer_list<job> jobs, const char* const (&guards)[4], int gpus) {
  INFO("seed " << Seed);
  for (int k = 0; k < 4; ++k) guard_names[k] = guards[k];
  const auto program = program_over_tasks<Seed, Open>();
  const program_feeds f(Seed);
  const reference expected = reference_of(program, fed_values<Open>(f));
  std::vector<std::vector<task_results>> got(8);
  std::atomic<bool> refused{false};
  const outcome o = run_tasks(jobs, Seed, [&](server& node) {
    session sess{node, {.allow_soft_placement = true, .simulated_gpus = gpus, .timeout = 60}};
    if (is_refused(sess, program)) {
      refused = true;
      return;
    }
    got[static_cast<std::size_t>(node.rank())] = run_thrice<Open>(sess, program, f);
  });
  for (const std::string& words : o.thrown) REQUIRE(words.empty());
  CHECK(o.left_over == 0);
  session all{{.allow_soft_placement = true, .simulated_gpus = gpus, .simulated_tasks = jobs, .timeout = 60}};
  CHECK(is_refused(all, program) == refused);
  if (refused) return;
  for (const task_results& r : run_thrice<Open>(all, program, f))
    for (std::size_t k = 0; k < r.size(); ++k) check_close(r[k], expected.fetch(static_cast<int>(k)));
  const std::size_t fetched = got[0][0].size(), tasks = o.thrown.size();
  for (std::size_t run = 0; run < 3; ++run) {
    for (std::size_t k = 0; k < fetched; ++k) {
      std::size_t arrived = 0;
      for (std::size_t r = 0; r < tasks; ++r) {
        const value& v = got[r][run][k];
        if (v.elements.empty()) continue;
        ++arrived;
        INFO("task " << r << ", run " << run << ", result " << k);
        check_close(v, expected.fetch(static_cast<int>(k)));
      }
      CHECK(arrived == (k < fetched / 2 ? 1 : tasks));
    }
  }
}

template <unsigned First, unsigned... K>
bool check_seeds(std::initializer_list<job> jobs, const char* const (&guards)[4], int gpus,
                 std::integer_sequence<unsigned, K...>) {
  (check_over_tasks<First + K, (First + K) % 3 == 1>(jobs, guards, gpus), ...);
  return sizeof...(K) > 0;
}

}  // namespace

TEST_CASE("random programs over two tasks compute what the reference does", "[cluster][threads]") {
  CHECK(check_seeds<0>({{"w", 2}}, {"/job:w/task:0", "/job:w/task:1", "/task:1/cpu:0", "/job:w"}, 0,
                       std::make_integer_sequence<unsigned, 3>{}));
}

TEST_CASE("random programs over four tasks with GPUs compute what the reference does", "[cluster][threads]") {
  CHECK(check_seeds<5>({{"ps", 1}, {"w", 3}},
                       {"/job:w/task:0/gpu:0", "/job:w/task:1/gpu:1", "/job:ps/cpu:0", "/job:w/task:2"}, 2,
                       std::make_integer_sequence<unsigned, 3>{}));
}

TEST_CASE("random programs over one task are those of a session alone", "[cluster][threads]") {
  CHECK(check_seeds<10>({{"local", 1}}, {"/gpu:0", "/job:local/task:0", "/cpu:0", "/task:0/gpu:1"}, 2,
                        std::make_integer_sequence<unsigned, 1>{}));
}
