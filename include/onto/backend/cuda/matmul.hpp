// SPDX-License-Identifier: BSL-1.0
// Matrix products on the GPU through cublasLt: row-major by swapped operands, transposes folded, the addend and relu in
// the same call where cublasLt has that.
#pragma once

#include <onto/backend/cuda/blas.hpp>
#include <onto/backend/cuda/copy.hpp>
#include <onto/backend/cuda/launch.hpp>
#include <onto/backend/cuda/matmul_plan.hpp>

#include <limits>

namespace onto::detail {

/// Writes `to` from `from`, over `space`.
template <class T>
void launch_addend(gpu_context& context, const extents& space, const operand_view& from, const operand_view& to,
                   double scale, bool relu) {
  using code = addend_program<element_of<T>>;
  using number = computed_of<T>;
  const std::uint64_t scalars[] = {to_bits(static_cast<number>(scale)),
                                   to_bits(relu ? number(0) : -std::numeric_limits<number>::infinity())};
  map_layout all;
  set_layout(all, space, 1, &from, to.data, to.stride);
  all.bytes = map_bytes<code>::value;
  map_job job{context.stream, "launching a matrix addition kernel", scalars};
  for_each_short(all, &launch_map<code, false>, &job);
}

/// Writes a matrix product's result from its addend alone.
template <class T>
void launch_addend(gpu_context& context, const kernel_call& call, double scale, bool relu) {
  operand_view out = call.out;
  contiguous_strides(call.space, out.stride);
  launch_addend<T>(context, call.space, call.in[2], out, scale, relu);
}

/// Bytes of device memory that `cuda_matmul` cannot do without: its operands' copies.
template <class T>
std::size_t cuda_matmul_least_workspace(const kernel_call& call) {
  if (call.space.size() == 0 || call.inner == 0) return 0;
  const matmul_plan plan = plan_matmul(call);
  return aligned_bytes(plan.a_packed, sizeof(T)) + aligned_bytes(plan.b_packed, sizeof(T));
}

/// Bytes of device memory that `cuda_matmul` asks for. What is left beside the copies is cublasLt's, or holds copies of
/// blocks that are aligned better than the operands.
template <class T>
std::size_t cuda_matmul_workspace(const kernel_call& call) {
  if (call.space.size() == 0 || call.inner == 0) return 0;
  return cuda_matmul_least_workspace<T>(call) + blas_workspace;
}

/// Copies elements of one GPU's memory.
inline void copy_elements(gpu_context& context, const extents& space, const operand_view& from,
                          const operand_view& to) {
  kernel_call c;
  c.space = space;
  c.inputs = 1;
  c.in = &from;
  c.out = to;
  cuda_copy(context, c);
}

/// An operand's matrices, made contiguous at `to`.
inline void pack_matrices(gpu_context& context, const kernel_call& call, const operand_view& operand, std::int64_t rows,
                          std::int64_t columns, void* to) {
  const packing copy(batches_of(call.space), rows, columns, operand.stride);
  operand_view out;
  out.data = to;
  contiguous_strides(copy.space, out.stride);
  copy_elements(context, copy.space, operand, out);
}

/// One launch of a matrix product: where its operands are now, and what cublasLt does beside multiplying.
template <class T>
class matmul_launch {
 public:
  matmul_launch(gpu_context& context, const kernel_call& call)
      : context_(context),
        call_(call),
        plan_(plan_matmul(call)),
        a_(call.in[0].data),
        b_(call.in[1].data),
        room_(static_cast<char*>(call.workspace)),
        room_bytes_(static_cast<std::size_t>(call.workspace_bytes)) {
    const int rows = call.space.rank - 2;
    if (plan_.a.packed) {
      void* packed = take(aligned_bytes(plan_.a_packed, sizeof(T)));
      pack_matrices(context, call, call.in[0], call.space[rows], plan_.k, packed);
      a_ = packed;
    }
    if (plan_.b.packed) {
      void* packed = take(aligned_bytes(plan_.b_packed, sizeof(T)));
      pack_matrices(context, call, call.in[1], plan_.k, plan_.n, packed);
      b_ = packed;
    }
  }

