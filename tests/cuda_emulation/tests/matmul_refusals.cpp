// SPDX-License-Identifier: BSL-1.0
// Products that cublasLt refuses as they are: every way out of it, and the result beside a double loop.
#include <algorithm>
#include <string>

#include "../../gpu/product.hpp"
#include "blas.hpp"
#include "catch.hpp"
#include "control.hpp"

using namespace gpu_test;
using cuda_emulation::blas_call;
using cuda_emulation::blas_refusal;

namespace {

/// Rows of the table for as long as it lives.
struct refusing {
  explicit refusing(std::vector<blas_refusal> rows) {
    cuda_emulation::blas_refusals = std::move(rows);
    (void)cuda_emulation::take_blas_calls();
  }
  refusing(const refusing&) = delete;
  refusing& operator=(const refusing&) = delete;
  ~refusing() { cuda_emulation::blas_refusals.clear(); }
};

template <class T>
constexpr double most = sizeof(T) == 8                  ? 1e-13
                        : sizeof(T) == 4                ? 2e-5
                        : std::is_same_v<T, onto::half> ? 0.02
                                                        : 0.15;

std::vector<blas_refusal> refuse_below(std::uint32_t alignment, blas_refusal::by how = blas_refusal::by::no_proposal) {
  blas_refusal row;
  row.alignment_below = alignment;
  row.how = how;
  return {row};
}

constexpr blas_refusal::by every_way[] = {blas_refusal::by::no_proposal, blas_refusal::by::not_supported,
                                          blas_refusal::by::the_product};

}  // namespace

TEST_CASE("an epilogue that is refused is done by kernels", "[cuda][matmul]") {
  for (const blas_refusal::by how : every_way)
    for (std::uint32_t epilogue : {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS}) {
      INFO("epilogue " << epilogue << ", refused in way " << static_cast<int>(how));
      blas_refusal row;
      row.epilogue = epilogue;
      row.how = how;
      const refusing table({row});
      const bool relu = epilogue != CUBLASLT_EPILOGUE_BIAS, bias = epilogue != CUBLASLT_EPILOGUE_RELU;
      const matmul_form form{2, bias ? 1.0 : 0.0, relu};
      CHECK(product<float>(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {0, 1}, form).error() < most<float>);
      // Of a batch in two runs, each of which has an epilogue of its own.
      CHECK(product<float>(shape_of({2, 3, 9, 7}), 5, {45, 0, 5, 1}, {0, 35, 7, 1}, {0, 0, 0, 1}, form).error() <
            most<float>);
      const std::vector<blas_call> calls = cuda_emulation::take_blas_calls();
      CHECK(calls.size() == 3);
      for (const blas_call& c : calls) {
        CHECK(c.problem.epilogue == CUBLASLT_EPILOGUE_DEFAULT);
        CHECK(c.in_place == true);
      }
    }
}

TEMPLATE_TEST_CASE("operands at addresses that are refused are copied", "[cuda][matmul]", float, double, onto::half,
                   bfloat16) {
  using T = TestType;
  for (const blas_refusal::by how : every_way) {
    const refusing table(refuse_below(16, how));
    const auto check = [](product<T> p) {
      p.shift = 1;
      CHECK(p.error() < most<T>);
      const std::vector<blas_call> calls = cuda_emulation::take_blas_calls();
      CHECK_FALSE(calls.empty());
      for (const blas_call& c : calls) {
        CHECK(*std::min_element(c.problem.alignment, c.problem.alignment + 4) >= 16);
        CHECK(c.problem.first_leading * static_cast<std::int64_t>(sizeof(T)) % 16 == 0);
        CHECK(c.problem.second_leading * static_cast<std::int64_t>(sizeof(T)) % 16 == 0);
        CHECK(c.problem.out_leading * static_cast<std::int64_t>(sizeof(T)) % 16 == 0);
      }
    };
    const extents space = shape_of({9, 7});
    for (bool relu : {false, true}) {
      check({space, 5, {5, 1}, {7, 1}, {}, {2, 0, relu}});
      check({space, 5, {1, 9}, {1, 5}, {}, {1, 0, relu}});
      check({space, 5, {11, 2}, {21, 3}, {}, {1, 0, relu}});
      check({space, 5, {5, 1}, {7, 1}, {0, 1}, {2, 1, relu}});
      check({space, 5, {5, 1}, {7, 1}, {8, 1}, {1, -0.5, relu}});
      check({space, 5, {5, 1}, {7, 1}, {1, 0}, {1, -0.5, relu}});
      check({shape_of({3, 9, 7}), 5, {45, 5, 1}, {35, 7, 1}, {63, 7, 1}, {1, 1, relu}});
      check({shape_of({3, 9, 7}), 5, {45, 5, 1}, {0, 7, 1}, {0, 0, 1}, {1, 1, relu}});
      check({shape_of({2, 3, 9, 7}), 5, {45, 0, 5, 1}, {0, 35, 7, 1}, {0, 7, 0, 1}, {1, 1, relu}});
    }
    check({shape_of({1, 7}), 5, {5, 1}, {7, 1}});
    check({shape_of({9, 1}), 5, {5, 1}, {1, 1}});
    check({shape_of({1, 1}), 1, {1, 1}, {1, 1}});
  }
}

