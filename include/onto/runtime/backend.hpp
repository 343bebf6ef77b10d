// SPDX-License-Identifier: BSL-1.0
// What a backend says of itself and of its kernels: the seam between a program's kernels and the backends.
#pragma once

#include <onto/graph/row_order.hpp>
#include <onto/ops/reduce.hpp>
#include <onto/runtime/kernel.hpp>

namespace onto::detail {

/// What a kernel is made of: all of a group, what a group was before kernels were merged, or one operation.
enum class extent_of_kernel { whole, part, single };

/// The kernels of a backend that has none. Each function is one kind of kernel and gives the kernel of one program.
struct no_kernels {
  /// An elementwise program. `Sizes` are those of the elements it reads, as the sum of 1, 2, 4 and 8; `Views`: whether
  /// it may read through views.
  template <class Program, extent_of_kernel Extent, int Sizes, bool Views>
  static constexpr backend_kernel map() {
    return {};
  }
  /// An elementwise program in one launch for a batch of calls, each over a space of its own: `kernel_call::next` leads
  /// from one to the next. `Most`: so many there are, unless values tell nodes apart. A backend that has none makes a
  /// launch of `map` for each.
  template <class Program, int Most, int Sizes, bool Views>
  static constexpr backend_kernel map_batch() {
    return {};
  }
  /// The elements that a program makes, reduced over axes; `All`: over all of them, into one result.
  template <class Program, fold F, bool All, extent_of_kernel Extent, int Sizes, bool Views>
  static constexpr backend_kernel reduce() {
    return {};
  }
  /// A `row_program`: maps and reductions over rows, in phases. The call names their axis.
  template <class RowProgram, row_order Order>
  static constexpr backend_kernel rows() {
    return {};
  }
  /// Softmax of any axis, of elements of type `T`.
  template <class T>
  static constexpr backend_kernel softmax() {
    return {};
  }
  /// A matrix product of elements of type `T`, with its epilogue.
  template <class T>
  static constexpr backend_kernel matmul() {
    return {};
  }
  /// A copy between any strides, of elements of one of these sizes.
  template <int Sizes>
  static constexpr backend_kernel copy() {
    return {};
  }
};

/// The kernels of a backend: specialized in its folder, derived from `no_kernels`, with a function for each kind that
/// the backend has. `Backend` is a type that says
/// * `slot`: where its kernels are in a `kernel_entry`,
/// * `runs_host_code`: whether it can run what is compiled for the host alone, as an operation of the user's may be,
/// * `computes_in_floats`: whether the programs it is given have half and bfloat16 as float,
/// * `gpus`: a class of the GPUs that it has on this machine, made from `session_options`, unless it is the CPU's:
///   `int count() const`; `std::int64_t memory(int k)`, the bytes of one; and `device* open(place where, int k,
///   memory_limit limit)`, which makes the device, with the backend's slot, and uses nothing of it.
template <class Backend>
struct backend_kernels;

/// The kernel that a backend has for an operation of kind `own_kernel`: specialized by a header of its folder, which
/// programs with such operations include, as <onto/scan.hpp> does.
template <class Op, class Backend>
struct operation_kernels {
  /// For operands of type `T`.
  template <class T>
  static constexpr backend_kernel kernel() {
    return {};
  }
};

/// Backends, the CPU first, then in the order in which their GPUs are preferred.
template <class... Backends>
struct backend_list {};
template <class... B, class... More>
backend_list<B..., More...> operator+(backend_list<B...>, backend_list<More...>);

/// The backend with this slot: specialized in its folder, so that a program that includes the folder has it.
template <int Slot>
struct backend_at {
  using list = backend_list<>;
};

/// The kernels of a backend, if it can run the operations: all of them on GPUs (`OnGpus`), or only what is compiled for
/// the host.
template <bool CanRun, class Backend>
struct kernels_if : backend_kernels<Backend> {};
template <class Backend>
struct kernels_if<false, Backend> : no_kernels {};
template <bool OnGpus, class Backend>
using kernels_for = kernels_if<(OnGpus || Backend::runs_host_code), Backend>;

}  // namespace onto::detail
