// SPDX-License-Identifier: BSL-1.0
// Towers in a session: what joins them computes the right numbers, and they spread over the devices there are.
#include <onto/onto.hpp>

#include "../catch.hpp"

#include <string>

using namespace onto;
namespace hana = boost::hana;

namespace {

constexpr auto batch = placeholder<"batch", float, 16, 2>;
constexpr auto w = placeholder<"w", float, 2, 2>;
constexpr auto v = placeholder<"v", double, 3>;

constexpr auto eight = hana::tuple_t<gpu<0>, gpu<1>, gpu<2>, gpu<3>, gpu<4>, gpu<5>, gpu<6>, gpu<7>>;
constexpr auto share = [](auto place) { return matmul(slice<2 * place.index, 2 * place.index + 2>(batch), w); };

tensor<float, 16, 2> rows() {
  tensor<float, 16, 2> t;
  for (int k = 0; k < 32; ++k) t.data()[k] = static_cast<float>(k);
  return t;
}
const tensor<float, 2, 2> swap{{0, 1}, {1, 0}};

}  // namespace

TEST_CASE("eight towers on two GPUs: half of them on each", "[session][runtime]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 2}};
  REQUIRE(sess.devices().size() == 3);
  constexpr auto total = on<cpu<0>>(add_n(towers(eight, share)));
  const auto report = sess.placement(total);
  int on_first = 0, on_second = 0;
  for (const placement_entry& e : report.nodes) {
    if (e.operation != "MatMul") continue;
    on_first += e.assigned == device_name::parse("/job:localhost/replica:0/task:0/device:GPU:0");
    on_second += e.assigned == device_name::parse("/job:localhost/replica:0/task:0/device:GPU:1");
  }
  CHECK(on_first == 4);
  CHECK(on_second == 4);
  CHECK(report.moved() >= 6);  // the towers of GPUs 2 to 7
  CHECK(sess.run(total, batch = rows(), w = swap) == tensor<float, 2, 2>{{120, 112}, {136, 128}});
  CHECK(sess.statistics(gpu<0>{}).kernels == 4);
  CHECK(sess.statistics(gpu<1>{}).kernels == 4);
}

TEST_CASE("the shares of a batch, computed apart, are the batch", "[session][runtime]") {
  const auto whole = session{}.run(matmul(batch, w), batch = rows(), w = swap);
  for (const int gpus : {0, 1, 3, 8}) {
    session sess{{.allow_soft_placement = true, .simulated_gpus = gpus}};
    CHECK(sess.run(on<cpu<0>>(concat<0>(towers(eight, share))), batch = rows(), w = swap) == whole);
  }
}

TEST_CASE("the mean of towers is their sum by their number", "[session][runtime]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 3}};
  constexpr auto all = towers(eight, share);
  const tensor<float, 2, 2> expected{{15, 14}, {17, 16}};
  CHECK(sess.run(on<cpu<0>>(mean(all)), batch = rows(), w = swap) == expected);
  CHECK(sess.run(on<gpu<1>>(mean(all)), batch = rows(), w = swap) == expected);
  // Thirds have no exact value: divided, three equal towers have the mean that each of them is.
  constexpr auto three = towers(hana::tuple_t<gpu<0>, gpu<1>, gpu<2>>, [](auto) { return v + v; });
  CHECK(sess.run(mean(three), v = {0.5, 5.0, -7.0}) == tensor<double, 3>{1.0, 10.0, -14.0});
}

TEST_CASE("towers are fetched as a tuple of tensors", "[session][runtime]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 2}};
  constexpr auto list = fetches(towers(hana::tuple_t<gpu<0>, gpu<1>>, share));
  const auto [first, second] = sess.run(list, batch = rows(), w = swap);
  CHECK(first == tensor<float, 2, 2>{{1, 0}, {3, 2}});
  CHECK(second == tensor<float, 2, 2>{{5, 4}, {7, 6}});
  CHECK(sess.placement(list).nodes.size() == 6);
}

TEST_CASE("towers over constants keep what is written in each of them", "[session][runtime]") {
  session sess{{.allow_soft_placement = true, .simulated_gpus = 2}};
  float next = 1;
  const auto written = towers(hana::tuple_t<gpu<0>, gpu<1>, gpu<2>>, [&](auto) {
    const auto c = constant({next, 2 * next});
    next *= 10;
    return c + c;
  });
  // In the order of the list.
  CHECK(sess.run(concat<0>(written)) == tensor<float, 6>{2, 4, 20, 40, 200, 400});
  CHECK(sess.run(on<cpu<0>>(add_n(written))) == tensor<float, 2>{222, 444});
}

TEST_CASE("towers of several expressions are joined one by one: the gradients of shares", "[session][runtime]") {
  constexpr auto each = towers(eight, [](auto place) { return value_and_gradient(mean(square(share(place))), w); });
  constexpr auto whole = value_and_gradient(mean(square(matmul(batch, w))), w);
  const auto [loss, slope] = session{}.run(whole, batch = rows(), w = swap);
  for (const int gpus : {0, 1, 3}) {
    session sess{{.allow_soft_placement = true, .simulated_gpus = gpus}};
    const auto [mean_loss, mean_slope] = sess.run(on<cpu<0>>(mean(each)), batch = rows(), w = swap);
    CHECK(float(mean_loss) == Approx(float(loss)));
    for (int k = 0; k < 4; ++k) CHECK(mean_slope.data()[k] == Approx(slope.data()[k]));
    const auto [total_loss, total_slope] = sess.run(on<cpu<0>>(add_n(each)), batch = rows(), w = swap);
    CHECK(float(total_loss) == Approx(8 * float(loss)));
    for (int k = 0; k < 4; ++k) CHECK(total_slope.data()[k] == Approx(8 * slope.data()[k]));
  }
}
