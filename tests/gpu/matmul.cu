// SPDX-License-Identifier: BSL-1.0
// Matrix products on a GPU beside double references: transposes, batches, epilogues.
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "gpu.hpp"
#include "product.hpp"
#include "worse.hpp"

using namespace gpu_test;

TEMPLATE_TEST_CASE("products of matrices wherever they lie", "[cuda][matmul]", float, double) {
  using T = TestType;
  const double most = sizeof(T) == 4 ? 2e-5 : 1e-13;
  CHECK(product<T>(shape_of({100, 70}), 50, {50, 1}, {70, 1}).error() < most);
  CHECK(product<T>(shape_of({100, 70}), 50, {1, 100}, {1, 50}).error() < most);
  CHECK(product<T>(shape_of({100, 70}), 50, {103, 2}, {300, 4}).error() < most);
  CHECK(product<T>(shape_of({1, 70}), 50, {50, 1}, {70, 1}).error() < most);
  CHECK(product<T>(shape_of({100, 1}), 50, {50, 1}, {1, 1}).error() < most);
  CHECK(product<T>(shape_of({33, 17}), 1, {1, 1}, {17, 1}).error() < most);
  CHECK(product<T>(shape_of({1, 1}), 1, {1, 1}, {1, 1}).error() < most);
  CHECK(product<T>(shape_of({6, 10, 20}), 30, {300, 30, 1}, {0, 20, 1}).error() < most);
  CHECK(product<T>(shape_of({6, 10, 20}), 30, {300, 30, 1}, {600, 20, 1}).error() < most);
  CHECK(product<T>(shape_of({6, 10, 20}), 30, {0, 30, 1}, {600, 1, 30}).error() < most);
  CHECK(product<T>(shape_of({2, 3, 10, 20}), 30, {0, 300, 30, 1}, {600, 0, 20, 1}).error() < most);
  CHECK(product<T>(shape_of({2, 3, 10, 20}), 30, {300, 0, 30, 1}, {0, 600, 20, 1}).error() < most);
  CHECK(product<T>(shape_of({5, 3, 7}), 2, {0, 9, 3}, {14, 7, 1}).error() < most);
}

TEMPLATE_TEST_CASE("addends, factors and relu", "[cuda][matmul]", float, double) {
  using T = TestType;
  const double most = sizeof(T) == 4 ? 2e-5 : 1e-13;
  const extents space = shape_of({48, 40}), batched = shape_of({3, 48, 40});
  for (bool relu : {false, true})
    for (double beta : {0.0, 1.0, -0.5}) {
      INFO("relu " << relu << ", beta " << beta);
      const matmul_form form{beta == 1 ? 1.0 : 2.0, beta, relu};
      CHECK(product<T>(space, 30, {30, 1}, {40, 1}, {40, 1}, form).error() < most);
      CHECK(product<T>(space, 30, {30, 1}, {40, 1}, {53, 1}, form).error() < most);
      CHECK(product<T>(space, 30, {30, 1}, {40, 1}, {0, 1}, form).error() < most);
      CHECK(product<T>(space, 30, {30, 1}, {40, 1}, {1, 0}, form).error() < most);
      CHECK(product<T>(space, 30, {30, 1}, {40, 1}, {0, 0}, form).error() < most);
      CHECK(product<T>(batched, 30, {1440, 30, 1}, {0, 40, 1}, {0, 0, 1}, form).error() < most);
      CHECK(product<T>(batched, 30, {1440, 30, 1}, {1200, 40, 1}, {0, 0, 1}, form).error() < most);
      CHECK(product<T>(batched, 30, {1440, 30, 1}, {1200, 40, 1}, {0, 40, 1}, form).error() < most);
    }
}

TEMPLATE_TEST_CASE("what is added to products with a vector lies along it", "[cuda][matmul]", float, double) {
  using T = TestType;
  const double most = sizeof(T) == 4 ? 2e-5 : 1e-13;
  const extents column = shape_of({48, 1}), row = shape_of({1, 40}), columns = shape_of({3, 48, 1});
  for (double beta : {1.0, -0.5}) {
    INFO("beta " << beta);
    const matmul_form form{beta == 1 ? 1.0 : 2.0, beta, beta != 1};
    CHECK(product<T>(column, 30, {30, 1}, {1, 0}, {1, 0}, form).error() < most);
    CHECK(product<T>(column, 30, {30, 1}, {1, 0}, {3, 0}, form).error() < most);
    CHECK(product<T>(column, 30, {1, 48}, {2, 0}, {0, 0}, form).error() < most);
    CHECK(product<T>(row, 30, {0, 1}, {40, 1}, {0, 1}, form).error() < most);
    CHECK(product<T>(row, 30, {0, 1}, {1, 30}, {0, 2}, form).error() < most);
    CHECK(product<T>(columns, 30, {1440, 30, 1}, {0, 1, 0}, {48, 1, 0}, form).error() < most);
    CHECK(product<T>(columns, 30, {1440, 30, 1}, {30, 1, 0}, {0, 1, 0}, form).error() < most);
    CHECK(product<T>(columns, 30, {1440, 30, 1}, {0, 1, 0}, {1, 0, 0}, form).error() < most);
  }
}