  /// Issues a call for each run of batches that lie evenly.
  void run() {
    if (plan_.addend == addend_form::copied) launch_addend<T>(context_, call_, 1, false);
    const int last = plan_.batch_rank - 1;
    const std::int64_t in_run = last < 0 ? 1 : plan_.batch[last];
    const std::int64_t runs = plan_.batches() / in_run;
    for (std::int64_t r = 0; r < runs; ++r) {
      part p;
      std::int64_t rest = r;
      for (int d = last - 1; d >= 0; --d) {
        const std::int64_t index = rest % plan_.batch[d];
        rest /= plan_.batch[d];
        step(p, d, index);
      }
      for (std::int64_t first = 0; first < in_run; first += most_batches) {
        p.batches = in_run - first < most_batches ? in_run - first : most_batches;
        multiply_part(p);
        issued_ = true;
        if (last >= 0) step(p, last, p.batches);
      }
    }
  }

 private:
  // Grids of batched kernels end at 65535.
  static constexpr std::int64_t most_batches = 65535;

  /// Some matrices of the last batch dimension: where the first of a, b, the addend and the result begin, in elements.
  struct part {
    std::int64_t at[4] = {};
    std::int64_t batches = 1;
  };

  void step(part& p, int d, std::int64_t count) const {
    p.at[0] += count * plan_.a_batch[d];
    p.at[1] += count * plan_.b_batch[d];
    p.at[2] += count * plan_.c_batch[d];
    p.at[3] += count * plan_.out_batch[d];
  }

  void* take(std::size_t bytes) {
    if (bytes > room_bytes_) throw internal_error("[onto.cuda] a matrix product was launched without its workspace");
    void* const taken = room_;
    room_ += bytes;
    room_bytes_ -= bytes;
    return taken;
  }

  /// All of it by cublasLt; or the product alone, and bias and relu by kernels; or that with copies of the operands.
  void multiply_part(const part& p) {
    const bool relu = call_.form.relu;
    addend_form addend = plan_.addend;
    if (call_.form.alpha == 0) return multiply_copies(p, addend);
    if (!(addend == addend_form::bias && rounds_before_bias()) && multiply(p, addend, relu)) return;
    if (addend == addend_form::bias) {
      write_bias(p);
      addend = addend_form::copied;
    } else if (!relu) {
      return multiply_copies(p, addend);
    }
    if (!multiply(p, addend, false)) return multiply_copies(p, addend);
    if (relu) launch_addend<T>(context_, space_of(p), out_of(p), out_of(p), 1, true);
  }

  /// Whether cublasLt would round the product to 16 bits before it adds the bias. It does where rows do not begin at
  /// 16 bytes; an addend that it reads as a matrix is added before.
  bool rounds_before_bias() const { return sizeof(T) == 2 && plan_.n % 8 != 0; }

  extents space_of(const part& p) const {
    extents e;
    e.push_back(static_cast<int>(p.batches));
    e.push_back(static_cast<int>(plan_.m));
    e.push_back(static_cast<int>(plan_.n));
    return e;
  }
  operand_view out_of(const part& p) const {
    operand_view v;
    v.data = static_cast<T*>(call_.out.data) + p.at[3];
    v.stride[0] = plan_.batch_rank > 0 ? plan_.out_batch[plan_.batch_rank - 1] : 0;
    v.stride[1] = plan_.n;
    v.stride[2] = 1;
    return v;
  }

  /// From here on the result holds the bias.
  void write_bias(const part& p) {
    operand_view bias;
    bias.data = call_.in[2].data;
    bias.stride[2] = 1;
    launch_addend<T>(context_, space_of(p), bias, out_of(p), 1, false);
  }

  gemm_shape shape_of(std::int64_t rows, std::int64_t columns) const {
    // The row-major result is, column by column, its transpose: the product of the transposes the other way round.
    gemm_shape s;
    s.type = blas_type<element_of<T>>;
    s.tf32 = call_.form.tf32 && s.type == CUDA_R_32F;
    s.rows = columns;
    s.columns = rows;
    s.inner = plan_.k;
    return s;
  }

