// SPDX-License-Identifier: BSL-1.0
// cublasLt: its statuses as exceptions, its handle, and the algorithm it chose for each shape it has met.
#pragma once

#include <onto/backend/cuda/context.hpp>

#include <cublasLt.h>

#include <cstdint>
#include <string>
#include <vector>

namespace onto::detail {

/// *Throws* `resource_exhausted_error` where cuBLAS found no memory, `cuda_lost_error` where the device is gone, else
/// `internal_error`.
inline void cublas_check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string sentence = std::string("[onto.cuda] ") + what + " failed: " + cublasLtGetStatusName(status) + ": " +
                               cublasLtGetStatusString(status);
  // cublasLt has no status for a device that is lost; the runtime has.
  const cudaError_t reason = cudaGetLastError();
  if (is_lost(reason)) throw_cuda(reason, what);
  if (status == CUBLAS_STATUS_ALLOC_FAILED)
    throw resource_exhausted_error(sentence +
                                   "; the device has no memory left: use smaller tensors, or limit this "
                                   "session's part of it with session_options::gpu");
  throw internal_error(sentence);
}

/// What cublasLt may use besides its operands, as its documentation asks for on the largest devices.
inline constexpr std::size_t blas_workspace = std::size_t{32} << 20;

/// The element types of products as cublasLt names them: a column of the table of element types that only this backend
/// can spell.
struct blas_name {
  element type;
  cudaDataType_t name;
};
inline constexpr blas_name blas_names[] = {{element::float32, CUDA_R_32F},
                                           {element::float64, CUDA_R_64F},
                                           {element::float16, CUDA_R_16F},
                                           {element::bfloat16, CUDA_R_16BF}};

constexpr const blas_name* find_blas_name(element e) {
  for (const blas_name& n : blas_names)
    if (n.type == e) return &n;
  return nullptr;
}
constexpr bool has_all_blas_names() {
  for (const element_row& r : element_table::rows)
    if ((r.products == gemm_micro_kernels::cpu_and_gpu) != (find_blas_name(r.type) != nullptr)) return false;
  return true;
}
static_assert(has_all_blas_names(), "[onto.cuda] an element type that GPUs multiply matrices of needs cublasLt's name");

/// An element type as cublasLt names it; there is none for a type that has no products.
template <element E>
inline constexpr cudaDataType_t blas_type = find_blas_name(E)->name;

constexpr std::int64_t bytes_of(cudaDataType_t type) {
  for (const blas_name& n : blas_names)
    if (n.name == type) return size_of(n.type);
  return 0;
}

/// One cublasLt call but for its pointers, in its own, column-major terms: (rows, inner) x (inner, columns).
struct gemm_shape {
  cudaDataType_t type = CUDA_R_32F;
  bool tf32 = false;  // of floats: their products need not be true float
  std::int64_t rows = 0, columns = 0, inner = 0;
  bool first_transposed = false, second_transposed = false;
  std::int64_t first_leading = 0, second_leading = 0, addend_leading = 0, out_leading = 0;
  std::int64_t first_batch = 0, second_batch = 0, addend_batch = 0, out_batch = 0;
  std::int32_t batches = 1;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  bool adds = false;
  std::size_t workspace = 0;
  std::uint32_t alignment[5] = {};  // of first, second, addend, out, bias

  friend bool operator==(const gemm_shape&, const gemm_shape&) = default;
};

struct gemm_pointers {
  const void* first;
  const void* second;
  const void* addend;  // or null
  void* out;
  const void* bias;  // or null
  void* workspace;
};

/// How long a stream takes for what is issued between two calls.
class stopwatch {
 public:
  stopwatch() = default;
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  ~stopwatch() {
    if (begin_) cuda_ignore(cudaEventDestroy(begin_));
    if (end_) cuda_ignore(cudaEventDestroy(end_));
  }

  void start(cudaStream_t stream) { mark(begin_, stream); }
  void stop(cudaStream_t stream) { mark(end_, stream); }
  bool was_used() const { return end_ != nullptr; }
  /// Waits for the stream.
  float milliseconds() const {
    float taken = 0;
    cuda_check(cudaEventSynchronize(end_), "cudaEventSynchronize");
    cuda_check(cudaEventElapsedTime(&taken, begin_, end_), "cudaEventElapsedTime");
    return taken;
  }

