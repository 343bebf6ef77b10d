// SPDX-License-Identifier: BSL-1.0
// Matrix products through cublasLt as one writes them by hand: every algorithm that its heuristic proposes is tried,
// and the fastest is kept.
#pragma once

#include <onto/core/half.hpp>

#include <cublasLt.h>

#include "bench.hpp"

namespace gpu_bench {

inline void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cublasLtGetStatusString(status));
}

template <class T>
constexpr cudaDataType_t blas_type_of() {
  if constexpr (std::is_same_v<T, float>)
    return CUDA_R_32F;
  else if constexpr (std::is_same_v<T, onto::half>)
    return CUDA_R_16F;
  else
    return CUDA_R_16BF;
}

/// Row-major `out = a @ b`, of squares, or `relu(a @ b + bias)`.
template <class T>
class gemm {
 public:
  gemm(int n, bool tf32, bool bias_and_relu) : workspace_(std::int64_t{32} << 20) {
    const cublasComputeType_t compute = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    check(cublasLtCreate(&handle_), "cublasLtCreate");
    check(cublasLtMatmulDescCreate(&operation_, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    const std::uint32_t epilogue = bias_and_relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    check(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue),
          "CUBLASLT_MATMUL_DESC_EPILOGUE");
    const auto extent = static_cast<std::uint64_t>(n);
    check(cublasLtMatrixLayoutCreate(&layout_, blas_type_of<T>(), extent, extent, n), "cublasLtMatrixLayoutCreate");
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    const std::uint64_t room = workspace_.bytes();
    check(
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room),
        "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES");
    found_.resize(64);
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle_, operation_, layout_, layout_, layout_, layout_, preference,
                                       static_cast<int>(found_.size()), found_.data(), &count);
    (void)cublasLtMatmulPreferenceDestroy(preference);
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    found_.resize(static_cast<std::size_t>(count));
    if (found_.empty()) throw std::runtime_error("cublasLt proposes no algorithm");
  }
  gemm(const gemm&) = delete;
  gemm& operator=(const gemm&) = delete;
  ~gemm() {
    (void)cublasLtMatrixLayoutDestroy(layout_);
    (void)cublasLtMatmulDescDestroy(operation_);
    (void)cublasLtDestroy(handle_);
  }

  void launch(cudaStream_t s, const T* a, const T* b, T* out, const T* bias = nullptr) {
    check(multiply(s, found_[best_], a, b, out, bias), "cublasLtMatmul");
  }

  /// Tries all algorithms. *Returns* how many there are.
  int choose(const T* a, const T* b, T* out, const T* bias = nullptr) {
    const stream s;
    stopwatch watch;
    double least = 1e30;
    for (std::size_t k = 0; k < found_.size(); ++k) {
      if (found_[k].state != CUBLAS_STATUS_SUCCESS) continue;
      if (multiply(s.it, found_[k], a, b, out, bias) != CUBLAS_STATUS_SUCCESS) continue;
      check(cudaStreamSynchronize(s.it), "a matrix product");
      const auto times = [&](int count) {
        return watch.seconds(s.it, [&] {
          for (int i = 0; i < count; ++i) check(multiply(s.it, found_[k], a, b, out, bias), "cublasLtMatmul");
        }) / count;
      };
      double seconds = times(1);
      if (seconds > 2 * least) continue;
      seconds = times(static_cast<int>(std::clamp(3e-3 / std::max(seconds, 1e-7), 2.0, 200.0)));
      if (seconds < least) {
        least = seconds;
        best_ = k;
      }
    }
    return static_cast<int>(found_.size());
  }
  std::string note() const { return "algorithm " + std::to_string(best_ + 1) + " of " + std::to_string(found_.size()); }

 private:
  cublasStatus_t multiply(cudaStream_t s, const cublasLtMatmulHeuristicResult_t& how, const T* a, const T* b, T* out,
                          const T* bias) {
    if (bias)
      check(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
            "CUBLASLT_MATMUL_DESC_BIAS_POINTER");
    const float one = 1, none = 0;
    // Its matrices are stored by columns: the transposed result is the product of the transposed ones, in turn.
    return cublasLtMatmul(handle_, operation_, &one, b, layout_, a, layout_, &none, out, layout_, out, layout_,
                          &how.algo, workspace_.data(), workspace_.bytes(), s);
  }

  buffer<char> workspace_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t layout_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> found_;
  std::size_t best_ = 0;
};

/// Some elements of `relu(a @ b + bias)`, or of `a @ b`, beside sums in double.
template <class T>
struct product_reference {
  const T *a, *b, *bias, *out;
  int n;
  __device__ void operator()(std::int64_t k, double& got, double& expected) const {
    const auto at = static_cast<std::int64_t>((static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15u >> 20) %
                                              (static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n)));
    const std::int64_t r = at / n, c = at % n;
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += static_cast<double>(static_cast<float>(a[r * n + i])) *
             static_cast<double>(static_cast<float>(b[std::int64_t{i} * n + c]));
    if (bias) sum = fmax(sum + static_cast<double>(static_cast<float>(bias[c])), 0.0);
    got = static_cast<double>(static_cast<float>(out[at]));
    expected = sum;
  }
};

}  // namespace gpu_bench
