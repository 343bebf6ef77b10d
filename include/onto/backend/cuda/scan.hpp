// SPDX-License-Identifier: BSL-1.0
// Scans on the GPU, by CUB: one pass over the elements row after row, whatever the axis, with the row's number as the
// key where there are several. nvcc takes seconds to read CUB: <onto/scan.hpp> includes this, and nothing else does.
#pragma once

#include <onto/core/config.hpp>

#if ONTO_CUDA

#include <onto/backend/cuda/access.hpp>
#include <onto/backend/cuda/check.hpp>
#include <onto/backend/cuda/context.hpp>
#include <onto/backend/cuda/index.hpp>
#include <onto/backend/cuda/kernels.hpp>
#include <onto/kernel/scan.hpp>
#include <onto/ops/scan.hpp>
#include <onto/runtime/kernel.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 takes it so in CUB's dispatch
#endif
#include <cub/device/device_scan.cuh>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#include <cuda/std/functional>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace onto::detail {

template <class Rule>
struct append_state {
  using type = typename scan_state<Rule>::type;
  ONTO_HD type operator()(type first, const type& next) const {
    scan_state<Rule>::append(first, next);
    return first;
  }
};
/// How CUB joins states: its own sum, which it knows the best tiles for, is that of states which are numbers.
template <fold F, class Rule>
using scan_join = std::conditional_t<F == fold::sum && !Rule::compensated, ::cuda::std::plus<>, append_state<Rule>>;

/// The element at `at`, found without an address: CUB copies its iterators, and one with an array that is indexed by
/// what is known at run time would be copied into the local memory of each thread, 448 bytes by nvcc 13.
template <class T>
ONTO_HD ONTO_INLINE T picked(const T (&array)[max_rank], int at) {
  T found = array[0];
  ONTO_UNROLL
  for (int k = 1; k < max_rank; ++k)
    if (k == at) found = array[k];
  return found;
}

/// Where the elements of rows are that follow each other, each from the scan's first element to its last: in the
/// operand (0) and in the result (1).
struct scan_layout {
  index_divisor length;  // of a row
  strided_space<2> rows;
  std::int64_t first[2] = {};   // of row 0's first element, in elements from the beginning
  std::int64_t stride[2] = {};  // along a row; backwards it is negative
  bool plain[2] = {};           // the elements lie next to each other in this order

  ONTO_HD std::int64_t row(std::int64_t k) const { return length.divide(k); }
  ONTO_HD std::int64_t place(int operand, std::int64_t k) const {
    if (plain[operand]) return k;
    const std::int64_t r = row(k);
    std::int64_t found = first[operand] + (k - r * length.divisor) * stride[operand], index = r;
    ONTO_NO_UNROLL
    for (int d = rows.rank - 1; d >= 0; --d) {
      const index_divisor extent = picked(rows.extent, d);
      const std::int64_t rest = d > 0 ? extent.divide(index) : 0;
      found += (index - rest * extent.divisor) * picked(rows.stride[operand], d);
      index = rest;
    }
    return found;
  }
};

ONTO_COLD inline scan_layout scan_layout_of(const kernel_call& call) {
  scan_layout l;
  const int axis = scan_axis(*call.op, call.space.rank);
  const std::int64_t n = call.space[axis];
  const operand_view operands[] = {call.in[0], call.out};
  l.length = index_divisor(n);
  l.rows = collapse<2>(call.space, all_dimensions(call.space.rank) & ~(1u << axis), operands);
  for (int k = 0; k < 2; ++k) {
    const bool backwards = scans_backwards(*call.op);
    const std::int64_t along = operands[k].stride[axis];
    l.stride[k] = backwards ? -along : along;
    l.first[k] = backwards ? (n - 1) * along : 0;
    l.plain[k] =
        (n == 1 || (along == 1 && !backwards)) && (l.rows.rank == 0 || (l.rows.rank == 1 && l.rows.stride[k][0] == n));
  }
  return l;
}

/// A position in all rows.
struct in_rows {
  scan_layout layout;
  std::int64_t at = 0;

  ONTO_HD void advance(std::int64_t by) { at += by; }
  ONTO_HD std::int64_t row(std::int64_t k) const { return layout.row(at + k); }
  ONTO_HD std::int64_t place(int operand, std::int64_t k) const { return layout.place(operand, at + k); }
};
/// A position in the only row: nothing is divided, and each element is a stride from the one before.
struct in_one_row {
  std::int64_t first[2], stride[2];

  explicit in_one_row(const scan_layout& l) : first{l.first[0], l.first[1]}, stride{l.stride[0], l.stride[1]} {}
  ONTO_HD void advance(std::int64_t by) {
    for (int operand = 0; operand < 2; ++operand) first[operand] += by * stride[operand];
  }
  ONTO_HD std::int64_t place(int operand, std::int64_t k) const { return first[operand] + k * stride[operand]; }
};

