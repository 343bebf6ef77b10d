// SPDX-License-Identifier: BSL-1.0
// Worlds at run time: the places of a world are what the compiler says they are, and have names.
#include <onto/device/device_name.hpp>
#include <onto/device/world.hpp>

#include <boost/hana/append.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>

#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

template <world_type W>
std::vector<std::string> names_in(W) {
  std::vector<std::string> names;
  for (place p : W::places) names.push_back(device_name(p).to_string());
  return names;
}

}  // namespace

TEST_CASE("the devices of a world come GPUs first, each kind by index", "[device]") {
  const std::vector<std::string> expected{"/device:GPU:2", "/device:GPU:10", "/device:CPU:0", "/device:CPU:1"};
  CHECK(names_in(world<cpu<1>, gpu<10>, cpu<0>, gpu<2>>()) == expected);
  CHECK(names_in(world<gpu<2>, gpu<10>, cpu<0>, cpu<1>>()) == expected);
  CHECK(names_in(world<>()).empty());
}

TEST_CASE("a world contains exactly the places it lists", "[device]") {
  using here = world<cpu<0>, gpu<0>, gpu<3>>;
  int found = 0;
  for (device_kind kind : {device_kind::none, device_kind::cpu, device_kind::gpu})
    for (int index = -1; index < 5; ++index) found += here::contains({kind, index}) ? 1 : 0;
  CHECK(found == here::size);
  for (place p : here::places) CHECK(here::contains(p));
  CHECK(here::count(device_kind::cpu) + here::count(device_kind::gpu) == here::size);
}

TEST_CASE("a world is made from a Boost.Hana list", "[device]") {
  namespace hana = boost::hana;
  const auto towers = hana::tuple_t<gpu<2>, gpu<3>>;
  CHECK(names_in(world_of(towers)) == std::vector<std::string>{"/device:GPU:2", "/device:GPU:3"});
  CHECK(names_in(world_of(hana::append(towers, hana::type_c<cpu<0>>))) == names_in(world<cpu<0>, gpu<3>, gpu<2>>()));
}