  /// *Returns* false, with nothing issued, where cublasLt has no algorithm.
  bool multiply(const part& one, addend_form addend, bool relu) {
    const int last = plan_.batch_rank - 1;
    const bool in_place = addend == addend_form::copied;
    const bool reads = addend == addend_form::matrix;
    const bool bias = addend == addend_form::bias;
    T* out = static_cast<T*>(call_.out.data) + one.at[3];
    gemm_shape s = shape_of(plan_.m, plan_.n);
    s.first_transposed = plan_.b.transposed;
    s.second_transposed = plan_.a.transposed;
    s.first_leading = plan_.b.leading;
    s.second_leading = plan_.a.leading;
    s.addend_leading = reads ? plan_.addend_leading : plan_.n;
    s.out_leading = plan_.n;
    s.batches = static_cast<std::int32_t>(one.batches);
    if (one.batches > 1) {
      s.first_batch = plan_.b_batch[last];
      s.second_batch = plan_.a_batch[last];
      s.addend_batch = reads ? plan_.c_batch[last] : plan_.out_batch[last];
      s.out_batch = plan_.out_batch[last];
    }
    s.epilogue = relu && bias ? CUBLASLT_EPILOGUE_RELU_BIAS
                 : relu       ? CUBLASLT_EPILOGUE_RELU
                 : bias       ? CUBLASLT_EPILOGUE_BIAS
                              : CUBLASLT_EPILOGUE_DEFAULT;
    gemm_pointers p{};
    p.first = static_cast<const T*>(b_) + one.at[1];
    p.second = static_cast<const T*>(a_) + one.at[0];
    p.addend = reads ? static_cast<const T*>(call_.in[2].data) + one.at[2] : in_place ? out : nullptr;
    p.out = out;
    p.bias = bias ? call_.in[2].data : nullptr;
    p.workspace = room_;
    s.workspace = room_bytes_ < blas_workspace ? room_bytes_ : blas_workspace;
    const double beta = reads || in_place ? call_.form.beta : 0;
    cuda_blas& blas = blas_of(context_);
    // The addend can be placed again only as long as no other part of the result is there.
    if (call_.form.tune && !context_.recording && !(in_place && issued_) &&
        blas.tune(context_.stream, s, p, call_.form.alpha, beta) && in_place) {
      if (plan_.addend == addend_form::bias)
        write_bias(one);
      else
        launch_addend<T>(context_, call_, 1, false);
    }
    return blas.multiply(context_.stream, s, p, call_.form.alpha, beta);
  }

  /// Matrix by matrix and block by block, with operands and result where cublasLt has algorithms for them.
  void multiply_copies(part p, addend_form addend) {
    const block_plan blocks = plan_blocks(plan_.m, plan_.n, plan_.k, sizeof(T), room_bytes_);
    if (blocks.rows == 0)
      refuse(
          ", and there is no memory to copy its operands to; raise "
          "session_options::gpu.memory_limit or compute it on the CPU with on<cpu<0>>(...)");
    const std::int64_t matrices = p.batches;
    p.batches = 1;
    for (std::int64_t k = 0; k < matrices; ++k) {
      multiply_blocks(p, addend, blocks);
      if (k + 1 < matrices) step(p, plan_.batch_rank - 1, 1);
    }
  }

