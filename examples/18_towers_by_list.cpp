// SPDX-License-Identifier: BSL-1.0
// Towers by a list of devices: the same computation on each, joined on the CPU. Where it runs, as text and as JSON, and
// the plan as a picture.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;
namespace hana = boost::hana;

// [batch]
inline constexpr auto x = placeholder<"x", float, 8, 3>;
inline constexpr auto w = placeholder<"w", float, 3, 2>;

constexpr auto devices = hana::tuple_t<gpu<0>, gpu<1>>;
constexpr auto share = [](auto place) {
  constexpr int rows = 8 / 2;  // of the batch, for each of the two
  constexpr int first = rows * place.index;
  return matmul(slice<first, first + rows>(x), w);
};
constexpr auto whole = on<cpu<0>>(concat<0>(towers(devices, share)));  // the shares, one after the other
constexpr auto average = on<cpu<0>>(mean(towers(devices, share)));     // their mean

static_assert(plan_of(whole).kernels == 3);                            // a product on each GPU; concat
static_assert(plan_of(whole).transfers == 6);                          // x and w to each, a share back from each
static_assert(plan_of<world<cpu<0>>>(whole).transfers == 0);           // the same program without GPUs
static_assert(plan_of(fetches(towers(devices, share))).kernels == 2);  // or each tower as a result of its own
// [batch]

// [gradients]
inline constexpr auto bias = placeholder<"bias", float, 2>;
constexpr auto share_of_loss = [](auto place) { return mean(square(share(place) + bias)); };
constexpr auto step = on<cpu<0>>(mean(towers(devices, [](auto place) {
  return value_and_gradient(share_of_loss(place), w, bias);  // the loss and its two gradients, for each tower
})));
static_assert(std::tuple_size_v<std::remove_const_t<decltype(step)>> == 3);  // their means
// [gradients]

int main() {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 4}};

  // [guide]
  const auto sum = on<cpu<0>>(add_n(towers(hana::tuple_t<gpu<2>, gpu<3>>, [](auto) {
    const auto a = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
    const auto b = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    return matmul(a, b);
  })));
  std::cout << sess.run(sum) << "\n\n";
  // [guide]

  // [report]
  const placement_report report = sess.placement(sum);
  std::cout << report << '\n' << report.to_json() << '\n';
  std::cout << plan_of(sum).dot() << '\n';
  // [report]

  const tensor<float, 8, 3> batch{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1},
                                  {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {2, 2, 2}};
  const tensor<float, 3, 2> weights{{1, 2}, {3, 4}, {5, 6}};
  std::cout << sess.run(whole, x = batch, w = weights) << "\n\n" << sess.run(average, x = batch, w = weights) << "\n\n";

  // [gradients run]
  const auto [loss, by_w, by_bias] = sess.run(step, x = batch, w = weights, bias = {1, -1});
  std::cout << loss << '\n' << by_w << '\n' << by_bias << '\n';
  // [gradients run]
}