TEMPLATE_TEST_CASE("NaN passes through a product and its relu", "[cuda][matmul]", float, double) {
  using T = TestType;
  for (double beta : {0.0, 1.0}) {
    product<T> p(shape_of({4, 4}), 4, {4, 1}, {4, 1}, {0, 1}, matmul_form{1, beta, true});
    p.memory[0][4] = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> out = p.computed();
    for (std::size_t c = 0; c < 4; ++c) CHECK(std::isnan(out[4 + c]));
  }
}

TEST_CASE("TF32 where it is asked for, and true float where it is not", "[cuda][matmul]") {
  constexpr int size = 256;
  matmul_form full, fast;
  fast.tf32 = true;
  const bool has_tf32 = bench().gpu.facts().major >= 8;
  // 1 + 2^-13 is 1 in TF32, however it is rounded: every element is 256 there, and 256.06 in truth.
  const auto error = [](const matmul_form& form) {
    product<float> p(shape_of({size, size}), size, {size, 1}, {size, 1}, {}, form);
    for (std::vector<float>& m : p.memory)
      for (float& v : m) v = 1 + 1 / 8192.0f;
    return p.error();
  };
  CHECK(error(full) < 0.01);
  if (has_tf32) CHECK(error(fast) > 0.03);
  CHECK(error(fast) < 0.1);

  // Both operands of a term keep 10 bits behind the first, so no term is further off than 2^-9 of it.
  const auto most = [](int k, double alpha) { return alpha * k / 512 + 1e-4; };
  CHECK(product<float>(shape_of({size, size}), size, {size, 1}, {size, 1}, {}, full).error() < 1e-4);
  const double rounded = product<float>(shape_of({size, size}), size, {size, 1}, {size, 1}, {}, fast).error();
  CHECK(rounded < most(size, 1));
  if (has_tf32) CHECK(rounded > 5e-4);
  CHECK(product<float>(shape_of({100, 70}), 50, {1, 100}, {1, 50}, {}, fast).error() < most(50, 1));
  CHECK(product<float>(shape_of({6, 10, 20}), 30, {300, 30, 1}, {0, 20, 1}, {}, fast).error() < most(30, 1));
  CHECK(product<float>(shape_of({48, 40}), 30, {30, 1}, {40, 1}, {0, 1}, matmul_form{2, -0.5, true, true}).error() <
        most(30, 2));

  // It is for floats alone.
  CHECK(product<double>(shape_of({size, size}), size, {size, 1}, {size, 1}, {}, fast).error() < 1e-12);
}

TEST_CASE("products of nothing", "[cuda][matmul]") {
  product<float> none(shape_of({3, 4}), 0, {0, 1}, {4, 1});
  CHECK(none.computed() == std::vector<float>(12));
  CHECK(product<float>(shape_of({3, 4}), 0, {0, 1}, {4, 1}, {0, 1}, matmul_form{1, 2, true}).error() == 0);
  CHECK(product<float>(shape_of({0, 4}), 5, {5, 1}, {4, 1}).computed().empty());
}

TEST_CASE("operands that are aligned to an element only", "[cuda][matmul]") {
  bench b;
  const std::vector<float> x = numbers<float>(1 + 33 * 35 + 35 * 37);
  const float* data = b.upload(x);
  float* out = b.reserve<float>(33 * 37 + 1);
  operand_view in[] = {view_of(data + 1, element::float32, {35, 1}),
                       view_of(data + 1 + 33 * 35, element::float32, {37, 1})};
  kernel_call call;
  call.space = shape_of({33, 37});
  call.inner = 35;
  call.inputs = 2;
  call.in = in;
  call.out.data = out + 1;
  b.launch(&cuda_matmul<float>, call, &cuda_matmul_workspace<float>);
  const auto got = b.download(out + 1, 33 * 37);
  double worst = 0;
  for (std::size_t r = 0; r < 33; ++r)
    for (std::size_t c = 0; c < 37; ++c) {
      double sum = 0;
      for (std::size_t p = 0; p < 35; ++p)
        sum += static_cast<double>(x[1 + r * 35 + p]) * static_cast<double>(x[1 + 33 * 35 + p * 37 + c]);
      worst = worse(worst, std::fabs(static_cast<double>(got[r * 37 + c]) - sum));
    }
  CHECK(worst < 2e-5);
}
