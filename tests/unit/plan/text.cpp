// SPDX-License-Identifier: BSL-1.0
// What a plan prints: its steps as text, its graph for Graphviz.
#include <onto/onto.hpp>

#include <sstream>

#include "../../golden.hpp"
#include "../catch.hpp"

using namespace onto;

namespace {

inline constexpr auto a = placeholder<"a", float, 4, 4>;
inline constexpr auto m = placeholder<"m", float, dyn, dyn>;
inline constexpr auto w = variable<"w", float, 4, 4>;

constexpr auto left = on<gpu<0>>(matmul(a, a));
constexpr auto right = on<gpu<1>>(matmul(a, transpose(a)));
constexpr auto total = on<cpu<0>>(named<"total">(relu(add_n(left, right))));
constexpr auto shares = m / sum<1>(m, keep_extents);
constexpr auto step = on<gpu<0>>(assign_sub(w, (a * a)));
constexpr auto odd = on<gpu<0>>(named<"a \"name\"\\ of\nits own">(exp(a)));
constexpr auto eight =
    on<cpu<0>>(mean(onto::towers(boost::hana::tuple_t<gpu<0>, gpu<1>, gpu<2>, gpu<3>, gpu<4>, gpu<5>, gpu<6>, gpu<7>>,
                                 [](auto) { return exp(a); })));

int count(const std::string& text, std::string_view piece) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(piece, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST_CASE("a plan's steps print one a line", "[plan][golden]") {
  golden("plan/towers_text", plan_of(total).text());
  golden("plan/towers_text_cpu", plan_of<world<cpu<0>>>(total).text());
  golden("plan/several_results_text", plan_of<world<cpu<0>, gpu<0>>>(fetches(shares, exp(m), m, transpose(m))).text());
  golden("plan/assign_text", plan_of(step).text());
}

TEST_CASE("a plan's graph prints for Graphviz, a box per kernel", "[plan][golden]") {
  golden("plan/towers_dot", plan_of(total).dot());
  golden("plan/shares_dot", plan_of(shares).dot());
  golden("plan/several_results_dot", plan_of<world<cpu<0>, gpu<0>>>(fetches(shares, exp(m), m, transpose(m))).dot());
  golden("plan/assign_dot", plan_of(fetches(step, w)).dot());
  golden("plan/name_dot", plan_of(odd).dot());
  golden("plan/nowhere_dot", plan_of<world<>>(shares).dot());
}

TEST_CASE("the picture has a box for each kernel, a dashed arrow for each transfer, and a colour for each device",
          "[plan]") {
  CHECK(count(plan_of(total).dot(), "subgraph cluster_") == plan_of(total).kernels);
  CHECK(count(plan_of(total).dot(), "style=dashed") == plan_of(total).transfers);
  CHECK(count(plan_of(step).dot(), "style=dashed") == plan_of(step).transfers);
  const std::string picture = plan_of(eight).dot();
  CHECK(count(picture, "subgraph cluster_") == plan_of(eight).kernels);
  CHECK(count(picture, "style=dashed") == plan_of(eight).transfers);
  for (const char* color : {"77aadd", "ee8866", "eedd88", "ffaabb", "44bb99", "bbcc33", "99ddff", "aaaa00"})
    CHECK(count(picture, std::string("style=filled; fillcolor=\"#") + color) == 1);
}

TEST_CASE("every kernel and transfer of a plan is a line of its text", "[plan]") {
  const auto& p = plan_of(total);
  CHECK(count(p.text(), ". kernel on") == p.kernels);
  CHECK(count(p.text(), ". transfer ") == p.transfers);
}

TEST_CASE("a name with a line end does not break a line", "[plan]") {
  const std::string text = plan_of(odd).text();
  CHECK(count(text, "\n") == plan_of(odd).step_count);
  CHECK(text.find("a \"name\"\\ of\\nits own") != std::string::npos);
  CHECK(count(estimate(plan_of(odd), h200).text(), "\n") == plan_of(odd).step_count + 3);
}

TEST_CASE("a plan prints as its text", "[plan]") {
  std::ostringstream out;
  out << plan_of(total);
  CHECK(out.str() == plan_of(total).text());
}
