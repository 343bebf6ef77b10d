// SPDX-License-Identifier: BSL-1.0
// A server and workers that do not wait for each other, and what one of them does to the others: nothing. They begin
// late, dawdle, and one is ten times as slow.
#pragma once

#include <onto/asynchronous.hpp>
#include <onto/cluster.hpp>

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <random>
#include <string>

namespace onto_test {

using namespace onto;

/// Worker k adds k + 1 in each of its steps. *Returns* whether the sum is right: of all of them, or where the last one
/// is stopped in the middle of its steps, of what it has made till then.
inline bool train_at_own_pace(server& node, int workers, bool stops) {
  constexpr int steps = 40;
  const int last = stops ? 10 : steps;  // the last worker's steps
  bool good = true;
  const auto body = [&](session& sess, int worker) {
    const auto sum = on<task<"ps", 0>>(variable<"sum", float, 1000>(0.f));
    const auto count = on<task<"ps", 0>>(variable<"count", std::int64_t>(zeros<std::int64_t>()));
    constexpr auto number = placeholder<"number", float>;
    sess.run(initialize(sum, count));
    const auto add = sess.prepare(fetches(on<task<"worker", 0>>(max(sum) - min(sum)),
                                          assign_add(sum, on<task<"worker", 0>>(number + 1.f)), assign_add(count, 1)));
    std::mt19937 random(static_cast<unsigned>(worker));
    const bool is_here = node.job() == "worker";
    const auto counted = sess.prepare(count + 0);
    for (int s = 0; s < steps; ++s) {
      // The others come to their ends without the last step of the one that is slow.
      if (worker == workers - 1 && !stops && s + 1 == steps) {
        int patience = 20000;
        while (counted() < steps * workers - 1 && patience > 0) {
          usleep(1000);
          --patience;
        }
        good = good && patience > 0;
      }
      if (worker == workers - 1 && s == last && is_here) std::raise(SIGSTOP);
      const auto pause = static_cast<useconds_t>(random() % 2000);
      if (is_here) usleep(worker == workers - 1 ? 10 * pause : stops ? 40000 : pause);
      const auto [spread, sum_now, count_now] = add(number = tensor<float>(static_cast<float>(worker)));
      if (is_here && spread() != 0) good = false;
    }
    if (worker > 0) return;
    const int updates = steps * (workers - 1) + last;
    while (counted() < updates) usleep(1000);
    const float expected = static_cast<float>(steps * workers * (workers - 1) / 2 + last * workers);
    const tensor<float, 1000> result = sess.run(sum * 1.f);
    for (int k = 0; is_here && k < 1000; ++k) good = good && result(k) == expected;
    if (is_here) std::fprintf(stderr, "the sum of %d updates is %g\n", updates, static_cast<double>(result(0)));
  };
  run_asynchronously(node, "worker", {.timeout = stops ? 1.5 : 10.}, body);
  std::fprintf(stderr, "task %d is done\n", node.rank());
  return good;
}

}  // namespace onto_test
