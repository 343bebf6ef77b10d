// SPDX-License-Identifier: BSL-1.0
// The emulated cublasLt as tests see it: what it refuses, how long its algorithms take, and what it was asked to do.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace cuda_emulation {

/// A product as cublasLt is asked for it, column-major: (rows, inner) x (inner, columns).
struct blas_problem {
  cudaDataType_t type = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  bool first_transposed = false, second_transposed = false;
  std::int64_t rows = 0, columns = 0, inner = 0;
  std::int64_t first_leading = 0, second_leading = 0, addend_leading = 0, out_leading = 0;
  std::int64_t first_batch = 0, second_batch = 0, addend_batch = 0, out_batch = 0;
  std::int32_t batches = 1;
  std::uint32_t bias_alignment = 256;
  std::uint32_t alignment[4] = {256, 256, 256, 256};  // bytes, of first, second, addend and out
  std::uint64_t workspace = 0;                        // the most that an algorithm may use
  std::uint32_t reductions = 0;                       // cublasLtReductionScheme_t's

  friend bool operator==(const blas_problem&, const blas_problem&) = default;
};

/// A row of the table of what is refused: problems that are all that the row says.
struct blas_refusal {
  std::optional<cudaDataType_t> type{};
  std::optional<std::uint32_t> epilogue{};
  std::uint32_t alignment_below = 0;  // of any matrix, in bytes
  std::uint32_t out_alignment_below = 0;
  std::uint64_t workspace_below = 0;
  std::int32_t batches_above = -1;  // -1: however many
  std::optional<bool> first_transposed{}, second_transposed{};

  enum class by : std::uint8_t {
    no_proposal,    ///< the heuristic has none
    not_supported,  ///< the heuristic returns CUBLAS_STATUS_NOT_SUPPORTED
    the_product,    ///< cublasLtMatmul itself does, though the heuristic had a proposal
  };
  by how = by::no_proposal;

  bool refuses(const blas_problem& p) const;
};

// For tests to set, while nothing runs.

extern std::vector<blas_refusal> blas_refusals;
/// How many algorithms there are for every product.
extern int blas_proposals;
/// Nanoseconds that one of them takes, by its place in the heuristic's list. Empty: as good as none.
extern std::function<std::int64_t(int proposal)> blas_durations;

/// One call of cublasLtMatmul that was accepted.
struct blas_call {
  blas_problem problem;
  int proposal = 0;
  bool in_place = false;  // the addend is where the result goes
  double beta = 0;
  std::size_t workspace = 0;
};
/// Those since the last call of this function.
std::vector<blas_call> take_blas_calls();

}  // namespace cuda_emulation
