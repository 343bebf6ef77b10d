// SPDX-License-Identifier: BSL-1.0
// A .cpp and a .cu that both include onto make one program, and each runs with the devices its compiler knows.
#include "catch.hpp"
#include "program.hpp"

#include <cmath>

mixed::results mixed::by_host() { return run(); }

namespace {

template <class Tensor>
double furthest(const Tensor& a, const Tensor& b) {
  REQUIRE(a.size() == b.size());
  double d = 0;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(a.size()); ++k)
    d = std::fmax(d, std::fabs(static_cast<double>(a.data()[k]) - static_cast<double>(b.data()[k])));
  return d;
}

}  // namespace

TEST_CASE("a file for the host's compiler and one for nvcc, in one program, compute the same", "[session][mixed]") {
  const mixed::results a = mixed::by_host(), b = mixed::by_nvcc();
  CHECK(furthest(a.product, b.product) < 1e-5);
  CHECK(furthest(a.row_shares, b.row_shares) < 1e-6);
  CHECK(furthest(a.running, b.running) < 1e-5);
  CHECK(furthest(a.total, b.total) < 1e-5);
  CHECK(a.place_of_largest == b.place_of_largest);
  CHECK(b.weights == onto::tensor<float, 2>{3, 6});
  CHECK(a.weights == b.weights);
  CHECK(a.log.find("Device mapping: no known devices.") != std::string::npos);
  CHECK(a.log.find("MatMul: (MatMul): /job:localhost/replica:0/task:0/device:CPU:0") != std::string::npos);
  CHECK(b.log.find("MatMul: (MatMul): /job:localhost/replica:0/task:0/device:") != std::string::npos);
}
