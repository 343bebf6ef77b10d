// SPDX-License-Identifier: BSL-1.0
// Random programs of maps, many of them fetched, so that kernels are merged and have several results: ten seeds in
// which they are.
#include "properties.hpp"

namespace {

template <unsigned Seed>
constexpr bool open_program = Seed % 3 == 1;
template <unsigned Seed>
constexpr int fetched_terms = 3 + static_cast<int>(Seed % 5);

/// How many results kernels have beside their last.
template <unsigned Seed>
int further_results() {
  const auto program = onto_test::random_program<Seed, open_program<Seed>, fetched_terms<Seed>, false, true>();
  const auto& p = onto::plan_of<onto::world<onto::cpu<0>>>(program);
  int count = 0;
  for (int k = 0; k < p.step_count; ++k) count += p.steps[k].more;
  return count;
}

template <unsigned... Seed>
void check_merged() {
  const int guarded = (int{onto_test::check_program<Seed, open_program<Seed>, fetched_terms<Seed>, true>()} + ... + 0);
  CHECK(guarded >= 6);
  CHECK((further_results<Seed>() + ... + 0) >= static_cast<int>(sizeof...(Seed)));
}

}  // namespace

TEST_CASE("random programs of maps whose kernels are merged", "[session]") {
  check_merged<58, 61, 62, 69, 79, 81, 84, 89, 94, 95>();
}