TEST_CASE("a batch of which some parts are aligned and some are not", "[cuda][matmul]") {
  const refusing table(refuse_below(16));
  for (bool relu : {false, true}) {
    // The second run of matrices begins at an odd element.
    product<float> p(shape_of({2, 3, 8, 8}), 8, {65, 0, 8, 1}, {0, 64, 8, 1}, {0, 0, 0, 1}, {1, 1, relu});
    CHECK(p.error() < most<float>);
    const std::vector<blas_call> calls = cuda_emulation::take_blas_calls();
    REQUIRE(calls.size() == 4);
    CHECK(calls[0].problem.batches == 3);
    CHECK(calls[1].problem.batches == 1);
  }
}

TEST_CASE("copies that do not fit at once are made block by block", "[cuda][matmul]") {
  const refusing table(refuse_below(16));
  for (const matmul_form& form : {matmul_form{1, 0, false}, matmul_form{2, -0.5, true}}) {
    product<float> p(shape_of({33, 50}), 20, {20, 1}, {50, 1}, {50, 1}, form);
    p.shift = 1;
    p.workspace = 6000;
    CHECK(p.error() < most<float>);
    const std::vector<blas_call> calls = cuda_emulation::take_blas_calls();
    CHECK(calls.size() > 4);
    for (const blas_call& c : calls) CHECK(c.workspace <= 6000);
  }
}

TEST_CASE("blocks of columns are copied for each block of rows", "[cuda][matmul]") {
  const refusing table(refuse_below(16));
  // Two blocks of columns, each as wide as there are rows, and two of rows.
  product<float> p(shape_of({25, 50}), 20, {20, 1}, {50, 1});
  p.shift = 1;
  p.workspace = 6500;
  CHECK(p.error() < most<float>);
  CHECK(cuda_emulation::take_blas_calls().size() == 4);
}

TEST_CASE("what fits is one block, and is as large as there is room", "[cuda][matmul]") {
  const refusing table(refuse_below(16));
  const auto calls = [](int m, int n, int k, std::int64_t workspace) {
    product<float> p(shape_of({m, n}), k, {k, 1}, {n, 1});
    p.shift = 1;
    p.workspace = workspace;
    CHECK(p.error() < most<float>);
    const auto made = cuda_emulation::take_blas_calls();
    for (const blas_call& c : made) CHECK(c.workspace >= static_cast<std::size_t>(workspace) / 8);
    return made.size();
  };
  CHECK(calls(7, 20, 5, 100000) == 1);
  CHECK(calls(20, 7, 5, 100000) == 1);
  // Copies of 2048, 2304 and 2816 bytes, and an eighth of it all beside them.
  CHECK(calls(25, 28, 20, 8191) == 1);
  CHECK(calls(25, 28, 20, 8190) == 2);
  cuda_emulation::reset_calls();
  CHECK(calls(28, 25, 20, 8000) == 2);
  CHECK(cuda_emulation::calls()["cudaLaunchKernelExC"] == 3);  // one operand once, and two parts of the result
}

TEST_CASE("products by one matrix for all are one product of more rows", "[cuda][matmul]") {
  (void)cuda_emulation::take_blas_calls();
  CHECK(product<float>(shape_of({2, 3, 9, 7}), 5, {135, 45, 5, 1}, {0, 0, 7, 1}).error() < most<float>);
  std::vector<blas_call> calls = cuda_emulation::take_blas_calls();
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].problem.columns == 54);  // column-major
  CHECK(calls[0].problem.batches == 1);
  // Batches that lie evenly are one call, however many dimensions they have.
  CHECK(product<float>(shape_of({2, 3, 9, 7}), 5, {135, 45, 5, 1}, {105, 35, 7, 1}).error() < most<float>);
  calls = cuda_emulation::take_blas_calls();
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].problem.batches == 6);
  // With an addend that does not.
  CHECK(product<float>(shape_of({2, 3, 9, 7}), 5, {135, 45, 5, 1}, {105, 35, 7, 1}, {0, 63, 7, 1}, {1, 2, false})
            .error() < most<float>);
  CHECK(cuda_emulation::take_blas_calls().size() == 2);
}

TEST_CASE("batches of more matrices than a call may have are several calls", "[cuda][matmul]") {
  for (const int batches : {65535, 65536}) {
    (void)cuda_emulation::take_blas_calls();
    CHECK(product<float>(shape_of({batches, 1, 1}), 1, {1, 1, 1}, {1, 1, 1}).error() < most<float>);
    const std::vector<blas_call> calls = cuda_emulation::take_blas_calls();
    REQUIRE(calls.size() == (batches == 65535 ? 1u : 2u));
    CHECK(calls[0].problem.batches == 65535);
    CHECK(calls.back().problem.batches == (batches == 65535 ? 65535 : 1));
  }
}

