// SPDX-License-Identifier: BSL-1.0
// What the emulated cublasLt finds: each rule of its documents broken once is a violation, and the call is refused.
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "blas.hpp"
#include "catch.hpp"
#include "control.hpp"

namespace {

/// A product of floats, (4, 3) x (3, 5), as a program of its own would call it; tests change one thing.
struct direct_product {
  cublasLtHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  cublasLtMatmulDescOpaque_t operation{};
  cublasLtMatrixLayoutOpaque_t a{}, b{}, c{}, d{};
  cublasLtMatmulPreferenceOpaque_t preference{};
  float* memory = nullptr;
  float* at[4];  // of a, b, c, d
  void* room = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 1024;
  float alpha = 1, beta = 0;
  cublasLtMatmulHeuristicResult_t result{};

  direct_product() {
    REQUIRE(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&memory), 4096) == cudaSuccess);
    REQUIRE(cudaMalloc(&room, 1024) == cudaSuccess);
    workspace = room;
    REQUIRE(cudaMemset(memory, 0, 4096) == cudaSuccess);
    for (int k = 0; k < 4; ++k) at[k] = memory + 64 * k;
    describe(a, 4, 3, 4);
    describe(b, 3, 5, 3);
    describe(c, 4, 5, 4);
    describe(d, 4, 5, 4);
    (void)cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    (void)cublasLtMatmulPreferenceInit(&preference);
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{1024});
  }
  direct_product(const direct_product&) = delete;
  direct_product& operator=(const direct_product&) = delete;
  ~direct_product() {
    (void)cudaStreamSynchronize(stream);
    (void)cudaFree(room);
    (void)cudaFree(memory);
    (void)cudaStreamDestroy(stream);
    if (handle) (void)cublasLtDestroy(handle);
  }

  static void describe(cublasLtMatrixLayoutOpaque_t& to, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t leading, cudaDataType type = CUDA_R_32F) {
    (void)cublasLtMatrixLayoutInit(&to, type, rows, columns, leading);
  }
  template <class T>
  void prefer(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    (void)cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    (void)cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof value);
  }
  void batch(std::int32_t count, std::int64_t stride_of_d) {
    cublasLtMatrixLayoutOpaque_t* const all[] = {&a, &b, &c, &d};
    const std::int64_t strides[] = {0, 0, 64, stride_of_d};
    for (int k = 0; k < 4; ++k) {
      (void)cublasLtMatrixLayoutSetAttribute(all[k], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
      (void)cublasLtMatrixLayoutSetAttribute(all[k], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &strides[k],
                                             sizeof strides[k]);
    }
  }

  cublasStatus_t choose() {
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle, &operation, &a, &b, &c, &d, &preference, 1, &result, &count);
    return status == CUBLAS_STATUS_SUCCESS && count != 1 ? CUBLAS_STATUS_NOT_SUPPORTED : status;
  }
  cublasStatus_t multiply() {
    return cublasLtMatmul(handle, &operation, &alpha, at[0], &a, at[1], &b, &beta, at[2], &c, at[3], &d, &result.algo,
                          workspace, workspace_bytes, stream);
  }
};

/// The sentence that a mistake leads to; empty where there is none.
std::string found_in(const std::function<void(direct_product&)>& before_choosing,
                     const std::function<void(direct_product&)>& before_multiplying) {
  std::string sentence;
  {
    direct_product p;
    before_choosing(p);
    const cublasStatus_t chosen = p.choose();
    if (chosen == CUBLAS_STATUS_SUCCESS) {
      before_multiplying(p);
      const cublasStatus_t status = p.multiply();
      CHECK(cudaStreamSynchronize(p.stream) == cudaSuccess);
      if (status != CUBLAS_STATUS_SUCCESS) CHECK(status == CUBLAS_STATUS_INVALID_VALUE);
    } else {
      CHECK(chosen == CUBLAS_STATUS_INVALID_VALUE);
    }
    for (const std::string& s : cuda_emulation::take_violations()) sentence += s + "\n";
  }
  CHECK(cuda_emulation::take_violations().empty());
  return sentence;
}
std::string found_when_choosing(const std::function<void(direct_product&)>& mistake) {
  return found_in(mistake, [](direct_product&) {});
}
std::string found_when_multiplying(const std::function<void(direct_product&)>& mistake) {
  return found_in([](direct_product&) {}, mistake);
}

}  // namespace

using p = direct_product;  // what a mistake is made in

TEST_CASE("a product that is right", "[cuda][emulator]") {
  CHECK(found_when_choosing([](p&) {}).empty());
  CHECK(found_when_multiplying([](p& x) { x.beta = 2; }).empty());
  CHECK(found_when_multiplying([](p& x) { x.at[2] = x.at[3], x.beta = 2; }).empty());
  CHECK(found_when_choosing([](p& x) { x.batch(2, 64); }).empty());
}