 private:
  static void mark(cudaEvent_t& event, cudaStream_t stream) {
    cuda_check(cudaEventCreate(&event), "cudaEventCreate");
    cuda_check(cudaEventRecord(event, stream), "cudaEventRecord");
  }

  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// The largest power of two, up to 256, that divides the addresses of a matrix and of those after it in its batch.
inline std::uint32_t alignment_of(const void* p, std::int64_t batch_stride_bytes) {
  const auto bits = reinterpret_cast<std::uintptr_t>(p) | static_cast<std::uintptr_t>(batch_stride_bytes);
  std::uint32_t a = 256;
  while (bits % a != 0) a /= 2;
  return a;
}

/// A cublasLt handle. Made where its device is current; used by several threads.
class cuda_blas final : public counted {
 public:
  cuda_blas() { cublas_check(cublasLtCreate(&handle_), "cublasLtCreate"); }
  ~cuda_blas() override { (void)cublasLtDestroy(handle_); }

  /// *Effects* issues the product; nothing where cublasLt has no algorithm for it.
  /// *Returns* whether there is one.
  bool multiply(cudaStream_t stream, const gemm_shape& shape, const gemm_pointers& at, double alpha, double beta) {
    product p(shape, at, alpha, beta);
    choice chosen;
    if (!find(p.shape, chosen)) {
      chosen.shape = p.shape;
      cublasLtMatmulHeuristicResult_t best{};
      chosen.found = propose(p, &best, 1) > 0;
      chosen.algorithm = best.algo;
      remember(chosen);
    }
    if (!chosen.found) return false;
    if (issue(p, chosen.algorithm, stream)) return true;
    chosen.found = false;
    remember(chosen);
    return false;
  }

  /// Finds the fastest of the algorithms that cublasLt proposes: runs each a few times, waits, and remembers it for
  /// `multiply`. Once for each shape.
  /// *Effects* the product is computed into its result several times: an addend that lies there is lost.
  /// *Returns* whether anything was computed.
  /// *Preconditions* the stream leads into no graph.
  bool tune(cudaStream_t stream, const gemm_shape& shape, const gemm_pointers& at, double alpha, double beta) {
    product p(shape, at, alpha, beta);
    choice chosen;
    if (find(p.shape, chosen) && chosen.tuned) return false;
    cublasLtMatmulHeuristicResult_t proposals[most_proposals] = {};
    const int count = propose(p, proposals, most_proposals);
    int best = -1;
    {
      stopwatch watches[most_proposals];
      if (count > 1)
        for (int k = 0; k < count; ++k) {
          if (!issue(p, proposals[k].algo, stream)) continue;  // not timed: the first use loads code
          watches[k].start(stream);
          for (int n = 0; n < timed_runs; ++n) (void)issue(p, proposals[k].algo, stream);
          watches[k].stop(stream);
        }
      float least = 0;
      for (const stopwatch& watch : watches) {
        if (!watch.was_used()) continue;
        const float taken = watch.milliseconds();
        // A difference that may be noise is no reason to leave cublasLt's own order.
        if (best < 0 || taken < 0.99f * least) {
          best = static_cast<int>(&watch - watches);
          least = taken;
        }
      }
    }
    chosen.shape = p.shape;
    chosen.tuned = true;
    chosen.found = count > 0;
    chosen.algorithm = proposals[best < 0 ? 0 : best].algo;
    remember(chosen);
    return count > 1;
  }

 private:
  static constexpr std::size_t most_choices = 512;
  static constexpr int most_proposals = 8;
  static constexpr int timed_runs = 3;

  /// A call, all but its algorithm.
  struct product {
    gemm_shape shape;
    gemm_pointers at;
    float narrow[2];
    double wide[2];
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatrixLayoutOpaque_t first, second, addend, out;

    product(const gemm_shape& given, const gemm_pointers& pointers, double alpha, double beta)
        : shape(given), at(pointers), narrow{static_cast<float>(alpha), static_cast<float>(beta)}, wide{alpha, beta} {
      gemm_shape& s = shape;
      s.adds = at.addend != nullptr;
      s.alignment[0] = aligned_to(at.first, s.first_batch);
      s.alignment[1] = aligned_to(at.second, s.second_batch);
      s.alignment[2] = s.adds ? aligned_to(at.addend, s.addend_batch) : aligned_to(at.out, s.out_batch);
      s.alignment[3] = aligned_to(at.out, s.out_batch);
      s.alignment[4] = alignment_of(at.bias, 0);
      // True float unless TF32, which has 10 bits of fraction, was asked for; half and bfloat16 accumulate in float.
      const cublasComputeType_t compute = is_double() ? CUBLAS_COMPUTE_64F
                                          : s.tf32    ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                      : CUBLAS_COMPUTE_32F;
      cublas_check(cublasLtMatmulDescInit(&operation, compute, is_double() ? CUDA_R_64F : CUDA_R_32F),
                   "cublasLtMatmulDescInit");
      set(CUBLASLT_MATMUL_DESC_TRANSA, s.first_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
      set(CUBLASLT_MATMUL_DESC_TRANSB, s.second_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, s.epilogue);
      if (at.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, at.bias);
      const auto rows = s.rows, columns = s.columns, inner = s.inner;
      layout(first, s, s.first_transposed ? inner : rows, s.first_transposed ? rows : inner, s.first_leading,
             s.first_batch);
      layout(second, s, s.second_transposed ? columns : inner, s.second_transposed ? inner : columns, s.second_leading,
             s.second_batch);
      layout(addend, s, rows, columns, s.adds ? s.addend_leading : s.out_leading,
             s.adds ? s.addend_batch : s.out_batch);
      layout(out, s, rows, columns, s.out_leading, s.out_batch);
    }

    bool is_double() const { return shape.type == CUDA_R_64F; }
    const void* factor(int k) const {
      return is_double() ? static_cast<const void*>(&wide[k]) : static_cast<const void*>(&narrow[k]);
    }

   private:
    std::uint32_t aligned_to(const void* p, std::int64_t stride) const {
      return alignment_of(p, shape.batches == 1 ? 0 : stride * bytes_of(shape.type));
    }

    template <class Value>
    void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
      static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
      cublas_check(cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof value),
                   "cublasLtMatmulDescSetAttribute");
    }

