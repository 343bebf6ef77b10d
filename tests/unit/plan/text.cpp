// SPDX-License-Identifier: BSL-1.0
// What a plan prints: its steps as text, its graph for Graphviz.
#include <onto/onto.hpp>

#include "../../golden.hpp"
#include "../catch.hpp"

using namespace onto;

namespace {

inline constexpr auto a = placeholder<"a", float, 4, 4>;
inline constexpr auto m = placeholder<"m", float, dyn, dyn>;
inline constexpr auto w = variable<"w", float, 4, 4>;

constexpr auto left = on<gpu<0>>(matmul(a, a));
constexpr auto right = on<gpu<1>>(matmul(a, transpose(a)));
constexpr auto towers = on<cpu<0>>(named<"total">(relu(add_n(left, right))));
constexpr auto shares = m / sum<1>(m, keep_extents);
constexpr auto step = on<gpu<0>>(assign_sub(w, a* a));

}  // namespace

TEST_CASE("a plan's steps print one a line", "[plan][golden]") {
  golden("plan/towers_text", plan_of(towers).text());
  golden("plan/towers_text_cpu", plan_of<world<cpu<0>>>(towers).text());
  golden("plan/several_results_text", plan_of<world<cpu<0>, gpu<0>>>(fetches(shares, exp(m), m, transpose(m))).text());
  golden("plan/assign_text", plan_of(step).text());
}

TEST_CASE("a plan's graph prints for Graphviz, a box per kernel", "[plan][golden]") {
  golden("plan/towers_dot", plan_of(towers).dot());
  golden("plan/shares_dot", plan_of(shares).dot());
}

TEST_CASE("every kernel and transfer of a plan is a line of its text", "[plan]") {
  const auto& p = plan_of(towers);
  int kernels = 0, transfers = 0;
  const std::string text = p.text();
  for (std::size_t at = 0; (at = text.find(". kernel on", at)) != std::string::npos; ++at) ++kernels;
  for (std::size_t at = 0; (at = text.find(". transfer ", at)) != std::string::npos; ++at) ++transfers;
  CHECK(kernels == p.kernels);
  CHECK(transfers == p.transfers);
}