TEST_CASE("descriptors that are wrong", "[cuda][emulator]") {
  const auto contains = [](const char* text) { return Catch::Contains(text); };
  CHECK_THAT(found_when_choosing([](p& x) { x.a = {}; }), contains("layout of A was not initialized"));
  CHECK_THAT(found_when_choosing([](p& x) { x.operation = {}; }), contains("operation descriptor was not"));
  CHECK_THAT(found_when_choosing([](p& x) { x.preference = {}; }), contains("preference was not"));
  CHECK_THAT(found_when_choosing([](p& x) { x.describe(x.a, 4, 3, 3); }), contains("leading dimension of A is 3"));
  CHECK_THAT(found_when_choosing([](p& x) { x.describe(x.b, 4, 5, 4); }), contains("inner extents 3 and 4"));
  CHECK_THAT(found_when_choosing([](p& x) { x.describe(x.c, 5, 4, 5); }), contains("C has not the product's"));
  CHECK_THAT(found_when_choosing([](p& x) { x.describe(x.d, 4, 5, 4, CUDA_R_16F); }), contains("another type"));
  CHECK_THAT(found_when_choosing([](p& x) {
               for (auto* l : {&x.a, &x.b, &x.c, &x.d}) (void)cublasLtMatrixLayoutInit(l, CUDA_R_64F, 4, 4, 4);
             }),
             contains("compute type"));
  CHECK_THAT(
      found_when_choosing([](p& x) { (void)cublasLtMatmulDescInit(&x.operation, CUBLAS_COMPUTE_32F, CUDA_R_64F); }),
      contains("scale type"));
  CHECK_THAT(found_when_choosing([](p& x) {
               const std::int32_t two = 2;
               (void)cublasLtMatrixLayoutSetAttribute(&x.b, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &two, sizeof two);
             }),
             contains("another number of batches"));
  CHECK_THAT(found_when_choosing([](p& x) { x.batch(2, 19); }), contains("batches of D lie over each other"));
  CHECK_THAT(found_when_choosing([](p& x) { x.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS); }),
             contains("a bias and the epilogue"));
  CHECK_THAT(found_when_choosing([](p& x) { x.set(CUBLASLT_MATMUL_DESC_TRANSA, std::int64_t{1}); }),
             contains("attribute of 4 bytes was given 8"));
  CHECK_THAT(found_when_choosing([](p& x) { x.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 2u); }),
             contains("no alignment"));
}

TEST_CASE("calls that are wrong", "[cuda][emulator]") {
  const auto contains = [](const char* text) { return Catch::Contains(text); };
  CHECK_THAT(found_when_multiplying([](p& x) { ++x.at[1]; }), contains("B is not aligned to the 256 bytes"));
  CHECK_THAT(found_when_multiplying([](p& x) { x.at[3] = x.at[0]; }), contains("D lies over A"));
  CHECK_THAT(found_in([](p& x) { x.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 4u); },
                      [](p& x) { x.at[3] = x.at[2] + 1, x.beta = 1; }),
             contains("D lies over C"));
  CHECK_THAT(found_when_multiplying([](p& x) { x.at[2] = nullptr; }), contains("C is null"));
  CHECK_THAT(found_when_multiplying([](p& x) { x.workspace_bytes = 2048; }),
             contains("larger than what was preferred"));
  CHECK_THAT(found_when_multiplying([](p& x) { x.workspace_bytes = 512; }),
             contains("smaller than what the algorithm"));
  CHECK_THAT(found_when_multiplying([](p& x) { x.workspace = x.memory; }), contains("the workspace lies over A"));
  CHECK_THAT(found_when_multiplying([](p& x) { x.result.algo = {}; }), contains("none that the heuristic gave"));
  CHECK_THAT(found_when_multiplying([](p& x) { x.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU); }),
             contains("algorithm is for another product"));
  CHECK_THAT(found_when_multiplying([](p& x) { x.at[0] = x.memory + 1024; }), contains("cublasLt's read of A"));
  CHECK_THAT(found_when_multiplying([](p& x) { x.at[3] = x.memory + 1024; }), contains("cublasLt's write of D"));
  CHECK_THAT(found_when_multiplying([](p& x) {
               (void)cudaStreamSynchronize(x.stream);
               (void)cublasLtDestroy(x.handle);
               (void)x.multiply();
               (void)cublasLtCreate(&x.handle);
             }),
             contains("no handle, or no more"));
  if (cuda_emulation::current_machine().devices > 1)
    CHECK_THAT(found_when_multiplying([](p& x) {
                 (void)cudaSetDevice(1);
                 (void)x.multiply();
                 (void)cudaSetDevice(0);
               }),
               contains("is not current"));
}

TEST_CASE("a workspace is cublasLt's to write", "[cuda][emulator]") {
  direct_product x;
  REQUIRE(cudaMemset(x.workspace, 0, 1024) == cudaSuccess);
  REQUIRE(x.choose() == CUBLAS_STATUS_SUCCESS);
  REQUIRE(x.multiply() == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cudaStreamSynchronize(x.stream) == cudaSuccess);
  unsigned char bytes[1024];
  REQUIRE(cudaMemcpy(bytes, x.workspace, sizeof bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(bytes[0] == 0xff);
  CHECK(bytes[1023] == 0xff);
}
