// SPDX-License-Identifier: BSL-1.0
// Matrix products on the GPU through cublasLt: row-major by swapped operands, transposes folded, the addend and relu in
// the same call where cublasLt has that.
#pragma once

#include <onto/backend/cuda/blas.hpp>
#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/matmul_plan.hpp>

namespace onto::detail {

template <class T>
__global__ void __launch_bounds__(block_threads) addend_kernel(const __grid_constant__ addend_parameters<T> p) {
  const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
  std::int64_t index = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  for (; index < p.copy.space.size; index += step) place_addend(p, index);
}

/// Writes a matrix product's result from `from` alone.
template <class T>
void launch_addend(gpu_context& context, const kernel_call& call, const operand_view& from, double scale, bool relu) {
  operand_view operands[] = {from, call.out};
  contiguous_strides(call.space, operands[1].stride);
  const addend_parameters<T> p{
      {from.data, call.out.data, collapse<2>(call.space, all_dimensions(call.space.rank), operands), sizeof(T)},
      static_cast<computed_of<T>>(scale),
      relu};
  launch(context.stream, "launching a matrix addition kernel", &addend_kernel<T>,
         {grid_blocks(divide_up(p.copy.space.size, block_threads))}, p);
}

constexpr std::size_t aligned_bytes(std::int64_t elements, std::size_t size) {
  return (static_cast<std::size_t>(elements) * size + 255) / 256 * 256;
}

/// Bytes of device memory that `cuda_matmul` needs for the call.
template <class T>
std::size_t cuda_matmul_workspace(const kernel_call& call) {
  if (call.space.size() == 0 || call.inner == 0) return 0;
  const matmul_plan plan = plan_matmul(call);
  return blas_workspace + aligned_bytes(plan.a_packed, sizeof(T)) + aligned_bytes(plan.b_packed, sizeof(T));
}

/// An operand's matrices, made contiguous at `to`.
inline void pack_matrices(gpu_context& context, const kernel_call& call, const operand_view& operand, std::int64_t rows,
                          std::int64_t columns, void* to) {
  const packing copy(batches_of(call.space), rows, columns, operand.stride);
  kernel_call c;
  c.space = copy.space;
  c.inputs = 1;
  c.in = &operand;
  c.out.data = to;
  contiguous_strides(copy.space, c.out.stride);
  cuda_copy(context, c);
}

/// One launch of a matrix product: where its operands are now, and what cublasLt does beside multiplying.
template <class T>
class matmul_launch {
 public:
  matmul_launch(gpu_context& context, const kernel_call& call)
      : context_(context), call_(call), plan_(plan_matmul(call)), a_(call.in[0].data), b_(call.in[1].data) {
    if (!call.workspace) throw internal_error("[onto.cuda] a matrix product was launched without its workspace");
    char* packed = static_cast<char*>(call.workspace) + blas_workspace;
    const int rows = call.space.rank - 2;
    if (plan_.a.packed) {
      pack_matrices(context, call, call.in[0], call.space[rows], plan_.k, packed);
      a_ = packed;
      packed += aligned_bytes(plan_.a_packed, sizeof(T));
    }
    if (plan_.b.packed) {
      pack_matrices(context, call, call.in[1], plan_.k, plan_.n, packed);
      b_ = packed;
    }
  }

  void run() {
    const matmul_form& form = call_.form;
    if (plan_.addend == addend_form::copied) copy_addend();
    const bool fused = form.relu || plan_.addend == addend_form::bias;
    if (multiply_all(form.relu, plan_.addend == addend_form::bias)) return;
    if (fused) {
      if (plan_.addend == addend_form::bias) copy_addend();
      if (multiply_all(false, false)) {
        operand_view out = call_.out;
        contiguous_strides(call_.space, out.stride);
        if (form.relu) launch_addend<T>(context_, call_, out, 1, true);
        return;
      }
    }
    throw internal_error("[onto.cuda] cublasLt has no algorithm for a matrix product with m = " +
                         std::to_string(plan_.m) + ", n = " + std::to_string(plan_.n) +
                         ", k = " + std::to_string(plan_.k) + "; compute it on the CPU with on<cpu<0>>(...)");
  }

 private:
  // Grids of batched kernels end at 65535.
  static constexpr std::int64_t most_batches = 65535;

  /// From here on the result holds the addend.
  void copy_addend() {
    launch_addend<T>(context_, call_, call_.in[2], 1, false);
    plan_.addend = addend_form::copied;
  }

