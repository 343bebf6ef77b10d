// SPDX-License-Identifier: BSL-1.0
// A file of the same program that does not have the backend: its sessions and kernels are others.
#include <onto/onto.hpp>

#include "catch.hpp"

using namespace onto;

TEST_CASE("files without a program's own backend have neither its devices nor its kernels", "[backend]") {
  constexpr auto x = placeholder<"x", float, dyn, dyn>;
  constexpr auto w = placeholder<"w", float, dyn, dyn>;
  session sess{{.simulated_gpus = 1}};
  REQUIRE(sess.devices().size() == 2);
  CHECK(sess.devices()[1].description == "device: 0, name: simulated GPU (host memory, one thread)");
  // The same expression as in the file that has it.
  const tensor<float, dyn, dyn> a{{1, 2, 3}, {4, 5, 6}}, b{{1, 0}, {2, -1}, {0, 3}};
  const auto product = sess.run(on<gpu<0>>(matmul(x + x, w)), x = a, w = b);
  CHECK(product(1, 1) == 26);
  CHECK(sess.statistics(gpu<0>{}).kernels == 2);
}
