// SPDX-License-Identifier: BSL-1.0
// Batches of updates: one launch writes variables of all sizes, each with its own numbers, and a failed run none.
#include <onto/onto.hpp>

#include "catch.hpp"
#include "session/batched_updates.hpp"
#include "session/simulated.hpp"

using namespace onto;
using namespace batched_updates;

namespace {

const auto as_it_is = [](const auto& e) { return e; };

}  // namespace

TEST_CASE("a batch writes variables of all sizes, each with its own numbers", "[runtime][training]") {
  for (int threads : {1, 3}) {
    session s{{.cpu_threads = threads}};
    check_steps(s, as_it_is);
  }
}

TEST_CASE("a batch runs on a simulated GPU", "[runtime][training]") {
  session s{onto_test::simulated_alone({.simulated_gpus = 2})};
  check_steps(s, as_it_is);
}

TEST_CASE("a batch is one launch", "[training]") {
  constexpr auto step = fetches(assign(few, few * 2_c), assign(odd, odd * 2_c), assign(one, one * 2_c));
  constexpr auto plan = plan_of(step);
  int batched = 0;
  for (int k = 0; k < plan.step_count; ++k) batched = plan.steps[k].batched > batched ? plan.steps[k].batched : batched;
  CHECK(batched == 3);  // a variable of one number among them
  session s;
  s.run(fetches(assign(few, ones<float, 3>()), assign(odd, ones<float, 7, 11>() * 3_c),
                assign(one, sum(ones<float, 5>()))));
  const auto [a, b, c] = s.run(step);
  CHECK(a(2) == 2.f);
  CHECK(b(6, 10) == 6.f);
  CHECK(static_cast<float>(c) == 10.f);
}
