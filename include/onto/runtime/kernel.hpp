// SPDX-License-Identifier: BSL-1.0
// What a kernel is given, on every backend: where its operands are and the space it runs over.
#pragma once

#include <onto/core/element.hpp>
#include <onto/expr/operation.hpp>
#include <onto/shape/extents.hpp>

#include <cstddef>
#include <cstdint>

namespace onto::detail {

/// An operand: a pointer, and a stride in elements for each dimension of the kernel's space (0 where it is broadcast).
/// One of a map may be rolled: its element is read `rolled[k]` further along dimension `k`, around the end.
struct operand_view {
  void* data = nullptr;
  element type = element::float32;
  std::int64_t stride[max_rank] = {};
  const int* rolled = nullptr;
};

inline const void* advance(const void* p, std::int64_t elements, element type) {
  return static_cast<const char*>(p) + elements * size_of(type);
}
inline void* advance(void* p, std::int64_t elements, element type) {
  return static_cast<char*>(p) + elements * size_of(type);
}

/// What follows a product, of matrices or a convolution, in the same kernel: `relu(alpha * product + beta * addend)`.
struct matmul_form {
  double alpha = 1;
  double beta = 0;  // with the last input as the addend, broadcast over the result; 0 where there is none
  bool relu = false;
  bool tf32 = false;  // the GPU may round a float product's operands to TF32
  bool tune = false;  // the GPU may find out by trying which algorithm is the fastest, where it does not know yet
};

class thread_pool;
struct kernel_call;

/// What the CPU's kernels, which are for floats, need beside where elements are of type half or bfloat16. Reached
/// through a pointer, so that other programs do not hold it.
struct half_kernels {
  void (*widen)(element type, const void* from, std::int64_t n, float* out);
  void (*narrow)(element type, const float* in, std::int64_t n, void* to);
  void (*matmul)(thread_pool& pool, const kernel_call& call, void (*multiply)(thread_pool&, const kernel_call&));
};

/// One launch of a kernel.
/// For a map `space` is the shape of the result; for a reduction and softmax, of the operand. A matrix product has the
/// space (batch..., m, n); its operands' last two strides are those of their own rows and columns: (m, k) and (k, n).
/// A kernel of an operation's own has the space of its first operand; each operand has the strides of its own shape,
/// and the addend of a convolution, the last one, those of the result's.
/// `out` is contiguous over the result; only a copy (concat's parts) may have an `out` with other strides.
struct kernel_call {
  extents space{};
  int inputs = 0;
  const operand_view* in = nullptr;
  const extents* shapes = nullptr;  // where the operation has a kernel of its own: of its operands, then of the result
  operand_view out{};
  int more_outputs = 0;  // of a map: further results, contiguous over the space as `out` is
  const operand_view* more_out = nullptr;
  const std::uint64_t* scalars = nullptr;  // the bits of each scalar, in the type it is computed in
  const op_info* op = nullptr;             // of the operation at the root
  std::int64_t inner = 0;                  // of a matrix product: k
  int row_axis = 0;                        // of a row kernel: along which rows lie, counted from the last, which is 0
  matmul_form form{};
  const half_kernels* half_precision = nullptr;  // where the program has elements of type half or bfloat16
  const kernel_call* next = nullptr;             // of a batch: the next call of the same launch
  bool rolls = false;                            // of a map: operands are rolled
  bool continues = false;            // a further part of the kernel before it, as of a concat: not counted again
  void* workspace = nullptr;         // device memory, as the kernel's `workspace` asked for
  std::int64_t workspace_bytes = 0;  // of it: so many, or where memory is short at least `least_workspace`
};

/// What a backend's kernels are launched with: threads, or a stream and handles. Each backend's own derives from it.
struct kernel_context {};

/// A kernel as one backend has it.
struct backend_kernel {
  void (*run)(kernel_context&, const kernel_call&) = nullptr;    // null: the backend has none
  std::size_t (*workspace)(const kernel_call&) = nullptr;        // bytes of device memory; null: none
  std::size_t (*least_workspace)(const kernel_call&) = nullptr;  // those it cannot do without; null: all
  bool known = false;    // there is one: -fsanitize=undefined compares no functions in constant expressions (g++ 12)
  bool batches = false;  // it goes over all calls of a batch

  constexpr backend_kernel() = default;
  constexpr backend_kernel(void (*kernel)(kernel_context&, const kernel_call&),
                           std::size_t (*bytes)(const kernel_call&) = nullptr,
                           std::size_t (*least)(const kernel_call&) = nullptr)
      : run(kernel), workspace(bytes), least_workspace(least), known(true) {}
};

/// A kernel as every backend has it. A backend's slot is the same in every translation unit, whichever backends it has.
struct kernel_entry {
  static constexpr int host = 0;  // the slot of the CPU, which has every kernel
  static constexpr int own = 2;   // of a backend of the program's own, ONTO_BACKEND
  static constexpr int slot_count = 3;
  backend_kernel launch[slot_count];
};

}  // namespace onto::detail