    static void layout(cublasLtMatrixLayoutOpaque_t& to, const gemm_shape& s, std::int64_t rows, std::int64_t columns,
                       std::int64_t leading, std::int64_t batch_stride) {
      cublas_check(cublasLtMatrixLayoutInit(&to, s.type, static_cast<std::uint64_t>(rows),
                                            static_cast<std::uint64_t>(columns), leading),
                   "cublasLtMatrixLayoutInit");
      if (s.batches == 1) return;
      cublas_check(
          cublasLtMatrixLayoutSetAttribute(&to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &s.batches, sizeof s.batches),
          "cublasLtMatrixLayoutSetAttribute");
      cublas_check(cublasLtMatrixLayoutSetAttribute(&to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch_stride,
                                                    sizeof batch_stride),
                   "cublasLtMatrixLayoutSetAttribute");
    }
  };

  struct choice {
    gemm_shape shape;
    bool found = false;
    bool tuned = false;
    cublasLtMatmulAlgo_t algorithm{};
  };

  bool find(const gemm_shape& shape, choice& to) {
    mutex_lock lock(mutex_);
    for (const choice& c : choices_) {
      if (!(c.shape == shape)) continue;
      to = c;
      return true;
    }
    return false;
  }

  void remember(const choice& chosen) {
    mutex_lock lock(mutex_);
    for (choice& c : choices_) {
      if (!(c.shape == chosen.shape)) continue;
      c = chosen;
      return;
    }
    if (choices_.size() == most_choices) choices_.clear();
    choices_.push_back(chosen);
  }

  /// Asks for algorithms, the best by cublasLt's own estimate first. *Returns* how many there are.
  int propose(product& p, cublasLtMatmulHeuristicResult_t* proposals, int most) {
    cublasLtMatmulPreferenceOpaque_t preference;
    cublas_check(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      cublas_check(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value),
                   "cublasLtMatmulPreferenceSetAttribute");
    };
    const gemm_shape& shape = p.shape;
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(shape.workspace));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.alignment[0]);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.alignment[1]);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.alignment[2]);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.alignment[3]);
    // The parts of a long product that was split must not be rounded to 16 bits before they are added.
    if (bytes_of(shape.type) == 2)
      prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
             static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle_, &p.operation, &p.first, &p.second, &p.addend,
                                                                 &p.out, &preference, most, proposals, &found);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return 0;
    cublas_check(status, "cublasLtMatmulAlgoGetHeuristic");
    int usable = 0;
    for (int k = 0; k < found; ++k)
      if (proposals[k].state == CUBLAS_STATUS_SUCCESS) proposals[usable++] = proposals[k];
    return usable;
  }

  /// *Returns* false, with nothing issued, where cublasLt does not do it after all.
  bool issue(product& p, const cublasLtMatmulAlgo_t& algorithm, cudaStream_t stream) {
    const gemm_pointers& at = p.at;
    const cublasStatus_t status = cublasLtMatmul(handle_, &p.operation, p.factor(0), at.first, &p.first, at.second,
                                                 &p.second, p.factor(1), at.addend ? at.addend : at.out, &p.addend,
                                                 at.out, &p.out, &algorithm, at.workspace, p.shape.workspace, stream);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return false;
    cublas_check(status, "cublasLtMatmul");
    return true;
  }

  cublasLtHandle_t handle_ = nullptr;
  mutex mutex_;
  std::vector<choice> choices_;
};

/// The device's handle, made when it is first asked for.
inline cuda_blas& blas_of(gpu_context& context) {
  mutex_lock lock(context.blas_mutex);
  if (!context.blas) context.blas = ref<counted>(new cuda_blas);
  return *static_cast<cuda_blas*>(context.blas.get());
}

}  // namespace onto::detail