/// What CUB's algorithms ask of an iterator; `Self` is made of a position.
template <class Self, class Value, class Position>
struct scan_iterator {
  using value_type = Value;
  using reference = Value;
  using pointer = void;
  using difference_type = std::int64_t;
  using iterator_category = std::random_access_iterator_tag;

  Position position;

  template <class Offset>
  ONTO_HD Self operator+(Offset by) const {
    Self other = static_cast<const Self&>(*this);
    other.position.advance(static_cast<std::int64_t>(by));
    return other;
  }
  ONTO_HD auto operator*() const { return static_cast<const Self&>(*this)[0]; }
};

/// The key of each element: the low bits of its row's number, which differ from those of the rows beside it.
struct scan_keys : scan_iterator<scan_keys, std::uint32_t, in_rows> {
  template <class Offset>
  ONTO_HD std::uint32_t operator[](Offset k) const {
    return static_cast<std::uint32_t>(position.row(static_cast<std::int64_t>(k)));
  }
};
struct same_row {
  ONTO_HD bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
};

/// The elements, each as what is kept of it alone.
template <class Rule, class T, class Position>
struct scan_input : scan_iterator<scan_input<Rule, T, Position>, typename scan_state<Rule>::type, Position> {
  const T* data;

  template <class Offset>
  ONTO_HD typename scan_state<Rule>::type operator[](Offset k) const {
    const T value = device_load(data + this->position.place(0, static_cast<std::int64_t>(k)));
    return scan_state<Rule>::of(static_cast<typename Rule::term>(static_cast<computed_of<T>>(value)));
  }
};

/// Where results go.
template <class Rule, class T>
struct scan_cell {
  T* place;
  ONTO_HD void operator=(const typename scan_state<Rule>::type& s) const {
    device_store(place, static_cast<T>(scan_state<Rule>::finish(s)));
  }
};
template <class Rule, class T, class Position>
struct scan_output : scan_iterator<scan_output<Rule, T, Position>, typename scan_state<Rule>::type, Position> {
  T* data;

  template <class Offset>
  ONTO_HD scan_cell<Rule, T> operator[](Offset k) const {
    return {data + this->position.place(1, static_cast<std::int64_t>(k))};
  }
};

/// Asks CUB for a scan in a stream; where `workspace` is null, for the bytes it needs there, which depend on the device
/// that is current.
template <fold F, class T>
void ask_for_scan(const kernel_call& call, void* workspace, std::size_t& bytes, cudaStream_t stream) {
  using rule = scanning<F, computed_of<T>>;
  using result = element_t<op::scan<F, 0, false>::result(element_of<T>)>;
  const scan_layout layout = scan_layout_of(call);
  const auto in = [&]<class Position>(const Position& p) {
    return scan_input<rule, T, Position>{{p}, static_cast<const T*>(call.in[0].data)};
  };
  const auto out = [&]<class Position>(const Position& p) {
    return scan_output<rule, result, Position>{{p}, static_cast<result*>(call.out.data)};
  };
  const scan_join<F, rule> join{};
  const std::int64_t size = call.space.size();
  // CUB asks for the last error, which may be an earlier one of the program's: a launch is judged by its own.
  (void)cudaGetLastError();
  if (layout.rows.size == 1) {
    const in_one_row first(layout);
    cuda_check(cub::DeviceScan::InclusiveScan(workspace, bytes, in(first), out(first), join, size, stream),
               "cub::DeviceScan::InclusiveScan");
  } else {
    const in_rows first{layout};
    cuda_check(cub::DeviceScan::InclusiveScanByKey(workspace, bytes, scan_keys{{first}}, in(first), out(first), join,
                                                   size, same_row{}, stream),
               "cub::DeviceScan::InclusiveScanByKey");
  }
}

/// Bytes of device memory that `cuda_scan` needs for the call on the device that is current.
template <fold F, class T>
std::size_t cuda_scan_workspace(const kernel_call& call) {
  std::size_t bytes = 0;
  if (call.space.size() > 0) ask_for_scan<F, T>(call, nullptr, bytes, nullptr);
  return bytes;
}

/// Scans the call's input by `F` along the axis that its operation names. Sums of floating-point numbers are those of
/// the CPU but for the order in which parts of a row are joined, which is another in each run.
/// *Throws* `internal_error` where CUB cannot launch its kernels.
template <fold F, class T>
void cuda_scan(gpu_context& context, const kernel_call& call) {
  if (call.space.size() <= 0) return;
  if (!call.workspace) throw internal_error("[onto.cuda] a scan was launched without its workspace");
  auto bytes = static_cast<std::size_t>(call.workspace_bytes);
  ask_for_scan<F, T>(call, call.workspace, bytes, context.stream);
}

template <fold F, int Axis, bool Reverse>
struct operation_kernels<op::scan<F, Axis, Reverse>, cuda_backend> {
  template <class T>
  static constexpr backend_kernel kernel() {
    return {&run_in_stream<&cuda_scan<F, T>>, &cuda_scan_workspace<F, T>};
  }
};

}  // namespace onto::detail

#endif  // ONTO_CUDA
