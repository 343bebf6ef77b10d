// SPDX-License-Identifier: BSL-1.0
// Gradients of slices along extents that only the run knows, at every length, beside a plain loop.
#include <onto/onto.hpp>

#include "catch.hpp"

#include <vector>

using namespace onto;

namespace {

template <int Extent>
inline constexpr auto x = placeholder<"x", double, 2, Extent>;

/// Which of `n` elements a slice takes, as Python's `range(n)[begin:end:step]` does.
std::vector<bool> taken(int n, std::int64_t begin, std::int64_t end, std::int64_t step) {
  std::vector<bool> r(static_cast<std::size_t>(n));
  const auto clip = [&](std::int64_t v, bool first) -> std::int64_t {
    if (v == to_end) return first && step < 0 ? n - 1 : n;
    if (v == to_begin) return -1;
    if (v < 0) v += n;
    if (step > 0) return v < 0 ? 0 : v > n ? n : v;
    return v < 0 ? -1 : v >= n ? n - 1 : v;
  };
  for (std::int64_t k = clip(begin, true), to = clip(end, false); step > 0 ? k < to : k > to; k += step)
    r[static_cast<std::size_t>(k)] = true;
  return r;
}

/// `n`: one of the lengths. `Extent`: the same, or `dyn`.
template <std::int64_t Begin, std::int64_t End, std::int64_t Step, int Extent = dyn>
void check_slice_of(const std::vector<int>& lengths) {
  session sess;
  constexpr auto all = x<Extent>;
  constexpr auto part = slice<range<>, range<Begin, End, Step>>(all);
  const auto by_x = gradient(sum(part * part * part), all);
  const auto twice = gradient(sum(square(by_x)), all);
  for (int n : lengths) {
    tensor<double, 2, Extent> at = [&] {
      if constexpr (Extent == dyn)
        return tensor<double, 2, dyn>({2, n});
      else
        return tensor<double, 2, Extent>{};
    }();
    for (int k = 0; k < 2 * n; ++k) at.data()[k] = 0.25 + 0.5 * k;
    const auto [got, second] = sess.run(fetches(by_x, twice), all = at);
    const std::vector<bool> in = taken(n, Begin, End, Step);
    INFO("a slice from " << Begin << " to " << End << " in steps of " << Step << ", of " << n);
    for (int r = 0; r < 2; ++r) {
      for (int k = 0; k < n; ++k) {
        const double v = at(r, k);
        CHECK(got(r, k) == Approx(in[static_cast<std::size_t>(k)] ? 3 * v * v : 0.0));
        CHECK(second(r, k) == Approx(in[static_cast<std::size_t>(k)] ? 36 * v * v * v : 0.0));
      }
    }
  }
}

template <std::int64_t Begin, std::int64_t End, std::int64_t Step>
void check_slice() {
  check_slice_of<Begin, End, Step>({1, 2, 3, 4, 5, 6, 7, 8, 9});
}

}  // namespace

TEST_CASE("a slice that steps along a run-time extent has its derivative", "[gradient]") {
  check_slice<0, to_end, 2>();
  check_slice<1, to_end, 3>();
  check_slice<1, -1, 2>();
  check_slice<-4, 7, 2>();
  check_slice<6, 3, 2>();
}

TEST_CASE("so has one of neighbours, where it ends before it begins too", "[gradient]") {
  check_slice<1, -1, 1>();
  check_slice<2, -2, 1>();
  check_slice<3, 1, 1>();
  check_slice<2, 5, 1>();
  check_slice<0, 3, 1>();
  check_slice<0, -3, 1>();
  check_slice<-3, -1, 1>();
  check_slice<-1, -3, 1>();
  check_slice<-4, 3, 1>();
}

TEST_CASE("and one that steps backwards", "[gradient]") {
  check_slice<to_end, to_begin, -2>();
  check_slice<-1, to_begin, -3>();
  check_slice<-2, 1, -1>();
  check_slice<5, -7, -2>();
  check_slice<0, to_begin, -4>();
}

TEST_CASE("the derivative of a slice is there for steps of any length", "[gradient]") {
  check_slice_of<0, to_end, 64>({1, 63, 64, 65, 129});
  check_slice_of<3, -1, 70>({1, 4, 74, 75, 145});
  check_slice_of<to_end, to_begin, -65>({1, 65, 66, 131});
  check_slice_of<1, to_end, 1000>({1, 2, 200});
  check_slice_of<0, to_end, 64, 129>({129});
  check_slice_of<2, 190, 63, 200>({200});
  check_slice_of<-1, to_begin, -90, 200>({200});
  check_slice_of<5, to_end, 1000000, 9>({9});
}