TEST_CASE("products of as many dimensions as there are", "[cuda][matmul]") {
  STATIC_REQUIRE(max_rank == 8);
  const extents space = shape_of({2, 1, 2, 1, 2, 1, 9, 7});
  // Evenly, in any order with operands that must be packed, and with an addend.
  CHECK(product<float>(space, 5, {180, 0, 90, 0, 45, 0, 5, 1}, {140, 0, 70, 0, 35, 0, 7, 1}).error() < most<float>);
  CHECK(product<float>(space, 5, {90, 0, 180, 0, 360, 0, 10, 2}, {70, 0, 140, 0, 280, 0, 14, 2},
                       {0, 0, 63, 0, 126, 0, 7, 1}, {1, 2, false})
            .error() < most<float>);
}

TEST_CASE("a product that cublasLt does not have says so", "[cuda][matmul]") {
  const auto message_of = [](product<float>& p, bench& b) -> std::string {
    try {
      (void)p.computed(b);
    } catch (const internal_error& e) {
      return e.what();
    }
    return {};
  };
  bench b;
  product<float> p(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {0, 1}, {1, 1, true});
  {
    const refusing table({blas_refusal{}});
    CHECK_THAT(message_of(p, b), Catch::Contains("no algorithm for a matrix product with m = 9, n = 7, k = 5"));
  }
  b.run.reset();
  {
    const refusing table(refuse_below(16));
    product<float> q(shape_of({9, 7}), 5, {5, 1}, {7, 1}, {0, 1}, {1, 1, true});
    q.shift = 1;
    q.workspace = 0;
    CHECK_THAT(message_of(q, b), Catch::Contains("no memory to copy its operands to"));
  }
  // The device goes on with others.
  b.run.reset();
  CHECK(product<float>(shape_of({9, 8}), 5, {5, 1}, {8, 1}).error(b) < most<float>);
}

TEST_CASE("the memory that products work in is what there is", "[cuda][matmul]") {
  constexpr std::int64_t MiB = std::int64_t{1} << 20;
  const auto given = [](std::int64_t limit) {
    memory_limit l;
    l.bytes = limit;
    l.growth = true;
    bench b(l);
    product<float> p(shape_of({9, 7}), 5, {5, 1}, {14, 2});
    p.call.in = p.in;
    const auto least = static_cast<std::int64_t>(cuda_matmul_least_workspace<float>(p.call));
    std::int64_t bytes = least + 32 * MiB;
    void* data = nullptr;
    const ref<counted> space = b.gpu.workspace_up_to(bytes, least, 0, data);
    p.workspace = bytes;
    CHECK(p.error() < most<float>);
    return bytes - least;
  };
  CHECK(given(64 * MiB) == 32 * MiB);
  CHECK(given(16 * MiB) == 4 * MiB);
  CHECK(given(2 * MiB) == 0);
}

TEST_CASE("a workspace may be all that is left", "[cuda][matmul]") {
  constexpr std::int64_t MiB = std::int64_t{1} << 20;
  memory_limit l;
  l.bytes = 8 * MiB;
  l.growth = true;
  const auto given = [&](std::int64_t bytes) {
    bench b(l);
    void* data = nullptr;
    const ref<counted> space = b.gpu.workspace_up_to(bytes, 0, 0, data);
    return bytes;
  };
  CHECK(given(8 * MiB) == 8 * MiB);
  CHECK(given(64 * MiB) == 8 * MiB);  // an eighth of what is asked for
}

TEST_CASE("a smaller workspace is shared where no larger one fits", "[cuda][matmul]") {
  constexpr std::int64_t MiB = std::int64_t{1} << 20;
  memory_limit l;
  l.bytes = 16 * MiB;
  l.growth = true;
  bench b(l);
  std::int64_t first = 32 * MiB, second = 32 * MiB, none = 32 * MiB;
  void* at = nullptr;
  void* also = nullptr;
  const ref<counted> one = b.gpu.workspace_up_to(first, 0, 0, at);
  const ref<counted> other = b.gpu.workspace_up_to(second, 0, 0, also);
  CHECK(first == 4 * MiB);
  CHECK(second == 4 * MiB);
  CHECK(at == also);
  void* much = nullptr;
  CHECK_THROWS_AS((void)b.gpu.workspace_up_to(none, 20 * MiB, 0, much), resource_exhausted_error);
  CHECK(none == 0);
}

TEST_CASE("a device that cublasLt finds lost is known to be", "[cuda][matmul]") {
  bench b;
  const float zeros[4] = {};
  operand_view in[] = {view_of(b.upload(zeros, 4), element::float32, {2, 1}),
                       view_of(b.upload(zeros, 4), element::float32, {2, 1})};
  kernel_call call;
  call.space = shape_of({2, 2});
  call.inner = 2;
  call.inputs = 2;
  call.in = in;
  call.out.data = b.reserve<float>(4);
  b.launch(&cuda_matmul<float>, call);
  b.settle(stream_kind::compute);
  CHECK(b.gpu.lost() == nullptr);
  cuda_emulation::lose_device(0, cudaErrorIllegalAddress);
  CHECK_THROWS_WITH(b.launch(&cuda_matmul<float>, call), Catch::Contains("is lost to this process"));
  CHECK(b.gpu.lost() != nullptr);
  cuda_emulation::revive_device(0);
}
