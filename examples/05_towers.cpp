// SPDX-License-Identifier: BSL-1.0
// Towers: the same computation on two GPUs at once, the sum of the results on the CPU. Written in three ways.
#include <onto/onto.hpp>

#include <boost/hana.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace onto;
namespace hana = boost::hana;

// [tower]
auto tower() {
  const auto a = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  const auto b = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  return matmul(a, b);
}
// [tower]

// [pack]
template <class... Gpu>
auto sum_of_towers() {
  return on<cpu<0>>(add_n(on<Gpu>(tower)...));
}
// [pack]

// [guard]
template <class Tower>
auto sum_of_towers_on(const std::vector<std::string>& gpus, Tower one) {
  std::vector<decltype(one())> c;
  for (const std::string& gpu : gpus) {
    device_guard scope{gpu};
    c.push_back(one());
  }
  device_guard scope{"/cpu:0"};
  return add_n(c.at(0), c.at(1));
}
// [guard]

int main() {
  session sess{{.log_device_placement = true, .log = &std::cout, .simulated_gpus = 4}};

  // The devices as a pack of types.
  std::cout << sess.run(sum_of_towers<gpu<2>, gpu<3>>()) << "\n\n";

  // The devices as a list of types. This is the same program, so it is not logged again.
  // [hana]
  constexpr auto devices = hana::tuple_t<gpu<2>, gpu<3>>;
  const auto towers = hana::transform(devices, [](auto d) { return on<typename decltype(d)::type>(tower); });
  const auto sum = on<cpu<0>>(hana::unpack(towers, [](const auto&... t) { return add_n(t...); }));
  // [hana]
  std::cout << sess.run(sum) << "\n\n";

  // The devices as names that are known at run time.
  std::cout << sess.run(sum_of_towers_on({"/gpu:2", "/gpu:3"}, tower)) << '\n';
}
