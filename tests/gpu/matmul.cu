// SPDX-License-Identifier: BSL-1.0
// Matrix products on a GPU beside double references: transposes, batches, epilogues.
#include <onto/backend/cuda/matmul.hpp>

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "gpu.hpp"

using namespace gpu_test;

namespace {

/// A matrix product on the GPU beside the same in double on the host.
template <class T>
struct product {
  std::vector<T> memory[3];
  operand_view in[3];
  kernel_call call;

  product(extents space, int k, std::initializer_list<std::int64_t> a, std::initializer_list<std::int64_t> b,
          std::initializer_list<std::int64_t> c = {}, matmul_form form = {}) {
    const std::initializer_list<std::int64_t> strides[] = {a, b, c};
    for (int o = 0; o < 3; ++o) {
      in[o] = view_of(nullptr, element_of<T>, strides[o]);
      std::int64_t last = 0;
      for (int d = 0; d < space.rank; ++d) {
        const bool row = d == space.rank - 2, column = d == space.rank - 1;
        const int extent = o == 0 && column ? k : o == 1 && row ? k : space[d];
        last += in[o].stride[d] * (extent > 0 ? extent - 1 : 0);
      }
      memory[o] = numbers<T>(static_cast<std::size_t>(last) + 1);
    }
    call.space = space;
    call.inputs = form.beta != 0 ? 3 : 2;
    call.inner = k;
    call.form = form;
  }
  product(const product&) = delete;
  product& operator=(const product&) = delete;

  double at(int operand, const int* index, int row, int column) const {
    const int rank = call.space.rank - 2;
    std::int64_t o = row * in[operand].stride[rank] + column * in[operand].stride[rank + 1];
    for (int d = 0; d < rank; ++d) o += index[d] * in[operand].stride[d];
    return static_cast<double>(memory[operand][static_cast<std::size_t>(o)]);
  }

  std::vector<double> expected() const {
    const int rank = call.space.rank - 2, m = call.space[rank], n = call.space[rank + 1];
    std::vector<double> out;
    int index[max_rank] = {};
    for (std::int64_t batch = 0; batch < batches_of(call.space).size(); ++batch) {
      std::int64_t rest = batch;
      for (int d = rank - 1; d >= 0; --d) {
        index[d] = static_cast<int>(rest % call.space[d]);
        rest /= call.space[d];
      }
      for (int r = 0; r < m; ++r)
        for (int c = 0; c < n; ++c) {
          double sum = 0;
          for (int p = 0; p < call.inner; ++p) sum += at(0, index, r, p) * at(1, index, p, c);
          sum *= call.form.alpha;
          if (call.form.beta != 0) sum += call.form.beta * at(2, index, r, c);
          out.push_back(call.form.relu && sum < 0 ? 0 : sum);
        }
    }
    return out;
  }

  std::vector<T> computed() {
    bench b;
    for (int o = 0; o < 3; ++o) in[o].data = b.upload(memory[o]);
    const auto size = static_cast<std::size_t>(call.space.size());
    T* out = b.reserve<T>(size);
    kernel_call c = call;
    c.in = in;
    c.out.data = out;
    b.launch(&cuda_matmul<T>, c, &cuda_matmul_workspace<T>);
    return b.download(out, size);
  }

  double error() {
    const std::vector<double> exact = expected();
    const std::vector<T> got = computed();
    double worst = 0;
    for (std::size_t k = 0; k < exact.size(); ++k)
      worst = std::fmax(worst, std::fabs(static_cast<double>(got[k]) - exact[k]));
    return worst;
  }
};

}  // namespace

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
      worst = std::fmax(worst, std::fabs(static_cast<double>(got[r * 37 + c]) - sum));
    }
  CHECK(worst < 2e-5);
}