  void multiply_blocks(const part& one, addend_form addend, const block_plan& blocks) {
    T* const a = reinterpret_cast<T*>(room_);
    T* const b = reinterpret_cast<T*>(room_ + blocks.b_at);
    T* const block = reinterpret_cast<T*>(room_ + blocks.out_at);
    const operand_view whole_a = matrix_at(static_cast<const T*>(a_) + one.at[0], plan_.a);
    const operand_view whole_b = matrix_at(static_cast<const T*>(b_) + one.at[1], plan_.b);
    const operand_view whole_out = matrix_at(static_cast<T*>(call_.out.data) + one.at[3], {false, false, plan_.n});
    const operand_view whole_addend =
        addend == addend_form::matrix
            ? matrix_at(static_cast<const T*>(call_.in[2].data) + one.at[2], {false, false, plan_.addend_leading})
            : whole_out;
    for (std::int64_t row = 0; row < plan_.m; row += blocks.rows) {
      const std::int64_t rows = plan_.m - row < blocks.rows ? plan_.m - row : blocks.rows;
      // A BLAS reads no operands where alpha is 0, and NaN and infinity in them are lost: here their products with 0
      // are added up.
      const bool no_product = call_.form.alpha == 0;
      const operand_view a_block = matrix_at(a, {false, false, blocks.a_leading});
      if (no_product)
        launch_addend<T>(context_, matrix_space(rows, plan_.k), part_of(whole_a, row, 0), a_block, 0, false);
      else
        copy_elements(context_, matrix_space(rows, plan_.k), part_of(whole_a, row, 0), a_block);
      for (std::int64_t column = 0; column < plan_.n; column += blocks.columns) {
        const std::int64_t columns = plan_.n - column < blocks.columns ? plan_.n - column : blocks.columns;
        const extents space = matrix_space(rows, columns);
        const operand_view out = matrix_at(block, {false, false, blocks.out_leading});
        if (row == 0 || blocks.columns < plan_.n)
          copy_elements(context_, matrix_space(plan_.k, columns), part_of(whole_b, 0, column),
                        matrix_at(b, {false, false, blocks.b_leading}));
        if (addend != addend_form::none)
          launch_addend<T>(context_, space, part_of(whole_addend, row, column), out, 1, false);
        gemm_shape s = shape_of(rows, columns);
        s.first_leading = blocks.b_leading;
        s.second_leading = blocks.a_leading;
        s.addend_leading = s.out_leading = blocks.out_leading;
        gemm_pointers p{};
        p.first = b;
        p.second = a;
        p.addend = addend != addend_form::none ? block : nullptr;
        p.out = block;
        p.workspace = room_ + blocks.end;
        s.workspace = room_bytes_ - blocks.end < blas_workspace ? room_bytes_ - blocks.end : blas_workspace;
        if (!blas_of(context_).multiply(context_.stream, s, p, no_product ? 1 : call_.form.alpha,
                                        addend != addend_form::none ? call_.form.beta : 0))
          refuse("; compute it on the CPU with on<cpu<0>>(...)");
        launch_addend<T>(context_, space, out, part_of(whole_out, row, column), 1, call_.form.relu);
      }
    }
  }

  static extents matrix_space(std::int64_t rows, std::int64_t columns) {
    extents e;
    e.push_back(static_cast<int>(rows));
    e.push_back(static_cast<int>(columns));
    return e;
  }
  static operand_view matrix_at(const T* data, const matrix_form& form) {
    operand_view v;
    v.data = const_cast<T*>(data);
    v.type = element_of<T>;
    v.stride[0] = form.transposed ? 1 : form.leading;
    v.stride[1] = form.transposed ? form.leading : 1;
    return v;
  }
  static operand_view part_of(operand_view matrix, std::int64_t row, std::int64_t column) {
    matrix.data = static_cast<T*>(matrix.data) + row * matrix.stride[0] + column * matrix.stride[1];
    return matrix;
  }

  [[noreturn]] void refuse(const char* what_to_do) const {
    throw internal_error(
        "[onto.cuda] cublasLt has no algorithm for a matrix product with m = " + std::to_string(plan_.m) +
        ", n = " + std::to_string(plan_.n) + ", k = " + std::to_string(plan_.k) + what_to_do);
  }

  gpu_context& context_;
  const kernel_call& call_;
  matmul_plan plan_;
  const void* a_;
  const void* b_;
  char* room_;  // of the workspace, what is not in use
  std::size_t room_bytes_;
  bool issued_ = false;  // some of the result is there
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
    launch_addend<T>(context, call, call.form.beta, call.form.relu);
  else
    cuda_check(
        cudaMemsetAsync(call.out.data, 0, static_cast<std::size_t>(call.space.size()) * sizeof(T), context.stream),
        "cudaMemsetAsync");
}

}  // namespace onto::detail
