// SPDX-License-Identifier: BSL-1.0
// A step that writes variables of four sizes by one program, each with a number of its own, beside plain loops.
#pragma once

#include <onto/onto.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace batched_updates {

using namespace onto;

inline constexpr auto one = variable<"one", float>;
inline constexpr auto few = variable<"few", float, 3>;
inline constexpr auto odd = variable<"odd", float, 7, 11>;
inline constexpr auto many = variable<"many", float, 130, 1001>;
inline constexpr auto open = variable<"open", float, dyn, dyn>;
inline constexpr auto rate = placeholder<"rate", float>;
inline constexpr auto ones_seen = placeholder<"ones_seen", float, dyn>;

/// An update that keeps something beside the variable, as optimizers do, with a number of the run's and one of its own.
template <class W, class M>
auto update(const W& w, const M& m, float own) {
  const auto next = assign(m, m * 0.5_c + w * rate);
  return group(sum(ones_seen), next, assign_sub(w, next * own + sqrt(abs(w))));
}

inline constexpr auto few_m = variable<"few_m", float, 3>;
inline constexpr auto odd_m = variable<"odd_m", float, 7, 11>;
inline constexpr auto many_m = variable<"many_m", float, 130, 1001>;
inline constexpr auto open_m = variable<"open_m", float, dyn, dyn>;

struct expected {
  std::vector<float> w, m;

  explicit expected(std::size_t n, float first) : w(n), m(n, 0.f) {
    for (std::size_t k = 0; k < n; ++k) w[k] = first + static_cast<float>(k % 13) / 16;
  }
  void step(float rate_now, float own) {
    for (std::size_t k = 0; k < w.size(); ++k) {
      m[k] = m[k] * 0.5f + w[k] * rate_now;
      w[k] -= m[k] * own + std::sqrt(std::abs(w[k]));
    }
  }
};

template <class T>
void fill(T& t, const std::vector<float>& from) {
  for (std::size_t k = 0; k < from.size(); ++k) t.data()[k] = from[k];
}

template <class T>
void check_near(const T& got, const std::vector<float>& want) {
  REQUIRE(static_cast<std::size_t>(got.size()) == want.size());
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < want.size(); ++k)
    wrong += std::abs(got.data()[k] - want[k]) <= 1e-5f * (1 + std::abs(want[k])) ? 0 : 1;
  CHECK(wrong == 0);
}

/// Runs three steps over four sizes and compares all that they wrote. `place` puts the steps somewhere.
template <class Place>
void check_steps(session& s, const Place& place) {
  expected a(3, 0.25f), b(77, 0.5f), c(130 * 1001, 0.75f), d(6, 1.f);
  tensor<float, 3> ta, za;
  tensor<float, 7, 11> tb, zb;
  tensor<float, 130, 1001> tc, zc;
  tensor<float, dyn, dyn> td({2, 3}), zd({2, 3});
  fill(ta, a.w), fill(tb, b.w), fill(tc, c.w), fill(td, d.w);
  s.run(fetches(assign(few, ta), assign(few_m, za), assign(odd, tb), assign(odd_m, zb)));
  s.run(fetches(assign(many, tc), assign(many_m, zc), assign(open, td), assign(open_m, zd)));
  // One program, and each has a number of its own.
  const auto step = place(fetches(update(few, few_m, 0.5f), update(odd, odd_m, 0.25f), update(many, many_m, 0.125f),
                                  update(open, open_m, 2.f)));
  const tensor<float, dyn> seen{1, 2, 3};
  const auto kernels = [&] {
    std::int64_t all = 0;
    for (const auto& at : s.devices()) all += s.statistics(at.name).kernels;
    return all;
  };
  for (int k = 0; k < 2; ++k) {
    const float now = 0.5f / static_cast<float>(k + 1);
    const std::int64_t before = kernels();
    const auto results = s.run(step, rate = now, ones_seen = seen);
    CHECK(static_cast<float>(std::get<0>(results)) == 6.f);
    // The sum, the three updates of extents in the type, two for the other, copies of the sum to three results.
    CHECK(kernels() - before == 7);
    a.step(now, 0.5f), b.step(now, 0.25f), c.step(now, 0.125f), d.step(now, 2.f);
  }
  // The same prepared: from the third run on it is replayed, with the variables' memory in turns.
  auto once = s.prepare(step);
  for (int k = 2; k < 8; ++k) {
    const float now = 0.5f / static_cast<float>(k + 1);
    CHECK(static_cast<float>(std::get<0>(once(rate = now, ones_seen = seen))) == 6.f);
    a.step(now, 0.5f), b.step(now, 0.25f), c.step(now, 0.125f), d.step(now, 2.f);
  }
  check_near(s.run(few), a.w), check_near(s.run(few_m), a.m);
  check_near(s.run(odd), b.w), check_near(s.run(odd_m), b.m);
  check_near(s.run(many), c.w), check_near(s.run(many_m), c.m);
  check_near(s.run(open), d.w), check_near(s.run(open_m), d.m);
}

}  // namespace batched_updates
