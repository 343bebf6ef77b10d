// SPDX-License-Identifier: BSL-1.0
// Planning for hardware that is not here: A^10 + B^10 for matrices of 10000 x 10000 on 1, 2, 4 and 8 H200, timed by
// their data sheet. Nothing is allocated and nothing runs.
#include <onto/onto.hpp>

#include <cstdio>

using namespace onto;
namespace hana = boost::hana;

inline constexpr int n = 10000;
inline constexpr auto a = placeholder<"a", float, n, n>;
inline constexpr auto b = placeholder<"b", float, n, n>;

// [program]
/// `first` times m, nine times: the tenth power of m where `first` is m, some rows of it where `first` is these rows.
template <int Products = 9>
constexpr auto times(const auto& first, const auto& m) {
  if constexpr (Products == 0)
    return first;
  else
    return times<Products - 1>(matmul(first, m), m);
}

constexpr auto on_one = on<cpu<0>>(add_n(on<gpu<0>>(times(a, a)), on<gpu<0>>(times(b, b))));
constexpr auto on_two = on<cpu<0>>(add_n(on<gpu<0>>(times(a, a)), on<gpu<1>>(times(b, b))));

/// Every GPU computes its rows of both powers and of the sum; the CPU puts them together.
template <int Gpus>
constexpr auto by_rows(auto gpus) {
  constexpr auto rows_of_sum = [](auto place) {
    constexpr int rows = n / Gpus, first = rows * place.index;
    return times(slice<first, first + rows>(a), a) + times(slice<first, first + rows>(b), b);
  };
  return on<cpu<0>>(concat<0>(towers(gpus, rows_of_sum)));
}
// [program]

// [assert]
static_assert(estimate(plan_of(on_one), h200).seconds < 0.6);  // while this is compiled
static_assert(plan_of(on_one).peak_bytes(gpu<0>{}) <= 4LL * n * n * 4);
// [assert]

template <class Plan>
void print(const char* what, const Plan& plan, int gpus, double one) {
  const auto t = estimate(plan, h200);
  std::printf("%-24s %7.2f ms  %5.2f x as fast  %4.2f of ideal  %6.2f GB at most on gpu<0>\n", what, 1e3 * t.seconds,
              one / t.seconds, one / t.seconds / gpus, 1e-9 * static_cast<double>(plan.peak_bytes(gpu<0>{})));
}

int main() {
  // [table]
  const double one = estimate(plan_of(on_one), h200).seconds;
  constexpr auto by_rows_on_2 = by_rows<2>(hana::tuple_t<gpu<0>, gpu<1>>);
  constexpr auto by_rows_on_4 = by_rows<4>(hana::tuple_t<gpu<0>, gpu<1>, gpu<2>, gpu<3>>);
  constexpr auto by_rows_on_8 =
      by_rows<8>(hana::tuple_t<gpu<0>, gpu<1>, gpu<2>, gpu<3>, gpu<4>, gpu<5>, gpu<6>, gpu<7>>);
  print("on one GPU", plan_of(on_one), 1, one);
  print("a power on each of two", plan_of(on_two), 2, one);
  print("by rows on two", plan_of(by_rows_on_2), 2, one);
  print("by rows on four", plan_of(by_rows_on_4), 4, one);
  print("by rows on eight", plan_of(by_rows_on_8), 8, one);
  // [table]

  // [devices]
  const auto& plan = plan_of(by_rows_on_8);
  const auto t = estimate(plan, h200);
  std::printf("\n%d kernels, %d copies of %.2f GB, %.1f TFLOP in %.2f ms\n", plan.kernels, plan.transfers,
              1e-9 * static_cast<double>(plan.transfer_bytes), 1e-12 * static_cast<double>(plan.flops),
              1e3 * t.seconds);
  for (const device_time& d : t.devices)
    std::printf("%s:%d  kernels %6.2f ms  copies %6.2f ms  %5.2f GB at most\n",
                d.where.kind == device_kind::gpu ? "gpu" : "cpu", d.where.index, 1e3 * d.busy, 1e3 * d.copying,
                1e-9 * static_cast<double>(plan.peak_bytes(d.where)));
  // [devices]
}