  /// Issues a call for each run of batches that lie evenly. *Returns* false, with nothing issued, where cublasLt
  /// cannot.
  bool multiply_all(bool relu, bool bias) {
    const int last = plan_.batch_rank - 1;
    const std::int64_t run = last < 0 ? 1 : plan_.batch[last];
    const std::int64_t runs = plan_.batches() / run;
    bool issued = false;
    for (std::int64_t r = 0; r < runs; ++r) {
      std::int64_t at[4] = {};  // of a, b, the addend, out
      std::int64_t rest = r;
      for (int d = last - 1; d >= 0; --d) {
        const std::int64_t index = rest % plan_.batch[d];
        rest /= plan_.batch[d];
        step(at, d, index);
      }
      for (std::int64_t first = 0; first < run; first += most_batches) {
        const std::int64_t count = run - first < most_batches ? run - first : most_batches;
        if (!multiply(at, count, relu, bias)) {
          if (!issued) return false;
          throw internal_error("[onto.cuda] cublasLt has an algorithm for a part of a batch only");
        }
        issued = true;
        if (last >= 0) step(at, last, count);
      }
    }
    return true;
  }

  void step(std::int64_t (&at)[4], int d, std::int64_t count) const {
    at[0] += count * plan_.a_batch[d];
    at[1] += count * plan_.b_batch[d];
    at[2] += count * plan_.c_batch[d];
    at[3] += count * plan_.out_batch[d];
  }

  bool multiply(const std::int64_t (&at)[4], std::int64_t batches, bool relu, bool bias) {
    const int last = plan_.batch_rank - 1;
    const bool in_place = plan_.addend == addend_form::copied;
    const bool reads = plan_.addend == addend_form::matrix;
    T* out = static_cast<T*>(call_.out.data) + at[3];
    gemm_shape s;
    s.type = blas_type(element_of<T>);
    s.tf32 = call_.form.tf32 && s.type == CUDA_R_32F;
    // The row-major result is, column by column, its transpose: the product of the transposes the other way round.
    s.rows = plan_.n;
    s.columns = plan_.m;
    s.inner = plan_.k;
    s.first_transposed = plan_.b.transposed;
    s.second_transposed = plan_.a.transposed;
    s.first_leading = plan_.b.leading;
    s.second_leading = plan_.a.leading;
    s.addend_leading = reads ? plan_.addend_leading : plan_.n;
    s.out_leading = plan_.n;
    s.batches = static_cast<std::int32_t>(batches);
    if (batches > 1) {
      s.first_batch = plan_.b_batch[last];
      s.second_batch = plan_.a_batch[last];
      s.addend_batch = reads ? plan_.c_batch[last] : plan_.out_batch[last];
      s.out_batch = plan_.out_batch[last];
    }
    s.epilogue = relu && bias ? CUBLASLT_EPILOGUE_RELU_BIAS
                 : relu       ? CUBLASLT_EPILOGUE_RELU
                 : bias       ? CUBLASLT_EPILOGUE_BIAS
                              : CUBLASLT_EPILOGUE_DEFAULT;
    s.workspace = blas_workspace;
    gemm_pointers p{};
    p.first = static_cast<const T*>(b_) + at[1];
    p.second = static_cast<const T*>(a_) + at[0];
    p.addend = reads ? static_cast<const T*>(call_.in[2].data) + at[2] : in_place ? out : nullptr;
    p.out = out;
    p.bias = bias ? call_.in[2].data : nullptr;
    p.workspace = call_.workspace;
    return blas_of(context_).multiply(context_.stream, s, p, call_.form.alpha, reads || in_place ? call_.form.beta : 0);
  }

  gpu_context& context_;
  const kernel_call& call_;
  matmul_plan plan_;
  const void* a_;
  const void* b_;
};

/// `relu(alpha * a @ b + beta * addend)`, batched. Float is true float unless the call asks for TF32; half and bfloat16
/// are multiplied and added as floats, and the result is rounded once.
/// *Throws* `resource_exhausted_error` or `internal_error` where cuBLAS fails.
template <class T>
void cuda_matmul(gpu_context& context, const kernel_call& call) {
  if (call.space.size() == 0) return;
  if (call.inner > 0)
    matmul_launch<T>(context, call).run();
  else if (call.form.beta != 0)
    launch_addend<T>(context, call, call.in[2], call.form.beta, call.form.relu);
  else
    cuda_check(
        cudaMemsetAsync(call.out.data, 0, static_cast<std::size_t>(call.space.size()) * sizeof(T), context.stream),
        "cudaMemsetAsync");
}

}  // namespace onto::detail
